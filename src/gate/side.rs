//! One side of a comparison: a run folder or a golden.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::digest::Sha256;
use crate::measure::live::LiveName;
use crate::plan::JobId;
use crate::record::file_digest;
use crate::replay::wire::WireDigests;
use crate::report::{FinishedRun, Measured, Report, RunFile, RunJob, Section, outcome_of};

use super::golden::planned_wire;
use super::{Golden, GoldenJob};

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Side {
    /// What people call it.
    pub name: String,
    /// The metric definitions of its reports; `None` without a report.
    pub definition: Option<String>,
    /// Its jobs, in their order.
    pub jobs: Vec<SideJob>,
}

/// A job of one side.
#[derive(Debug, Clone)]
pub struct SideJob {
    /// Its name.
    pub id: JobId,
    /// Its key, where it has a report.
    pub key: Option<Sha256>,
    /// Its report digest, where it has a report.
    pub report: Option<Sha256>,
    /// How it ended.
    pub outcome: String,
    /// The digest of each section.
    pub sections: BTreeMap<Section, Sha256>,
    /// Figures by name, as reports write them; of a golden the headline only.
    pub figures: BTreeMap<String, String>,
    /// The digests of its planned requests, of a replay.
    pub wire: Option<WireDigests>,
    /// What was measured live, as `live.json` writes it; empty where nothing was.
    pub measured: BTreeMap<LiveName, String>,
    /// Whether `figures` are all that the report has.
    pub completeness: Completeness,
    /// Where `requests.jsonl` is.
    pub requests: Option<PathBuf>,
}

/// Whether a side knows all figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// All.
    All,
    /// Those that goldens repeat.
    Headline,
}

impl Side {
    /// Reads a run folder, its `run.json`, or a golden.
    ///
    /// # Errors
    /// [`Code::RunUnreadable`] when it is none of these, or a file in it is not what its digest says.
    pub fn read(path: &Path) -> Result<Self, Bag> {
        let name = path.display().to_string();
        if path.extension().is_some_and(|extension| extension == "kdl") {
            let bytes = fs::read(path).map_err(|error| unreadable(&name, &error))?;
            let text = diag::utf8(Code::RunUnreadable, &name, bytes)?;
            return Golden::parse(&SourceFile::new(&name, &text))
                .map(|golden| Self::of_golden(name, golden));
        }
        let folder = run_folder(path).map_err(|why| unreadable(&name, &why))?;
        let bytes = fs::read(folder.join("run.json")).map_err(|error| unreadable(&name, &error))?;
        let run = RunFile::parse(&bytes).map_err(|error| unreadable(&name, &error))?;
        Ok(of_run(name, &FinishedRun { folder }, run)?)
    }

    /// Returns a golden as a side.
    pub fn of_golden(name: String, golden: Golden) -> Self {
        let jobs = golden.jobs.into_iter().map(golden_job).collect();
        Self { name, definition: Some(golden.definition), jobs }
    }

    /// Returns a side without jobs: what is not there yet.
    pub fn empty(name: &str) -> Self {
        Self { name: name.to_owned(), definition: None, jobs: Vec::new() }
    }
}

impl SideJob {
    /// Returns a job by its report alone.
    pub(super) fn of_report(id: &JobId, report: &Report) -> Self {
        let section = |section| Some((section, report.section(section)?));
        let figures = report.figures().into_iter();
        Self {
            id: id.clone(),
            key: report.key(),
            report: Some(report.digest()),
            outcome: if report.failures().is_empty() { "completed" } else { "failed" }.to_owned(),
            sections: Section::ALL.into_iter().filter_map(section).collect(),
            figures: figures.map(|(name, text)| (name.to_string(), text)).collect(),
            wire: planned_wire(report),
            measured: BTreeMap::new(),
            completeness: Completeness::All,
            requests: None,
        }
    }
}

/// Returns a job of a golden.
fn golden_job(job: GoldenJob) -> SideJob {
    SideJob {
        id: job.id,
        key: Some(job.key),
        report: Some(job.report),
        outcome: "completed".to_owned(),
        sections: job.sections,
        figures: job.headline,
        wire: job.wire,
        measured: BTreeMap::new(),
        completeness: Completeness::Headline,
        requests: None,
    }
}

/// Returns the run folder that a path means: itself, or the one whose `run.json` it is; else why it means none.
fn run_folder(path: &Path) -> Result<PathBuf, &'static str> {
    let is_file_of_run = path.file_name().is_some_and(|name| name == "run.json");
    if !path.exists() {
        Err("there is no such file or folder")
    } else if path.is_file() && is_file_of_run {
        Ok(path.parent().unwrap_or(path).to_path_buf())
    } else if path.join("run.json").is_file() {
        Ok(path.to_path_buf())
    } else if path.is_dir() {
        Err("it is no run folder: it holds no `run.json`")
    } else {
        Err("it is neither a run folder nor a golden")
    }
}

