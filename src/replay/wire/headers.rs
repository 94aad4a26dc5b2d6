//! The headers of a request.

use crate::graph::{Graph, Node};
use crate::workload::live::{EndpointSettings, SessionRouting};

use super::identity::Identity;
use super::routing::{self, Stated, visible};

/// Headers that are no part of the plan: they belong to the connection, to the build, or are secret.
pub(crate) const VOLATILE: [&str; 4] = ["authorization", "content-length", "host", "user-agent"];

/// What a request is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sender<'a> {
    pub(super) endpoint: &'a EndpointSettings,
    pub(super) routing: &'a SessionRouting,
    pub(super) graph: &'a Graph,
    pub(super) node: &'a Node,
    pub(super) identity: &'a Identity,
}

impl Sender<'_> {
    /// Returns the headers, all but the volatile ones: names in lower case and in order, each once. What a call states wins over what
    /// is written by itself, but for who it belongs to ([`Stated`]), and what the scenario states over both.
    ///
    /// `phase` is the word of a warm-up.
    pub(super) fn headers(&self, is_streaming: bool, phase: Option<&str>) -> Vec<(String, String)> {
        let accept = if is_streaming { "text/event-stream" } else { "application/json" };
        let session = self.identity.conversation(self.graph, &self.node.session.session);
        let mut all = vec![
            ("accept".to_owned(), accept.to_owned()),
            ("content-type".to_owned(), "application/json".to_owned()),
            ("x-correlation-id".to_owned(), visible(&session)),
            ("x-request-id".to_owned(), visible(&self.identity.request(self.node, phase))),
        ];
        all.extend(routing::headers(self.routing, self.graph, self.node, self.identity));
        let of_call = self.node.overrides.headers.iter().filter_map(|(name, value)| {
            let name = name.to_ascii_lowercase();
            match Stated::of(self.routing, &name) {
                Stated::Plain => Some((name, value.clone())),
                Stated::Name => Some((name, self.identity.unique(value))),
                Stated::LeftOut => None,
            }
        });
        let of_run = self.endpoint.headers.iter();
        let of_run = of_run.map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
        for (name, value) in of_call.chain(of_run) {
            all.retain(|(known, _)| *known != name);
            all.push((name, value));
        }
        all.sort_unstable();
        all
    }
}
