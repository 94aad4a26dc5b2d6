//! The questions of a plan asked of another engine.

use super::{EngineIdentity, Job, JobKind, Plan};

/// Returns the simulation jobs of a plan under another engine: what a scenario asks, whoever answers.
///
/// Of each `simulate` these are the jobs of the engine with that name; where it names no such engine, those of its first. Ids lose
/// their engine, so that the same question has one name on both sides. There is no golden: it was accepted of another engine.
pub fn retarget(plan: &Plan, engine: &EngineIdentity) -> Plan {
    let mut jobs = Vec::new();
    for block in &plan.blocks {
        let of_block = &plan.jobs[block.jobs.clone()];
        let names = || of_block.iter().filter_map(engine_name);
        let asked = names().find(|name| *name == engine.name).or_else(|| names().next());
        let chosen = of_block.iter().filter(|job| asked.is_some() && engine_name(job) == asked);
        jobs.extend(chosen.cloned());
    }
    for (index, job) in jobs.iter_mut().enumerate() {
        (job.index, job.id) = (index, job.id.without_engine());
        if let JobKind::Simulation(simulation) = &mut job.kind {
            simulation.engine = engine.clone();
        }
    }
    Plan { jobs, golden: None, blocks: Vec::new(), ..plan.clone() }
}

/// Returns the engine of a simulation job.
fn engine_name(job: &Job) -> Option<&str> {
    match &job.kind {
        JobKind::Simulation(simulation) => Some(&simulation.engine.name),
        JobKind::Replay(_) => None,
    }
}
