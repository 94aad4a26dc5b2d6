//! Names: each that is used is declared or pinned, and each that is declared or pinned is used.

use std::collections::BTreeSet;

use super::model::{Declared, FilePin, PinKind, Scenario, Used};
use super::scalar::nearest;
use super::syntax::{Node, Place};
use crate::diag::{Bag, Code, Problem};
use crate::workload::live::Target;

/// Checks every name of a scenario.
pub(super) fn names(scenario: &Scenario, findings: &mut Bag) {
    references(scenario, findings);
    let used = used_pins(scenario);
    for name in &used {
        if let Some(problem) = unpinned(scenario, name) {
            findings.extend_new(problem.into());
        }
    }
    if findings.has_errors() {
        return; // a misspelt name makes the right one look unused
    }
    unused_pins(scenario, &used, findings);
    unused_declarations(scenario, findings);
}

/// A pin's name where it is used; engines have no kind.
#[derive(Debug)]
struct UsedPin {
    kind: Option<PinKind>,
    name: String,
    place: Place,
}

/// Complains of names that no declaration has.
fn references(scenario: &Scenario, findings: &mut Bag) {
    let declared = |all: &[Declared]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    let (workloads, deployments) = (declared(&scenario.workloads), declared(&scenario.deployments));
    let replays: Vec<String> = scenario.replays.iter().map(|replay| replay.name.clone()).collect();
    let mut check = |used: &[Used], kind: &str, known: &[String]| {
        for (index, name) in used.iter().enumerate() {
            if let Some(first) = used[..index].iter().find(|first| first.name == name.name) {
                let message = format!("{kind} `{}` is named twice", name.name);
                let problem = name.place.problem(Code::KdlDuplicateName, message, "named again");
                findings.push(first.place.also(problem, "first named here"));
            } else if !known.contains(&name.name) {
                findings.push(unknown(name, kind, known));
            }
        }
    };
    for block in &scenario.simulations {
        check(&block.workloads, "workload", &workloads);
        check(&block.deployments, "deployment", &deployments);
        let engines: Vec<String> = block.engines.iter().map(|engine| engine.name.clone()).collect();
        check(&block.engines, "engine", &engines); // whether it is pinned is checked with all pins
    }
    for replay in &scenario.replays {
        check(&replay.workloads, "workload", &workloads);
        check(replay.behind().as_slice(), "deployment", &deployments);
    }
    let live: Vec<Used> = scenario.gate.live.iter().map(|(name, _)| name.clone()).collect();
    check(&live, "replay", &replays);
}

/// Returns the problem of a name that no declaration has.
fn unknown(used: &Used, kind: &str, known: &[String]) -> Problem {
    let message = format!("there is no {kind} `{}`", used.name);
    let problem = used.place.problem(Code::ScenarioUnknownName, message, "not declared");
    problem.help(advice(&used.name, kind, known))
}

/// Returns a near name, or all of them.
fn advice(name: &str, kind: &str, known: &[String]) -> String {
    if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
        return format!("did you mean `{near}`?");
    }
    if known.is_empty() {
        return format!("the scenario declares no {kind}");
    }
    let listed = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    format!("declared are {}", listed.join(", "))
}

/// Returns every pin that the scenario uses, also as the value of an axis.
fn used_pins(scenario: &Scenario) -> Vec<UsedPin> {
    let mut used = Vec::new();
    for workload in &scenario.workloads {
        pins_of(&workload.node, &mut used);
    }
    for deployment in &scenario.deployments {
        pins_of(&deployment.node, &mut used);
    }
    for block in &scenario.simulations {
        for engine in &block.engines {
            used.push(UsedPin {
                kind: None,
                name: engine.name.clone(),
                place: engine.place.clone(),
            });
        }
        for axis in block.axes.iter().flat_map(|group| &group.axes) {
            let last = axis.path.rsplit('.').next().unwrap_or_default();
            let Some(kind) = named_by(last) else { continue }; // the axis varies no pin
            for value in &axis.values {
                if let Some(name) = value.as_text() {
                    used.push(UsedPin {
                        kind: Some(kind),
                        name: name.to_owned(),
                        place: value.place.clone(),
                    });
                }
            }
        }
    }
    used
}

/// Returns the kind of pin that the first argument of a node names.
fn named_by(node: &str) -> Option<PinKind> {
    match node {
        "trace" | "graph" => Some(PinKind::Trace),
        "model" => Some(PinKind::Model),
        "hardware" => Some(PinKind::Hardware),
        _ => None,
    }
}

/// Collects the pins that a declaration uses: `trace`, `graph`, `model`, `hardware`, and `timing "table"`.
fn pins_of(node: &Node, used: &mut Vec<UsedPin>) {
    for child in &node.children {
        let (kind, value) = match child.name.text.as_str() {
            "timing" if child.first_text() == Some("table") => {
                (Some(PinKind::Timing), child.args.get(1))
            }
            name => (named_by(name), child.args.first()),
        };
        if let (Some(kind), Some(value)) = (kind, value)
            && let Some(name) = value.as_text()
        {
            used.push(UsedPin {
                kind: Some(kind),
                name: name.to_owned(),
                place: value.place.clone(),
            });
        }
        pins_of(child, used);
    }
}

