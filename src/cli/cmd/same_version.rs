//! A version that is held against itself: for every command that takes two.

use crate::diag::{Bag, Code, Problem};
use crate::pin::Registry;
use crate::plan::{Compat, EngineIdentity};

/// Refuses two versions that are one; `options` are what they were stated with.
///
/// # Errors
/// [`Code::UpgradeSame`] with the versions that there are; what is wrong with the engine's pins.
pub(super) fn refuse_same_version(
    (from, to): (&EngineIdentity, &EngineIdentity),
    registry: &Registry,
    options: [&str; 2],
) -> Result<(), Bag> {
    if from != to {
        return Ok(());
    }
    let known: Vec<String> = if to.is_native() {
        Compat::ALL.iter().map(|compat| compat.name().to_owned()).collect()
    } else {
        registry.engine_versions(&to.name)?.into_iter().map(|pin| pin.version).collect()
    };
    Err(same_version((&to.name, to.shown_version()), &known, options).into())
}

/// Returns the finding about a version of an engine that is held against itself; it names those that are known.
pub(super) fn same_version(
    (engine, version): (&str, &str),
    known: &[String],
    [one, other]: [&str; 2],
) -> Problem {
    let message = format!("`{one}` and `{other}` are both {engine} {version}");
    let help = format!("give two of its versions: {}", known.join(", "));
    Problem::new(Code::UpgradeSame, message).help(help)
}
