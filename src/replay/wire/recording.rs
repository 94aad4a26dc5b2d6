//! The recording of a job: its pinned files, read tree by tree, selected, lowered, and put into words; or graphs that somebody wrote.

use tempfile::TempDir;

use crate::diag::{Bag, Code, Problem};
use crate::graph::content::Synthesis;
use crate::graph::store::{Store, StoreFolder, TreeParts};
use crate::graph::{Graph, LowerCounts, LowerOptions, lower};
use crate::pin::{Registry, TracePin};
use crate::plan::{TraceInput as PlannedTrace, recorded};
use crate::trace::{
    ArrivalRule, ReadOptions, RecordedCounts, RecordedOptions, RecordedTree, TraceFormat,
    TraceInput, read_dynamo_as, read_weka_as,
};
use crate::units::Nanos;
use crate::workload::Workload;

use super::authored;
use super::pacing::WirePacing;
use super::select::{Selection, peak_of_graph, peak_of_tree};

/// How many bytes of pinned files are put into words in memory; what is larger lies in temporary files.
pub(super) const IN_MEMORY: u64 = 32 << 20;

/// The recording of a job, as far as it is replayed.
#[derive(Debug)]
pub(super) struct SelectedTraces {
    /// What the traces that were selected send.
    pub(super) store: Store,
    /// When each of them began; absent where the format does not say.
    pub(super) began: Option<Vec<Nanos>>,
    /// What the selection kept and left out.
    pub(super) selection: Selection,
    /// What reading let through.
    pub(super) warnings: Bag,
    /// What lowering gave a meaning.
    pub(super) notes: Vec<String>,
}

/// A trace that may be kept: its longest context, when it began, and what it sends, unless it is too long.
type Offered = (u64, Nanos, Option<(Made, LowerCounts)>);

/// The form in which a place takes what a trace sends.
#[derive(Clone, Copy)]
enum Form {
    Graph,
    Parts,
}

/// What a trace sends, in the form that its place takes.
enum Made {
    Graph(Box<Graph>),
    Parts(Box<TreeParts>),
}

/// Whether a recording says when its traces began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Began {
    Told,
    Untold,
}

/// Where what traces send is kept.
enum Kept {
    /// In memory.
    Graphs(Vec<Graph>),
    /// In files that are gone once nobody reads them any more.
    Files(TempDir, Box<StoreFolder>),
}

/// A recording on its way.
struct Reading<'s> {
    synthesis: &'s Synthesis,
    kept: Kept,
    began: Vec<Nanos>,
    selection: Selection,
    given: LowerCounts,
    wrong: Option<Problem>,
}

impl SelectedTraces {
    /// Reads the recording of a workload; pinned files of more than `in_memory` bytes go through temporary files.
    ///
    /// # Errors
    /// Everything that is wrong with the pin, its files or their records; [`Code::ReplayRecording`] where the workload records nothing,
    /// [`Code::StoreFile`] where temporary files cannot be written.
    pub(super) fn read(
        (workload, trace): (&Workload, &PlannedTrace),
        registry: &Registry,
        synthesis: &Synthesis,
        in_memory: u64,
    ) -> Result<Self, Bag> {
        let lowering = LowerOptions { idle_gap_cap: WirePacing::of(recorded(workload)?).1 };
        let pin = trace.open(registry)?;
        let files: Vec<TraceInput> =
            pin.open(registry.root())?.iter().map(TraceInput::shard).collect();
        let bytes: u64 = pin.shards().iter().map(|shard| shard.bytes).sum();
        let kept =
            if bytes > in_memory { Kept::files(synthesis)? } else { Kept::Graphs(Vec::new()) };
        let mut reading = Reading {
            synthesis,
            kept,
            began: Vec::new(),
            selection: Selection::new(workload.select.as_ref()),
            given: LowerCounts::default(),
            wrong: None,
        };
        if let Some(format) = pin.graphs() {
            let (graphs, warnings) =
                authored::read(&files, format, reading.selection.max_context())?;
            for graph in graphs {
                reading.take_graph(graph);
            }
            return Ok(reading.finish(Began::Untold, warnings)?);
        }
        let options = pin.options(ArrivalRule::Required, None)?;
        let counts = reading.read((&files, &pin), &options, lowering)?;
        let mut warnings = Bag::new();
        counts.warnings(pin.name()).into_iter().for_each(|warning| warnings.push(warning));
        // Weka's traces count from their own start.
        let began = if options.format == TraceFormat::Dynamo { Began::Told } else { Began::Untold };
        Ok(reading.finish(began, warnings)?)
    }
}

