//! A job with what rules look at, and what they find.

use crate::diag::Code;
use crate::pin::{ModelPin, TimingPin};
use crate::plan::{Origin, SimulationJob, TableInput};

/// A job with what rules look at.
pub(in crate::plan) struct Case<'a> {
    /// The job.
    pub(in crate::plan) job: &'a SimulationJob,
    /// Its model.
    pub(in crate::plan) model: &'a ModelPin,
    /// The timing pins of its scenario.
    pub(in crate::plan) timings: &'a [(TimingPin, TableInput)],
    /// Where it states its settings.
    pub(in crate::plan) origin: &'a Origin,
}

/// Something odd about a job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::plan) struct Doubt {
    /// The setting, by its path.
    pub(in crate::plan) setting: String,
    /// What is odd.
    pub(in crate::plan) message: String,
    /// What to do.
    pub(in crate::plan) help: String,
    /// Of which kind.
    pub(in crate::plan) kind: Kind,
}

/// Kinds of oddities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::plan) enum Kind {
    /// The setting changes nothing.
    Idle,
    /// Requests can never be served.
    Unservable,
    /// The setting is of another model, or of another deployment.
    Foreign,
}

impl Kind {
    /// Returns the code.
    pub(in crate::plan) const fn code(self) -> Code {
        match self {
            Self::Idle => Code::ScenarioIdleSetting,
            Self::Unservable => Code::ScenarioUnservable,
            Self::Foreign => Code::ScenarioForeignSetting,
        }
    }

    /// Returns what stands at the setting.
    pub(in crate::plan) const fn label(self) -> &'static str {
        match self {
            Self::Idle => "has no effect",
            Self::Unservable => "this decides it",
            Self::Foreign => "of something else",
        }
    }
}

impl Case<'_> {
    /// Returns that a setting has no effect, where it is stated.
    pub(super) fn idle(&self, setting: String, why: &str, help: &str) -> Option<Doubt> {
        if !self.origin.states(&setting) {
            return None;
        }
        let name = setting.rsplit('.').next().unwrap_or(&setting);
        let message = format!("`{name}` has no effect {why}");
        Some(Doubt { setting, message, help: help.to_owned(), kind: Kind::Idle })
    }
}
