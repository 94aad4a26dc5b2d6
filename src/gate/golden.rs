//! A golden: the accepted digests and headline figures of a scenario's jobs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::plan::JobId;
use crate::replay::wire::WireDigests;
use crate::report::{HEADLINE, JobResult, Report, Section};
use crate::scenario::cursor::{self, View};
use crate::scenario::shape::{Field, Shape};
use crate::scenario::syntax::{self, Place};

/// The accepted digests and headline figures of a scenario's jobs.
#[derive(Debug, Clone)]
pub struct Golden {
    /// The scenario's name.
    pub scenario: String,
    /// The header, which is not compared.
    pub accepted: Acceptance,
    /// The metric definitions of all its reports.
    pub definition: String,
    /// The jobs, in the plan's order.
    pub jobs: Vec<GoldenJob>,
}

/// Who accepted, why, when, and after how many equal runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// Why.
    pub reason: String,
    /// Who.
    pub by: String,
    /// When: a date in UTC.
    pub on: String,
    /// How many equal runs of each changed job there were.
    pub equal_runs: u64,
    /// With which version of this program.
    pub tool: String,
}

/// An accepted job.
#[derive(Debug, Clone)]
pub struct GoldenJob {
    /// Its name.
    pub id: JobId,
    /// Its key.
    pub key: Sha256,
    /// Its report digest.
    pub report: Sha256,
    /// The digest of each section.
    pub sections: BTreeMap<Section, Sha256>,
    /// Headline figures by name, as the report writes them.
    pub headline: BTreeMap<String, String>,
    /// The digests of its planned requests, of a replay.
    pub wire: Option<WireDigests>,
    /// Where the golden says so; a golden in the making has no place.
    pub place: Option<Place>,
}

/// The golden that a scenario names.
#[derive(Debug, Clone)]
pub enum GoldenFile {
    /// The scenario names none.
    Unnamed,
    /// It is named and does not exist.
    Missing,
    /// It exists.
    Present(Golden),
}

static ACCEPTED: Shape =
    Shape::new("accepted", "Who accepted, why and when. Not compared.").once().props(&[
        Field::text("reason", "Why."),
        Field::text("by", "Who."),
        Field::text("on", "When: a date in UTC."),
        Field::count("equal-runs", "How many runs in fresh processes were equal."),
        Field::text("tool", "The version of the program."),
    ]);
static DEFINITION: Shape = Shape::new("definition", "The metric definitions.")
    .once()
    .args(&[Field::text("NAME", "Their name.")]);
static KEY: Shape =
    Shape::new("key", "The job's key.").once().args(&[Field::digest("DIGEST", "The digest.")]);
static REPORT: Shape = Shape::new("report", "The report digest.")
    .once()
    .args(&[Field::digest("DIGEST", "The digest.")]);
static SECTION: Shape =
    Shape::new("section", "The digest of a section of the report.").keyed().args(&[
        Field::word("NAME", &["inputs", "events", "requests", "summary"], "The section."),
        Field::digest("DIGEST", "The digest."),
    ]);
static FIGURE: Shape =
    Shape::new("figure", "A figure, so that a drift can be read without the old report.")
        .keyed()
        .args(&[
            Field::text("NAME", "Its name."),
            Field::text("VALUE", "As the report writes it."),
        ]);
static WIRE: Shape =
    Shape::new("wire", "What a replay plans beside its single requests.").props(&[
        Field::digest("run", "What holds for all requests: pacing, path, lanes."),
        Field::digest("instances", "The instances of traces that are known before the run."),
    ]);
static REQUEST: Shape =
    Shape::new("request", "A planned request: what it sends and when it starts.").keyed().args(&[
        Field::text("NAME", "Its trace and call, with a slash between them."),
        Field::digest("DIGEST", "The digest of its description."),
    ]);
static JOB: Shape = Shape::new("job", "An accepted job.")
    .keyed()
    .args(&[Field::text("ID", "Its name.")])
    .block(&[&KEY, &REPORT, &SECTION, &FIGURE, &WIRE, &REQUEST]);
static GOLDEN: Shape = Shape::new("golden", "The accepted results of a scenario.")
    .once()
    .args(&[Field::text("SCENARIO", "The scenario's name.")])
    .block(&[&ACCEPTED, &DEFINITION, &JOB]);
static FILE: Shape = Shape::root(&[&GOLDEN]);

impl GoldenFile {
    /// Reads the golden at `path`; `name` is what people call the file.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn read(path: &Path, name: &str) -> Result<Self, Bag> {
        match std::fs::read(path) {
            Ok(bytes) => diag::utf8(Code::GoldenWrong, name, bytes)
                .map_err(Bag::from)
                .and_then(|text| Golden::parse(&SourceFile::new(name, &text)))
                .map(Self::Present)
                .map_err(|findings| irreplaceable(findings, name)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::Missing),
            Err(error) => {
                let message = format!("cannot read the golden `{name}`: {error}");
                Err(Problem::new(Code::GoldenWrong, message).into())
            }
        }
    }
}

