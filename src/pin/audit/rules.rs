//! The rules of an audit: `pins/audits/NAME.kdl`.

use std::path::Path;

use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::pin::verify::lies_beside;
use crate::scenario::cursor::{self, View};
use crate::scenario::shape::{Field, Shape};
use crate::scenario::syntax::{self, Place};

use super::version::{Spelling, StatedVersion};

const FILE: Field = Field::path("FILE", "The file, relative to the repository's root.");

static ABOUT: Shape = Shape::new("about", "Which repository, for people.")
    .args(&[Field::text("TEXT", "A sentence.")]);
static ENGINE: Shape = Shape::new("engine", "The engine pin whose version every place must state.")
    .once()
    .args(&[Field::name("NAME", "The engine.")])
    .props(&[Field::version("version", "The version, as crates spell it.")]);
static CRATE: Shape = Shape::new("crate", "What the engine is called as a crate.")
    .args(&[Field::text("NAME", "The name in Cargo's files.")]);
static DISTRIBUTION: Shape =
    Shape::new("distribution", "What the engine is called as a Python distribution.")
        .args(&[Field::text("NAME", "The name in Python's files.")]);
static OTHER: Shape =
    Shape::new("other", "Names of other things whose versions stand beside the engine's in texts.")
        .args(&[Field::text("NAME", "A name.")])
        .rest(&Field::text("NAME", "A name."));
static CARGO_MANIFEST: Shape = Shape::new(
    "cargo-manifest",
    "A `Cargo.toml` that depends on the crate at exactly the version.",
)
.keyed()
.args(&[FILE]);
static CARGO_LOCK: Shape =
    Shape::new("cargo-lock", "A `Cargo.lock` that holds the crate once, with the pin's checksum.")
        .keyed()
        .args(&[FILE]);
static PYPROJECT: Shape = Shape::new(
    "pyproject",
    "A `pyproject.toml` that requires the distribution at exactly the version.",
)
.keyed()
.args(&[FILE]);
static REQUIREMENTS: Shape = Shape::new(
    "requirements",
    "A requirements or constraints file that names the distribution at exactly the version.",
)
.keyed()
.args(&[FILE]);
static PYTHON_LOCK: Shape =
    Shape::new("python-lock", "A `uv.lock` or `poetry.lock` that holds the distribution once.")
        .keyed()
        .args(&[FILE]);
static TEXT: Shape = Shape::new(
    "text",
    "Any other file that names the version: a page, a Dockerfile, a script, a test.",
)
.keyed()
.args(&[FILE])
.props(&[Field::count("mentions", "How often at least.").at_least(1).or_count(1)]);
static SCAN: Shape = Shape::new(
    "scan",
    "A folder none of whose files may name another version; none has to name any.",
)
.keyed()
.args(&[Field::path("FOLDER", "The folder, with all below it.")])
.props(&[Field::text(
    "extensions",
    "Of which files, by the end or the beginning of the name, with spaces between.",
)
.or_text("md mdx rst txt")]);
static ALLOW: Shape =
    Shape::new("allow", "A version that a file may name although it is another one: history.")
        .repeated()
        .args(&[Field::version("VERSION", "The version, as it is written there.")])
        .props(&[Field::path("file", "The file."), Field::text("reason", "Why.")]);
static AUDIT: Shape = Shape::new("audit", "Where a repository states an engine's version.")
    .once()
    .args(&[Field::name("NAME", "Its name: the file's name without `.kdl`.")])
    .block(&[
        &ABOUT,
        &ENGINE,
        &CRATE,
        &DISTRIBUTION,
        &CARGO_MANIFEST,
        &CARGO_LOCK,
        &PYPROJECT,
        &REQUIREMENTS,
        &PYTHON_LOCK,
        &TEXT,
        &SCAN,
        &OTHER,
        &ALLOW,
    ]);
static RULES: Shape = Shape::root(&[&AUDIT]);

