//! `workload`.

use super::worker::too_much;
use crate::diag::{Bag, Code};
use crate::scenario::bounds;
use crate::scenario::cursor::{self, View};
use crate::scenario::syntax::Node;
use crate::scenario::table;
use crate::units::{Nanos, SimTime, Tokens};
use crate::workload::{
    CacheBust, Load, Profile, Rate, RecordedLoad, Sampling, Select, SessionShape, Source, Stop,
    StopCount, SyntheticShape, Workload,
};

/// Decodes a `workload` node; `None` where the bag says why.
pub fn workload(node: &Node, bag: &mut Bag) -> Option<Workload> {
    let view = cursor::check_node(node, &table::WORKLOAD, &table::ROOT, bag);
    let source = source(&view, bag);
    let load = view.child("load").and_then(|load| self::load(load, source.as_ref(), bag));
    let stop = stop(&view, source.as_ref(), load.as_ref(), bag);
    let select = view.child("select").map(select);
    let name = view.text("NAME")?;
    let stream = view.text("stream").unwrap_or(name).to_owned();
    Some(Workload {
        source: source?,
        load: load?,
        select: match select {
            None => None,
            Some(select) => Some(select?),
        },
        stop: stop?,
        stream,
    })
}

/// The nodes of which one names the source.
const SOURCES: [&str; 4] = ["trace", "synthetic", "synthetic-session", "graph"];

/// Decodes the source, of which there is exactly one.
fn source(view: &View<'_>, bag: &mut Bag) -> Option<Source> {
    let mut found = view.children().iter().filter(|child| SOURCES.contains(&child.name()));
    let Some(first) = found.next() else {
        if view.node().is_some_and(|node| {
            !node.children.iter().any(|child| SOURCES.contains(&child.name.text.as_str()))
        }) {
            let problem = view.head().problem(
                Code::ScenarioSource,
                "the workload has no source of requests",
                "missing here",
            );
            bag.push(
                problem.help("add one of `trace`, `synthetic`, `synthetic-session` and `graph`"),
            );
        }
        return None;
    };
    for other in found {
        let message = format!(
            "a workload has one source, found `{}` beside `{}`",
            other.name(),
            first.name()
        );
        let problem = other.head().problem(Code::ScenarioSource, message, "a second source");
        bag.push(first.head().also(problem, "the first"));
    }
    match first.name() {
        "trace" => Some(Source::Trace { pin: first.text("NAME")?.to_owned() }),
        "graph" => Some(Source::Graph {
            pin: first.text("NAME")?.to_owned(),
            format: first.text("format")?.to_owned(),
        }),
        "synthetic" => synthetic(first, bag),
        _ => session(first, bag),
    }
}

/// Decodes requests of one shape.
fn synthetic(view: &View<'_>, bag: &mut Bag) -> Option<Source> {
    let shape = SyntheticShape {
        input: Tokens::new(view.count("input-tokens")?),
        output: Tokens::new(view.count("output-tokens")?),
        cached_prefix: Tokens::new(view.count("cached-prefix-tokens")?),
    };
    if shape.cached_prefix > shape.input {
        let message = format!(
            "`cached-prefix-tokens` is at most `input-tokens`, found {} and {}",
            shape.cached_prefix, shape.input
        );
        bag.push(view.problem(
            Code::ScenarioConflict,
            "cached-prefix-tokens",
            message,
            "longer than the prompt",
        ));
    }
    too_much(view, &["input-tokens", "output-tokens"], bounds::request_excess(&shape), bag);
    Some(Source::Synthetic(shape))
}

