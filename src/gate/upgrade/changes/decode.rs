//! Reading `changes.kdl`.

use std::path::{Path, PathBuf};

use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::gate::upgrade::Question;
use crate::measure::{Family, MetricName};
use crate::pin::PinKind;
use crate::scenario::cursor::{self, View};
use crate::scenario::scalar::{Datum, nearest};
use crate::scenario::syntax;

use super::expected::{Named, Way};
use super::glob::Glob;
use super::shape::FILE;
use super::{Change, Expected, Selector};

/// What a version of an engine is declared to change.
#[derive(Debug, Clone)]
pub struct Changes {
    /// What people call the file.
    pub file: String,
    /// The version.
    pub version: String,
    /// The versions that it is declared against.
    pub from: Vec<String>,
    /// The changes, in file order.
    pub changes: Vec<Change>,
}

/// Returns where the changes of an engine's version are declared, relative to the project root: in the folder of its pin.
pub fn changes_path(pin_folder: &str) -> PathBuf {
    Path::new(PinKind::Engine.folder()).join(pin_folder).join("changes.kdl")
}

impl Changes {
    /// Reads the changes that the file at `path` declares of `version`; `None` where there is no such file, or it does not speak
    /// of that version.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn read(path: &Path, name: &str, version: &str) -> Result<Option<Self>, Bag> {
        match std::fs::read(path) {
            Ok(bytes) => {
                let text = diag::utf8(Code::UpgradeChanges, name, bytes)?;
                Self::parse(&SourceFile::new(name, &text), version)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let message = format!("cannot read the declared changes `{name}`: {error}");
                Err(Problem::new(Code::UpgradeChanges, message).into())
            }
        }
    }

    /// Reads the changes that a file which someone names declares of `version`, as [`Changes::read`]; the file must be there.
    ///
    /// # Errors
    /// As [`Changes::read`], and where it does not speak of that version.
    pub fn read_stated(path: &Path, version: &str) -> Result<Option<Self>, Bag> {
        let name = path.display().to_string();
        if path.is_dir() {
            let help =
                format!("give the file in it: --expect {}", path.join("changes.kdl").display());
            let problem = Problem::new(Code::UpgradeChanges, format!("`{name}` is a folder"));
            return Err(problem.help(help).into());
        }
        if let Some(changes) = Self::read(path, &name, version)? {
            return Ok(Some(changes));
        }
        let (message, help) = if path.exists() {
            let help =
                format!("it needs a node `changes \"{version}\"` with what that version changes");
            (format!("`{name}` declares no changes of version {version}"), help)
        } else {
            let help = "give a file of declared changes; without `--expect`, the `changes.kdl` beside the newer pin is read".to_owned();
            (format!("there is no file `{name}`"), help)
        };
        Err(Problem::new(Code::UpgradeChanges, message).help(help).into())
    }

    /// Reads the changes that a text declares of `version`, as [`Changes::read`] does those of a file.
    ///
    /// # Errors
    /// Everything that is wrong with the text, whichever version it speaks of.
    pub fn parse(source: &SourceFile, version: &str) -> Result<Option<Self>, Bag> {
        let document = syntax::parse(source)?;
        let mut bag = Bag::new();
        let root = cursor::check(&document, &FILE, &mut bag);
        let all: Vec<Option<Self>> =
            root.all("changes").map(|view| read_changes(view, source, &mut bag)).collect();
        if bag.has_errors() {
            return Err(bag);
        }
        Ok(all.into_iter().flatten().find(|changes| changes.version == version))
    }

    /// Returns the changes that speak of a job, in file order.
    pub fn applying(&self, question: &Question) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.applies(question))
    }
}

/// Reads a `changes` node.
fn read_changes(view: &View<'_>, source: &SourceFile, bag: &mut Bag) -> Option<Changes> {
    let from = view.child("from").map(|from| words(from));
    let changes = view.all("change").map(|change| read_change(change, bag)).collect::<Vec<_>>();
    Some(Changes {
        file: source.name().to_owned(),
        version: view.text("VERSION")?.to_owned(),
        from: from?,
        changes: changes.into_iter().collect::<Option<_>>()?,
    })
}

/// Reads a `change` node.
fn read_change(view: &View<'_>, bag: &mut Bag) -> Option<Change> {
    let metrics = view.all("metric").map(|metric| read_metric(metric, bag)).collect::<Vec<_>>();
    let text = |name: &str, field: &str| Some(view.child(name)?.text(field)?.to_owned());
    Some(Change {
        name: view.text("NAME")?.to_owned(),
        reason: text("reason", "TEXT")?,
        link: text("link", "URL")?,
        selector: read_selector(view),
        metrics: metrics.into_iter().collect::<Option<_>>()?,
        place: view.head(),
    })
}

/// Reads which jobs a change speaks of.
fn read_selector(view: &View<'_>) -> Selector {
    let all = |name: &str| view.child(name).map(words).unwrap_or_default();
    let globs = |name| all(name).iter().map(|text| Glob::new(text)).collect();
    let axis = |axis: &View<'_>| Some((axis.text("NAME")?.to_owned(), words(axis)));
    Selector {
        scenarios: globs("scenario"),
        jobs: globs("job"),
        excepted: globs("except"),
        workloads: globs("workload"),
        deployments: globs("deployment"),
        backends: all("backend"),
        topologies: all("topology"),
        axes: view.all("axis").filter_map(axis).collect(),
    }
}

/// Returns the arguments of which any number may stand. Their shapes make texts of all of them.
fn words(view: &View<'_>) -> Vec<String> {
    let text =
        |datum: &Datum| if let Datum::Text(text) = datum { Some(text.clone()) } else { None };
    view.rest().iter().filter_map(|(_, datum)| text(datum)).collect()
}

/// Reads a `metric` node; a name that no report holds is complained of.
fn read_metric(view: &View<'_>, bag: &mut Bag) -> Option<Expected> {
    let name = view.text("NAME")?;
    let Some(metric) = Named::of(name) else {
        bag.push(unknown(view, name));
        return None;
    };
    let direction = view.text("direction")?;
    let figure = |field: &str| view.text(field).map(str::to_owned);
    Some(Expected {
        metric,
        direction: Way::WORDS.into_iter().find(|(word, _)| *word == direction)?.1,
        from: figure("from"),
        to: figure("to"),
    })
}

/// Returns the problem of a name that no report holds.
fn unknown(view: &View<'_>, name: &str) -> Problem {
    let families = Family::ALL.iter().map(|family| family.name().to_owned());
    let names: Vec<String> =
        families.chain(MetricName::all().map(|metric| metric.to_string())).collect();
    let message = format!("no report holds a metric `{name}`");
    let problem = view.problem(Code::UpgradeChanges, "NAME", message, "no metric");
    match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help("docs/metrics.md lists them"),
    }
}
