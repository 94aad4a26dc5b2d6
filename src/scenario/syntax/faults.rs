//! Syntax errors in words of this project: one a line, placed at the token that does not fit.

use kdl::{KdlDiagnostic, KdlDocument, KdlError};

use crate::diag::{Bag, Code, Problem, SourceFile, Span};

/// The words that KDL 1 wrote bare and KDL 2 writes with `#`.
const KEYWORDS: &[&str] = &["true", "false", "null", "inf", "-inf", "nan"];

/// Mistakes reported at the most; a file that has more is no KDL at all.
const MOST: usize = 40;

/// Returns the first mistake of each line.
///
/// The parser gives up at some mistakes, so each token found is replaced by a harmless word of its length and the rest is
/// parsed again: places stay, and one run shows what is wrong further down.
pub(super) fn report(source: &SourceFile, error: &KdlError) -> Bag {
    let mut bag = Bag::new();
    let mut lines: Vec<usize> = Vec::new();
    let mut text = source.text().to_owned();
    let mut next = first(&text, error);
    while let Some((token, diagnostic)) = next {
        let (line, _) = source.line_column(token.offset);
        if !lines.contains(&line) {
            lines.push(line);
            bag.push(problem(source, &token, &diagnostic));
        }
        let end = token.offset + token.text.len();
        let harmless = "x".repeat(token.text.len());
        if token.text.is_empty() || text[token.offset..end] == harmless || lines.len() == MOST {
            break; // nothing to replace: what follows cannot be told apart from this mistake
        }
        text.replace_range(token.offset..end, &harmless);
        next = KdlDocument::parse_v2(&text).err().and_then(|error| first(&text, &error));
    }
    bag
}

/// Returns the complaint that is first in the file.
fn first(text: &str, error: &KdlError) -> Option<(Token, KdlDiagnostic)> {
    let tokens = error.diagnostics.iter().map(|found| (Token::of(text, found), found.clone()));
    tokens.min_by_key(|(token, _)| token.offset)
}

/// The run of text that does not fit: from one separator to the next.
struct Token {
    offset: usize,
    text: String,
    /// The name before the `=` where the token is a property's value.
    property: Option<String>,
}

impl Token {
    /// Finds the token at which the parser gave up: the one that holds the last byte of its span.
    fn of(text: &str, diagnostic: &KdlDiagnostic) -> Self {
        let reached = (diagnostic.span.offset() + diagnostic.span.len()).min(text.len());
        let mut at = reached.saturating_sub(1).max(diagnostic.span.offset().min(text.len()));
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let start = text[..at]
            .rfind(is_separator)
            .map_or(0, |found| found + text[found..].chars().next().map_or(1, char::len_utf8));
        let end = text[at..].find(is_separator).map_or(text.len(), |found| at + found);
        let (start, end) = if start < end { (start, end) } else { (at, reached.max(at)) };
        let token = &text[start..end];
        match token.split_once('=') {
            Some((name, value)) if !name.is_empty() && !token.starts_with('"') => Self {
                offset: start + name.len() + 1,
                text: value.to_owned(),
                property: Some(name.to_owned()),
            },
            Some(_) | None => Self { offset: start, text: token.to_owned(), property: None },
        }
    }

    /// Returns the token as a place inside the text: where it is empty, the character behind it, and nothing at the end.
    fn span(&self, source: &SourceFile) -> Span {
        let behind = source.text().get(self.offset..).and_then(|rest| rest.chars().next());
        let least = behind.map_or(0, char::len_utf8);
        Span::new(self.offset, if self.text.is_empty() { least } else { self.text.len() })
    }

    /// Returns the token with its property's name.
    fn with_property(&self, value: &str) -> String {
        self.property.as_ref().map_or_else(|| value.to_owned(), |name| format!("{name}={value}"))
    }
}

/// Returns whether a character ends a token.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '{' | '}' | ';' | '(' | ')')
}

/// Returns the problem of one token.
fn problem(source: &SourceFile, token: &Token, diagnostic: &KdlDiagnostic) -> Problem {
    if let Some(problem) = version_1(source, token) {
        return problem;
    }
    if let Some(problem) = unquoted(source, token) {
        return problem;
    }
    let message = diagnostic.message.as_deref().map_or_else(
        || "the text does not parse".to_owned(),
        |message| {
            let mut letters = message.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
        },
    );
    let problem = Problem::new(Code::KdlSyntax, format!("{message}, found {}", shown(&token.text)));
    let problem = problem.label(source, token.span(source), "this does not fit");
    match (&diagnostic.help, token.text.is_empty()) {
        (Some(help), false) => problem.help(help.clone()),
        (Some(_) | None, _) => problem.help("KDL 2.0 is described at https://kdl.dev/spec"),
    }
}

/// Returns a token as a message can show it.
fn shown(text: &str) -> String {
    if text.is_empty() {
        "nothing".to_owned()
    } else {
        format!("`{}`", text.chars().take(60).collect::<String>())
    }
}

/// Recognises what KDL 1 wrote: bare keywords and raw strings with an `r`.
fn version_1(source: &SourceFile, token: &Token) -> Option<Problem> {
    let form = if KEYWORDS.contains(&token.text.as_str()) {
        token.with_property(&format!("#{}", token.text))
    } else {
        let raw = token.text.strip_prefix('r')?;
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw[hashes..].strip_prefix('"')?;
        let inner = inner.strip_suffix(&"#".repeat(hashes)).unwrap_or(inner);
        let fence = "#".repeat(hashes.max(1));
        token.with_property(&format!("{fence}\"{}\"{fence}", inner.trim_end_matches('"')))
    };
    let message = format!(
        "the file is KDL 1: `{}` is written `{form}` in KDL 2",
        token.with_property(&token.text)
    );
    Some(
        Problem::new(Code::KdlVersion1, message)
            .label(source, token.span(source), "this is how KDL 1 writes it")
            .help(format!("write `{form}`")),
    )
}

/// Recognises a version or digest without its quotes.
fn unquoted(source: &SourceFile, token: &Token) -> Option<Problem> {
    let text = token.text.as_str();
    let digit = text.starts_with(|c: char| c.is_ascii_digit());
    let plain =
        text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+'));
    if !digit || !plain {
        return None;
    }
    let digest = token
        .property
        .as_deref()
        .is_some_and(|name| name.ends_with("sha256") || name == "checksum")
        || (text.len() >= 12 && text.chars().all(|c| c.is_ascii_hexdigit()));
    let (what, help) = if digest {
        let bare = if text.len() == 64 {
            format!(
                "quote digests: `{}` (or the bare word `sha256:{text}`)",
                token.with_property(&format!("\"{text}\""))
            )
        } else {
            format!(
                "quote digests, and give all 64 digits: `{}`",
                token.with_property("\"<64 hex>\"")
            )
        };
        ("a digest", bare)
    } else if text.contains('.') {
        ("a version", format!("quote versions: `{}`", token.with_property(&format!("\"{text}\""))))
    } else {
        (
            "text that begins with a digit",
            format!("quote it: `{}`", token.with_property(&format!("\"{text}\""))),
        )
    };
    Some(
        Problem::new(
            Code::KdlUnquoted,
            format!("{what} is written without quotes, found {}", shown(text)),
        )
        .label(source, token.span(source), "quotes are missing here")
        .help(help),
    )
}