/// Decodes sessions of one shape.
fn session(view: &View<'_>, bag: &mut Bag) -> Option<Source> {
    let shape = SessionShape {
        new_input_per_turn: Tokens::new(view.count("new-input-tokens-per-turn")?),
        output_per_turn: Tokens::new(view.count("output-tokens-per-turn")?),
        turns: view.count32("turns")?,
        shared_prefix_ratio: view.real("shared-prefix-ratio")?,
        prefix_groups: view.count("prefix-groups").and_then(|groups| u32::try_from(groups).ok())?,
        prefix_seed: view.count("prefix-seed"),
        inter_turn_delay_ms: view.real("inter-turn-delay-ms")?,
    };
    if shape.shared_prefix_ratio > 0.0 && shape.prefix_groups == 0 {
        let message = "`shared-prefix-ratio` needs `prefix-groups`, which is 0";
        let problem = view.problem(
            Code::ScenarioConflict,
            "shared-prefix-ratio",
            message,
            "shared with whom?",
        );
        bag.push(problem.help("add `prefix-groups=1` or more"));
    }
    let sizes = ["turns", "new-input-tokens-per-turn", "output-tokens-per-turn"];
    too_much(view, &sizes, bounds::session_excess(&shape), bag);
    Some(Source::SyntheticSession(shape))
}

/// Decodes the load; which loads a source can have is checked beside.
fn load(view: &View<'_>, source: Option<&Source>, bag: &mut Bag) -> Option<Load> {
    let kind = view.kind()?;
    if let Some(source) = source {
        fits(view, kind, source, bag);
    }
    match kind {
        "concurrency" => Some(Load::Concurrency { concurrency: view.count32("concurrency")? }),
        "constant-rate" => Some(Load::ConstantRate { rate: rate(view, source, bag)? }),
        "poisson" => {
            Some(Load::Poisson { rate: rate(view, source, bag)?, seed: view.count("seed") })
        }
        "trace-timestamps" => Some(Load::TraceTimestamps { speedup: view.real("speedup")? }),
        _ => recorded(view, bag).map(Load::Recorded),
    }
}

/// Refuses a load that the source cannot have.
fn fits(view: &View<'_>, kind: &str, source: &Source, bag: &mut Bag) {
    let (name, allowed): (&str, &[&str]) = match source {
        Source::Trace { .. } => ("trace", &["trace-timestamps", "concurrency", "recorded"]),
        Source::Synthetic(_) => ("synthetic", &["concurrency", "constant-rate", "poisson"]),
        Source::SyntheticSession(_) => {
            ("synthetic-session", &["concurrency", "constant-rate", "poisson"])
        }
        Source::Graph { .. } => ("graph", &["recorded", "concurrency"]),
        Source::Requests(_) => unreachable!("a scenario states no requests one by one"),
    };
    if !allowed.contains(&kind) {
        let message = format!("a `{name}` source cannot have `load \"{kind}\"`");
        let problem = view.problem(Code::ScenarioLoad, "KIND", message, "does not fit the source");
        let listed = allowed.iter().map(|kind| format!("`\"{kind}\"`")).collect::<Vec<_>>();
        bag.push(problem.help(format!("it can have {}", listed.join(", "))));
    }
}

/// Decodes the rate: of requests, or of sessions where the source has sessions.
fn rate(view: &View<'_>, source: Option<&Source>, bag: &mut Bag) -> Option<Rate> {
    let sessions = matches!(source, Some(Source::SyntheticSession(_)));
    let (wanted, other) = if sessions {
        ("sessions-per-second", "requests-per-second")
    } else {
        ("requests-per-second", "sessions-per-second")
    };
    if source.is_some() && view.is_given(other) {
        let message = format!("`{other}` does not fit the source");
        let problem = view.problem(Code::ScenarioConflict, other, message, "counts something else");
        bag.push(problem.help(format!("write `{wanted}=`")));
        return None;
    }
    let refused =
        |name| view.node().is_some_and(|node| node.props.iter().any(|prop| prop.name.text == name));
    let found = view.real(wanted).or_else(|| view.real(other));
    if found.is_none() && !refused(wanted) && !refused(other) {
        let message = format!("`load` lacks its property `{wanted}`");
        let problem = view.head().problem(Code::KdlMissingProperty, message, "missing here");
        bag.push(problem.help(format!("add `{wanted}=1.0`")));
    }
    found.and_then(Rate::new)
}

