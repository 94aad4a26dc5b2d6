//! The `replay` node itself.

use super::super::names;
use super::super::simulate::sla;
use super::endpoint::endpoint;
use super::header;
use crate::diag::{Bag, Code};
use crate::scenario::cursor::View;
use crate::scenario::model::Replay;
use crate::units::Nanos;
use crate::workload::live::{
    Burst, Lanes, LiveStop, NvextContract, ReplaySettings, SessionRouting, Snapshot, TokenCounter,
    Warmup,
};

/// How long requests in flight may take without a `grace`: 30 s.
const GRACE: Nanos = Nanos::new(30_000_000_000);

/// Decodes live traffic; `None` where the bag says why.
pub(in crate::scenario::decode) fn replay(view: &View<'_>, bag: &mut Bag) -> Option<Replay> {
    Some(Replay {
        name: view.text("NAME")?.to_owned(),
        place: view.head(),
        workloads: names(view.child("workload")),
        settings: settings(view, bag)?,
        node: view.node()?.clone(),
    })
}

/// Decodes everything but name and workloads. Every part is decoded before any is missed, so that one pass shows all mistakes.
fn settings(view: &View<'_>, bag: &mut Bag) -> Option<ReplaySettings> {
    let routing =
        view.child("session-routing").map_or(Some(SessionRouting::None), |node| routing(node, bag));
    let endpoint =
        view.child("endpoint").and_then(|node| endpoint(node, view, routing.as_ref(), bag));
    let lanes = optional(view.child("lanes"), |node| lanes(node, bag));
    let snapshot = optional(view.child("snapshot"), |node| snapshot(node, bag));
    let stop = stop(view, bag);
    let warmup = view.child("warmup").map_or(Some(Warmup::None), |node| warmup(node, view, bag));
    let tokens =
        view.child("tokenizer").map_or(Some(TokenCounter::Builtin), |node| tokens(node, view, bag));
    let sla = view.child("sla").map(|node| sla(node, bag));
    Some(ReplaySettings {
        endpoint: endpoint?,
        lanes: lanes.ok()?,
        snapshot: snapshot.ok()?,
        stop: stop?,
        routing: routing?,
        warmup: warmup?,
        tokens: tokens?,
        sla,
    })
}

/// A node that the bag complains of.
#[derive(Debug, Clone, Copy)]
struct Refused;

/// Decodes a node that may be absent.
fn optional<'a, 'n, T>(
    node: Option<&'n View<'a>>,
    decode: impl FnOnce(&'n View<'a>) -> Option<T>,
) -> Result<Option<T>, Refused> {
    node.map(|node| decode(node).ok_or(Refused)).transpose()
}

/// Decodes a duration that a clock can hold; `None` where the field is absent or the bag says why.
pub(super) fn nanos(view: &View<'_>, name: &str, bag: &mut Bag) -> Option<Nanos> {
    let found = Nanos::from_ms(view.real(name)?);
    if found.is_err() {
        let message = format!("`{name}` is longer than a clock can count");
        bag.push(view.problem(Code::KdlOutOfRange, name, message, "too long"));
    }
    found.ok()
}

/// Decodes a duration above 0.
fn some_time(view: &View<'_>, name: &str, bag: &mut Bag) -> Option<Nanos> {
    let found = nanos(view, name, bag)?;
    if found.get() == 0 {
        let message = format!("`{name}` is above 0");
        let problem = view.problem(Code::KdlOutOfRange, name, message, "nothing would be sent");
        bag.push(problem.help("leave the node out where time ends nothing"));
        return None;
    }
    Some(found)
}

/// Decodes the lanes.
fn lanes(view: &View<'_>, bag: &mut Bag) -> Option<Lanes> {
    Some(Lanes { count: view.count32("LANES")?, ramp: nanos(view, "ramp", bag)? })
}

