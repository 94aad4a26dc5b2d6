//! The command from arguments to a table.

use std::path::PathBuf;

use crate::cli::args::{Format, ParityArgs};
use crate::cli::cmd::distinct::distinct;
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{Code, Problem};
use crate::report::dynosim::compare;

use super::answer::{Answered, answer};
use super::recording::{Asked, Recording, of_folder};
use super::table::{self, Judged, Verdict};

/// Where the recorded cases of a project are.
pub(super) const FIXTURES: [&str; 2] =
    ["tests/fixtures/oracle/cases", "tests/fixtures/oracle/specs"];

/// Runs the command: exit 3 where a case differs by more than is allowed, 4 where none could be compared.
pub(in crate::cli::cmd) fn run(args: &ParityArgs, context: &Context) -> Result<Exit, Failure> {
    if let Some(engine) = &args.engine {
        let version = args.version.as_deref().unwrap_or_default();
        return super::live::run((engine, version), args, context);
    }
    let mut judged = Vec::new();
    for folder in distinct(&folders(args, context)) {
        for recording in of_folder(&folder)? {
            if args.is_wanted(&recording.name) {
                judged.push(judge(recording, context));
            }
        }
    }
    if judged.is_empty() {
        return Err(none_wanted(args).into());
    }
    let text = match args.format {
        Format::Table => table::text(&judged),
        Format::Json => table::document(&judged),
    };
    print(text)?;
    let any = |wanted: Option<bool>| judged.iter().any(|case| case.agrees() == wanted);
    Ok(if any(Some(false)) {
        Exit::Drift
    } else if any(Some(true)) {
        Exit::Success
    } else {
        Exit::NoVerdict
    })
}

/// Returns the problem of names that nothing begins with, among cases and jobs that are there.
pub(super) fn none_wanted(args: &ParityArgs) -> Problem {
    let (message, help) = match args.only.as_slice() {
        [] => ("there is nothing to compare".to_owned(), "name a folder of recorded cases"),
        names => (
            format!("no case or job begins with `{}`", names.join("` or `")),
            "without `--only` all of them are compared, by name",
        ),
    };
    Problem::new(Code::ParityCase, message).help(help)
}

/// Returns what is asked: scenarios and folders of recorded cases.
pub(super) fn folders(args: &ParityArgs, context: &Context) -> Vec<PathBuf> {
    if !args.folders.is_empty() {
        return args.folders.clone();
    }
    let root = context.root().map_or_else(|| PathBuf::from("."), PathBuf::from);
    FIXTURES.map(|folder| root.join(folder)).to_vec()
}

/// Answers a recording and compares.
pub(super) fn judge(recording: Recording, context: &Context) -> Judged {
    let mut areas = Vec::new();
    let answered = answer(&recording, context, &mut areas);
    let verdict = match (answered, &recording.answer) {
        (Answered::NotCovered(what), _) => Verdict::NotCovered(what),
        (Answered::Failed(_), None) => Verdict::BothFailed,
        (Answered::Failed(why), Some(_)) => Verdict::OneFailed(format!("fails here: {why}")),
        (Answered::Ended(..), None) => Verdict::OneFailed("fails in the reference".to_owned()),
        (Answered::Ended(mut found, bounds), Some(recorded)) => {
            if matches!(recording.asked, Asked::Specification { .. }) {
                found.keep_named(recorded);
            }
            Verdict::Compared(compare(recorded, &found, bounds))
        }
    };
    Judged { name: recording.name, areas, verdict }
}
