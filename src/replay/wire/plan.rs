//! The plan: traces, instances, and what each call sends.

use std::collections::BTreeSet;

use crate::diag::{Bag, Code, Problem, agreed, counted};
use crate::digest::{Hasher, Sha256};
use crate::graph::{Graph, NodeIndex};
use crate::units::Nanos;
use crate::workload::live::ReplaySettings;
use crate::workload::{CacheBust, Sampling};

use super::draw::Draws;
use super::guard::{self, Clones};
use super::identity::Identity;
use super::inputs::WireInputs;
use super::pacing::{LoopKind, WirePacing};
use super::prompts::Prompts;
use super::request::Sending;
use super::select::Selection;
use super::slot::WireSlot;
use super::variant::WireVariant;
use super::window::WireWindow;

/// Every request of a live run, before anything is sent.
///
/// What a trace sends is planned once for all its instances; they differ in their [`Identity`] alone, which derives from the seed and
/// their number. So a run that recycles is planned as well as one that sends each trace once: its traces are all here, and
/// [`WirePlan::trace`] says which one any instance is of.
#[derive(Debug)]
pub struct WirePlan {
    pub(super) graphs: Vec<Graph>,
    pub(super) prompts: Box<dyn Prompts>,
    pub(super) seed: u64,
    pub(super) stream: String,
    pub(super) settings: ReplaySettings,
    pub(super) is_marked: bool,
    pub(super) selection: Selection,
    pacing: WirePacing,
    draws: Draws,
    arrivals: Option<Vec<Nanos>>,
    lanes: Option<usize>,
    windows: Vec<WireWindow>,
    pub(super) bodies: Vec<Vec<PlannedBody>>,
    pub(super) variants: Vec<WireVariant>,
}

/// The body of a call, as far as it is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedBody {
    /// SHA-256 of its bytes; slots stand in them by their names.
    pub digest: Sha256,
    /// How many bytes, slots by their names.
    pub bytes: u64,
    /// What is filled in when it is sent, by what earlier calls answer.
    pub slots: BTreeSet<WireSlot>,
}

impl PlannedBody {
    /// Returns the calls whose answers it takes, by ordinal.
    pub fn answers(&self) -> BTreeSet<NodeIndex> {
        self.slots.iter().map(|slot| slot.call()).collect()
    }
}

/// Problems of single calls that are told of at the most; the rest is like them.
const MOST_PROBLEMS: usize = 10;

impl WirePlan {
    /// Plans a run.
    ///
    /// # Errors
    /// [`Code::ReplaySelection`] where no trace is left, [`Code::ReplayWrap`] where lanes exceed traces, [`Code::ReplayTimes`] for an open loop over
    /// traces that do not say when they began, [`Code::ReplayBody`] for calls that cannot be sent to the API, [`Code::ReplayGraph`]
    /// for graphs that the settings do not fit.
    pub fn new(inputs: WireInputs<'_>) -> Result<Self, Bag> {
        let pacing = inputs.pacing();
        let traces = u64::try_from(inputs.graphs.len()).expect("64 bits");
        if traces == 0 {
            return Err(nothing_left(&inputs.selection).into());
        }
        let clones = Clones::of(inputs.workload.select.as_ref());
        if pacing.loop_kind == LoopKind::Closed {
            guard::check(inputs.settings, traces, clones, &inputs.selection)?;
        }
        let order = inputs.workload.select.map_or(Sampling::Sequential, |select| select.sampling);
        let is_marked =
            inputs.workload.select.is_some_and(|select| select.cache_bust != CacheBust::None);
        let draws = Draws::new(inputs.graphs.len(), order, inputs.seed, &inputs.workload.stream);
        let mut plan = Self {
            arrivals: arrivals(&inputs, pacing, &draws)?,
            draws,
            lanes: lanes(&inputs, pacing),
            stream: inputs.workload.stream.clone(),
            settings: inputs.settings.clone(),
            seed: inputs.seed,
            selection: inputs.selection,
            graphs: inputs.graphs,
            prompts: inputs.prompts,
            is_marked,
            pacing,
            windows: Vec::new(),
            bodies: Vec::new(),
            variants: Vec::new(),
        };
        plan.windows = plan.draw_windows();
        plan.bodies = plan.plan_bodies()?;
        plan.check_graphs()?;
        plan.variants = plan.plan_variants();
        Ok(plan)
    }

