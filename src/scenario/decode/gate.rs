//! `gate`.

use crate::digest::canonical::{Real, Value};
use crate::scenario::cursor::View;
use crate::scenario::model::{Gate, Used};
use crate::scenario::scalar::Datum;

/// Decodes what must hold.
pub(super) fn gate(view: &View<'_>) -> Gate {
    let golden = view.child("golden").and_then(|golden| {
        Some(Used { name: golden.text("PATH")?.to_owned(), place: golden.place("PATH") })
    });
    let live = view.all("live").filter_map(|live| {
        let name = live.text("REPLAY")?.to_owned();
        Some((Used { name, place: live.place("REPLAY") }, settings(live)))
    });
    Gate { golden, live: live.collect() }
}

/// Returns everything that a node and its block give, canonical: `{errors:{max:0}}`.
///
/// Names become snake case. The first argument of a node with a block is its name and stays out.
pub(super) fn settings(view: &View<'_>) -> Value {
    let children = view.children().iter().map(|child| (snake(child.name()), fields(child)));
    Value::Object(children.collect())
}

/// Returns the fields of a node with their defaults.
pub(super) fn fields(view: &View<'_>) -> Value {
    let fields = view.fields().map(|(name, datum)| (snake(name), value(datum)));
    Value::Object(fields.collect())
}

/// Returns a name as canonical JSON has it.
fn snake(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// Returns a scalar as canonical JSON.
fn value(datum: &Datum) -> Value {
    match datum {
        Datum::Count(count) => Value::wide(*count),
        Datum::Real(number) => real(*number),
        Datum::Reals(numbers) => Value::List(numbers.iter().copied().map(real).collect()),
        Datum::Flag(flag) => Value::Bool(*flag),
        Datum::Text(text) => Value::text(text),
        Datum::Digest(digest) => (*digest).into(),
    }
}

/// Returns a number as canonical JSON.
fn real(number: f64) -> Value {
    Value::Real(Real::new(number).expect("scalars refuse numbers that are not finite"))
}
