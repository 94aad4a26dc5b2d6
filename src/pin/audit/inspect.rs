//! One pass over everything that the rules cover.

use std::collections::BTreeSet;
use std::path::Path;

use crate::diag::{Bag, Code, Problem, SourceFile, Span, counted};
use crate::pin::Registry;

use super::expected::Expected;
use super::judge::{self, Verdict};
use super::mention::{Mention, Names, mentions};
use super::rules::{Rule, RuleKind, Rules};
use super::statement::{Statement, unquoted};
use super::tree::Tree;
use super::{cargo, python, toml_file};

/// What an audit found.
#[derive(Debug)]
pub struct Audit {
    /// Every place and every stray mention, in the order of the rules and then of the file.
    pub rows: Vec<Row>,
    /// Everything that is wrong.
    pub findings: Bag,
    /// Whether a file was missing or could not be read: the verdict is about the rest only.
    pub is_partial: bool,
}

/// A place with what it states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The rule's node name.
    pub rule: &'static str,
    /// `file:line:column`.
    pub place: String,
    /// The version or requirement, as it is written.
    pub states: String,
    /// What is to be said of it.
    pub verdict: Verdict,
}

/// Everything that the rules cover, as read.
#[derive(Debug, Default)]
pub(super) struct Survey<'r> {
    /// The files, by the first rule that covers each.
    pub(super) files: Vec<Surveyed<'r>>,
    /// What could not be read.
    pub(super) unread: Bag,
}

/// A file that the rules cover.
#[derive(Debug)]
pub(super) struct Surveyed<'r> {
    /// The first rule that covers it.
    pub(super) rule: &'r Rule,
    /// The file.
    pub(super) source: SourceFile,
    /// Whether it could be parsed.
    pub(super) is_parsed: bool,
    /// What its places state, with the rule that names them.
    pub(super) statements: Vec<(&'r Rule, Statement)>,
    /// Where else it names a version of the engine.
    pub(super) mentions: Vec<Mention>,
}

/// Audits the repository at `folder`.
///
/// # Errors
/// Findings about the rules and the engine pins; what is wrong in the repository is in the answer.
pub fn audit(folder: &Path, rules: &Rules, registry: &Registry) -> Result<Audit, Bag> {
    let expected = Expected::of(rules, registry)?;
    if let Some(problem) = expected.without_checksum(rules) {
        return Err(problem.into());
    }
    let tree = Tree::new(folder);
    if let Some(problem) = foreign(&tree, folder, rules) {
        return Err(problem.into());
    }
    Ok(judge_all(&tree, rules, &expected))
}

/// Returns the finding about a repository that has none of the files which the rules name: another one was meant.
fn foreign(tree: &Tree, folder: &Path, rules: &Rules) -> Option<Problem> {
    let named = rules.entries.iter().filter(|rule| !matches!(rule.kind, RuleKind::Scan(_)));
    let paths: BTreeSet<&str> = named.map(|rule| rule.path.as_str()).collect();
    if paths.is_empty() || paths.iter().any(|path| tree.path(path).exists()) {
        return None;
    }
    let (folder, count) = (folder.display(), paths.len());
    let message =
        format!("`{folder}` has none of the {} that the rules name", counted(count, "file"));
    let listed = paths.into_iter().collect::<Vec<_>>().join(", ");
    let help = format!("is it the root of the repository that the rules mean? They name {listed}");
    Some(Problem::new(Code::PinAuditFile, message).help(help))
}

/// Surveys a tree and judges everything in it.
pub(super) fn judge_all(tree: &Tree, rules: &Rules, expected: &Expected) -> Audit {
    let survey = survey(tree, rules, expected);
    let mut audit =
        Audit { rows: Vec::new(), is_partial: survey.unread.has_errors(), findings: survey.unread };
    for file in &survey.files {
        audit.file(file, rules, expected);
    }
    audit
}

/// Reads everything that the rules cover.
pub(super) fn survey<'r>(tree: &Tree, rules: &'r Rules, expected: &Expected) -> Survey<'r> {
    let names = Names::of(rules, expected.version);
    let mut survey = Survey::default();
    for rule in &rules.entries {
        if let Err(problem) = survey.cover(tree, rules, rule) {
            survey.unread.push(problem);
        }
    }
    for file in &mut survey.files {
        let is_stated = |mention: &Mention| {
            let within = |span: Span| {
                (span.offset()..span.offset() + span.length()).contains(&mention.token.start)
            };
            file.statements.iter().any(|(_, statement)| within(statement.span))
        };
        let mut found = mentions(file.source.text(), &names);
        found.retain(|mention| !is_stated(mention) && !is_allowed(mention, &file.source, rules));
        file.mentions = found;
    }
    survey
}

/// Returns whether the rules allow a mention.
fn is_allowed(mention: &Mention, source: &SourceFile, rules: &Rules) -> bool {
    let written = &source.text()[mention.token.start..mention.token.end];
    let allowed = rules.allowed.iter();
    allowed
        .filter(|allowed| allowed.path == source.name())
        .any(|allowed| allowed.written == written)
}

