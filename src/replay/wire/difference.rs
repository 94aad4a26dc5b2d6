//! The document by which a plan is gated, and what two of them differ in.

use std::collections::BTreeMap;

use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};

use super::plan::WirePlan;

/// The digests of a plan: one for what holds for all requests, one for its instances, one for each call, and one for each sending
/// of a call that differs ([`WirePlan::variants`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireDigests {
    run: Sha256,
    instances: Sha256,
    /// By name, `trace/call` or `trace/call (sending)`, in the order of the plan.
    calls: Vec<(String, Sha256)>,
}

/// What two plans differ in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireDifference {
    /// What holds for all requests: pacing, path, lanes, selection.
    Run,
    /// Which instances there are, or what they are called: the seed, the draws, snapshots, arrivals.
    Instances,
    /// A call, by its name `trace/call`: when it starts or what it sends.
    Changed(String),
    /// A call that only the first plan has.
    Gone(String),
    /// A call that only the second plan has.
    New(String),
}

impl WirePlan {
    /// Returns the digests.
    pub fn digests(&self) -> WireDigests {
        let mut calls = Vec::new();
        for trace in 0..self.graphs.len() {
            for node in self.nodes(trace) {
                let (trace_name, call) = self.name(trace, node);
                let name = format!("{trace_name}/{call}");
                calls.push((name, self.call_digest(trace, node)));
            }
            calls.extend(self.variant_digests(trace));
        }
        WireDigests {
            run: self.describe_run().digest(),
            instances: Value::List(self.instances()).digest(),
            calls,
        }
    }
}

impl WireDigests {
    /// Returns the digest of the whole plan.
    pub fn digest(&self) -> Sha256 {
        self.canonical().digest()
    }

    /// Returns the calls, by name and in the order of the plan, with their digests.
    pub fn calls(&self) -> &[(String, Sha256)] {
        &self.calls
    }

    /// Returns the canonical form.
    pub fn canonical(&self) -> Value {
        let call = |(name, digest): &(String, Sha256)| {
            object([("call", Value::text(name)), ("sha256", (*digest).into())])
        };
        object([
            ("calls", Value::List(self.calls.iter().map(call).collect())),
            ("instances", self.instances.into()),
            ("run", self.run.into()),
        ])
    }

    /// Reads the canonical form; `None` where it is none.
    pub fn read(value: &Value) -> Option<Self> {
        let fields = value.as_object()?;
        let digest = |value: Option<&Value>| value?.as_text()?.parse().ok();
        let call = |value: &Value| {
            let fields = value.as_object()?;
            Some((fields.get("call")?.as_text()?.to_owned(), digest(fields.get("sha256"))?))
        };
        Some(Self {
            run: digest(fields.get("run"))?,
            instances: digest(fields.get("instances"))?,
            calls: fields.get("calls")?.as_list()?.iter().map(call).collect::<Option<_>>()?,
        })
    }

    /// Returns what another plan differs in: calls in the order of this plan, then those that it has not.
    pub fn differences(&self, other: &Self) -> Vec<WireDifference> {
        let mut found = Vec::new();
        if self.run != other.run {
            found.push(WireDifference::Run);
        }
        if self.instances != other.instances {
            found.push(WireDifference::Instances);
        }
        let theirs: BTreeMap<&String, Sha256> =
            other.calls.iter().map(|(name, digest)| (name, *digest)).collect();
        let ours: BTreeMap<&String, Sha256> =
            self.calls.iter().map(|(name, digest)| (name, *digest)).collect();
        for (name, digest) in &self.calls {
            match theirs.get(name) {
                None => found.push(WireDifference::Gone(name.clone())),
                Some(other) if other != digest => {
                    found.push(WireDifference::Changed(name.clone()));
                }
                Some(_) => {}
            }
        }
        let new = other.calls.iter().filter(|(name, _)| !ours.contains_key(name));
        found.extend(new.map(|(name, _)| WireDifference::New(name.clone())));
        if found.is_empty() && self.calls != other.calls {
            found.push(WireDifference::Run); // the same calls in another order
        }
        found
    }
}
