//! Every rule, over one job.

use super::{Case, Doubt, deployment, serving, worker};

/// Returns everything that is odd about a job.
pub(in crate::plan) fn doubts(case: &Case<'_>) -> Vec<Doubt> {
    let mut all = deployment::idle(case);
    for (role, worker) in case.job.deployment.workers_by_role() {
        all.extend(worker::idle(case, role, worker));
        all.extend(serving::unservable(case, role, worker));
    }
    all.extend(serving::beyond_context(case));
    all
}
