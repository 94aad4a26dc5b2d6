//! What answers a replay whose endpoint is the native engine behind the server in `bench`.

use super::inputs::{Inputs, kv_parallelisms};
use super::lookup::{ScenarioPins, unresolved};
use super::pools::{pools, timing_digest};
use super::{Compat, EngineIdentity, SimulationJob};
use crate::diag::Bag;
use crate::scenario::decode;
use crate::scenario::model::{Declared, PinKind, Replay, Scenario, Used};
use crate::units::Tokens;
use crate::workload::{Load, Source, Stop, SyntheticShape, Workload};

/// The bag says why nothing answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refused;

/// Returns the simulation of a replay's deployment; nothing where its endpoint is another.
///
/// # Errors
/// [`Refused`] for a deployment that is not declared, or whose pins lack something.
pub(super) fn by(
    (scenario, inputs): (&Scenario, &Inputs),
    replay: &Replay,
    findings: &mut Bag,
) -> Result<Option<SimulationJob>, Refused> {
    let Some(Used { name, .. }) = replay.behind() else { return Ok(None) };
    // That there is none of the name was complained of when names were resolved.
    let declared = scenario.deployments.iter().find(|one| one.name == name).ok_or(Refused)?;
    // What is wrong with a declaration was complained of when the scenario was decoded.
    let deployment = decode::deployment(&declared.node, &mut Bag::new()).ok_or(Refused)?;
    let model = inputs.model(&deployment.model).ok_or(Refused)?;
    let pools = found_pools((scenario, inputs), declared, &deployment, findings)?;
    let (prefill, decode) = kv_parallelisms(&deployment.workers);
    Ok(Some(SimulationJob {
        seed: scenario.seed,
        trace: None,
        model_digest: model.digest(),
        model_context_limit: model.context_limit().get(),
        model_kv_bytes_per_token: model.kv_bytes_per_token(decode),
        model_prefill_kv_bytes_per_token: model.kv_bytes_per_token(prefill),
        hardware_digest: inputs.digest(PinKind::Hardware, &deployment.hardware).ok_or(Refused)?,
        timing_digest: timing_digest(&pools),
        pools,
        engine: EngineIdentity::native(Compat::NEWEST),
        sla: None,
        workload: whatever_comes(),
        deployment,
    }))
}

/// Returns a workload for a job whose requests come over the wire: none of it is ever played.
fn whatever_comes() -> Workload {
    let shape = SyntheticShape {
        input: Tokens::new(1),
        output: Tokens::new(1),
        cached_prefix: Tokens::ZERO,
    };
    Workload {
        source: Source::Synthetic(shape),
        load: Load::Concurrency { concurrency: 1 },
        stop: Stop::default(),
        select: None,
        stream: String::new(),
    }
}

/// Returns what the pins say of each pool of a deployment.
fn found_pools(
    (scenario, inputs): (&Scenario, &Inputs),
    declared: &Declared,
    deployment: &crate::deployment::Deployment,
    findings: &mut Bag,
) -> Result<Vec<super::PoolInputs>, Refused> {
    let model = inputs.model(&deployment.model).ok_or(Refused)?;
    inputs.hardware(&deployment.hardware).ok_or(Refused)?;
    let source = ScenarioPins { model, inputs, file: scenario.source.name() };
    pools(deployment, &source).map_err(|lacking| {
        for (role, lack) in &lacking {
            findings.extend_new(unresolved(&declared.node, *role, lack).into());
        }
        Refused
    })
}
