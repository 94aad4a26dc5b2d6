//! What every place has to state.

use crate::diag::{Bag, Code, Problem};
use crate::pin::Registry;

use super::rules::Rules;
use super::version::StatedVersion;

/// The version that every place has to state, and the checksum of its crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected {
    /// The version.
    pub(super) version: StatedVersion,
    /// The registry's checksum of the crate, as the engine pin states it.
    pub(super) checksum: Option<String>,
}

impl Expected {
    /// Looks up the engine pin of the version that the rules state.
    ///
    /// # Errors
    /// `pin::unknown` where no engine pin has it, `pin::audit_rules` where the rules state it in short.
    pub(super) fn of(rules: &Rules, registry: &Registry) -> Result<Self, Bag> {
        let place = &rules.version_place;
        let pin = registry
            .engine_at(&rules.engine, &rules.version.to_string())
            .map_err(|error| error.at(place.source(), place.span()))?;
        if StatedVersion::parse(&pin.version) == Some(rules.version) {
            return Ok(Self { version: rules.version, checksum: pin.checksum });
        }
        let message = format!("`{}` is short for `{}`", rules.version, pin.version);
        let problem = place.problem(Code::PinAuditRules, message, "not the whole version");
        Err(problem.help("write the version as the places state it").into())
    }

    /// Looks up the engine pin of a version to move to; a nightly's number alone is enough.
    ///
    /// # Errors
    /// `pin::unknown` where no engine pin has it, `pin::audit_rules` where the pin's own version has no second spelling.
    pub(super) fn target(
        rules: &Rules,
        to: StatedVersion,
        registry: &Registry,
    ) -> Result<Self, Bag> {
        let pin = registry.engine_at(&rules.engine, &to.to_string())?;
        let version = StatedVersion::parse(&pin.version).ok_or_else(|| {
            let message = format!("`{}` cannot be spelt as PEP 440 has it", pin.version);
            Problem::new(Code::PinAuditRules, message)
        })?;
        Ok(Self { version, checksum: pin.checksum })
    }

    /// Returns the problem of an engine pin without a checksum, where lock files need one.
    pub(super) fn without_checksum(&self, rules: &Rules) -> Option<Problem> {
        if self.checksum.is_some() || !rules.has_cargo_locks() {
            return None;
        }
        let (engine, version) = (&rules.engine, self.version);
        let message = format!(
            "the pin of `{engine}` {version} states no checksum, and a lock file needs one"
        );
        Some(rules.version_place.problem(Code::PinAuditRules, message, "this engine"))
    }
}
