//! A planned job to its wire plan: traces that its pin names, verified, selected, lowered, and put into words.

use std::sync::Arc;

use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::graph::content::{Synthesis, Tokenizer};
use crate::pin::Registry;
use crate::plan::{ReplayJob, recorded};
use crate::workload::live::TokenCounter;

use super::inputs::WireInputs;
use super::plan::WirePlan;
use super::recording::{IN_MEMORY, SelectedTraces};

/// A wire plan, and what making it let through.
#[derive(Debug)]
pub struct LoadedWire {
    /// The plan.
    pub plan: WirePlan,
    /// What reading the recording let through.
    pub warnings: Bag,
    /// What was given a meaning that the recording does not state: a sentence each.
    pub notes: Vec<String>,
}

impl WirePlan {
    /// Makes the wire plan of a planned job from what its scenario pins: `WirePlan::load(&job, &registry)`, where `job` is that of
    /// [`crate::plan::JobKind::Replay`] and `registry` is [`Registry::open`] of the plan's root.
    ///
    /// This is the one way from a job to what it sends. `bench plan --wire` prints what it returns, and a run is driven by it: call it
    /// before any job starts, so that everything wrong is told before anything is sent. Nothing outside of the project root is read, no
    /// clock and no socket; the same job gives the same plan, byte for byte. The text of prompts is in memory, that of recordings of more than
    /// 32 MiB in temporary files that are mapped.
    ///
    /// # Errors
    /// Everything that is wrong: a pin or a file that is not what was planned with, records (codes `trace::*`), a tokenizer that is
    /// none ([`Code::GraphTokenizer`], [`Code::GraphVocabulary`]), a workload that has no sessions and no graph ([`Code::ReplayRecording`]), and
    /// what [`WirePlan::new`] refuses.
    pub fn load(job: &ReplayJob, registry: &Registry) -> Result<LoadedWire, Bag> {
        recorded(&job.workload)?;
        let trace = job.trace.as_ref().expect("a workload of recorded sessions names its pin");
        let synthesis = Synthesis::new(job.seed, tokenizer(&job.settings.tokens, registry)?)?;
        let asked = (&job.workload, trace);
        let traces = SelectedTraces::read(asked, registry, &synthesis, IN_MEMORY)?;
        let graphs = traces.store.graphs().collect();
        let plan = Self::new(WireInputs {
            graphs,
            began: traces.began,
            prompts: Box::new(traces.store),
            selection: traces.selection,
            seed: job.seed,
            workload: &job.workload,
            settings: &job.settings,
        })?;
        let mut notes = traces.notes;
        notes.extend(plan.header_notes());
        Ok(LoadedWire { plan, warnings: traces.warnings, notes })
    }
}

/// Returns the tokenizer that prompts are counted by; where the server counts, the one in the binary makes them.
fn tokenizer(counter: &TokenCounter, registry: &Registry) -> Result<Arc<Tokenizer>, Problem> {
    let TokenCounter::File { path, digest } = counter else {
        return Ok(Arc::new(Tokenizer::builtin()));
    };
    let file = registry.root().join(path);
    let bytes = std::fs::read(&file).map_err(|error| {
        let message = format!("cannot read the tokenizer `{path}`: {error}");
        Problem::new(Code::GraphTokenizer, message).help("paths are relative to the project root")
    })?;
    let found = Sha256::of(&bytes);
    if found != *digest {
        let message = format!("the tokenizer `{path}` is not what the scenario says");
        let help = format!("scenario {digest}\nfile     {found}");
        return Err(Problem::new(Code::ScenarioDigestMismatch, message).help(help));
    }
    Ok(Arc::new(Tokenizer::from_json(path, &bytes)?))
}
