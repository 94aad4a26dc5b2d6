//! From a configuration to a job, and what this build lacks for it.

use crate::deployment::{ContextLength, Workers};
use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::plan::{Compat, EngineIdentity, Part, SimulationJob};
use crate::scenario::dynosim::Prediction;
use crate::sim::{self, Unsupported};

/// The seed of random streams that the configuration gives none: the reference's.
const SEED: u64 = 42;

/// Returns the job of a configuration.
///
/// # Errors
/// What this build cannot run, at the section that asks for it.
pub(super) fn simulation_job(
    prediction: &Prediction,
    compat: Compat,
) -> Result<SimulationJob, Problem> {
    let deployment = prediction.deployment.clone();
    let worker = match &deployment.workers {
        Workers::Aggregated(worker) | Workers::Disaggregated { decode: worker, .. } => worker,
    };
    let job = SimulationJob {
        seed: SEED,
        workload: prediction.workload.clone(),
        // A prediction pins nothing: the job has no key, and these digests identify names only.
        trace: None,
        model_digest: Sha256::of(deployment.model.as_bytes()),
        model_context_limit: match deployment.context_length {
            ContextLength::Tokens(tokens) => tokens.get(),
            ContextLength::Max => u64::MAX,
        },
        model_kv_bytes_per_token: worker.kv_cache.bytes_per_token.unwrap_or(0),
        hardware_digest: Sha256::of(deployment.hardware.as_bytes()),
        timing_digest: None,
        engine: EngineIdentity::native(compat),
        sla: prediction.sla,
        deployment,
    };
    sim::check_supported(&job).map_err(|lacking| refuse(prediction, &lacking))?;
    Ok(job)
}

/// Returns the finding that this build cannot run something.
fn refuse(prediction: &Prediction, lacking: &Unsupported) -> Problem {
    let place = match lacking.part {
        Part::Workload => &prediction.traffic_place,
        Part::Deployment | Part::Engine | Part::Declaration => &prediction.engine_place,
    };
    place
        .problem(Code::DynosimUnsupported, lacking.to_string(), "asks for it")
        .help("`docs/predict.md` lists what is covered")
}
