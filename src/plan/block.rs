//! A `simulate` block with its names resolved: what is crossed, and what is dropped.

use std::cell::Cell;

use super::axis::{Target, shown};
use crate::diag::{Bag, Code, Problem};
use crate::scenario::model::{Axis, AxisGroup, Declared, Exclude, Scenario, Simulation, Used};
use crate::scenario::syntax::{Content, Value};

/// A `simulate` block with its axes and excludes resolved.
pub(super) struct Block<'s> {
    pub(super) stated: &'s Simulation,
    pub(super) workloads: Vec<&'s Declared>,
    pub(super) deployments: Vec<&'s Declared>,
    pub(super) axes: Vec<BlockAxis<'s>>,
    excludes: Vec<(&'s Exclude, Vec<Condition>, Cell<u64>)>,
}

/// An axis with where its values go.
pub(super) struct BlockAxis<'s> {
    /// The axis as written.
    pub(super) axis: &'s Axis,
    /// Where its values go.
    pub(super) target: Target,
    /// The name that job ids show.
    pub(super) name: String,
    /// Which group it belongs to: axes of one group move in step.
    pub(super) group: usize,
}

/// One pair of an `exclude`: a coordinate and the index of a value on it.
struct Condition {
    coordinate: Coordinate,
    value: usize,
}

/// What an `exclude` may name.
#[derive(Debug, Clone, Copy)]
enum Coordinate {
    Workload,
    Deployment,
    Engine,
    Group(usize),
}

impl<'s> Block<'s> {
    /// Resolves the names of a block; `None` where something is wrong, which is in the bag.
    pub(super) fn new(
        block: &'s Simulation,
        scenario: &'s Scenario,
        paths: &[&str],
        names: &[String],
        findings: &mut Bag,
    ) -> Option<Self> {
        let mut axes = Vec::new();
        for (group, axis) in axes_of(&block.axes) {
            match Target::of(axis) {
                Ok(target) => {
                    target.read_as_one(axis, findings);
                    let known = paths.iter().position(|path| *path == axis.path);
                    let name =
                        known.map_or_else(|| axis.path.clone(), |index| names[index].clone());
                    axes.push(BlockAxis { axis, target, name, group });
                }
                Err(problem) => findings.push(problem),
            }
        }
        let mut excludes = Vec::new();
        for exclude in &block.excludes {
            if let Some(conditions) = conditions(exclude, block, &axes, findings) {
                excludes.push((exclude, conditions, Cell::new(0)));
            }
        }
        let (workloads, deployments) = (
            declared(&block.workloads, &scenario.workloads)?,
            declared(&block.deployments, &scenario.deployments)?,
        );
        let resolved = Self { stated: block, workloads, deployments, axes, excludes };
        resolved.limit(findings);
        Some(resolved)
    }

    /// Returns how many values each coordinate has, in the order of the product.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let groups = self.stated.axes.iter().map(|group| group.axes[0].values.len());
        [self.workloads.len(), self.deployments.len(), self.stated.engines.len()]
            .into_iter()
            .chain(groups)
            .collect()
    }

    /// Complains where the product exceeds the limit; it is known before anything is expanded.
    fn limit(&self, findings: &mut Bag) {
        let count = self
            .sizes()
            .iter()
            .try_fold(1_u128, |product, size| product.checked_mul(*size as u128));
        let (limit, place) = &self.stated.limit;
        if count.is_none_or(|count| count > u128::from(*limit)) {
            let count = count.map_or_else(|| "far too many".to_owned(), |count| count.to_string());
            let message =
                format!("`{}` plans {count} jobs, the limit is {limit}", self.stated.name);
            let problem = place.problem(Code::ScenarioPlanLimit, message, "too many jobs");
            findings.push(problem.help("shorten an axis, or raise `limit` on purpose"));
        }
    }

    /// Returns whether an `exclude` drops a combination, and counts it there.
    pub(super) fn is_excluded(&self, index: &[usize]) -> bool {
        let holds = |condition: &Condition| {
            let at = match condition.coordinate {
                Coordinate::Workload => 0,
                Coordinate::Deployment => 1,
                Coordinate::Engine => 2,
                Coordinate::Group(group) => 3 + group,
            };
            index[at] == condition.value
        };
        let mut excluded = false;
        for (_, conditions, dropped) in &self.excludes {
            if conditions.iter().all(holds) {
                dropped.set(dropped.get() + 1);
                excluded = true;
            }
        }
        excluded
    }

    /// Warns of excludes that dropped nothing.
    pub(super) fn idle_excludes(&self, findings: &mut Bag) {
        for (exclude, _, dropped) in &self.excludes {
            if dropped.get() == 0 {
                let message = "no combination has all of these values";
                findings.push(exclude.place.problem(
                    Code::ScenarioIdleExclude,
                    message,
                    "drops nothing",
                ));
            }
        }
    }
}

