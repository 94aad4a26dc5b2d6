//! How a request says which session it belongs to: headers, and the object of the body.
//!
//! Source: REPLAY.md §9.3. Unlike `AIPerf`'s lane (§11): the parent is really named, also one that the recording does not hold; the last
//! turn says that it is; recorded bodies carry `nvext` too.

use crate::graph::{Graph, GraphSource, Node};
use crate::workload::live::{NvextContract, SessionRouting};

use super::fields::{Fields, quoted};
use super::identity::Identity;

/// Which turn of its conversation a request is, as far as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Opening {
    /// The first one of its instance that is sent.
    First,
    /// A later one.
    Later,
}

/// Headers that name a session or a conversation.
const NAMES: [&str; 6] = [
    "x-correlation-id",
    "x-dynamo-parent-session-id",
    "x-dynamo-session-id",
    "x-session-affinity",
    "x-session-id",
    "x-smg-routing-key",
];

/// The header that says that a session has no further turn.
const FINAL: &str = "x-dynamo-session-final";

/// What becomes of a header that a call states itself.
///
/// As of recorded ones: where a mode says which session a request belongs to, nothing else does; where none does, two instances of a
/// trace do not share a name. Source: REPLAY.md §9.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stated {
    /// It is sent as it is.
    Plain,
    /// It is a name, which is made the instance's own.
    Name,
    /// It is left out: a mode owns it.
    LeftOut,
}

impl Stated {
    /// Returns what becomes of a header of this name in lower case.
    pub(super) fn of(routing: &SessionRouting, name: &str) -> Self {
        let is_name = NAMES.contains(&name);
        match routing {
            SessionRouting::None if is_name => Self::Name,
            SessionRouting::None => Self::Plain,
            SessionRouting::SessionIdHeader { header } if name.eq_ignore_ascii_case(header) => {
                Self::LeftOut
            }
            SessionRouting::DynamoHeaders
            | SessionRouting::DynamoNvext { .. }
            | SessionRouting::SmgRoutingKey
            | SessionRouting::SessionIdHeader { .. } => {
                if is_name || name == FINAL {
                    Self::LeftOut
                } else {
                    Self::Plain
                }
            }
        }
    }
}

/// Returns the headers that say which session a request belongs to.
pub(super) fn headers(
    routing: &SessionRouting,
    graph: &Graph,
    node: &Node,
    identity: &Identity,
) -> Vec<(String, String)> {
    let turn = &node.session;
    let own = identity.conversation(graph, &turn.session);
    let dynamo = |session: String, parent: Option<String>| {
        let parent = parent.map(|parent| ("x-dynamo-parent-session-id".to_owned(), parent));
        let last = turn.is_final.then(|| (FINAL.to_owned(), "true".to_owned()));
        let session = ("x-dynamo-session-id".to_owned(), session);
        [Some(session), parent, last].into_iter().flatten().collect()
    };
    let written: Vec<(String, String)> = match routing {
        SessionRouting::None if graph.source == GraphSource::Dynamo => {
            let parent = turn.parent.as_ref().map(|parent| identity.unique(parent));
            dynamo(identity.unique(&turn.session), parent)
        }
        SessionRouting::None | SessionRouting::DynamoNvext { .. } => Vec::new(),
        SessionRouting::DynamoHeaders => {
            let parent = turn.parent.as_ref().map(|parent| identity.conversation(graph, parent));
            dynamo(own, parent)
        }
        SessionRouting::SmgRoutingKey => vec![("x-smg-routing-key".to_owned(), own)],
        SessionRouting::SessionIdHeader { header } => vec![(header.to_ascii_lowercase(), own)],
    };
    written.into_iter().map(|(name, value)| (name, visible(&value))).collect()
}

/// Returns `nvext` with what the routing says in it; `stated` is what the body would hold without it. `None` for other modes.
pub(super) fn nvext(
    routing: &SessionRouting,
    stated: Option<&str>,
    session: &str,
    (node, opening): (&Node, Opening),
) -> Option<String> {
    let SessionRouting::DynamoNvext { contract, timeout } = routing else { return None };
    let action = match (contract, opening, node.session.is_final) {
        (_, _, true) => Some("close"),
        (NvextContract::Bind, _, false) => Some("bind"),
        (NvextContract::Open, Opening::First, false) => Some("open"),
        (NvextContract::Open, Opening::Later, false) => None,
    };
    let mut control = Fields::default();
    control.set("session_id", quoted(session));
    if let Some(action) = action {
        control.set("action", quoted(action));
        if action != "close" {
            control.set("timeout", (timeout.get() / 1_000_000_000).to_string());
        }
    }
    let mut all = stated.and_then(Fields::read).unwrap_or_default();
    all.set("session_control", control.object());
    Some(all.object())
}

/// Returns a value that a header can hold: bytes that are not printable ASCII are written `%XX`, and so is `%`.
pub(super) fn visible(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'%';
    if value.bytes().all(is_plain) {
        return value.to_owned();
    }
    let written = value.bytes().map(|byte| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    });
    written.collect()
}