/// The rules of an audit.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The engine's name.
    pub(super) engine: String,
    /// The version that every place must state.
    pub(super) version: StatedVersion,
    /// Where the rules state it.
    pub(super) version_place: Place,
    /// The name of the crate; empty where no rule needs it.
    pub(super) krate: String,
    /// The name of the Python distribution; empty where no rule needs it.
    pub(super) distribution: String,
    /// Names of other things.
    pub(super) others: Vec<String>,
    /// The places and folders, in file order.
    pub(super) entries: Vec<Rule>,
    /// Versions that may be named.
    pub(super) allowed: Vec<Allowed>,
}

/// One place, or one folder.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// What is there.
    pub(super) kind: RuleKind,
    /// The file or folder, relative to the repository's root, with `/`.
    pub(super) path: String,
    /// Where the rule stands.
    pub(super) place: Place,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RuleKind {
    /// A `Cargo.toml`.
    CargoManifest,
    /// A `Cargo.lock`.
    CargoLock,
    /// A `pyproject.toml`.
    PyProject,
    /// A requirements file.
    Requirements,
    /// A lock file of uv or Poetry.
    PythonLock,
    /// Any text, and how often at least it names the version.
    Text(u64),
    /// A folder, and the ends or beginnings of its files' names.
    Scan(Vec<String>),
}

/// A version that a file may name although it is another one.
#[derive(Debug, Clone)]
pub(super) struct Allowed {
    /// The version, as it is written.
    pub(super) written: String,
    /// The file.
    pub(super) path: String,
}

impl RuleKind {
    /// Returns how versions are spelt in the file; `None` where the words around them say.
    pub(super) const fn spelling(&self) -> Option<Spelling> {
        match self {
            Self::CargoManifest | Self::CargoLock => Some(Spelling::SemVer),
            Self::PyProject | Self::Requirements | Self::PythonLock => Some(Spelling::Pep440),
            Self::Text(_) | Self::Scan(_) => None,
        }
    }

    /// Returns the rule's node name.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::CargoManifest => "cargo-manifest",
            Self::CargoLock => "cargo-lock",
            Self::PyProject => "pyproject",
            Self::Requirements => "requirements",
            Self::PythonLock => "python-lock",
            Self::Text(_) => "text",
            Self::Scan(_) => "scan",
        }
    }
}

impl Rules {
    /// Returns whether any rule is about a lock file of Cargo.
    pub(super) fn has_cargo_locks(&self) -> bool {
        self.entries.iter().any(|rule| rule.kind == RuleKind::CargoLock)
    }

    /// Reads the rules in the file at `path`.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn load(path: &Path) -> Result<Self, Bag> {
        let name = path.to_string_lossy();
        let bytes = std::fs::read(path).map_err(|error| {
            let message = format!("cannot read the rules `{name}`: {error}");
            Problem::new(Code::PinAuditRules, message)
                .help("rules lie in `pins/audits`; is the path right?")
        })?;
        let text = diag::utf8(Code::PinAuditRules, &name, bytes)?;
        Self::parse(&SourceFile::new(&name, &text))
    }

    /// Reads rules.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn parse(source: &SourceFile) -> Result<Self, Bag> {
        let document = syntax::parse(source)?;
        let mut bag = Bag::new();
        let root = cursor::check(&document, &RULES, &mut bag);
        let rules = root.child("audit").and_then(|node| decode(node, &mut bag));
        match rules {
            Some(rules) if !bag.has_errors() => Ok(rules),
            Some(_) | None => {
                assert!(bag.has_errors(), "a bug: rules were refused without a reason");
                Err(bag)
            }
        }
    }
}