/// Decodes how recorded sessions are paced.
fn recorded(view: &View<'_>, bag: &mut Bag) -> Option<RecordedLoad> {
    let load = RecordedLoad {
        idle_gap_cap_ms: view.real("idle-gap-cap"),
        idle_gap_scope: view.text("idle-gap-scope")?.to_owned(),
        open_loop: view.flag("open-loop")?,
        strict: view.flag("strict")?,
        speedup: view.real("speedup")?,
        agentic_lanes: view.count32("agentic-lanes"),
        snapshot_seed: view.count("snapshot-seed"),
        warmup: view.flag("warmup")?,
        profile: profile(view, bag),
    };
    if load.strict && !load.open_loop {
        let problem = view.problem(
            Code::ScenarioConflict,
            "strict",
            "`strict` needs `open-loop`",
            "nothing to be strict about",
        );
        bag.push(problem.help("add `open-loop=#true`"));
    }
    if load.snapshot_seed.is_some() && load.agentic_lanes.is_none() {
        let message = "`snapshot-seed` needs `agentic-lanes`";
        let problem =
            view.problem(Code::ScenarioConflict, "snapshot-seed", message, "whose snapshot?");
        bag.push(problem.help("add `agentic-lanes=1` or more"));
    }
    if load.warmup && load.snapshot_seed.is_none() {
        let message = "`warmup` needs `snapshot-seed`";
        let problem = view.problem(Code::ScenarioConflict, "warmup", message, "nothing to warm");
        bag.push(problem.help("add `snapshot-seed=1`"));
    }
    if load.profile.is_some() && (load.agentic_lanes.is_none() || load.snapshot_seed.is_none()) {
        let message = "`profile` needs `agentic-lanes` and `snapshot-seed`";
        bag.push(view.problem(
            Code::ScenarioConflict,
            "profile",
            message,
            "needs lanes and a snapshot",
        ));
    }
    Some(load)
}

/// Decodes the measured window of a profile; what is not given is as the reference has it.
fn profile(view: &View<'_>, bag: &mut Bag) -> Option<Profile> {
    let plain = Profile::default();
    let parts = ["grace", "cancel-drain", "tree-idle-cap", "global-idle-cap"];
    if !view.is_given("profile") {
        for name in parts.into_iter().filter(|name| view.is_given(name)) {
            let message = format!("`{name}` needs `profile`");
            let problem = view.problem(Code::ScenarioConflict, name, message, "part of no window");
            bag.push(problem.help("add `profile=\"1h\"`"));
        }
        return None;
    }
    for name in ["profile", "tree-idle-cap", "global-idle-cap"] {
        if view.real(name).is_some_and(|ms| ms <= 0.0) {
            let message = format!("`{name}` is above 0");
            bag.push(view.problem(Code::KdlOutOfRange, name, message, "no time at all"));
        }
    }
    let given = |name: &str, ms: f64| view.real(name).unwrap_or(ms);
    Some(Profile {
        duration_ms: view.real("profile")?,
        grace_ms: given("grace", plain.grace_ms),
        cancel_drain_ms: given("cancel-drain", plain.cancel_drain_ms),
        tree_idle_cap_ms: given("tree-idle-cap", plain.tree_idle_cap_ms),
        global_idle_cap_ms: given("global-idle-cap", plain.global_idle_cap_ms),
    })
}

/// The counts of which at most one is given.
const COUNTS: [&str; 4] =
    ["requests", "sessions", "requests-per-load-unit", "sessions-per-load-unit"];

/// Decodes the stop.
fn stop(
    view: &View<'_>,
    source: Option<&Source>,
    load: Option<&Load>,
    bag: &mut Bag,
) -> Option<Stop> {
    let synthetic = matches!(source, Some(Source::Synthetic(_) | Source::SyntheticSession(_)));
    let Some(stop) = view.child("stop") else {
        if synthetic {
            let problem = view.head().problem(
                Code::KdlMissingNode,
                "a synthetic workload has no `stop`",
                "missing here",
            );
            bag.push(problem.help("add `stop requests=100`: synthetic requests never run out"));
            return None;
        }
        return Some(Stop::default());
    };
    let given: Vec<&str> = COUNTS.into_iter().filter(|name| stop.is_given(name)).collect();
    if let [first, second, ..] = given[..] {
        let message = format!("`stop` has one count, found `{first}` and `{second}`");
        let problem = stop.problem(Code::ScenarioConflict, second, message, "a second count");
        bag.push(stop.place(first).also(problem, "the first"));
    }
    let count = given.first().and_then(|name| count(stop, name));
    if let (Some(name), Some(source)) = (given.first(), source) {
        count_fits(stop, name, source, load, bag);
    }
    if let (Some(source), Some(load)) = (source, load) {
        too_much(stop, &COUNTS, bounds::requests_excess(source, load, count), bag);
    }
    let refused = stop.node().is_some_and(|node| node.props.len() > stop.given().count());
    if synthetic && count.is_none() && !refused {
        let problem = stop.head().problem(
            Code::KdlMissingProperty,
            "`stop` of a synthetic workload needs a count",
            "missing here",
        );
        bag.push(
            problem.help("add `requests=100`, `sessions=100` or one of the `…-per-load-unit`"),
        );
    }
    profile_has_no_cut(stop, load, bag);
    Some(Stop { count, virtual_time: virtual_time(stop, bag) })
}