/// Returns the pins that a declaration uses, each once, by kind and name.
pub(crate) fn pins_named(node: &Node) -> BTreeSet<(PinKind, String)> {
    let mut used = Vec::new();
    pins_of(node, &mut used);
    used.into_iter().filter_map(|pin| Some((pin.kind?, pin.name))).collect()
}

/// Returns the problem of a name that is not pinned.
fn unpinned(scenario: &Scenario, used: &UsedPin) -> Option<Problem> {
    let word = used.kind.map_or("engine", PinKind::name);
    let engines = scenario.pins.engines.iter().filter(|_| used.kind.is_none());
    let files = scenario.pins.files.iter().filter(|pin| Some(pin.kind) == used.kind);
    let known: Vec<&str> =
        files.map(|pin| pin.name.as_str()).chain(engines.map(|pin| pin.name.as_str())).collect();
    if known.contains(&used.name.as_str()) {
        return None;
    }
    let message = format!("{word} `{}` is not pinned", used.name);
    let problem = used.place.problem(Code::ScenarioUnknownPin, message, "used here");
    let version = if used.kind.is_none() { " version=\"…\"" } else { "" };
    let add = format!(
        "add `{word} \"{}\"{version}` to `pins`, then run `bench pin {}`",
        used.name,
        scenario.source.name()
    );
    Some(problem.help(match nearest(&used.name, known.into_iter()) {
        Some(near) => format!("did you mean `{near}`? otherwise {add}"),
        None => add,
    }))
}

/// Warns of pins that nothing uses.
fn unused_pins(scenario: &Scenario, used: &[UsedPin], findings: &mut Bag) {
    let mut warn = |kind: Option<PinKind>, name: &str, place: &Place| {
        if !used.iter().any(|pin| pin.kind == kind && pin.name == name) {
            let word = kind.map_or("engine", PinKind::name);
            let problem = place.problem(
                Code::ScenarioUnusedPin,
                format!("{word} `{name}` is pinned and not used"),
                "not used",
            );
            findings.push(problem.help("remove it, or use it"));
        }
    };
    // which table a timing `default` means is known only once its deployment is
    let may_be_default = |pin: &FilePin| pin.kind == PinKind::Timing && has_default(scenario);
    for pin in scenario.pins.files.iter().filter(|pin| !may_be_default(pin)) {
        warn(Some(pin.kind), &pin.name, &pin.place);
    }
    for pin in &scenario.pins.engines {
        warn(None, &pin.name, &pin.place);
    }
}

/// Returns whether any worker, or any value of an axis, may time its passes by the table that fits.
fn has_default(scenario: &Scenario) -> bool {
    fn of(node: &Node) -> bool {
        let is_default = node.name.text == "timing" && node.first_text() == Some("default");
        is_default || node.children.iter().any(of)
    }
    let axes = scenario.simulations.iter().flat_map(|block| &block.axes);
    let mut axes = axes.flat_map(|group| &group.axes);
    scenario.deployments.iter().any(|deployment| of(&deployment.node))
        || axes.any(|axis| axis.path.ends_with(".timing"))
}

/// Warns of the file's own declarations that no block uses; those of included files serve other scenarios.
fn unused_declarations(scenario: &Scenario, findings: &mut Bag) {
    let blocks = &scenario.simulations;
    let of_blocks = blocks.iter().flat_map(|block| &block.workloads);
    let of_replays = scenario.replays.iter().flat_map(|replay| &replay.workloads);
    let workloads: Vec<&str> = of_blocks.chain(of_replays).map(|used| used.name.as_str()).collect();
    let deployments = blocks.iter().flat_map(|block| &block.deployments);
    let deployments = deployments.map(|used| used.name.as_str());
    // Behind the server in `bench` a deployment answers live traffic.
    let behind =
        scenario.replays.iter().filter_map(|replay| match &replay.settings.endpoint.target {
            Target::Mock(mock) => mock.deployment.as_deref(),
            Target::Url(_) | Target::Unix(_) => None,
        });
    let deployments: Vec<&str> = deployments.chain(behind).collect();
    let mut warn = |kind: &str, declared: &Declared, used: &[&str]| {
        let own = declared.node.place.is_same_file(&declared.stated);
        if own && !used.contains(&declared.name.as_str()) {
            let message = format!("{kind} `{}` is not used", declared.name);
            findings.push(declared.stated.problem(
                Code::ScenarioUnusedDeclaration,
                message,
                "not used",
            ));
        }
    };
    for declared in &scenario.workloads {
        warn("workload", declared, &workloads);
    }
    for declared in &scenario.deployments {
        warn("deployment", declared, &deployments);
    }
}
