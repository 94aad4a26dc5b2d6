//! What is pinned or golden is decided by a person: under `CI` nothing below `pins/` is written.

use std::path::Path;

use crate::cli::{Context, Exit, Failure};
use crate::diag::{Code, Problem};

/// Refuses to write a file below `pins/` under `CI`; every command that could asks here first.
///
/// # Errors
/// A finding with `code`, exit 3.
pub(super) fn forbid_pins_write(code: Code, path: &Path, context: &Context) -> Result<(), Failure> {
    if !context.environment().continuous_integration || !is_below_pins(path) {
        return Ok(());
    }
    let file = path.display();
    let message = format!("`CI` is set, and nothing below `pins/` is written there: `{file}`");
    let problem = Problem::new(code, message)
        .help("change it on a machine of your own and commit the change");
    Err(Failure::new(Exit::Drift, problem))
}

/// Returns whether a file lies below a folder `pins`, by the path that was given or by the one that links lead to.
fn is_below_pins(path: &Path) -> bool {
    let is_below = |path: &Path| {
        path.ancestors().skip(1).any(|folder| folder.file_name().is_some_and(|name| name == "pins"))
    };
    let given = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    is_below(&given) || path.canonicalize().is_ok_and(|real| is_below(&real))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_below_pins_by_any_folder_above_it() {
        for (path, expected) in [
            ("pins/goldens/a.kdl", true),
            ("/x/pins/models/b.kdl", true),
            ("scenarios/pins.kdl", false),
            ("/x/pins", false),
        ] {
            assert_eq!(is_below_pins(Path::new(path)), expected, "{path}");
        }
    }
}
