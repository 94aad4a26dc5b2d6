//! `simulate`: what is crossed with what.

use std::collections::BTreeMap;

use super::names;
use crate::diag::{Bag, Code, Problem, counted};
use crate::scenario::cursor::View;
use crate::scenario::decimal::{Decimal, Range};
use crate::scenario::model::{Axis, AxisGroup, Exclude, Simulation, Used};
use crate::scenario::syntax::{Content, Value};
use crate::workload::Sla;

/// Jobs of a block without a `limit`.
const DEFAULT_LIMIT: u64 = 100_000;

/// Decodes a block of jobs; `None` where the bag says why.
pub(super) fn simulation(view: &View<'_>, bag: &mut Bag) -> Option<Simulation> {
    let limit_node = view.child("limit");
    let limit = limit_node.and_then(|limit| limit.count("JOBS")).unwrap_or(DEFAULT_LIMIT);
    let sla = view.child("sla");
    Some(Simulation {
        name: view.text("NAME")?.to_owned(),
        place: view.head(),
        workloads: names(view.child("workload")),
        deployments: names(view.child("deployment")),
        engines: names(view.child("engine")),
        axes: axes(view, limit, bag),
        excludes: view.all("exclude").map(|node| exclude(node, bag)).collect(),
        sla_node: sla.and_then(View::node).cloned(),
        sla: sla.map(|sla| self::sla(sla, bag)),
        limit: (limit, limit_node.map_or_else(|| view.head(), View::head)),
        batch: view.child("batch").and_then(|batch| batch.count("JOBS")).unwrap_or(1),
    })
}

/// Decodes the axes in the order written; a `together` is one group.
fn axes(view: &View<'_>, limit: u64, bag: &mut Bag) -> Vec<AxisGroup> {
    let mut groups = Vec::new();
    for node in view.children() {
        match node.name() {
            "vary" => groups.push(AxisGroup { axes: axis(node, limit, bag).into_iter().collect() }),
            "together" => {
                let axes: Vec<Axis> =
                    node.all("vary").filter_map(|vary| axis(vary, limit, bag)).collect();
                in_step(&axes, node, bag);
                groups.push(AxisGroup { axes });
            }
            _ => {} // the other nodes of the block are no axes
        }
    }
    groups.retain(|group| !group.axes.is_empty()); // empty ones were complained of
    twice(&groups, bag);
    groups
}

/// Complains of a path that varies twice, in one `together` and beside it.
fn twice(groups: &[AxisGroup], bag: &mut Bag) {
    let all: Vec<&Axis> = groups.iter().flat_map(|group| &group.axes).collect();
    for (index, axis) in all.iter().enumerate() {
        if let Some(first) = all[..index].iter().find(|first| first.path == axis.path) {
            let message = format!("`{}` varies twice", axis.path);
            let problem = axis.place.problem(Code::KdlDuplicateName, message, "varies again");
            bag.push(first.place.also(problem, "first here"));
        }
    }
}

/// Complains of axes that cannot move in step.
fn in_step(axes: &[Axis], node: &View<'_>, bag: &mut Bag) {
    let Some((first, others)) = axes.split_first() else {
        let problem =
            node.head().problem(Code::KdlMissingNode, "`together` has no axes", "missing here");
        bag.push(problem.help("add two or more `vary` nodes"));
        return;
    };
    for other in others.iter().filter(|other| other.values.len() != first.values.len()) {
        let message = format!(
            "axes that move in step have as many values each, found {} and {}",
            first.values.len(),
            other.values.len()
        );
        let problem = other.place.problem(
            Code::ScenarioTogether,
            message,
            counted(other.values.len(), "value"),
        );
        bag.push(first.place.also(problem, &counted(first.values.len(), "value")));
    }
}

/// Decodes an axis; `None` where the bag says why. A range of more than `limit` values is refused before they are made.
fn axis(view: &View<'_>, limit: u64, bag: &mut Bag) -> Option<Axis> {
    let listed: Vec<Value> = view.rest().iter().map(|(value, _)| (*value).clone()).collect();
    let ranged = ["from", "to", "step"].iter().any(|name| view.is_given(name));
    let values = match (listed.is_empty(), ranged) {
        (false, false) => {
            given_twice(&listed, bag);
            listed
        }
        (true, true) => range(view, limit, bag)?,
        (false, true) => {
            let message = "an axis lists its values or gives `from`, `to` and `step`, found both";
            bag.push(view.head().problem(Code::ScenarioAxis, message, "both"));
            return None;
        }
        (true, false) => {
            if view.node().is_some_and(|node| node.args.len() <= 1 && node.props.is_empty()) {
                let problem = view.head().problem(
                    Code::ScenarioAxis,
                    "the axis has no values",
                    "missing after this",
                );
                bag.push(problem.help("list them, `1 2 4`, or give `from=1 to=8 step=1`"));
            }
            return None;
        }
    };
    Some(Axis { path: view.text("PATH")?.to_owned(), place: view.place("PATH"), values })
}

