//! The running program by its bytes.

use crate::cli::Context;
use crate::digest::Sha256;

/// Returns the digest of the running program: for provenance, as the name of its cache, and to tell the parts of two builds apart.
/// Without it nothing is cached.
pub(super) fn program_digest(context: &Context) -> Option<Sha256> {
    let read = std::env::current_exe().and_then(std::fs::read);
    match read {
        Ok(bytes) => Some(Sha256::of(&bytes)),
        Err(error) => {
            context.note(&format!("no digest of the program and no result cache: cannot read the running program: {error}"));
            None
        }
    }
}