impl Reading<'_> {
    /// Reads trees, lowers them and puts them into words side by side. One that is left out is not kept in memory.
    fn read(
        &mut self,
        (files, pin): (&[TraceInput], &TracePin),
        options: &ReadOptions,
        lowering: LowerOptions,
    ) -> Result<RecordedCounts, Bag> {
        let (most, synthesis) = (self.selection.max_context(), self.synthesis);
        let form = self.kept.form();
        let in_words = |tree: &RecordedTree| {
            let (graph, given) = lower(tree, lowering);
            (Made::of(graph, form, synthesis), given)
        };
        let make = |tree: RecordedTree| -> Offered {
            let peak = peak_of_tree(&tree);
            let fits = most.is_none_or(|most| peak <= most);
            (peak, tree.zero, fits.then(|| in_words(&tree)))
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

    /// Puts a graph that somebody wrote into words and keeps it, unless the selection leaves it out.
    fn take_graph(&mut self, graph: Graph) {
        let peak = peak_of_graph(&graph);
        let made = Made::of(graph, self.kept.form(), self.synthesis);
        self.take((peak, Nanos::ZERO, Some((made, LowerCounts::default()))));
    }

    /// Keeps a trace, unless the selection leaves it out.
    fn take(&mut self, (peak, began, made): Offered) {
        if self.selection.keeps(peak)
            && let Some((made, given)) = made
        {
            self.given.add(given);
            self.began.push(began);
            if let Err(problem) = self.kept.add(made) {
                self.wrong.get_or_insert(problem);
            }
        }
    }

    /// Returns what was read.
    fn finish(self, began: Began, warnings: Bag) -> Result<SelectedTraces, Problem> {
        if let Some(problem) = self.wrong {
            return Err(problem);
        }
        Ok(SelectedTraces {
            store: self.kept.into_store(self.synthesis)?,
            began: (began == Began::Told).then_some(self.began),
            selection: self.selection,
            warnings,
            notes: self.given.notes(),
        })
    }
}

impl Made {
    /// Returns what a graph sends, in a form.
    fn of(graph: Graph, form: Form, synthesis: &Synthesis) -> Self {
        match form {
            Form::Parts => Self::Parts(Box::new(TreeParts::of(&graph, synthesis))),
            Form::Graph => Self::Graph(Box::new(graph)),
        }
    }
}

impl Kept {
    /// Returns the form that it takes.
    const fn form(&self) -> Form {
        match self {
            Self::Graphs(_) => Form::Graph,
            Self::Files(..) => Form::Parts,
        }
    }

    /// Returns a place in temporary files.
    fn files(synthesis: &Synthesis) -> Result<Self, Problem> {
        let folder = tempfile::Builder::new().prefix("touchstone-wire-").tempdir();
        let folder = folder.map_err(|error| {
            let message = format!("cannot make a temporary folder: {error}");
            Problem::new(Code::StoreFile, message).help("set TMPDIR to a folder with room")
        })?;
        let store = StoreFolder::create(&folder.path().join("store"), synthesis)?;
        Ok(Self::Files(folder, Box::new(store)))
    }

    /// Keeps what a trace sends.
    fn add(&mut self, made: Made) -> Result<(), Problem> {
        match (self, made) {
            (Self::Graphs(graphs), Made::Graph(graph)) => graphs.push(*graph),
            (Self::Files(_, store), Made::Parts(parts)) => store.add_parts(&parts)?,
            (Self::Graphs(_), Made::Parts(_)) | (Self::Files(..), Made::Graph(_)) => {
                unreachable!("bug: a trace in the form of another place")
            }
        }
        Ok(())
    }

    /// Returns what was kept. Files are opened before their folder goes; their pages stay as long as the store.
    fn into_store(self, synthesis: &Synthesis) -> Result<Store, Problem> {
        match self {
            Self::Graphs(graphs) => Ok(Store::of(&graphs, synthesis)),
            Self::Files(folder, store) => {
                store.finish()?;
                Store::open(&folder.path().join("store"))
            }
        }
    }
}
