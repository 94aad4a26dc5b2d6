//! Earlier runs at hand, to say which request drifted.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::digest::Sha256;
use crate::record::file_digest;
use crate::report::{FinishedRun, RunFile, file_name};

/// The reports of earlier runs of a scenario that are still there, by digest.
#[derive(Debug, Default)]
pub struct KnownRuns {
    jobs: BTreeMap<Sha256, PathBuf>,
}

impl KnownRuns {
    /// Looks through the runs of a scenario under `runs`. Whatever cannot be read is not at hand.
    pub fn of(runs: &Path, scenario: &str) -> Self {
        let Ok(entries) = fs::read_dir(runs.join(file_name(scenario))) else {
            return Self::default();
        };
        let mut folders: Vec<PathBuf> =
            entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        folders.sort();
        let mut jobs = BTreeMap::new();
        for folder in folders {
            let Some(run) = read_run(&folder) else { continue };
            let finished = FinishedRun { folder };
            for job in run.jobs {
                jobs.extend(job.report.map(|digest| (digest, finished.job(&job.id))));
            }
        }
        Self { jobs }
    }

    /// Returns the folder of the job with this report, where one is at hand.
    pub fn folder(&self, report: &Sha256) -> Option<&Path> {
        self.jobs.get(report).map(PathBuf::as_path)
    }

    /// Returns the `requests.jsonl` beside the report with this digest, where the digests still hold.
    pub fn requests(&self, report: &Sha256) -> Option<impl BufRead + use<>> {
        let folder = self.jobs.get(report)?;
        let bytes = fs::read(folder.join("report.json")).ok()?;
        if Sha256::of(&bytes) != *report {
            return None;
        }
        let read = crate::report::Report::parse(bytes).ok()?;
        let requests = folder.join("requests.jsonl");
        if read.requests_digest() != file_digest(&requests).ok() {
            return None;
        }
        File::open(requests).ok().map(BufReader::new)
    }
}

/// Reads the run file of a folder.
fn read_run(folder: &Path) -> Option<RunFile> {
    RunFile::parse(&fs::read(folder.join("run.json")).ok()?).ok()
}
