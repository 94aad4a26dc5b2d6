//! Partial runs on disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{PartialFile, PartialJob};
use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::record::Spool;
use crate::report::names::job_folder;
use crate::report::schema::{EVENTS, LIVE, LIVE_REQUESTS, PARTIAL, REPORT, REQUESTS};
use crate::report::{Artifacts, outcome_of};

/// A partial run that was read.
#[derive(Debug, Clone)]
pub struct PartialRun {
    /// Its folder.
    pub folder: PathBuf,
    /// SHA-256 of its `partial.json`.
    pub digest: Sha256,
    /// What it holds.
    pub file: PartialFile,
}

/// Returns whether a folder is a partial run.
pub fn is_partial(folder: &Path) -> bool {
    folder.join(PARTIAL).is_file()
}

/// Reads the partial runs that `folder` is or holds, however deep, sorted by path.
///
/// # Errors
/// [`Code::MergeNotPartial`] where there is none, or one cannot be read.
pub fn partial_runs(folder: &Path) -> Result<Vec<PartialRun>, Problem> {
    let mut found = Vec::new();
    find(folder, &mut found).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", folder.display());
        Problem::new(Code::MergeNotPartial, message)
            .help("`bench run FILE --partition hash:1/2` leaves a part, and says where")
    })?;
    if found.is_empty() {
        let shown = folder.display();
        let problem = if folder.join("run.json").is_file() {
            let message = format!("`{shown}` is a whole run: there is nothing to merge");
            Problem::new(Code::MergeNotPartial, message)
                .help("give the folders that `bench run FILE --partition hash:I/N` left, one of each part")
        } else {
            let message = format!("`{shown}` neither is nor holds a partial run");
            Problem::new(Code::MergeNotPartial, message)
                .help("`bench run FILE --partition hash:1/2` leaves one, and says where")
        };
        return Err(problem);
    }
    found.into_iter().map(PartialRun::read).collect()
}

/// Collects the folders that are partial runs. What is being written, or was left of that, has a name with a dot in front.
fn find(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if is_partial(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    let mut below = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !is_hidden && entry.file_type()?.is_dir() {
            below.push(entry.path());
        }
    }
    below.sort();
    below.iter().try_for_each(|folder| find(folder, found))
}

impl PartialRun {
    /// Reads the partial run in a folder.
    fn read(folder: PathBuf) -> Result<Self, Problem> {
        let path = folder.join(PARTIAL);
        let wrong = |why: String| {
            let message = format!("cannot read `{}`: {why}", path.display());
            Problem::new(Code::MergeNotPartial, message)
        };
        let bytes = fs::read(&path).map_err(|error| wrong(error.to_string()))?;
        let file = PartialFile::parse(&bytes).map_err(wrong)?;
        Ok(Self { digest: Sha256::of(&bytes), folder, file })
    }

    /// Returns what a job with a report left, checked against every digest that is known of it. What is returned are copies, in
    /// `scratch` where they are long.
    ///
    /// # Errors
    /// What is missing or is not what it should be.
    pub fn artifacts(&self, job: &PartialJob, scratch: Option<&Path>) -> Result<Artifacts, String> {
        let folder = self.folder.join(job_folder(&job.id));
        let mut files = BTreeMap::new();
        for name in [REPORT, REQUESTS, EVENTS, LIVE, LIVE_REQUESTS] {
            match Spool::copy_of(&folder.join(name), scratch) {
                Ok(file) => drop(files.insert(name.to_owned(), file)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(format!("{name}: {error}")),
            }
        }
        let artifacts = Artifacts::from_files(files)?;
        let found = artifacts.report.digest();
        if job.report != Some(found) {
            return Err(format!("{REPORT} has digest {found}, {PARTIAL} says another"));
        }
        if artifacts.report.key() != Some(*job.key.digest()) {
            return Err("the report is that of another job".to_owned());
        }
        let measured = artifacts.live.as_ref().map(|live| &live.measured);
        if outcome_of(&artifacts.report, measured) != job.outcome {
            return Err(format!("{PARTIAL} says `{}`, the report says another", job.outcome));
        }
        Ok(artifacts)
    }
}
