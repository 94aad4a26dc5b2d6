//! What of a job this build cannot run: everything, so that one answer shows it all.

use crate::diag::Advice;
use crate::plan::{Part, SimulationJob};

use super::error::Unsupported;
use super::limitation::LIMITATIONS;

/// The behaviour version of this simulator.
const NATIVE_VERSION: &str = "1";

/// Returns everything of a job that this build cannot simulate; nothing where it can run it.
pub fn unsupported(job: &SimulationJob) -> Vec<Unsupported> {
    let is_known = job.engine.is_native() && job.engine.version == NATIVE_VERSION;
    let other = (!is_known).then(|| {
        let what = format!("engine `{}` version {}", job.engine.name, job.engine.version);
        Unsupported::new(what, Part::Engine)
    });
    let limits = LIMITATIONS.iter().filter_map(|limitation| limitation.refusal(job));
    other.into_iter().chain(limits).collect()
}

/// Returns something of the deployment that this build cannot run, with the setting that asks for it and what to do instead.
pub(super) fn deployment(what: &str, setting: &str, instead: &str) -> Unsupported {
    let advice = Some(Advice::new(setting, instead));
    Unsupported { advice, ..Unsupported::new(what, Part::Deployment) }
}