/// Complains of values that are listed twice, however they are written.
fn given_twice(values: &[Value], bag: &mut Bag) {
    let mut seen: BTreeMap<String, &Value> = BTreeMap::new();
    for value in values {
        let key = value.content.spelling();
        if let Some(first) = seen.get(&key) {
            let message = format!("the axis has the value `{}` twice", value.text);
            let problem = value.place.problem(Code::ScenarioAxis, message, "given again");
            bag.push(first.place.also(problem, "first given here"));
        } else {
            seen.insert(key, value);
        }
    }
}

/// Returns the values from `from` to `to` by `step`, both ends included, each at the place of `from`.
fn range(view: &View<'_>, limit: u64, bag: &mut Bag) -> Option<Vec<Value>> {
    let mut bound = |name: &'static str| -> Option<(Decimal, Value)> {
        let Some(value) = view.value(name) else {
            if !is_written(view, name) {
                let message = format!("the range lacks `{name}`");
                bag.push(view.head().problem(Code::ScenarioAxis, message, "missing here"));
            }
            return None;
        };
        let decimal = matches!(value.content, Content::Integer(_) | Content::Real(_))
            .then(|| Decimal::parse(&value.text))
            .flatten();
        if decimal.is_none() {
            bag.push(no_bound(name, value));
        }
        decimal.map(|decimal| (decimal, value.clone()))
    };
    let from = bound("from");
    let to = bound("to");
    let step = if view.is_given("step") {
        bound("step").map(|(step, _)| step)
    } else {
        Some(Decimal::ONE)
    };
    let ((from, first), (to, last), step) = (from?, to?, step?);
    match Range::new(from, to, step) {
        Ok(range) if range.count_values() > i128::from(limit) => {
            let message =
                format!("the axis has {} values, the limit is {limit} jobs", range.count_values());
            let problem = last.place.problem(Code::ScenarioPlanLimit, message, "too many values");
            bag.push(problem.help("shorten the axis, or raise `limit` on purpose"));
            None
        }
        Ok(range) => Some(range.map(|decimal| decimal_value(decimal, &first)).collect()),
        Err(message) => {
            let problem = last.place.problem(Code::ScenarioAxis, message, "the range ends here");
            bag.push(first.place.also(problem, "and begins here"));
            None
        }
    }
}

/// Returns whether the file gives a property, right or wrong.
fn is_written(view: &View<'_>, name: &str) -> bool {
    view.node().is_some_and(|node| node.props.iter().any(|prop| prop.name.text == name))
}

/// Returns the problem of a value that cannot bound a range.
fn no_bound(name: &str, value: &Value) -> Problem {
    let message = format!("`{name}` is a number without exponent, found `{}`", value.text);
    let problem = value.place.problem(Code::ScenarioAxis, message, "no such number");
    match value.as_text() {
        Some(text) if Decimal::parse(text).is_some() => {
            problem.help(format!("remove the quotes: `{name}={text}`"))
        }
        Some(_) | None => problem.help("a range is of numbers; list other values one by one"),
    }
}

/// Returns a value of a range as if the file listed it.
fn decimal_value(decimal: Decimal, model: &Value) -> Value {
    let text = decimal.to_string();
    let content = match decimal.whole() {
        Some(whole) => Content::Integer(whole),
        None => Content::Real(text.parse().expect("a decimal is a number")),
    };
    Value { content, text, place: model.place.clone() }
}

/// Decodes the combinations that are dropped.
fn exclude(view: &View<'_>, bag: &mut Bag) -> Exclude {
    let written = view.node().is_some_and(|node| !node.props.is_empty());
    if !written {
        let problem = view.head().problem(
            Code::ScenarioExclude,
            "`exclude` names no axis",
            "missing after this",
        );
        bag.push(problem.help("write `exclude replicas=4 router=\"kv-router\"`"));
    }
    let place = |name: &str| {
        let node = view.node()?;
        node.props.iter().find(|prop| prop.name.text == name).map(|prop| prop.name.place.clone())
    };
    let pairs = view.open().iter().map(|(name, value, _)| {
        let place = place(name).unwrap_or_else(|| value.place.clone());
        (Used { name: (*name).to_owned(), place }, (*value).clone())
    });
    Exclude { place: view.head(), pairs: pairs.collect() }
}

/// Decodes what a good request is.
pub(super) fn sla(view: &View<'_>, bag: &mut Bag) -> Sla {
    let sla = Sla {
        ttft_ms: view.real("ttft-ms"),
        tpot_ms: view.real("tpot-ms"),
        e2e_ms: view.real("e2e-ms"),
    };
    let other = ["ttft-ms", "tpot-ms"].into_iter().find(|name| view.is_given(name));
    if let Some(other) = other.filter(|_| sla.e2e_ms.is_some()) {
        let message = format!("`e2e-ms` stands alone, found `{other}` beside it");
        let problem =
            view.problem(Code::ScenarioConflict, "e2e-ms", message, "bounds the whole request");
        bag.push(view.place(other).also(problem, "bounds a part of it"));
    }
    if view.node().is_some_and(|node| node.props.is_empty()) {
        let problem =
            view.head().problem(Code::KdlMissingProperty, "`sla` states no bound", "missing here");
        bag.push(problem.help("add `ttft-ms=500 tpot-ms=50`, or `e2e-ms=30000`"));
    }
    sla
}