/// Returns the axes of a block with the index of their group.
fn axes_of(groups: &[AxisGroup]) -> impl Iterator<Item = (usize, &Axis)> {
    let numbered = groups.iter().enumerate();
    numbered.flat_map(|(index, group)| group.axes.iter().map(move |axis| (index, axis)))
}

/// Returns the declarations that names refer to; `None` where one is missing, which was complained of.
fn declared<'s>(names: &[Used], all: &'s [Declared]) -> Option<Vec<&'s Declared>> {
    names.iter().map(|name| all.iter().find(|one| one.name == name.name)).collect()
}

/// Resolves the pairs of an `exclude`; `None` where one is wrong, which is in the bag.
fn conditions(
    exclude: &Exclude,
    block: &Simulation,
    axes: &[BlockAxis<'_>],
    findings: &mut Bag,
) -> Option<Vec<Condition>> {
    let mut resolved = Vec::new();
    for (name, value) in &exclude.pairs {
        match condition(name, value, block, axes) {
            Ok(condition) => resolved.push(condition),
            Err(problem) => findings.push(*problem),
        }
    }
    (resolved.len() == exclude.pairs.len()).then_some(resolved)
}

/// Resolves one pair of an `exclude`.
fn condition(
    name: &Used,
    value: &Value,
    block: &Simulation,
    axes: &[BlockAxis<'_>],
) -> Result<Condition, Box<Problem>> {
    let (coordinate, values) = match name.name.as_str() {
        "workload" => (Coordinate::Workload, named(&block.workloads)),
        "deployment" => (Coordinate::Deployment, named(&block.deployments)),
        "engine" => (Coordinate::Engine, named(&block.engines)),
        other => {
            let found = axes.iter().find(|axis| axis.name == other || axis.axis.path == other);
            let Some(known) = found else { return Err(Box::new(unknown_axis(name, axes))) };
            (Coordinate::Group(known.group), known.axis.values.clone())
        }
    };
    let wanted = value.content.spelling();
    match values.iter().position(|known| known.content.spelling() == wanted) {
        Some(value) => Ok(Condition { coordinate, value }),
        None => Err(Box::new(not_on_axis(name, value, &values))),
    }
}

/// Returns names as the values of an axis.
fn named(names: &[Used]) -> Vec<Value> {
    let value = |name: &Used| Value {
        content: Content::Text(name.name.clone()),
        text: format!("\"{}\"", name.name),
        place: name.place.clone(),
    };
    names.iter().map(value).collect()
}

/// Returns the problem of a value that an axis does not have, or has as another type.
fn not_on_axis(name: &Used, value: &Value, values: &[Value]) -> Problem {
    let (axis, wanted) = (&name.name, shown(value));
    let problem =
        |message: String, label: &str| value.place.problem(Code::ScenarioExclude, message, label);
    if let Some(known) = values.iter().find(|known| shown(known) == wanted) {
        let (kind, found) = (known.content.kind(), value.content.kind());
        let message = format!("each value of `{axis}` is {kind}, found {found} `{}`", value.text);
        return problem(message, "of another type").help(format!("write `{axis}={}`", known.text));
    }
    let listed = values.iter().map(|value| format!("`{}`", value.text)).collect::<Vec<_>>();
    problem(format!("`{axis}` has no value `{wanted}`"), "not on the axis")
        .help(format!("it has {}", listed.join(", ")))
}

/// Returns the problem of an `exclude` that names no axis.
fn unknown_axis(name: &Used, axes: &[BlockAxis<'_>]) -> Problem {
    let message = format!("there is no axis `{}`", name.name);
    let problem = name.place.problem(Code::ScenarioExclude, message, "no axis");
    let own = axes.iter().map(|axis| format!("`{}`", axis.name));
    let fixed = ["`workload`", "`deployment`", "`engine`"].map(str::to_owned);
    problem.help(format!("axes are {}", own.chain(fixed).collect::<Vec<_>>().join(", ")))
}
