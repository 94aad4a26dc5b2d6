//! Files beside the pins of an engine, which say something of the engine and not of one version: `pins/engines/NAME.WHAT.kdl`.

use std::path::Path;

use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::scenario::cursor::View;

/// Returns what such a file lists in the project at `root`; nothing where there is no file.
///
/// # Errors
/// [`Code::PinRead`] for a file that cannot be read, and everything that `read` finds wrong with it.
pub(super) fn listed<T>(
    root: &Path,
    engine: &str,
    what: &str,
    read: impl FnOnce(&SourceFile, &str) -> Result<Vec<T>, Bag>,
) -> Result<Vec<T>, Bag> {
    let name = format!("pins/engines/{engine}.{what}.kdl");
    let bytes = match std::fs::read(root.join(&name)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let message = format!("cannot read `{name}`: {error}");
            return Err(Problem::new(Code::PinRead, message).into());
        }
    };
    let text = diag::utf8(Code::PinRead, &name, bytes)?;
    read(&SourceFile::new(&name, &text), engine)
}

/// Complains of a node that speaks of another engine than the file is named after.
pub(super) fn check_engine(view: &View<'_>, engine: &str, bag: &mut Bag) {
    if view.text("NAME").is_some_and(|name| name != engine) {
        let message = format!("this file is named after engine `{engine}`");
        bag.push(view.problem(Code::PinName, "NAME", message, "another engine"));
    }
}
