//! Recorded cases that this build refuses by name. A case leaves its list when it runs; one that runs is judged all the same.

use crate::program::Ran;

/// Configurations.
pub(super) const CASES: &[&str] = &[];

/// Specifications.
pub(super) const SPECS: &[&str] = &[];

/// Returns whether a run was refused as a list allows.
pub(super) fn allows(list: &[&str], name: &str, ran: &Ran) -> bool {
    list.contains(&name) && ran.code == Some(2) && ran.stderr.contains("dynosim::unsupported")
}