/// Decodes the cut, which the clock can reach.
fn virtual_time(stop: &View<'_>, bag: &mut Bag) -> Option<SimTime> {
    let ms = stop.real("virtual-time")?;
    let time = Nanos::from_ms(ms).and_then(|_| SimTime::from_ms(ms));
    if time.is_err() {
        let message = "`virtual-time` is beyond what a clock can reach";
        bag.push(stop.problem(Code::KdlOutOfRange, "virtual-time", message, "too long"));
    }
    time.ok()
}

/// Refuses a cut beside the measured window of a profile.
fn profile_has_no_cut(stop: &View<'_>, load: Option<&Load>, bag: &mut Bag) {
    let profiled = matches!(load, Some(Load::Recorded(load)) if load.profile.is_some());
    if profiled && stop.is_given("virtual-time") {
        let message = "`virtual-time` and `profile` exclude each other";
        bag.push(stop.problem(
            Code::ScenarioConflict,
            "virtual-time",
            message,
            "the profile ends the run",
        ));
    }
}

/// Returns the count that a property of `stop` states.
fn count(stop: &View<'_>, name: &str) -> Option<StopCount> {
    match name {
        "requests" => stop.count(name).map(StopCount::Requests),
        "sessions" => stop.count(name).map(StopCount::Sessions),
        "requests-per-load-unit" => stop.real(name).map(StopCount::RequestsPerLoadUnit),
        _ => stop.real(name).map(StopCount::SessionsPerLoadUnit),
    }
}

/// Refuses a count of something that the source does not have, and a relative one where the load has no unit.
fn count_fits(stop: &View<'_>, name: &str, source: &Source, load: Option<&Load>, bag: &mut Bag) {
    let sessions = name.starts_with("sessions");
    let wrong = match source {
        Source::Synthetic(_) => sessions.then_some("requests"),
        Source::SyntheticSession(_) => (!sessions).then_some("sessions"),
        Source::Trace { .. } => {
            let paced = matches!(load, Some(Load::Recorded(_)));
            (sessions && !paced).then_some("requests")
        }
        Source::Graph { .. } | Source::Requests(_) => None,
    };
    if let Some(right) = wrong {
        let message = format!("`{name}` does not fit the source, which is counted in {right}");
        let problem = stop.problem(Code::ScenarioConflict, name, message, "counts something else");
        bag.push(problem.help(format!("write `{right}=` or `{right}-per-load-unit=`")));
    }
    if name.ends_with("-per-load-unit") && load.is_some_and(|load| load.units().is_none()) {
        let message = format!("`{name}` needs a load with a unit: a concurrency or a rate");
        bag.push(stop.problem(Code::ScenarioConflict, name, message, "this load has no unit"));
    }
}

/// Decodes the selection.
fn select(view: &View<'_>) -> Option<Select> {
    Some(Select {
        entries: view.count("entries"),
        max_context_tokens: view.count("max-context-tokens"),
        sampling: match view.text("sampling")? {
            "shuffle" => Sampling::Shuffle,
            "random" => Sampling::Random,
            _ => Sampling::Sequential,
        },
        wrap: view.flag("wrap")?,
        cache_bust: match view.text("cache-bust")? {
            "first-turn" => CacheBust::FirstTurn,
            _ => CacheBust::None,
        },
    })
}