/// Decodes the snapshot window, whose bounds are in order.
fn snapshot(view: &View<'_>, bag: &mut Bag) -> Option<Snapshot> {
    let (from, to) = (view.real("from")?, view.real("to")?);
    if from > to {
        let message = format!("`from` is at most `to`, found {from} and {to}");
        let problem = view.problem(Code::ScenarioConflict, "from", message, "the window is empty");
        bag.push(view.place("to").also(problem, "its end"));
    }
    let burst = if view.flag("burst")? { Burst::Together } else { Burst::Spread };
    Some(Snapshot { from, to, burst })
}

/// Decodes when the run ends.
fn stop(view: &View<'_>, bag: &mut Bag) -> Option<LiveStop> {
    let duration = optional(view.child("duration"), |node| some_time(node, "DURATION", bag));
    let requests = optional(view.child("requests"), |node| node.count("REQUESTS"));
    let sessions = optional(view.child("sessions"), |node| node.count("SESSIONS"));
    let grace = view.child("grace").map_or(Some(GRACE), |node| nanos(node, "GRACE", bag));
    Some(LiveStop {
        duration: duration.ok()?,
        requests: requests.ok()?,
        sessions: sessions.ok()?,
        grace: grace?,
    })
}

/// Decodes the session routing.
fn routing(view: &View<'_>, bag: &mut Bag) -> Option<SessionRouting> {
    Some(match view.kind()? {
        "dynamo-headers" => SessionRouting::DynamoHeaders,
        "dynamo-nvext" => {
            let contract = match view.text("contract")? {
                "open" => NvextContract::Open,
                _ => NvextContract::Bind,
            };
            SessionRouting::DynamoNvext { contract, timeout: whole_seconds(view, bag)? }
        }
        "smg-routing-key" => SessionRouting::SmgRoutingKey,
        "session-id-header" => {
            let name = view.text("header")?;
            header::check_name(view, "header", name, bag)
                .then(|| SessionRouting::SessionIdHeader { header: name.to_owned() })?
        }
        _ => SessionRouting::None,
    })
}

/// Decodes the timeout of a session, which the wire counts in seconds.
fn whole_seconds(view: &View<'_>, bag: &mut Bag) -> Option<Nanos> {
    let timeout = nanos(view, "timeout", bag)?;
    if timeout.get() % 1_000_000_000 != 0 || timeout.get() == 0 {
        let message = "`timeout` is a whole number of seconds, at least 1";
        bag.push(view.problem(Code::KdlNotWhole, "timeout", message, "the wire counts seconds"));
        return None;
    }
    Some(timeout)
}

/// Decodes the warm-up; priming needs something that lives at the start.
fn warmup(view: &View<'_>, replay: &View<'_>, bag: &mut Bag) -> Option<Warmup> {
    match view.kind()? {
        "prime" => {
            if replay.child("snapshot").is_none() {
                let message = "`warmup \"prime\"` needs a `snapshot`";
                let label = "nothing lives before the start of a trace";
                let problem = view.problem(Code::ScenarioConflict, "KIND", message, label);
                bag.push(problem.help("add `snapshot to=0.5`, or remove the warm-up"));
            }
            Some(Warmup::Prime)
        }
        "pressure" => Some(Warmup::Pressure { duration: some_time(view, "duration", bag)? }),
        _ => Some(Warmup::None),
    }
}

/// Decodes who counts tokens; a server says its counts only where it is asked.
fn tokens(view: &View<'_>, replay: &View<'_>, bag: &mut Bag) -> Option<TokenCounter> {
    match view.kind()? {
        "server" => {
            let usage = replay.child("endpoint").and_then(|endpoint| endpoint.flag("usage"));
            if usage == Some(false) {
                let message = "`tokenizer \"server\"` needs `usage=#true` at the `endpoint`";
                let label = "the server is not asked for its counts";
                let problem = view.problem(Code::ScenarioConflict, "KIND", message, label);
                bag.push(problem.help("add `usage=#true` to `endpoint`"));
            }
            Some(TokenCounter::Server)
        }
        "file" => Some(TokenCounter::File {
            path: view.text("PATH")?.to_owned(),
            digest: view.digest("sha256")?,
        }),
        _ => Some(TokenCounter::Builtin),
    }
}