/// Returns the finding about a side that cannot be read.
fn unreadable(name: &str, why: &dyn std::fmt::Display) -> Problem {
    Problem::new(Code::RunUnreadable, format!("cannot read `{name}`: {why}")).help(
        "give a run folder (runs/<scenario>/latest) or a golden (pins/goldens/<scenario>.kdl)",
    )
}

/// Returns a run as a side.
fn of_run(name: String, run: &FinishedRun, file: RunFile) -> Result<Side, Problem> {
    let mut definition = None;
    let mut jobs = Vec::with_capacity(file.jobs.len());
    for job in file.jobs {
        let folder = run.job(&job.id);
        let report = job.report.map(|digest| read_report(&folder, &digest)).transpose();
        let report = report.map_err(|why| unreadable(&name, &why))?;
        let measured = read_measured(&folder).map_err(|why| unreadable(&name, &why))?;
        if let Some(report) = &report {
            definition.get_or_insert_with(|| report.definition().to_owned());
        }
        let left = (report.as_ref(), measured.as_ref());
        verify(&job, left, &folder).map_err(|why| unreadable(&name, &why))?;
        jobs.push(run_job(job, left, &folder));
    }
    Ok(Side { name, definition, jobs })
}

/// Checks that what stands beside a report is what the report says: its requests, and how the job ended.
fn verify(
    job: &RunJob,
    (report, measured): (Option<&Report>, Option<&Measured>),
    folder: &Path,
) -> Result<(), String> {
    let (id, outcome) = (&job.id, &job.outcome);
    let Some(report) = report else {
        return match outcome.as_str() {
            "completed" => {
                Err(format!("run.json says that job `{id}` completed, without a report"))
            }
            _ => Ok(()),
        };
    };
    let said = outcome_of(report, measured);
    if outcome != said {
        return Err(format!("run.json says `{outcome}` of job `{id}`, its report `{said}`"));
    }
    verify_lines(&folder.join("requests.jsonl"), report.requests_digest())?;
    match measured {
        Some(measured) if measured.report() != Some(report.digest()) => {
            Err(format!("the measurements of job `{id}` are those of another plan"))
        }
        Some(measured) => verify_lines(&folder.join("live.jsonl"), measured.requests_digest()),
        None => Ok(()),
    }
}

/// Checks that a file is the one that the report beside it states.
fn verify_lines(path: &Path, stated: Option<Sha256>) -> Result<(), String> {
    let shown = path.display();
    let found = file_digest(path).map_err(|error| format!("{shown}: {error}"))?;
    match stated {
        Some(stated) if stated == found => Ok(()),
        Some(stated) => Err(format!("{shown} has digest {found}, its report says {stated}")),
        None => Err(format!("the report beside {shown} states no digest of it")),
    }
}

/// Reads what was measured live of a job, where something was.
fn read_measured(folder: &Path) -> Result<Option<Measured>, String> {
    let path = folder.join("live.json");
    match fs::read(&path) {
        Ok(bytes) => {
            let read = Measured::parse(bytes);
            read.map(Some).map_err(|why| format!("{}: {why}", path.display()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Returns a job of a run.
fn run_job(
    job: RunJob,
    (report, measured): (Option<&Report>, Option<&Measured>),
    folder: &Path,
) -> SideJob {
    let section = |report: &Report, section| Some((section, report.section(section)?));
    SideJob {
        id: job.id,
        key: report.and_then(Report::key),
        report: job.report,
        outcome: job.outcome,
        sections: report
            .map(|report| Section::ALL.into_iter().filter_map(|it| section(report, it)).collect())
            .unwrap_or_default(),
        figures: report
            .map(|report| {
                let figures = report.figures().into_iter();
                figures.map(|(name, text)| (name.to_string(), text)).collect()
            })
            .unwrap_or_default(),
        wire: report.and_then(planned_wire),
        measured: measured.map(Measured::figures).unwrap_or_default(),
        completeness: Completeness::All,
        requests: report.map(|_| folder.join("requests.jsonl")),
    }
}

/// Reads a report and checks that it is the one that the run names.
fn read_report(folder: &Path, digest: &Sha256) -> Result<Report, String> {
    let path = folder.join("report.json");
    let shown = path.display();
    let bytes = fs::read(&path).map_err(|error| format!("{shown}: {error}"))?;
    let report = Report::parse(bytes).map_err(|error| format!("{shown}: {error}"))?;
    if report.digest() == *digest {
        Ok(report)
    } else {
        Err(format!("{shown} has digest {}, the run says {digest}", report.digest()))
    }
}
