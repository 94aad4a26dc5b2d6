//! The same questions again, in a process of its own: a version that disagrees with itself is not judged.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::Context;
use crate::cli::cmd::jobs::Manner;
use crate::digest::canonical::Value;
use crate::exec::{CommandError, run_command};
use crate::gate::upgrade::Again;
use crate::plan::{EngineIdentity, JobId};
use crate::report::parse_json;

/// What a second process says, by question; a process that breaks says the same of every question.
#[derive(Debug)]
pub(super) enum Second {
    /// Its answers.
    Answers(BTreeMap<JobId, Again>),
    /// Why it has none.
    Broken(String),
}

impl Second {
    /// Asks a version of an engine every question of a scenario in another process.
    pub(super) fn ask(
        (file, version): (&Path, &str),
        engine: &EngineIdentity,
        manner: &Manner<'_>,
        context: &Context,
    ) -> Self {
        let command = std::env::current_exe().map(|program| {
            let mut command = Command::new(program);
            command.arg("--quiet");
            if let Some(root) = context.root() {
                command.arg("--root").arg(root);
            }
            command.arg("exec-pin").args(["--engine", &engine.name, "--version", version]);
            command.args(["--jobs", &manner.threads().to_string()]).arg("--").arg(file);
            command
        });
        let output = command
            .map_err(CommandError::from)
            .and_then(|mut command| run_command(&mut command, Some(manner.stop), &|_| {}));
        match output {
            Err(error) => Self::Broken(error.to_string()),
            Ok(output) if !output.status.success() => {
                let said = String::from_utf8_lossy(&output.stderr);
                Self::Broken(format!("{}: {}", output.status, said.trim()))
            }
            Ok(output) => read(&output.stdout).map_or_else(
                || Self::Broken("it answered something else".to_owned()),
                Self::Answers,
            ),
        }
    }

    /// Returns what it says of a question. Where someone asked to stop, anything but an answer says nothing.
    pub(super) fn of(&self, id: &JobId, stop: &AtomicBool) -> Again {
        let again = match self {
            Self::Answers(answers) => answers.get(id).cloned().unwrap_or(Again::Unasked),
            Self::Broken(why) => Again::Failed(why.clone()),
        };
        match again {
            Again::Digest(_) => again,
            Again::Failed(_) | Again::Unasked | Again::Interrupted => {
                if stop.load(Ordering::SeqCst) { Again::Interrupted } else { again }
            }
        }
    }
}

/// Reads what `exec-pin` printed; `None` where it is something else.
fn read(bytes: &[u8]) -> Option<BTreeMap<JobId, Again>> {
    let Value::Object(answers) = parse_json(bytes).ok()? else { return None };
    let answer = |value: Value| {
        let text = value.as_text()?;
        let failed = |why: &str| Again::Failed(why.to_owned());
        let digest = |digest| Some(Again::Digest(digest));
        text.strip_prefix("failed: ").map(failed).or_else(|| digest(text.parse().ok()?))
    };
    answers.into_iter().map(|(id, value)| Some((JobId::new(id), answer(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Sha256;

    #[test]
    fn what_a_second_process_prints_is_read_or_refused_as_a_whole() {
        let digest = Sha256::of(b"x");
        let text = format!("{{\"a\":\"{}\",\"b\":\"failed: broke\"}}", digest.hex());
        let answers = Second::Answers(read(text.as_bytes()).expect("answers"));
        let of =
            |id: &str, is_stopped: bool| answers.of(&JobId::new(id), &AtomicBool::new(is_stopped));
        assert_eq!(of("a", false), Again::Digest(digest));
        assert_eq!(of("b", false), Again::Failed("broke".to_owned()));
        assert_eq!(of("c", false), Again::Unasked);
        assert_eq!(of("a", true), Again::Digest(digest));
        assert_eq!([of("b", true), of("c", true)], [Again::Interrupted, Again::Interrupted]);
        for garbage in ["", "[]", "{\"a\":1}", "{\"a\":\"x\"}"] {
            assert!(read(garbage.as_bytes()).is_none(), "{garbage}");
        }
    }
}
