//! Domain separation: keys and seeds are no files, so they hash (separator ‖ NUL ‖ bytes).

use super::{Hasher, Sha256};

/// What a hashed byte string means. The text carries a version; changing what is hashed changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// The key of a job: its canonical description.
    Job,
    /// The digest of a pin: its canonical form.
    Pin,
    /// The digest of a run: its job ids and report digests.
    Run,
}

impl Domain {
    /// Returns the separator.
    pub const fn separator(self) -> &'static str {
        match self {
            Self::Job => "touchstone-job-v1",
            Self::Pin => "touchstone-pin-v1",
            Self::Run => "touchstone-run-v1",
        }
    }

    /// Returns SHA-256(separator ‖ NUL ‖ bytes).
    pub fn digest(self, bytes: &[u8]) -> Sha256 {
        let mut hasher = Hasher::new();
        hasher.update(self.separator().as_bytes());
        hasher.update(&[0]);
        hasher.update(bytes);
        hasher.finish()
    }
}
