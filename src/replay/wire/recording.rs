//! The recording of a job: its pinned files, read tree by tree, selected and lowered.

use crate::diag::{Bag, Code, Problem};
use crate::graph::{Graph, LowerCounts, LowerOptions, lower};
use crate::pin::{Registry, TracePin};
use crate::plan::{ReplayJob, recorded};
use crate::trace::{
    ArrivalRule, ReadOptions, RecordedCounts, RecordedOptions, RecordedTree, TraceFormat,
    TraceInput, read_dynamo_as, read_weka_as,
};
use crate::units::Nanos;

use super::pacing::WirePacing;
use super::select::{Selection, peak_of_tree};

/// The recording of a job, as far as it is replayed.
#[derive(Debug, Default)]
pub(super) struct SelectedTraces {
    /// The graphs of the traces that were selected.
    pub(super) graphs: Vec<Graph>,
    /// When each of them began; absent where the format does not say.
    pub(super) began: Option<Vec<Nanos>>,
    /// What the selection kept and left out.
    pub(super) selection: Selection,
    /// What reading let through.
    pub(super) warnings: Bag,
    /// What lowering gave a meaning.
    pub(super) notes: Vec<String>,
}

/// A trace that may be kept: its longest context, when it began, and its graph, unless it is too long.
type Offered = (u64, Nanos, Option<(Graph, LowerCounts)>);

impl SelectedTraces {
    /// Reads the recording of a job.
    ///
    /// # Errors
    /// Everything that is wrong with the pin, its files or their records; [`Code::ReplayRecording`] where the workload records nothing.
    pub(super) fn read(job: &ReplayJob, registry: &Registry) -> Result<Self, Bag> {
        let (load, trace) = (recorded(&job.workload)?, job.trace.as_ref());
        let trace = trace.expect("a workload of recorded sessions names its trace");
        let lowering = LowerOptions { idle_gap_cap: WirePacing::of(load).1 };
        let pin = trace.open(registry)?;
        let options = pin.options(ArrivalRule::Required, None);
        let files: Vec<TraceInput> =
            pin.open(registry.root())?.iter().map(TraceInput::shard).collect();
        let mut reading = Reading::new(job);
        let counts = reading.read((&files, &pin), &options, lowering)?;
        Ok(reading.finish(options.format, &counts, &trace.pin))
    }
}

/// A recording on its way.
struct Reading {
    graphs: Vec<Graph>,
    began: Vec<Nanos>,
    selection: Selection,
    given: LowerCounts,
}

impl Reading {
    fn new(job: &ReplayJob) -> Self {
        Self {
            graphs: Vec::new(),
            began: Vec::new(),
            selection: Selection::new(job.workload.select.as_ref()),
            given: LowerCounts::default(),
        }
    }

    /// Reads trees and lowers them side by side. One that is left out is not kept in memory.
    fn read(
        &mut self,
        (files, pin): (&[TraceInput], &TracePin),
        options: &ReadOptions,
        lowering: LowerOptions,
    ) -> Result<RecordedCounts, Bag> {
        let most = self.selection.max_context();
        let make = |tree: RecordedTree| -> Offered {
            let peak = peak_of_tree(&tree);
            let fits = most.is_none_or(|most| peak <= most);
            (peak, tree.zero, fits.then(|| lower(&tree, lowering)))
        };
        let (read, mut take) = (RecordedOptions::of(options), |offered| self.take(offered));
        match options.format {
            TraceFormat::Weka => read_weka_as(files, read, &make, &mut take),
            TraceFormat::Dynamo => Ok(read_dynamo_as(files, read, &make, &mut take)?.counts),
            TraceFormat::Mooncake
            | TraceFormat::MooncakeDelta
            | TraceFormat::AgenticMooncake
            | TraceFormat::AppliedComputeAgentic
            | TraceFormat::Azure
            | TraceFormat::BurstGpt
            | TraceFormat::RagPulse
            | TraceFormat::Csv => {
                let message = format!(
                    "a replay sends recorded sessions, and trace `{}` is `{}`",
                    pin.name(),
                    options.format.name()
                );
                let help = "name a `trace` of the format `dynamo` or `weka`";
                Err(Problem::new(Code::ReplayRecording, message).help(help).into())
            }
        }
    }

    /// Keeps a trace, unless the selection leaves it out.
    fn take(&mut self, (peak, began, made): Offered) {
        if self.selection.keeps(peak)
            && let Some((graph, given)) = made
        {
            self.given.add(given);
            self.began.push(began);
            self.graphs.push(graph);
        }
    }

    /// Returns what was read.
    fn finish(self, format: TraceFormat, counts: &RecordedCounts, name: &str) -> SelectedTraces {
        let mut warnings = Bag::new();
        counts.warnings(name).into_iter().for_each(|warning| warnings.push(warning));
        // Weka's traces count from their own start.
        let began = (format == TraceFormat::Dynamo).then_some(self.began);
        let (graphs, selection, notes) = (self.graphs, self.selection, self.given.notes());
        SelectedTraces { graphs, began, selection, warnings, notes }
    }
}
