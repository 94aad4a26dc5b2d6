//! Reads a scenario with the files it includes.
//!
//! Every mistake of every file goes into one bag; names are resolved against declarations and pins here, digests are not.

use std::path::{Path, PathBuf};

use super::model::{Declared, Include, Scenario};
use super::syntax::{self, Document, Node, Place};
use super::{cursor, decode, resolve, table, version};
use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::digest::Sha256;

/// A scenario that was read, and what was found on the way.
#[derive(Debug)]
pub struct Loaded {
    /// The scenario; absent where it could not be made sense of at all.
    pub scenario: Option<Scenario>,
    /// Mistakes and warnings; the scenario is usable where there is no error.
    pub findings: Bag,
}

/// Reads a scenario file and everything it includes.
pub fn load(path: &Path) -> Loaded {
    let mut findings = Bag::new();
    let scenario =
        read(path, None, &mut findings).and_then(|source| scenario(path, &source, &mut findings));
    Loaded { scenario, findings }
}

/// Reads a scenario that is no file: a text which includes nothing.
pub fn load_text(source: &SourceFile) -> Loaded {
    let mut findings = Bag::new();
    let scenario = scenario(Path::new(""), source, &mut findings);
    if let Some(include) = scenario.iter().flat_map(|scenario| &scenario.includes).next() {
        let message = "a scenario that is no file includes none";
        findings.push(include.place.problem(Code::ScenarioIncludeOutside, message, "included"));
    }
    Loaded { scenario, findings }
}

/// Finds the project root: the nearest folder above `path` that holds `pins/`.
///
/// # Errors
/// `scenario::root` where there is none.
pub fn project_root(path: &Path) -> Result<PathBuf, Problem> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let found = absolute.ancestors().skip(1).find(|folder| folder.join("pins").is_dir());
    found.map(Path::to_path_buf).ok_or_else(|| {
        let message = format!("no folder above `{}` holds `pins/`", path.display());
        Problem::new(Code::ScenarioRoot, message).help("name the project's root with `--root DIR`")
    })
}

/// Decodes a scenario's own file, then splices what it includes.
fn scenario(path: &Path, source: &SourceFile, findings: &mut Bag) -> Option<Scenario> {
    let document = match syntax::parse(source) {
        Ok(document) => document,
        Err(bag) => {
            findings.extend(bag);
            return None;
        }
    };
    let node = document.nodes.iter().find(|node| node.name.text == "scenario");
    if let Some(problem) = node.and_then(refused_version) {
        findings.push(problem);
        return None;
    }
    let root = cursor::check(&document, &table::ROOT, findings);
    let mut scenario = decode::scenario(&document, &root, findings)?;
    let block = node.into_iter().flat_map(|node| &node.children);
    for include in block.filter(|child| child.name.text == "include") {
        let (stated, chain) = (include.head(), vec![canonical(path)]);
        Splicer { scenario: &mut scenario, stated, chain, findings }.splice(include, path);
    }
    duplicates(&scenario.workloads, "workload", findings);
    duplicates(&scenario.deployments, "deployment", findings);
    resolve::names(&scenario, findings);
    Some(scenario)
}

/// Returns the problem of a scenario that was written for another version; it is judged before anything else.
fn refused_version(node: &Node) -> Option<Problem> {
    let required = node.children.iter().find(|child| child.name.text == "harness-version")?;
    let value = required.args.first()?;
    let text = value.as_text()?;
    match version::satisfies(env!("CARGO_PKG_VERSION"), text) {
        Some(true) => None,
        Some(false) => {
            let message = format!(
                "the scenario asks for bench {text}, this is {}",
                env!("CARGO_PKG_VERSION")
            );
            let problem =
                value.place.problem(Code::ScenarioHarnessVersion, message, "not this version");
            Some(problem.help("install a version that fits; nothing else of the file was judged"))
        }
        None => {
            let message =
                format!("`harness-version` is comparisons such as `\">=0.3\"`, found `{text}`");
            let problem =
                value.place.problem(Code::ScenarioHarnessVersion, message, "no such comparison");
            Some(problem.help(
                "write `>=`, `>`, `<=`, `<` or `=` before a version, commas between comparisons",
            ))
        }
    }
}

/// Splices included files into a scenario.
struct Splicer<'s> {
    scenario: &'s mut Scenario,
    /// The `include` of the scenario's own file by which a file comes.
    stated: Place,
    /// The files that are being read, each included by the one before.
    chain: Vec<PathBuf>,
    findings: &'s mut Bag,
}