    /// Returns the graphs of the traces, by the index that [`WirePlan::trace`] returns.
    pub fn graphs(&self) -> &[Graph] {
        &self.graphs
    }

    /// Returns how calls are paced.
    pub const fn pacing(&self) -> WirePacing {
        self.pacing
    }

    /// Returns how it is sent.
    pub const fn settings(&self) -> &ReplaySettings {
        &self.settings
    }

    /// Returns what the selection kept and left out.
    pub const fn selection(&self) -> Selection {
        self.selection
    }

    /// Returns whether a marker keeps the prompts of instances apart.
    pub const fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Returns which instance is of which trace.
    pub const fn draws(&self) -> &Draws {
        &self.draws
    }

    /// Returns the trace of an instance, by its number.
    pub fn trace(&self, instance: u64) -> usize {
        self.draws.trace(instance)
    }

    /// Returns what an instance is called.
    pub fn identity(&self, instance: u64) -> Identity {
        Identity::of(self.seed, &self.stream, instance)
    }

    /// Returns when each instance of the first pass starts, by its number, from the start of the run in RECORDED time; absent in a
    /// closed loop.
    ///
    /// The speedup has not touched it, as it has touched no time in [`WirePlan::graphs`] and [`WirePlan::windows`]: who paces a run
    /// divides each recorded time once, by [`WirePacing::after`] or as it does. Only [`WirePlan::describe`] shows divided times.
    pub fn arrivals(&self) -> Option<&[Nanos]> {
        self.arrivals.as_deref()
    }

    /// Returns how many lanes there are; absent where an open loop is not held back.
    pub const fn lanes(&self) -> Option<usize> {
        self.lanes
    }

    /// Returns where the first instance of each lane begins: instance `n` is the first of lane `n`. Empty without a snapshot.
    pub fn windows(&self) -> &[WireWindow] {
        &self.windows
    }

    /// Returns what the body of a call is, as far as it is planned.
    pub fn body(&self, trace: usize, node: NodeIndex) -> &PlannedBody {
        &self.bodies[trace][node.0]
    }

    /// Returns how many instances are known before the run: one for each trace, or fewer where sessions are counted.
    pub fn first_pass(&self) -> u64 {
        let traces = u64::try_from(self.graphs.len()).expect("64 bits");
        self.settings.stop.sessions.map_or(traces, |sessions| sessions.min(traces))
    }

    /// Returns how often traces are sent where `instances` of them were, if that is more than once and nothing keeps them apart.
    pub fn duplication(&self, instances: u64) -> Option<String> {
        let traces = u64::try_from(self.graphs.len()).expect("64 bits");
        guard::duplication(instances, traces, self.is_marked)
    }

    /// Draws where the first instance of each lane begins.
    fn draw_windows(&self) -> Vec<WireWindow> {
        let Some(snapshot) = self.settings.snapshot else { return Vec::new() };
        let window = |lane: usize| {
            let instance = u64::try_from(lane).expect("64 bits");
            let graph = &self.graphs[self.trace(instance)];
            WireWindow::draw(snapshot, graph, lane, (self.seed, &self.stream))
        };
        (0..self.lanes.unwrap_or(0)).map(window).collect()
    }

    /// Plans the body of every call.
    fn plan_bodies(&self) -> Result<Vec<Vec<PlannedBody>>, Bag> {
        let identity = Identity::placeholder();
        let mut bag = Bag::new();
        let mut problems = 0;
        let mut all = Vec::with_capacity(self.graphs.len());
        for (trace, graph) in self.graphs.iter().enumerate() {
            let mut bodies = Vec::with_capacity(graph.nodes.len());
            for node in (0..graph.nodes.len()).map(NodeIndex) {
                let opening = self.planned_opening(trace, node);
                match self.plan_body((trace, node), (&identity, opening, None)) {
                    Ok(body) => bodies.push(body),
                    Err(problem) => {
                        problems += 1;
                        if problems <= MOST_PROBLEMS {
                            bag.push(problem);
                        }
                    }
                }
            }
            all.push(bodies);
        }
        if problems == 0 { Ok(all) } else { Err(bag) }
    }

