//! From a configuration to a job, and what this build lacks for it.

use crate::cli::{Exit, Failure};
use crate::deployment::{ContextLength, WorkerRole};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::plan::{
    Compat, EngineIdentity, Part, Shortfall, SimulationJob, WorkerPart, pools, timing_digest,
};
use crate::scenario::dynosim::Prediction;
use crate::sim::{self, Unsupported};

use super::model::Model;
use super::unserved::yaml_words;

/// The seed of random streams that the configuration gives none: the reference's.
pub(in crate::cli::cmd) const SEED: u64 = 42;

/// Returns the job of a configuration; `model` is what is known of its model beyond the name.
///
/// # Errors
/// What this build cannot run, at the key that asks for it; exit 1 where a table or a capacity does not exist, as it is in DynoSim.
pub(super) fn simulation_job(
    prediction: &Prediction,
    model: &Model,
    compat: Compat,
) -> Result<SimulationJob, Failure> {
    let deployment = prediction.deployment.clone();
    let mut job = SimulationJob {
        seed: SEED,
        workload: prediction.workload.clone(),
        // A prediction pins nothing: the job has no key, and these digests identify names only.
        trace: None,
        model_digest: Sha256::of(deployment.model.as_bytes()),
        model_context_limit: match deployment.context_length {
            ContextLength::Tokens(tokens) => tokens.get(),
            ContextLength::Max | ContextLength::Unlimited => model.context_limit.get(),
        },
        model_kv_bytes_per_token: model.kv_bytes_per_token,
        model_prefill_kv_bytes_per_token: model.prefill_kv_bytes_per_token,
        hardware_digest: Sha256::of(deployment.hardware.as_bytes()),
        timing_digest: None,
        pools: Vec::new(),
        engine: EngineIdentity::native(compat),
        sla: prediction.sla,
        deployment,
    };
    let mut refused = Bag::new();
    for lacking in sim::unsupported(&job) {
        refused.push(refuse(prediction, &lacking));
    }
    if !refused.is_empty() {
        return Err(refused.into());
    }
    let found = pools(&job.deployment, model);
    job.pools = found.map_err(|lacking| unresolved(prediction, &lacking))?;
    job.timing_digest = timing_digest(&job.pools);
    Ok(job)
}

/// Returns the failure of workers that ask for what nobody knows.
fn unresolved(prediction: &Prediction, lacking: &[(WorkerRole, Shortfall)]) -> Failure {
    let mut bag = Bag::new();
    for (_, lack) in lacking {
        let key = match lack.part {
            WorkerPart::Timing => "timing",
            WorkerPart::Capacity => "capacity kv_cache",
        };
        let place = prediction.place_named_in(key).unwrap_or(&prediction.engine_place);
        let problem = place.problem(Code::DynosimUnresolved, &lack.message, "asks for it");
        bag.push(problem.help(&lack.help));
    }
    Failure::new(Exit::JobFailed, bag)
}

/// Returns the finding that this build cannot run something.
fn refuse(prediction: &Prediction, lacking: &Unsupported) -> Problem {
    let section = match lacking.part {
        Part::Workload => &prediction.traffic_place,
        Part::Deployment | Part::Engine | Part::Declaration => &prediction.engine_place,
    };
    let instead = match &lacking.advice {
        Some(advice) => yaml_words(&advice.help),
        None => "leave it out".to_owned(),
    };
    prediction
        .place_named_in(&lacking.what)
        .unwrap_or(section)
        .problem(Code::DynosimUnsupported, lacking.to_string(), "asks for it")
        .help(format!("{instead}; docs/predict.md lists what is covered"))
}
