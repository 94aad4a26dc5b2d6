//! What to change where a run did not do what was asked.

/// What to change where a run did not do what was asked: a setting of the scenario, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The setting by its path, as `vary` writes it: from the deployment, or from the workload with `workload.` before it.
    pub setting: String,
    /// What to do about it; lower-case, no full stop.
    pub help: String,
}

impl Advice {
    /// Returns advice on a setting.
    pub fn new(setting: impl Into<String>, help: impl Into<String>) -> Self {
        Self { setting: setting.into(), help: help.into() }
    }
}
