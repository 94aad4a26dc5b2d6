//! What a plan is made from.

use crate::graph::Graph;
use crate::units::Nanos;
use crate::workload::live::ReplaySettings;
use crate::workload::{Load, Workload};

use super::pacing::WirePacing;
use super::prompts::Prompts;
use super::select::Selection;

/// What a plan is made from.
#[derive(Debug)]
pub struct WireInputs<'a> {
    /// The graphs of the traces that were selected, in their order. What they send is not looked at: that is `prompts`.
    pub graphs: Vec<Graph>,
    /// When each trace began in the recording; absent where it does not say.
    pub began: Option<Vec<Nanos>>,
    /// What the calls send.
    pub(crate) prompts: Box<dyn Prompts>,
    /// What the selection left out.
    pub selection: Selection,
    /// The scenario's seed.
    pub seed: u64,
    /// What is asked.
    pub workload: &'a Workload,
    /// How it is sent.
    pub settings: &'a ReplaySettings,
}

impl WireInputs<'_> {
    /// Returns how calls are paced: a load that is not `recorded` sends what was recorded as it was.
    pub(super) fn pacing(&self) -> WirePacing {
        match &self.workload.load {
            Load::Recorded(load) => WirePacing::of(load).0,
            Load::Concurrency { .. }
            | Load::ConstantRate { .. }
            | Load::Poisson { .. }
            | Load::TraceTimestamps { .. } => WirePacing::AS_RECORDED,
        }
    }
}