/// Decodes an `audit` node.
fn decode(node: &View<'_>, bag: &mut Bag) -> Option<Rules> {
    let engine = node.child("engine")?;
    let written = engine.text("version")?;
    let Some(version) =
        StatedVersion::parse(written).filter(|version| version.to_string() == written)
    else {
        let message = format!("`{written}` is no version as crates spell it");
        let problem = engine.problem(Code::PinAuditRules, "version", message, "not like this");
        bag.push(problem.help("write it like `0.13.0` or `0.13.0-dev.87`"));
        return None;
    };
    let rules: Vec<Rule> = node.children().iter().filter_map(|child| rule(child, bag)).collect();
    let name_of = |child: &str| node.child(child).and_then(|child| child.text("NAME"));
    for rule in &rules {
        let needed = needs(&rule.kind);
        if needed.is_some_and(|needed| name_of(needed).is_none()) {
            let needed = needed.unwrap_or_default();
            let message = format!("`{}` needs `{needed} NAME`", rule.kind.name());
            bag.push(rule.place.problem(
                Code::PinAuditRules,
                message,
                "a rule without a name to look for",
            ));
        }
    }
    if rules.is_empty() {
        let place = node.head();
        bag.push(place.problem(Code::PinAuditRules, "the rules name no place", "nothing to audit"));
    }
    Some(Rules {
        engine: engine.text("NAME")?.to_owned(),
        version,
        version_place: engine.place("version"),
        krate: name_of("crate").unwrap_or_default().to_owned(),
        distribution: name_of("distribution").unwrap_or_default().to_owned(),
        others: node.all("other").flat_map(others).collect(),
        entries: rules,
        allowed: node.all("allow").map(allowed).collect::<Option<_>>()?,
    })
}

/// Returns the node that a kind of rule needs.
fn needs(kind: &RuleKind) -> Option<&'static str> {
    match kind {
        RuleKind::CargoManifest | RuleKind::CargoLock => Some("crate"),
        RuleKind::PyProject | RuleKind::Requirements | RuleKind::PythonLock => Some("distribution"),
        RuleKind::Text(_) | RuleKind::Scan(_) => None,
    }
}

/// Decodes a node that is a rule; others are none.
fn rule(node: &View<'_>, bag: &mut Bag) -> Option<Rule> {
    let kind = match node.name() {
        "cargo-manifest" => RuleKind::CargoManifest,
        "cargo-lock" => RuleKind::CargoLock,
        "pyproject" => RuleKind::PyProject,
        "requirements" => RuleKind::Requirements,
        "python-lock" => RuleKind::PythonLock,
        "text" => RuleKind::Text(node.count("mentions")?),
        "scan" => {
            let extensions = node.text("extensions")?.split_whitespace();
            RuleKind::Scan(extensions.map(str::to_owned).collect())
        }
        _ => return None, // `about`, `engine`, names and allowances are no rules
    };
    let field = if matches!(kind, RuleKind::Scan(_)) { "FOLDER" } else { "FILE" };
    let path = node.text(field)?;
    if !lies_beside(path) {
        let message = format!("the path leads out of the repository: `{path}`");
        bag.push(node.problem(Code::PinAuditRules, field, message, "leads elsewhere"));
    }
    Some(Rule { kind, path: plain(path), place: node.head() })
}

/// Returns a path as files are listed: one `/` between its parts, none at its end. `docs/` is `docs`.
fn plain(path: &str) -> String {
    path.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// Returns the names of an `other` node.
fn others(node: &View<'_>) -> Vec<String> {
    let first = node.text("NAME").into_iter().map(str::to_owned);
    let rest = node.rest().iter().filter_map(|(value, _)| match &value.content {
        syntax::Content::Text(text) => Some(text.clone()),
        syntax::Content::Integer(_)
        | syntax::Content::Real(_)
        | syntax::Content::Flag(_)
        | syntax::Content::Null => None, // refused by the shape
    });
    first.chain(rest).collect()
}

/// Decodes an `allow` node.
fn allowed(node: &View<'_>) -> Option<Allowed> {
    Some(Allowed { written: node.text("VERSION")?.to_owned(), path: plain(node.text("file")?) })
}
