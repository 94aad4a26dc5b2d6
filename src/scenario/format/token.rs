//! KDL text as the formatter sees it: words, comments, braces and line ends. The text is known to parse.

/// A piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A run without blanks: a name, a value, `name=value`, `=`; strings are taken whole.
    Word(&'t str),
    /// `/-`, which takes away what follows.
    Slashdash,
    /// `// …` up to the end of the line, or `/* … */`.
    Comment(&'t str),
    /// `{`.
    Open,
    /// `}`.
    Close,
    /// `;`.
    Semicolon,
    /// A `\` that continues the line.
    Continuation,
    /// The end of a line.
    Newline,
}

/// Splits a text into tokens; blanks are left out.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while let Some(first) = rest.chars().next() {
        let (token, length) = if is_newline(first) {
            (Some(Token::Newline), if rest.starts_with("\r\n") { 2 } else { first.len_utf8() })
        } else if first.is_whitespace() {
            (None, first.len_utf8())
        } else {
            visible(rest, first)
        };
        tokens.extend(token);
        rest = &rest[length..];
    }
    tokens
}

/// Returns the token at the start of `rest`, whose first character is no blank, and its length in bytes.
fn visible(rest: &str, first: char) -> (Option<Token<'_>>, usize) {
    let single = |token| (Some(token), 1);
    match first {
        '{' => single(Token::Open),
        '}' => single(Token::Close),
        ';' => single(Token::Semicolon),
        '\\' => single(Token::Continuation),
        '/' if rest.starts_with("/-") => (Some(Token::Slashdash), 2),
        '/' if rest.starts_with("//") => {
            let end = rest.find(is_newline).unwrap_or(rest.len());
            (Some(Token::Comment(rest[..end].trim_end())), end)
        }
        '/' if rest.starts_with("/*") => {
            let end = block_comment(rest);
            (Some(Token::Comment(&rest[..end])), end)
        }
        _ => {
            let end = word(rest);
            (Some(Token::Word(&rest[..end])), end)
        }
    }
}

/// Returns where a block comment ends; they nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let here = &text[at..];
        if here.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Returns where a word ends; strings inside of it are taken whole.
fn word(text: &str) -> usize {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let here = &text[at..];
        if let Some(length) = string(here) {
            at += length;
        } else if c.is_whitespace() || is_newline(c) || matches!(c, '{' | '}' | ';' | '\\' | '/') {
            break;
        } else {
            at += c.len_utf8();
        }
    }
    at.max(text.chars().next().map_or(0, char::len_utf8))
}

/// Returns the length of the string at the start of `text`, quoted or raw, of one line or many; `None` where none begins.
fn string(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let quoted = &text[hashes..];
    let marks = if quoted.starts_with("\"\"\"") { 3 } else { usize::from(quoted.starts_with('"')) };
    if marks == 0 {
        return None;
    }
    if marks == 3 && hashes == 0 && quoted.len() == 3 {
        return Some(3);
    }
    let close = format!("{}{}", &"\"\"\""[..marks], "#".repeat(hashes));
    let mut at = hashes + marks;
    while at < text.len() {
        let here = &text[at..];
        if here.starts_with(&close) {
            return Some(at + close.len());
        }
        if hashes == 0 && here.starts_with('\\') {
            at += 1;
        }
        at += text[at..].chars().next().map_or(1, char::len_utf8);
    }
    Some(text.len())
}

/// Returns whether KDL ends a line here.
fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