impl Splicer<'_> {
    /// Splices the declarations of the file that `include` names in `from`, and of the files that it includes.
    fn splice(&mut self, include: &Node, from: &Path) {
        let Some(value) = include.args.first() else { return }; // the checker has complained
        let Some(relative) = value.as_text().filter(|text| !text.is_empty()) else { return };
        let path = from.parent().unwrap_or(Path::new("")).join(relative);
        let known = canonical(&path);
        if let Some(at) = self.chain.iter().position(|link| *link == known) {
            self.findings.push(cycle(&value.place, &self.chain[at..]));
            return;
        }
        if self.scenario.includes.iter().any(|include| include.path == known) {
            return; // spliced already, by another way
        }
        let Some(source) = read(&path, Some(&value.place), self.findings) else { return };
        let digest = Sha256::of(source.text().as_bytes());
        self.scenario.includes.push(Include {
            path: known.clone(),
            digest,
            place: value.place.clone(),
        });
        match syntax::parse(&source) {
            Ok(document) => self.declarations(&document, &path, known),
            Err(bag) => self.findings.extend(bag),
        }
    }

    /// Splices the declarations of a parsed file, then its includes.
    fn declarations(&mut self, document: &Document, path: &Path, known: PathBuf) {
        let own = own_nodes(document, self.findings);
        let root = cursor::check(&own, &table::INCLUDED, self.findings);
        let stated = Some(&self.stated);
        let workloads = decode::declared(&root, "workload", stated, self.findings);
        self.scenario.workloads.extend(workloads);
        let deployments = decode::declared(&root, "deployment", stated, self.findings);
        self.scenario.deployments.extend(deployments);
        self.chain.push(known);
        for next in document.nodes.iter().filter(|node| node.name.text == "include") {
            self.splice(next, path);
        }
        self.chain.pop();
    }
}

/// Returns an included file without the nodes that belong into the file which includes it, which it complains of.
fn own_nodes(document: &Document, findings: &mut Bag) -> Document {
    let scenario = table::ROOT.child("scenario");
    let mut own = document.clone();
    own.nodes.retain(|node| {
        let name = node.name.text.as_str();
        let is_known = table::INCLUDED.child(name).is_some();
        let is_elsewhere = table::ROOT.child(name).is_some()
            || scenario.is_some_and(|scenario| scenario.child(name).is_some());
        if is_elsewhere && !is_known {
            let message = format!("`{name}` does not belong into an included file");
            let place = &node.name.place;
            let problem = place.problem(Code::KdlMisplacedNode, message, "not in this file");
            findings.push(problem.help(
                "it belongs into the file that includes this one; here stand `workload`, `deployment` and `include`",
            ));
        }
        is_known || !is_elsewhere
    });
    own
}

/// Returns the problem of a cycle, with the files that make it.
fn cycle(place: &Place, chain: &[PathBuf]) -> Problem {
    let name = |path: &PathBuf| {
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    let mut names: Vec<String> = chain.iter().map(name).collect();
    names.extend(chain.first().map(name));
    let message = format!("files include each other: {}", names.join(" → "));
    let problem = place.problem(Code::ScenarioIncludeCycle, message, "this closes the cycle");
    problem.help("move what both need into a third file")
}

/// Complains of two declarations of one name that came by different files; one file's own are complained of by the checker.
fn duplicates(all: &[Declared], kind: &str, findings: &mut Bag) {
    for (index, declared) in all.iter().enumerate() {
        let first = all[..index].iter().find(|first| first.name == declared.name);
        if let Some(first) =
            first.filter(|first| !first.node.place.is_same_file(&declared.node.place))
        {
            let message = format!("there are two `{kind}` called `{}`", declared.name);
            let problem =
                declared.node.head().problem(Code::KdlDuplicateName, message, "given again");
            findings.push(first.node.head().also(problem, "first given here"));
        }
    }
}

/// Reads a file; `None` where the bag says why not.
fn read(path: &Path, named: Option<&Place>, findings: &mut Bag) -> Option<SourceFile> {
    let shown = path.to_string_lossy().replace('\\', "/");
    match std::fs::read(path) {
        Ok(bytes) => match diag::utf8(Code::ScenarioFile, &shown, bytes) {
            Ok(text) => Some(SourceFile::new(&shown, &text)),
            Err(problem) => {
                findings.push(problem);
                None
            }
        },
        Err(error) => {
            let message = format!("`{shown}` cannot be read: {error}");
            findings.push(match named {
                Some(place) => place
                    .problem(Code::ScenarioFile, message, "named here")
                    .help("the path is relative to the file that names it"),
                None => Problem::new(Code::ScenarioFile, message).help("is the path right?"),
            });
            None
        }
    }
}

/// Returns a path by which one file is known under all its names.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