/// Adds to what is wrong with a golden how to get rid of it: what does not read is never written over.
fn irreplaceable(mut findings: Bag, name: &str) -> Bag {
    let message = format!("the golden `{name}` cannot be read");
    let help = format!(
        "restore it from version control, or delete `{name}`, then run `bench accept`: it writes over no file that it cannot read"
    );
    findings.push(Problem::new(Code::GoldenWrong, message).help(help));
    findings
}

impl Golden {
    /// Reads a golden. Line ends, a byte order mark, white space and comments do not matter: what is compared is what it says.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn parse(source: &SourceFile) -> Result<Self, Bag> {
        let document = syntax::parse(source)?;
        let mut bag = Bag::new();
        let root = cursor::check(&document, &FILE, &mut bag);
        let golden = root.child("golden").and_then(read_golden);
        match golden {
            Some(golden) if !bag.has_errors() => Ok(golden),
            _ => {
                if !bag.has_errors() {
                    bag.push(Problem::new(Code::GoldenWrong, "the golden lacks a field"));
                }
                Err(bag)
            }
        }
    }

    /// Returns the jobs by name.
    pub fn by_id(&self) -> BTreeMap<&JobId, &GoldenJob> {
        self.jobs.iter().map(|job| (&job.id, job)).collect()
    }
}

/// Reads the `golden` node.
fn read_golden(view: &View<'_>) -> Option<Golden> {
    let accepted = view.child("accepted")?;
    let text = |name: &str| accepted.text(name).map(str::to_owned);
    Some(Golden {
        scenario: view.text("SCENARIO")?.to_owned(),
        accepted: Acceptance {
            reason: text("reason")?,
            by: text("by")?,
            on: text("on")?,
            equal_runs: accepted.count("equal-runs")?,
            tool: text("tool")?,
        },
        definition: view.child("definition")?.text("NAME")?.to_owned(),
        jobs: view.all("job").map(read_job).collect::<Option<_>>()?,
    })
}

/// Reads a `job` node.
fn read_job(view: &View<'_>) -> Option<GoldenJob> {
    let section = |name: Section| {
        let node = view.all("section").find(|node| node.text("NAME") == Some(name.name()))?;
        Some((name, node.digest("DIGEST")?))
    };
    let figure =
        |node: &View<'_>| Some((node.text("NAME")?.to_owned(), node.text("VALUE")?.to_owned()));
    Some(GoldenJob {
        id: JobId::new(view.text("ID")?),
        key: view.child("key")?.digest("DIGEST")?,
        report: view.child("report")?.digest("DIGEST")?,
        sections: Section::ALL.into_iter().map(section).collect::<Option<_>>()?,
        headline: view.all("figure").map(figure).collect::<Option<_>>()?,
        wire: match view.child("wire") {
            Some(node) => Some(read_wire(view, node)?),
            None => None,
        },
        place: Some(view.head()),
    })
}

/// Reads what a replay plans.
fn read_wire(view: &View<'_>, node: &View<'_>) -> Option<WireDigests> {
    let request = |node: &View<'_>| {
        let sha256 = node.digest("DIGEST")?.into();
        Some(object([("call", Value::text(node.text("NAME")?)), ("sha256", sha256)]))
    };
    WireDigests::read(&object([
        ("calls", Value::List(view.all("request").map(request).collect::<Option<_>>()?)),
        ("instances", node.digest("instances")?.into()),
        ("run", node.digest("run")?.into()),
    ]))
}

impl GoldenJob {
    /// Returns what accepting a result means; `None` where there is no report.
    pub fn of(result: &JobResult) -> Option<Self> {
        let report = result.report()?;
        let digest = |section: Section| Some((section, report.section(section)?));
        Some(Self {
            id: result.id.clone(),
            key: *result.key.digest(),
            report: report.digest(),
            sections: Section::ALL.into_iter().map(digest).collect::<Option<_>>()?,
            headline: headline(report),
            wire: planned_wire(report),
            place: None,
        })
    }
}

/// Returns the headline figures of a report that are not absent.
pub(super) fn headline(report: &Report) -> BTreeMap<String, String> {
    let figures = report.figures();
    HEADLINE
        .iter()
        .filter_map(|name| Some((name.to_string(), figures.get(name)?.clone())))
        .collect()
}

/// Returns the digests of the requests that a report of a replay plans; `None` of a simulation.
pub(super) fn planned_wire(report: &Report) -> Option<WireDigests> {
    let summary = report.value().as_object()?.get("summary")?.as_object()?;
    WireDigests::read(summary.get("wire")?)
}
