//! The folder of a run. Jobs are written as they end, beside; the whole appears at once under its digest.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use crate::digest::Sha256;
use crate::plan::JobId;
use crate::record::file_digest;

use super::names::{file_name, job_folder};
use super::schema::{EVENTS, REPORT, REQUESTS};
use super::{Artifacts, JobResult, Report};

/// A run folder in the making: `runs/<scenario>/.new-…`.
#[derive(Debug)]
pub struct RunFolder {
    scenario: PathBuf,
    beside: tempfile::TempDir,
}

/// A run folder that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedRun {
    /// The folder.
    pub folder: PathBuf,
}

/// Whether all jobs of a run had their turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All had.
    Whole,
    /// An interruption cut some: `latest` stays at the last whole run.
    Cut,
}

impl Extent {
    /// Returns how far a run came.
    pub fn of(results: &[JobResult]) -> Self {
        if results.iter().any(JobResult::is_interrupted) { Self::Cut } else { Self::Whole }
    }
}

/// How often a rename is tried while other processes finish the same run.
const ATTEMPTS: usize = 5;

impl RunFolder {
    /// Starts the folder of a run of `scenario` under `runs`.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn create(runs: &Path, scenario: &str) -> io::Result<Self> {
        let scenario = runs.join(file_name(scenario));
        fs::create_dir_all(&scenario)?;
        let beside = tempfile::Builder::new().prefix(".new-").tempdir_in(&scenario)?;
        Ok(Self { scenario, beside })
    }

    /// Writes what a job left.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn write_job(&self, id: &JobId, artifacts: &Artifacts) -> io::Result<()> {
        write_job(self.beside.path(), id, artifacts)
    }

    /// Returns where it is written: a place for what is to be moved into it.
    pub fn path(&self) -> &Path {
        self.beside.path()
    }

    /// Reads back the `requests.jsonl` of a job, where it was written.
    pub fn read_requests(&self, id: &JobId) -> Option<Box<dyn BufRead>> {
        let file = File::open(self.beside.path().join(job_folder(id)).join(REQUESTS)).ok()?;
        Some(Box::new(BufReader::new(file)))
    }

    /// Writes a file of the run itself.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_file(self.beside.path(), name, bytes)
    }

    /// Gives the folder its name ([`super::run_name`]), in place of an earlier run with the same one, and points `latest` at it where
    /// the run is whole.
    ///
    /// Where the earlier run kept a job's events and this one did not, they stay as long as the report still vouches for them.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn finish(self, name: &str, extent: Extent) -> io::Result<FinishedRun> {
        let folder = self.scenario.join(name);
        keep_events(self.beside.path(), &folder)?;
        make_readable(self.beside.path())?;
        replace(self.beside.path(), &folder)?;
        if extent == Extent::Whole {
            point(&self.scenario.join("latest"), name)?;
        }
        Ok(FinishedRun { folder })
    }

    /// Gives the folder the name of a part of the plan with digest `plan`, in place of an earlier run of that part; `latest` stays.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn finish_part(self, plan: &Sha256, part: &str) -> io::Result<FinishedRun> {
        let parts = self.scenario.join("parts").join(plan.short());
        fs::create_dir_all(&parts)?;
        let folder = parts.join(part);
        keep_events(self.beside.path(), &folder)?;
        make_readable(self.beside.path())?;
        replace(self.beside.path(), &folder)?;
        Ok(FinishedRun { folder })
    }
}

/// Writes what a job left into the folder of a run, or of a part of one.
///
/// # Errors
/// Whatever the file system says.
pub fn write_job(folder: &Path, id: &JobId, artifacts: &Artifacts) -> io::Result<()> {
    let folder = folder.join(job_folder(id));
    fs::create_dir_all(&folder)?;
    artifacts.files().iter().try_for_each(|(name, file)| file.place(&folder.join(name)))
}

/// Writes a file and waits until the disk has it.
///
/// # Errors
/// Whatever the file system says.
pub fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(folder.join(name))?;
    file.write_all(bytes)?;
    file.sync_all()
}

impl FinishedRun {
    /// Returns the folder of a job.
    pub fn job(&self, id: &JobId) -> PathBuf {
        self.folder.join(job_folder(id))
    }
}

/// Takes the events that an earlier run kept, job by job, into a folder that has none: those whose digest a report of `new` gives.
fn keep_events(new: &Path, earlier: &Path) -> io::Result<()> {
    for entry in fs::read_dir(new)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            keep_events(&entry.path(), &earlier.join(entry.file_name()))?;
        }
    }
    if new.join(EVENTS).exists() || !new.join(REPORT).exists() {
        return Ok(());
    }
    // What cannot be read, or is not what the report says, is not worth keeping.
    let Ok(events) = file_digest(&earlier.join(EVENTS)) else { return Ok(()) };
    let report = Report::parse(fs::read(new.join(REPORT))?).map_err(io::Error::other)?;
    if report.events_digest() == Some(events) {
        let _bytes = fs::copy(earlier.join(EVENTS), new.join(EVENTS))?;
        File::open(new.join(EVENTS))?.sync_all()?;
    }
    Ok(())
}

/// Puts `new` where `target` is; what was there goes away.
fn replace(new: &Path, target: &Path) -> io::Result<()> {
    let mut last = Ok(());
    for _ in 0..ATTEMPTS {
        if target.exists() {
            let aside = tempfile::Builder::new()
                .prefix(".old-")
                .tempdir_in(target.parent().unwrap_or(target))?;
            // Where another process was faster, there is nothing left to move aside.
            let _moved = fs::rename(target, aside.path().join("run"));
        }
        last = fs::rename(new, target);
        if last.is_ok() {
            return Ok(());
        }
    }
    last
}

/// Lets others read the folder: temporary folders are private.
#[cfg(unix)]
fn make_readable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

/// Lets others read the folder: nothing to do where folders inherit.
#[cfg(not(unix))]
fn make_readable(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes `link` a symbolic link to `name`, in one step.
#[cfg(unix)]
fn point(link: &Path, name: &str) -> io::Result<()> {
    let beside =
        tempfile::Builder::new().prefix(".latest-").tempdir_in(link.parent().unwrap_or(link))?;
    let new = beside.path().join("latest");
    std::os::unix::fs::symlink(name, &new)?;
    fs::rename(new, link)
}

/// Makes `link` a file that holds `name`.
#[cfg(not(unix))]
fn point(link: &Path, name: &str) -> io::Result<()> {
    fs::write(link, name)
}
