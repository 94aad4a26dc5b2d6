//! Moving every place that the rules name to another version, as one edit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diag::{Bag, Code, Problem, SourceFile, Span};
use crate::pin::Registry;
use crate::scenario::edit::{self, Edit};
use crate::scenario::syntax::Place;

use super::expected::Expected;
use super::inspect::{Audit, Survey, Surveyed, judge_all, survey};
use super::judge::token_in;
use super::rules::Rules;
use super::statement::Check;
use super::tree::Tree;
use super::version::{Spelling, StatedVersion};
use super::write;

/// An update that is ready to be written.
#[derive(Debug)]
pub struct Plan {
    /// What changes, in the order of the rules and then of the file.
    pub moves: Vec<Move>,
    /// Lock files with digests of archives that no engine pin knows: their own tool has to write them.
    pub left: Vec<String>,
    files: Vec<(PathBuf, String)>,
}

/// A change of one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// `file:line:column`.
    pub place: String,
    /// What is there.
    pub from: String,
    /// What will be.
    pub to: String,
}

/// Why there is no update.
#[derive(Debug)]
pub enum UpdateError {
    /// The rules or the pins are wrong.
    Input(Bag),
    /// What the update would leave is not clean; nothing was changed.
    NotClean(Audit),
}

impl From<Bag> for UpdateError {
    fn from(bag: Bag) -> Self {
        Self::Input(bag)
    }
}

/// The edits of one file.
#[derive(Debug)]
struct Edits<'s> {
    source: &'s SourceFile,
    changes: Vec<Edit>,
    moves: Vec<(usize, Move)>,
}

/// Plans the move of every place in `folder`, and of the rules themselves, to the version `to`; nothing is written.
///
/// # Errors
/// [`UpdateError::Input`] where no engine pin has the version, [`UpdateError::NotClean`] where the audit of what would be there finds anything.
pub fn update(
    folder: &Path,
    rules: &Rules,
    to: StatedVersion,
    registry: &Registry,
) -> Result<Plan, UpdateError> {
    let expected = Expected::target(rules, to, registry)?;
    if let Some(problem) = expected.without_checksum(rules) {
        return Err(UpdateError::Input(problem.into()));
    }
    plan(folder, rules, &expected)
}

/// Plans the move to `expected`.
pub(super) fn plan(folder: &Path, rules: &Rules, expected: &Expected) -> Result<Plan, UpdateError> {
    let current = Expected { version: rules.version, checksum: None };
    let tree = Tree::new(folder);
    let survey = survey(&tree, rules, &current);
    let mut plan = Plan { moves: Vec::new(), left: Vec::new(), files: Vec::new() };
    let mut replaced = BTreeMap::new();
    plan.edit(&survey, rules, expected, &mut replaced);
    let mut audit = judge_all(&tree.with(replaced.clone()), rules, expected);
    audit.findings = without_left(audit.findings, &plan.left);
    if audit.findings.has_errors() {
        let message = "nothing was changed: the repository would not be clean after the update";
        audit.findings.push(
            Problem::new(Code::PinAuditWrite, message)
                .help("mend what is named above, then update again"),
        );
        return Err(UpdateError::NotClean(audit));
    }
    for (path, text) in replaced {
        plan.files.push((write::target(folder, &path).map_err(Bag::from)?, text));
    }
    plan.edit_rules(rules, expected.version);
    Ok(plan)
}

/// Returns findings without those in lock files that are left to their own tool.
fn without_left(findings: Bag, left: &[String]) -> Bag {
    let mut kept = Bag::new();
    for problem in findings.into_sorted() {
        let file = problem.source_file().map_or("", SourceFile::name);
        if !left.iter().any(|left| left == file) {
            kept.push(problem);
        }
    }
    kept
}

impl Plan {
    /// Edits every surveyed file.
    fn edit(
        &mut self,
        survey: &Survey<'_>,
        rules: &Rules,
        expected: &Expected,
        replaced: &mut BTreeMap<String, String>,
    ) {
        for file in &survey.files {
            if file.statements.iter().any(|(_, statement)| statement.check == Check::Archives) {
                self.left.push(file.source.name().to_owned());
                continue;
            }
            let mut edits = Edits { source: &file.source, changes: Vec::new(), moves: Vec::new() };
            edits.statements(file, expected);
            edits.mentions(file, rules.version, expected);
            if edits.changes.is_empty() {
                continue;
            }
            replaced.insert(
                file.source.name().to_owned(),
                edit::apply(file.source.text(), &edits.changes),
            );
            edits.moves.sort_by_key(|(offset, _)| *offset);
            self.moves.extend(edits.moves.into_iter().map(|(_, moved)| moved));
        }
    }

    /// Edits the version of the rules themselves.
    fn edit_rules(&mut self, rules: &Rules, to: StatedVersion) {
        let source = rules.version_place.source();
        let mut edits = Edits { source, changes: Vec::new(), moves: Vec::new() };
        if let Some(token) = token_in(source, rules.version_place.span()) {
            edits.replace(Span::new(token.start, token.end - token.start), &to.to_string());
        }
        if !edits.changes.is_empty() {
            self.moves.extend(edits.moves.into_iter().map(|(_, moved)| moved));
            self.files
                .push((PathBuf::from(source.name()), edit::apply(source.text(), &edits.changes)));
        }
    }

    /// Returns the files that will be written.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// Writes every file: all or none.
    ///
    /// # Errors
    /// `pin::audit_write` with what the system answered; the files are as they were.
    pub fn write(&self) -> Result<(), Problem> {
        write::all(&self.files)
    }
}

impl Edits<'_> {
    /// Moves what the places state, whichever version that is, and the checksums beside it.
    fn statements(&mut self, file: &Surveyed<'_>, expected: &Expected) {
        for (_, statement) in &file.statements {
            if let Some(token) = token_in(self.source, statement.span) {
                let span = Span::new(token.start, token.end - token.start);
                self.replace(span, &expected.version.spell(statement.wants));
            }
            if let (Check::Checksum(span), Some(checksum)) = (statement.check, &expected.checksum) {
                // Between the quotes.
                let inner = Span::new(span.offset() + 1, span.length().saturating_sub(2));
                self.replace(inner, checksum);
            }
        }
    }

    /// Moves the mentions of the version that was expected; strays stay and are found by the audit.
    fn mentions(&mut self, file: &Surveyed<'_>, from: StatedVersion, expected: &Expected) {
        for mention in &file.mentions {
            let token = &mention.token;
            let spelling = match token.spelling {
                Spelling::Both => file.rule.kind.spelling().unwrap_or(mention.spelling),
                Spelling::SemVer | Spelling::Pep440 => token.spelling,
                Spelling::Neither => continue,
            };
            if token.version == Some(from) {
                let span = Span::new(token.start, token.end - token.start);
                self.replace(span, &expected.version.spell(spelling));
            }
        }
    }

    /// Replaces a stretch, if that changes it.
    fn replace(&mut self, span: Span, text: &str) {
        let written = &self.source.text()[span.offset()..span.offset() + span.length()];
        if written == text {
            return;
        }
        let place = Place::new(self.source, span);
        let moved = Move { place: place.line(), from: written.to_owned(), to: text.to_owned() };
        self.moves.push((span.offset(), moved));
        self.changes.push(Edit::replace(&place, text));
    }
}
