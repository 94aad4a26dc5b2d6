//! `scenario`.

use super::{deployment, gate, pins, replay, simulate, workload};
use crate::diag::{Bag, Code};
use crate::scenario::cursor::View;
use crate::scenario::model::{Declared, Gate, Pins, Scenario};
use crate::scenario::syntax::{Document, Place};

/// Decodes everything that stands in the scenario's own file; included declarations are spliced by the caller.
///
/// `root` is the checked file. `None` where there is no `scenario` node with a name.
pub(in crate::scenario) fn scenario(
    document: &Document,
    root: &View<'_>,
    bag: &mut Bag,
) -> Option<Scenario> {
    let view = root.child("scenario")?;
    let simulations: Vec<_> =
        view.all("simulate").filter_map(|node| simulate::simulation(node, bag)).collect();
    let replays: Vec<_> = view.all("replay").filter_map(|node| replay::replay(node, bag)).collect();
    for replay in &replays {
        if let Some(first) = simulations.iter().find(|block| block.name == replay.name) {
            let message = format!("`simulate` and `replay` share the name `{}`", replay.name);
            let problem = replay.place.problem(Code::KdlDuplicateName, message, "given again");
            bag.push(first.place.also(problem, "first given here"));
        }
    }
    Some(Scenario {
        name: view.text("NAME")?.to_owned(),
        about: view.child("about").and_then(|about| about.text("TEXT")).map(str::to_owned),
        seed: view.child("seed").and_then(|seed| seed.count("SEED")).unwrap_or(0),
        head: view.head(),
        source: document.source().clone(),
        includes: Vec::new(),
        pins: view.child("pins").map_or_else(Pins::default, |node| pins::pins(node, bag)),
        workloads: declared(view, "workload", None, bag),
        deployments: declared(view, "deployment", None, bag),
        simulations,
        replays,
        gate: view.child("gate").map_or_else(Gate::default, |node| gate::gate(node, bag)),
    })
}

/// Returns the declarations of this kind in a block, decoded once for their mistakes.
///
/// `stated` is the `include` that brought them; `None` where they stand in the scenario's own file.
pub(in crate::scenario) fn declared(
    view: &View<'_>,
    kind: &str,
    stated: Option<&Place>,
    bag: &mut Bag,
) -> Vec<Declared> {
    let mut all = Vec::new();
    for child in view.all(kind) {
        let Some(node) = child.node() else { continue }; // every child has one
        let Some(name) = node.first_text() else { continue }; // the checker has complained
        let mut found = Bag::new();
        if kind == "workload" {
            workload(node, &mut found);
        } else {
            deployment(node, &mut found);
        }
        bag.extend_new(found);
        let stated = stated.cloned().unwrap_or_else(|| child.head());
        all.push(Declared { name: name.to_owned(), node: node.clone(), stated });
    }
    all
}
