//! `gate`.

use std::path::{Component, Path};

use crate::diag::{Bag, Code};
use crate::scenario::cursor::View;
use crate::scenario::model::{Gate, Used};
use crate::units::Nanos;
use crate::workload::live::{BoundStatistic, ErrorsBound, LiveBounds, LiveQuantity, TimeBound};

/// Decodes what must hold.
pub(super) fn gate(view: &View<'_>, bag: &mut Bag) -> Gate {
    let golden = view.child("golden").and_then(|node| golden(node, bag));
    let live = view.all("live").filter_map(|live| {
        let name = live.text("REPLAY")?.to_owned();
        Some((Used { name, place: live.place("REPLAY") }, bounds(live, bag)))
    });
    let live = live.collect();
    Gate { golden, live }
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

/// Decodes the bounds of a replay. They are in no key: a job is the same whatever it is held to.
fn bounds(live: &View<'_>, bag: &mut Bag) -> LiveBounds {
    let errors = live.child("errors").and_then(|node| {
        Some(ErrorsBound { most: node.count("max")?, place: node.place("max").span() })
    });
    let mut times = Vec::new();
    for quantity in LiveQuantity::ALL {
        let Some(node) = live.child(quantity.name()) else { continue };
        for statistic in BoundStatistic::ALL {
            let most = node.real(statistic.name()).is_some();
            let most = most.then(|| milliseconds(node, statistic.name(), bag)).flatten();
            let place = node.place(statistic.name()).span();
            times.extend(most.map(|most| TimeBound { quantity, statistic, most, place }));
        }
    }
    LiveBounds { errors, times }
}

/// Decodes milliseconds that a clock can count; `None` where the bag says why.
fn milliseconds(node: &View<'_>, name: &str, bag: &mut Bag) -> Option<Nanos> {
    let found = Nanos::from_ms(node.real(name)?).ok();
    if found.is_none() {
        let message = format!("`{name}` is no time that a clock can count");
        bag.push(node.problem(Code::KdlOutOfRange, name, message, "milliseconds, 0 or more"));
    }
    found
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
