//! Reads Rust just well enough: what is code and what is not, which names a file refers to.

use crate::tree::File;

/// Returns the source with comments, and the insides of strings and characters, replaced by spaces. Lines keep their numbers.
pub(crate) fn code(source: &str) -> String {
    let mut masked = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| string(rest)).or_else(|| character(rest));
        let length = skipped.unwrap_or(next.len_utf8());
        let (taken, left) = rest.split_at(length);
        match skipped {
            None => masked.push_str(taken),
            Some(_) => masked.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' })),
        }
        rest = left;
    }
    masked
}

/// Returns the length of the comment that `text` opens with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let here = &text.as_bytes()[at..];
        if here.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            at += 1;
        }
        if depth == 0 {
            return Some(at);
        }
    }
    Some(text.len())
}

/// Returns the length of the string literal that `text` opens with: plain, byte or raw.
fn string(text: &str) -> Option<usize> {
    let after_prefix = text.trim_start_matches(['b', 'c']);
    if after_prefix.starts_with('"') && text.len() - after_prefix.len() <= 1 {
        let prefix = text.len() - after_prefix.len();
        return Some(prefix + 1 + closing_quote(&after_prefix[1..], '"'));
    }
    let raw = after_prefix.strip_prefix('r')?;
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    let body = raw[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(text.len() - body.len() + length)
}

/// Returns the length of the character literal that `text` opens with; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    let mut characters = body.chars();
    let first = characters.next()?;
    if first == '\\' || characters.next() == Some('\'') {
        return Some(1 + closing_quote(body, '\''));
    }
    None
}

/// Returns the length up to and with the closing quote; backslashes escape.
fn closing_quote(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    body.len()
}

/// Returns the identifiers of a line of code with the byte where each starts.
pub(crate) fn identifiers(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line[at..].find(|c: char| c.is_alphabetic() || c == '_')?;
        let rest = &line[start..];
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        at = start + length;
        Some((start, &rest[..length]))
    })
}

/// Returns whether a line of a file is test code: the file is, or it follows `#[cfg(test)]` at the top level.
pub(crate) fn is_test_line(file: &File, line: usize) -> bool {
    file.path.starts_with("tests/")
        || file.path.ends_with("/tests.rs")
        || file.path.contains("/tests/")
        || file.text.lines().take(line + 1).any(|text| text == "#[cfg(test)]")
}

/// Returns the module path of a source file: `src/a/b.rs` is `a`, `b`; `src/a/mod.rs` is `a`.
pub(crate) fn module_path(file: &File) -> Option<Vec<&str>> {
    let inside = file.path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let mut parts: Vec<&str> = inside.split('/').collect();
    if matches!(parts.last(), Some(&("mod" | "lib"))) {
        parts.pop();
    }
    Some(parts)
}

/// Returns the top-level modules of the crate that a file names, each with its line from 0.
///
/// Seen are `crate::a`, `crate::{a, b::{c}}` and `super::super::a` where the supers climb to the root.
pub(crate) fn modules_named(file: &File) -> Vec<(usize, String)> {
    let masked = code(&file.text);
    let Some(path) = module_path(file) else { return Vec::new() };
    let mut named = Vec::new();
    for (start, _) in masked.match_indices("crate::") {
        let before = masked[..start].chars().next_back();
        if before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '$') {
            heads(&masked, start + "crate::".len(), &mut named);
        }
    }
    let climb = "super::".repeat(path.len());
    for (start, _) in masked.match_indices(&climb) {
        let inline = inline_depth(&masked[..start]);
        let before = &masked[..start];
        let from = start + climb.len();
        if inline == 0 && !before.ends_with("super::") && !climb.is_empty() {
            heads(&masked, from, &mut named);
        }
    }
    named
}

/// Returns how many inline `mod name {` are open at the end of a piece of code.
fn inline_depth(before: &str) -> usize {
    let mut open = Vec::new();
    let mut statement = String::new();
    for c in before.chars() {
        match c {
            '{' => {
                let is_module = statement.split_whitespace().rev().nth(1) == Some("mod");
                open.push(is_module);
                statement.clear();
            }
            '}' => {
                open.pop();
                statement.clear();
            }
            ';' => statement.clear(),
            other => statement.push(other),
        }
    }
    open.into_iter().filter(|is_module| *is_module).count()
}

/// Collects the first path segments at `from`: one identifier, or those of a braced list.
fn heads(code: &str, from: usize, named: &mut Vec<(usize, String)>) {
    let line_of = |at: usize| code[..at].matches('\n').count();
    if !code[from..].starts_with('{') {
        if let Some((0, head)) = identifiers(&code[from..]).next() {
            named.push((line_of(from), head.to_owned()));
        }
        return;
    }
    let mut depth = 0_usize;
    let mut expects_head = false;
    let mut at = from;
    while let Some(c) = code[at..].chars().next() {
        match c {
            '{' => (depth, expects_head) = (depth + 1, depth == 0),
            '}' if depth == 1 => return,
            '}' => depth -= 1,
            ',' => expects_head = depth == 1,
            _ if expects_head && (c.is_alphabetic() || c == '_') => {
                if let Some((_, head)) = identifiers(&code[at..]).next() {
                    named.push((line_of(at), head.to_owned()));
                }
                expects_head = false;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
}

#[test]
fn comments_strings_and_characters_are_no_code_and_lifetimes_are() {
    let source = "a /* b /* c */ d */ \"e\\\"f\" 'g' '\\'' r#\"h\"i\"# b\"j\" &'k l // m\nn";
    let words: Vec<String> = code(source).split_whitespace().map(str::to_owned).collect();
    assert_eq!(words, ["a", "&'k", "l", "n"]);
    assert_eq!(code(source).lines().count(), 2);
}

#[test]
fn modules_are_named_by_crate_paths_braces_and_climbing_supers() {
    let source = "use crate::{a, b::{c, d},\n e as f};\nfn g() { crate::h::i(); }\nuse super::super::j;\nuse super::k;\n\
                  mod tests { use super::super::l; }\n// crate::m\nmacro_rules! n { () => { $crate::o } }";
    let named = modules_named(&File::planted("src/x/y.rs", source));
    let heads: Vec<&str> = named.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(heads, ["a", "b", "e", "h", "j"]);
    assert_eq!(named[3].0, 2);
}
