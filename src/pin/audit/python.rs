//! What Python's files state.

use crate::diag::Span;

use super::requirement::{binds, normalised, specified};
use super::statement::{Binds, Check, Statement};
use super::toml_file::{TomlTable, TomlValue, at, list, span, table, text};
use super::version::Spelling;

/// Where a project lists requirements as strings.
const LISTS: [&[&str]; 6] = [
    &["project", "dependencies"],
    &["build-system", "requires"],
    &["tool", "uv", "dev-dependencies"],
    &["tool", "uv", "override-dependencies"],
    &["tool", "uv", "constraint-dependencies"],
    &["tool", "uv", "build-constraint-dependencies"],
];

/// Where a project has tables of such lists.
const TABLES_OF_LISTS: [&[&str]; 2] =
    [&["project", "optional-dependencies"], &["dependency-groups"]];

/// Returns what a `pyproject.toml` states of a distribution.
pub(super) fn project(root: &TomlTable<'_>, name: &str) -> Vec<Statement> {
    let tables = TABLES_OF_LISTS.iter().filter_map(|path| table(root, path));
    let lists =
        tables.flat_map(|table| table.values()).filter_map(|list| list.get_ref().as_array());
    let entries =
        LISTS.iter().flat_map(|path| list(root, path)).chain(lists.flat_map(|list| list.iter()));
    let required = entries.filter_map(|entry| {
        let binds = binds(entry.get_ref().as_str()?, name)?;
        Some(statement(span(entry), binds, Check::None))
    });
    required.chain(poetry(root, name)).collect()
}

/// Returns what Poetry's tables state.
fn poetry(root: &TomlTable<'_>, name: &str) -> Vec<Statement> {
    let Some(poetry) = table(root, &["tool", "poetry"]) else { return Vec::new() };
    let mut tables: Vec<_> = ["dependencies", "dev-dependencies"]
        .iter()
        .filter_map(|key| table(poetry, &[key]))
        .collect();
    let groups = table(poetry, &["group"]).into_iter().flat_map(|groups| groups.values());
    tables.extend(groups.filter_map(|group| table(group.get_ref().as_table()?, &["dependencies"])));
    let entries = tables.iter().flat_map(|table| table.iter());
    entries
        .filter(|(key, _)| normalised(key.get_ref()) == normalised(name))
        .map(|(_, value)| constraint(value))
        .collect()
}

/// Returns what a constraint of Poetry states; a bare version is exact there.
fn constraint(value: &TomlValue<'_>) -> Statement {
    let stated = match value.get_ref().as_table() {
        None => Some(value),
        Some(entry) => at(entry, &["version"]),
    };
    let binds = match stated.and_then(|stated| stated.get_ref().as_str()) {
        None => Binds::Nothing,
        Some(bare) if bare.starts_with(|c: char| c.is_ascii_digit()) => {
            specified(&format!("=={bare}"))
        }
        Some(specifier) => specified(specifier),
    };
    statement(span(stated.unwrap_or(value)), binds, Check::None)
}

/// Returns what a requirements file states of a distribution.
pub(super) fn requirements(content: &str, name: &str) -> Vec<Statement> {
    let lines = logical_lines(content).into_iter();
    lines
        .filter_map(|(at, line)| {
            let first = without_comment(line.split_inclusive('\n').next()?).trim_end();
            let head = first.strip_suffix('\\').unwrap_or(first);
            let requirement = head.split_once(" --").map_or(head, |(requirement, _)| requirement);
            let binds = binds(requirement, name)?;
            let check = if line.contains("--hash=") { Check::Archives } else { Check::None };
            Some(statement(Span::new(at, requirement.len()), binds, check))
        })
        .collect()
}

/// Returns the lines of a requirements file with their offsets; those that a `\` joins are one.
fn logical_lines(content: &str) -> Vec<(usize, &str)> {
    let (mut lines, mut start, mut end) = (Vec::new(), 0, 0);
    for line in content.split_inclusive('\n') {
        end += line.len();
        if !without_comment(line).trim_end().ends_with('\\') {
            lines.push((start, &content[start..end]));
            start = end;
        }
    }
    lines.push((start, &content[start..]));
    lines
}

/// Returns a line of a requirements file without its comment.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.find(" #").map_or(line, |at| &line[..at])
}

/// Returns what a lock file of uv or Poetry states of a distribution.
pub(super) fn lock(root: &TomlTable<'_>, name: &str) -> Vec<Statement> {
    let packages =
        list(root, &["package"]).iter().filter_map(|package| package.get_ref().as_table());
    packages
        .filter(|package| {
            text(package, &["name"]).is_some_and(|is| normalised(is) == normalised(name))
        })
        .filter_map(|package| {
            let archives = ["sdist", "wheels", "files"];
            let has_archives = archives.iter().any(|key| at(package, &[key]).is_some());
            let check = if has_archives { Check::Archives } else { Check::None };
            Some(statement(span(at(package, &["version"])?), Binds::Exactly, check))
        })
        .collect()
}

/// Returns a statement in the spelling of Python.
fn statement(span: Span, binds: Binds, check: Check) -> Statement {
    Statement { span, wants: Spelling::Pep440, binds, check }
}