    /// Plans the body of a call.
    pub(super) fn plan_body(
        &self,
        (trace, node): (usize, NodeIndex),
        sending: Sending<'_>,
    ) -> Result<PlannedBody, Problem> {
        let body = self.splice(trace, node, sending)?;
        let (mut hasher, mut bytes) = (Hasher::new(), 0);
        body.template(&mut |part| {
            hasher.update(part);
            bytes += u64::try_from(part.len()).expect("64 bits");
        });
        Ok(PlannedBody { digest: hasher.finish(), bytes, slots: body.slots() })
    }

    /// Returns the bytes that [`PlannedBody::digest`] is of: the body of a call, slots by their names.
    ///
    /// # Panics
    /// Where there is no such call.
    pub fn planned_bytes(&self, trace: usize, node: NodeIndex) -> Vec<u8> {
        let identity = Identity::placeholder();
        self.template((trace, node), (&identity, self.planned_opening(trace, node), None))
    }

    /// Returns the body of a sending, slots by their names.
    pub(super) fn template(
        &self,
        (trace, node): (usize, NodeIndex),
        sending: Sending<'_>,
    ) -> Vec<u8> {
        let body = self.splice(trace, node, sending);
        let mut bytes = Vec::new();
        let body = body.expect("it was spliced when it was planned");
        body.template(&mut |part| bytes.extend_from_slice(part));
        bytes
    }

    /// Returns the names of a call: of its trace, and of itself.
    pub fn name(&self, trace: usize, node: NodeIndex) -> (&str, &str) {
        let graph = &self.graphs[trace];
        (&graph.id, &graph.node(node).id)
    }
}

/// Returns how many lanes there are: no more than there are instances.
fn lanes(inputs: &WireInputs<'_>, pacing: WirePacing) -> Option<usize> {
    let stated = match (pacing.loop_kind, inputs.settings.lanes) {
        (LoopKind::Closed, _) => inputs.settings.closed_lanes(),
        (LoopKind::Open | LoopKind::OpenStrict, lanes) => lanes?,
    };
    let lanes = usize::try_from(stated.count).expect("32 bits");
    let most = match (inputs.settings.stop.sessions, inputs.settings.stop.recycles()) {
        (Some(sessions), _) => usize::try_from(sessions).unwrap_or(usize::MAX),
        (None, true) => usize::MAX,
        (None, false) => inputs.graphs.len(),
    };
    Some(lanes.min(most))
}

/// Returns when the instances of an open loop start in recorded time, in the order of the first pass.
fn arrivals(
    inputs: &WireInputs<'_>,
    pacing: WirePacing,
    draws: &Draws,
) -> Result<Option<Vec<Nanos>>, Problem> {
    if pacing.loop_kind == LoopKind::Closed {
        return Ok(None);
    }
    let Some(began) = &inputs.began else {
        let message =
            "an open loop needs to know when each trace began, and the recording does not say";
        let help = "traces of Weka's and authored graphs count from their own start: remove `open-loop=#true`, or replay a capture of Dynamo's";
        return Err(Problem::new(Code::ReplayTimes, message).help(help));
    };
    let first = began.iter().min().copied().unwrap_or_default();
    let after = |trace: usize| began[trace].since(first).unwrap_or_default();
    Ok(Some(draws.pass(0).into_iter().map(after).collect()))
}

/// Returns the problem of a selection that keeps nothing.
fn nothing_left(selection: &Selection) -> Problem {
    let message = match (selection.too_long, selection.max_context()) {
        (0, _) | (_, None) => "the recording holds no trace".to_owned(),
        (dropped, Some(most)) => {
            let traces = counted(dropped, "trace");
            let grow = agreed(dropped, "grows", "grow");
            format!("all {traces} {grow} longer than {most} tokens: none is left to replay")
        }
    };
    Problem::new(Code::ReplaySelection, message).help("raise `select max-context-tokens=`")
}
