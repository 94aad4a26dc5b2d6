//! Lists of names.

use crate::scenario::cursor::View;
use crate::scenario::model::Used;
use crate::scenario::scalar::Datum;

/// Returns the further arguments of a node as names.
pub(super) fn names(view: Option<&View<'_>>) -> Vec<Used> {
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
