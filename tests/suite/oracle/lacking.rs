//! Recorded cases that this build refuses by name. A case leaves its list when it runs; one that runs is judged all the same.

use crate::program::Ran;

/// Configurations.
pub(super) const CASES: &[&str] = &[
    "048-host-offload",
    "049-host-offload-slow",
    "050-host-offload-shared-r2",
    "051-g3-offload",
    "052-state-cache",
    "087-ngram",
];

/// Specifications.
pub(super) const SPECS: &[&str] = &[
    "036-g2-load-3v1",
    "038-g2-load-waves",
    "040-g2-load-unlimited-client",
    "042-g2-evict-reload",
    "044-g2-local-uneven-waves",
    "046-g2-local-evict-reload",
    "068-ctl-g2-cluster-symmetric",
];

/// Returns whether a run was refused as a list allows.
pub(super) fn allows(list: &[&str], name: &str, ran: &Ran) -> bool {
    list.contains(&name) && ran.code == Some(2) && ran.stderr.contains("dynosim::unsupported")
}