impl<'r> Survey<'r> {
    /// Reads what one rule covers.
    fn cover(&mut self, tree: &Tree, rules: &Rules, rule: &'r Rule) -> Result<(), Problem> {
        if let RuleKind::Scan(extensions) = &rule.kind {
            for path in tree.files(rule, extensions)? {
                self.file(tree, rule, &path)?;
            }
            return Ok(());
        }
        let index = self.file(tree, rule, &rule.path)?;
        let source = self.files[index].source.clone();
        self.files[index].is_parsed = false; // until it is
        let statements = match &rule.kind {
            RuleKind::CargoManifest => cargo::manifest(&toml_file::parse(&source)?, &rules.krate),
            RuleKind::CargoLock => cargo::lock(&toml_file::parse(&source)?, &rules.krate),
            RuleKind::PyProject => {
                python::project(&toml_file::parse(&source)?, &rules.distribution)
            }
            RuleKind::PythonLock => python::lock(&toml_file::parse(&source)?, &rules.distribution),
            RuleKind::Requirements => python::requirements(source.text(), &rules.distribution),
            RuleKind::Text(_) | RuleKind::Scan(_) => Vec::new(),
        };
        self.files[index].is_parsed = true;
        self.files[index]
            .statements
            .extend(statements.into_iter().map(|statement| (rule, statement)));
        Ok(())
    }

    /// Reads a file unless it was read before, and returns its index.
    fn file(&mut self, tree: &Tree, rule: &'r Rule, path: &str) -> Result<usize, Problem> {
        if let Some(index) = self.files.iter().position(|file| file.source.name() == path) {
            if !matches!(rule.kind, RuleKind::Scan(_)) {
                self.files[index].rule = rule;
            }
            return Ok(index);
        }
        let source = tree.read(rule, path)?;
        self.files.push(Surveyed {
            rule,
            source,
            is_parsed: true,
            statements: Vec::new(),
            mentions: Vec::new(),
        });
        Ok(self.files.len() - 1)
    }
}

impl Audit {
    /// Judges a file.
    fn file(&mut self, file: &Surveyed<'_>, rules: &Rules, expected: &Expected) {
        let mut rows: Vec<(usize, Row)> = Vec::new();
        let mut row = |offset: usize, rule: &Rule, states: &str, verdict: Verdict| {
            let (line, column) = file.source.line_column(offset);
            let place = format!("{}:{line}:{column}", file.source.name());
            rows.push((
                offset,
                Row { rule: rule.kind.name(), place, states: states.to_owned(), verdict },
            ));
        };
        for (rule, statement) in &file.statements {
            let (verdict, problem) = judge::statement(statement, &file.source, expected);
            let offset = statement.span.offset();
            let written = &file.source.text()[offset..offset + statement.span.length()];
            row(offset, rule, unquoted(written.trim()), verdict);
            if let Some(problem) = problem {
                self.findings.push(problem);
            }
        }
        for mention in &file.mentions {
            let token = &mention.token;
            let problem = judge::mention(token, &file.source, expected);
            let verdict = if problem.is_some() { Verdict::Stray } else { Verdict::Agrees };
            let is_place = matches!(file.rule.kind, RuleKind::Text(_));
            if is_place || problem.is_some() {
                row(token.start, file.rule, &file.source.text()[token.start..token.end], verdict);
            }
            if let Some(problem) = problem {
                self.findings.push(problem);
            }
        }
        rows.sort_by_key(|(offset, _)| *offset);
        self.rows.extend(rows.into_iter().map(|(_, row)| row));
        if file.is_parsed {
            self.unstated(file, rules, expected);
        }
    }

    /// Complains of a file that states the version less often than its rule says, and of a lock file that holds several.
    fn unstated(&mut self, file: &Surveyed<'_>, rules: &Rules, expected: &Expected) {
        let (wanted, found, name) = match file.rule.kind {
            RuleKind::Scan(_) => return,
            RuleKind::Text(wanted) => {
                let agrees = |mention: &&Mention| mention.token.version == Some(expected.version);
                (wanted, file.mentions.iter().filter(agrees).count(), &rules.engine)
            }
            RuleKind::CargoManifest | RuleKind::CargoLock => {
                (1, file.statements.len(), &rules.krate)
            }
            RuleKind::PyProject | RuleKind::Requirements | RuleKind::PythonLock => {
                (1, file.statements.len(), &rules.distribution)
            }
        };
        if u64::try_from(found).is_ok_and(|found| found >= wanted) {
            return;
        }
        let path = file.source.name();
        let message = format!(
            "`{path}` states the version of `{name}` {}, and the rule `{}` expects {wanted} at least",
            counted(found, "time"),
            file.rule.kind.name()
        );
        let problem = file.rule.place.problem(Code::PinAuditUnstated, message, "named here");
        self.findings.push(problem.help("restore it, or mend the rule if the place has moved"));
        let row = Row {
            rule: file.rule.kind.name(),
            place: path.to_owned(),
            states: String::new(),
            verdict: Verdict::Unstated,
        };
        self.rows.push(row);
    }
}
