//! `gate`.

use std::path::{Component, Path};

use crate::diag::{Bag, Code};
use crate::digest::canonical::Value;
use crate::scenario::cursor::View;
use crate::scenario::model::{Gate, Used};
use crate::scenario::scalar::Datum;

/// Decodes what must hold.
pub(super) fn gate(view: &View<'_>, bag: &mut Bag) -> Gate {
    let golden = view.child("golden").and_then(|node| golden(node, bag));
    let live = view.all("live").filter_map(|live| {
        let name = live.text("REPLAY")?.to_owned();
        Some((Used { name, place: live.place("REPLAY") }, settings(live)))
    });
    Gate { golden, live: live.collect() }
}

/// Decodes where the golden is: below `pins/goldens`, so that no scenario makes `accept` write elsewhere.
fn golden(view: &View<'_>, bag: &mut Bag) -> Option<Used> {
    let used = Used { name: view.text("PATH")?.to_owned(), place: view.place("PATH") };
    if is_below_goldens(&used.name) {
        return Some(used);
    }
    let message = format!("the golden `{}` lies elsewhere than below `pins/goldens`", used.name);
    let problem = used.place.problem(Code::ScenarioGoldenPath, message, "not below `pins/goldens`");
    bag.push(problem.help("write `golden \"pins/goldens/NAME.kdl\"`"));
    None
}

/// Returns whether a path is `pins/goldens/…` without a step up.
fn is_below_goldens(path: &str) -> bool {
    let steps: Option<Vec<_>> = Path::new(path)
        .components()
        .map(|step| if let Component::Normal(name) = step { name.to_str() } else { None })
        .collect();
    steps.is_some_and(|steps| matches!(steps.as_slice(), ["pins", "goldens", _, ..]))
}

/// Returns everything that a node and its block give, canonical: `{errors:{max:0}}`.
///
/// Names become snake case. The first argument of a node with a block is its name and stays out.
fn settings(view: &View<'_>) -> Value {
    let children = view.children().iter().map(|child| (snake(child.name()), fields(child)));
    Value::Object(children.collect())
}

/// Returns the fields of a node with their defaults.
fn fields(view: &View<'_>) -> Value {
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
        Datum::Real(number) => Value::real(*number),
        Datum::Reals(numbers) => Value::List(numbers.iter().copied().map(Value::real).collect()),
        Datum::Flag(flag) => Value::Bool(*flag),
        Datum::Text(text) => Value::text(text),
        Datum::Digest(digest) => (*digest).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goldens_lie_below_one_folder_of_the_root() {
        for (path, expected) in [
            ("pins/goldens/a.kdl", true),
            ("pins/goldens/team/a.kdl", true),
            ("pins/goldens", false),
            ("pins/models/a.kdl", false),
            ("/pins/goldens/a.kdl", false),
            ("../pins/goldens/a.kdl", false),
            ("pins/goldens/../models/a.kdl", false),
            ("golden.kdl", false),
            ("", false),
        ] {
            assert_eq!(is_below_goldens(path), expected, "{path}");
        }
    }
}
