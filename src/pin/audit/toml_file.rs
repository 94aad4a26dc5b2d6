//! TOML with places.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diag::{Code, Problem, SourceFile, Span};

/// A value with its place.
pub(super) type TomlValue<'a> = Spanned<DeValue<'a>>;

/// A table of values with their places.
pub(super) type TomlTable<'a> = DeTable<'a>;

/// Parses a file.
///
/// # Errors
/// `pin::audit_syntax` at the first place that is no TOML.
pub(super) fn parse(source: &SourceFile) -> Result<TomlTable<'_>, Problem> {
    DeTable::parse(source.text()).map(Spanned::into_inner).map_err(|error| {
        let range = error.span().unwrap_or(0..0);
        let message = format!("`{}` is no TOML: {}", source.name(), error.message());
        Problem::new(Code::PinAuditSyntax, message)
            .label(source, Span::new(range.start, range.len()), "not TOML")
            .help("the audit reads what Cargo or pip would read; mend the file")
    })
}

/// Returns where a value stands.
pub(super) fn span<T>(value: &Spanned<T>) -> Span {
    let range = value.span();
    Span::new(range.start, range.len())
}

/// Returns the value at a path of keys.
pub(super) fn at<'t, 'a>(table: &'t TomlTable<'a>, path: &[&str]) -> Option<&'t TomlValue<'a>> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { at(value.get_ref().as_table()?, rest) }
}

/// Returns the table at a path of keys.
pub(super) fn table<'t, 'a>(root: &'t TomlTable<'a>, path: &[&str]) -> Option<&'t TomlTable<'a>> {
    at(root, path)?.get_ref().as_table()
}

/// Returns the entries of the array at a path of keys; none where there is no array.
pub(super) fn list<'t, 'a>(root: &'t TomlTable<'a>, path: &[&str]) -> &'t [TomlValue<'a>] {
    at(root, path).and_then(|value| value.get_ref().as_array()).map_or(&[], |array| array)
}

/// Returns the string at a path of keys.
pub(super) fn text<'t>(root: &'t TomlTable<'_>, path: &[&str]) -> Option<&'t str> {
    at(root, path)?.get_ref().as_str()
}
