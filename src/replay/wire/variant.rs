//! Sendings of calls that differ from what an instance from its beginning sends: for a warm-up, or where a conversation opens in its middle.

use std::collections::BTreeMap;

use crate::digest::Sha256;
use crate::digest::canonical::Value;
use crate::graph::NodeIndex;
use crate::record::Phase;
use crate::workload::live::Warmup;

use super::identity::Identity;
use super::plan::{PlannedBody, WirePlan};
use super::routing::Opening;

/// A sending of a call that differs from [`WirePlan::body`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireVariant {
    /// The call's trace, by its index in [`WirePlan::graphs`].
    pub trace: usize,
    /// The call.
    pub node: NodeIndex,
    /// The word of the warm-up that it is sent for, which asks for one token; absent where it is measured.
    pub warmup: Option<&'static str>,
    /// The lanes whose first instance sends it so; empty where any instance does.
    pub lanes: Vec<usize>,
    /// Its body.
    pub body: PlannedBody,
    pub(super) opening: Opening,
}

/// What makes a sending another: trace, call, warm-up, and whether it opens its conversation.
type Sort = (usize, NodeIndex, Option<&'static str>, Opening);

impl WirePlan {
    /// Returns the sendings beside those of instances from their beginning, in the order of traces and calls: the calls that prime the
    /// windows of lanes, those that open a conversation in its middle, and each call as a warm-up under pressure sends it. Empty without a
    /// snapshot and without such a warm-up.
    pub fn variants(&self) -> &[WireVariant] {
        &self.variants
    }

    /// Returns the sendings of a trace's calls, as [`WirePlan::variants`].
    pub fn variants_of(&self, trace: usize) -> impl Iterator<Item = &WireVariant> {
        let first = self.variants.partition_point(|variant| variant.trace < trace);
        self.variants[first..].iter().take_while(move |variant| variant.trace == trace)
    }

    /// Plans the bodies of the sendings that differ.
    pub(super) fn plan_variants(&self) -> Vec<WireVariant> {
        let identity = Identity::placeholder();
        let planned = |((trace, node, warmup, opening), lanes): (Sort, Vec<usize>)| {
            let body = self.plan_body((trace, node), (&identity, opening, warmup));
            let body = body.expect("it differs from what was spliced in a number and a word");
            WireVariant { trace, node, warmup, lanes, body, opening }
        };
        self.differing().into_iter().map(planned).collect()
    }

    /// Returns which sendings differ, with the lanes that they are of.
    fn differing(&self) -> BTreeMap<Sort, Vec<usize>> {
        let mut found: BTreeMap<Sort, Vec<usize>> = BTreeMap::new();
        if self.presses() {
            for trace in 0..self.graphs.len() {
                for node in self.nodes(trace) {
                    let opening = self.planned_opening(trace, node);
                    found.insert((trace, node, Some(Phase::Warmup.name()), opening), Vec::new());
                }
            }
        }
        for lane in 0..self.windows().len() {
            for sort in self.of_window(lane) {
                found.entry(sort).or_default().push(lane);
            }
        }
        found
    }

    /// Returns whether a warm-up sends every call.
    const fn presses(&self) -> bool {
        matches!(self.settings.warmup, Warmup::Pressure { .. })
    }

    /// Returns what the first instance of a lane sends otherwise than one from its beginning.
    fn of_window(&self, lane: usize) -> Vec<Sort> {
        let window = self.windows()[lane];
        let trace = self.trace(u64::try_from(lane).expect("64 bits"));
        let graph = &self.graphs[trace];
        let primes = self.settings.warmup != Warmup::None;
        let openings = window.openings(graph, primes);
        let opening = |node: NodeIndex| {
            let turn = &graph.node(node).session;
            let is_first = openings.get(turn.session.as_str()) == Some(&turn.turn);
            if is_first { Opening::First } else { Opening::Later }
        };
        let mut found = Vec::new();
        if primes {
            let first = |node| (trace, node, Some(Phase::Primer.name()), opening(node));
            found.extend(window.primers_of(graph).into_iter().map(first));
        }
        for node in self.nodes(trace).filter(|node| graph.node(*node).arrival >= window.cut) {
            let opening = opening(node);
            if opening != self.planned_opening(trace, node) {
                found.push((trace, node, None, opening));
                if self.presses() {
                    found.push((trace, node, Some(Phase::Warmup.name()), opening));
                }
            }
        }
        found
    }

    /// Returns a sending in words, as [`WirePlan::describe_call`] does a call.
    pub fn describe_variant(&self, variant: &WireVariant) -> Value {
        let lane = |lane: &usize| Value::count(u64::try_from(*lane).expect("64 bits"));
        let lanes = (!variant.lanes.is_empty())
            .then(|| Value::List(variant.lanes.iter().map(lane).collect()));
        self.describe_sending((variant.trace, variant.node), &variant.body, variant.warmup)
            .with("lanes", lanes)
            .with("sending", Some(Value::text(self.sending(variant))))
    }

    /// Returns the name of a sending: `trace/call (sending)`.
    pub fn variant_name(&self, variant: &WireVariant) -> String {
        let (trace, call) = self.name(variant.trace, variant.node);
        format!("{trace}/{call} ({})", self.sending(variant))
    }

    /// Returns what a sending is called: the word of its warm-up, and where it differs whether it opens its conversation, as a primer does.
    pub fn sending(&self, variant: &WireVariant) -> String {
        let is_primer = variant.warmup == Some(Phase::Primer.name());
        let usual = if is_primer {
            Opening::First
        } else {
            self.planned_opening(variant.trace, variant.node)
        };
        let opening = match variant.opening {
            opening if opening == usual => None,
            Opening::First => Some("first"),
            Opening::Later => Some("later"),
        };
        [variant.warmup, opening].into_iter().flatten().collect::<Vec<_>>().join("-")
    }

    /// Returns the bytes that the digest of a sending's body is of, slots by their names.
    pub fn variant_bytes(&self, variant: &WireVariant) -> Vec<u8> {
        let identity = Identity::placeholder();
        self.template((variant.trace, variant.node), (&identity, variant.opening, variant.warmup))
    }

    /// Returns the names and digests of the sendings that differ.
    pub(super) fn variant_digests(&self, trace: usize) -> Vec<(String, Sha256)> {
        let digest = |variant: &WireVariant| {
            (self.variant_name(variant), self.describe_variant(variant).digest())
        };
        self.variants_of(trace).map(digest).collect()
    }
}
