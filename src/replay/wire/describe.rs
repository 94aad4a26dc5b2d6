//! A plan in words: what is printed, and what is hashed.

use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::graph::{Graph, NodeIndex};

use super::headers::VOLATILE;
use super::identity::{INSTANCE, Identity, MARKER};
use super::plan::{PlannedBody, WirePlan};
use super::request::METHOD;

/// The schema of the description; a change moves every digest.
pub(super) const SCHEMA: &str = "touchstone.wire/1";

impl WirePlan {
    /// Returns the whole plan: instances, and every call of every trace with what it sends.
    ///
    /// What an instance has to itself stands as `<instance>` and `<marker>`, answers of earlier calls as `<answer N>`.
    pub fn describe(&self) -> Value {
        let traces = (0..self.graphs.len()).map(|trace| {
            let calls = self.nodes(trace).map(|node| self.describe_call(trace, node));
            let variants: Vec<Value> =
                self.variants_of(trace).map(|variant| self.describe_variant(variant)).collect();
            object([
                ("calls", Value::List(calls.collect())),
                ("trace", Value::text(&self.graphs[trace].id)),
            ])
            .with("variants", (!variants.is_empty()).then_some(Value::List(variants)))
        });
        object([
            ("digest", self.digests().digest().into()),
            ("instances", Value::List(self.instances())),
            ("run", self.describe_run()),
            ("traces", Value::List(traces.collect())),
        ])
    }

    /// Returns what holds for all requests.
    pub fn describe_run(&self) -> Value {
        let volatile = VOLATILE.iter().copied().map(Value::text);
        let lanes = self.lanes().map(count);
        let (kept, too_long) = (self.selection.kept, self.selection.too_long);
        object([
            ("draws", Value::text(self.draws().order().name())),
            ("method", Value::text(METHOD)),
            ("pacing", self.pacing().canonical()),
            ("path", Value::text(self.path())),
            ("recycles", Value::Bool(self.settings.stop.recycles())),
            ("schema", Value::text(SCHEMA)),
            ("traces_kept", Value::count(kept)),
            ("traces_too_long", Value::count(too_long)),
            ("volatile_headers", Value::List(volatile.collect())),
        ])
        .with("lanes", lanes)
    }

    /// Returns the instances that are known before the run: number, trace, names, and lane or arrival.
    pub fn instances(&self) -> Vec<Value> {
        let instance = |number: u64| {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            let arrival = self.arrivals().and_then(|arrivals| arrivals.get(at));
            let arrival = arrival.map(|arrival| self.pacing().after(*arrival).into());
            let lane = self.lanes().filter(|lanes| at < *lanes && arrival.is_none());
            let window = self.windows().get(at);
            object([
                ("instance", Value::count(number)),
                ("names", Value::text(self.identity(number).nonce())),
                ("trace", Value::text(&self.graphs[self.trace(number)].id)),
            ])
            .with("at_ns", arrival)
            .with("cut_ns", window.map(|window| window.cut.into()))
            .with("lane", lane.map(|_| Value::count(number)))
            .with("origin_ns", window.map(|window| window.origin.into()))
        };
        (0..self.first_pass()).map(instance).collect()
    }

    /// Returns a call: when it starts and what it sends.
    pub fn describe_call(&self, trace: usize, node: NodeIndex) -> Value {
        self.describe_sending((trace, node), self.body(trace, node), None)
    }

    /// Returns a sending of a call: when the call starts and what is sent.
    pub(super) fn describe_sending(
        &self,
        (trace, node): (usize, NodeIndex),
        body: &PlannedBody,
        warmup: Option<&str>,
    ) -> Value {
        let graph = &self.graphs[trace];
        let is_streaming = self.is_streaming(trace, node);
        let identity = Identity::placeholder();
        let headers = self.sender(trace, node, &identity).headers(is_streaming, warmup);
        let header = |(name, value): (String, String)| (name, Value::Text(value));
        let mut slots: Vec<Value> =
            body.slots.iter().map(|slot| Value::text(slot.name())).collect();
        if matches!(
            self.settings.routing,
            crate::workload::live::SessionRouting::DynamoNvext { .. }
        ) {
            slots.push(Value::text(INSTANCE));
        }
        if self.is_marked {
            slots.push(Value::text(MARKER));
        }
        object([
            (
                "body",
                object([
                    ("bytes", Value::count(body.bytes)),
                    ("sha256", body.digest.into()),
                    ("slots", Value::List(slots)),
                ]),
            ),
            ("call", Value::text(&graph.node(node).id)),
            ("headers", Value::Object(headers.into_iter().map(header).collect())),
            ("ordinal", count(node.0)),
            ("start", self.pacing().start(graph, node)),
        ])
    }

    /// Returns the digest of a call's description.
    pub(super) fn call_digest(&self, trace: usize, node: NodeIndex) -> Sha256 {
        self.describe_call(trace, node).digest()
    }

    /// Returns the calls of a trace.
    pub fn nodes(&self, trace: usize) -> impl Iterator<Item = NodeIndex> + use<> {
        let graph: &Graph = &self.graphs[trace];
        (0..graph.nodes.len()).map(NodeIndex)
    }
}

fn count(count: usize) -> Value {
    Value::count(u64::try_from(count).expect("64 bits"))
}
