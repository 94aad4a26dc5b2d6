//! From checked nodes to data: what values mean together.
//!
//! The table has checked each value by itself; here stand the rules between values. Owns no files and no pins.

mod deployment;
mod gate;
mod pins;
mod replay;
mod scenario;
mod simulate;
#[cfg(test)]
mod tests;
mod worker;
mod workload;

pub use deployment::deployment;
pub(super) use scenario::{declared, scenario};
pub use workload::workload;

use super::cursor::View;
use super::model::Used;
use super::scalar::Datum;

/// Returns the further arguments of a node as names.
fn names(view: Option<&View<'_>>) -> Vec<Used> {
    let rest = view.map(View::rest).unwrap_or_default();
    rest.iter()
        .filter_map(|(value, datum)| match datum {
            Datum::Text(name) => Some(Used { name: name.clone(), place: value.place.clone() }),
            // a name is read as text or refused, so nothing is lost here
            Datum::Count(_)
            | Datum::Real(_)
            | Datum::Flag(_)
            | Datum::Reals(_)
            | Datum::Digest(_) => None,
        })
        .collect()
}
