//! Documentation: every link to a file leads to one, every anchor to a heading.

use std::path::Path;

use crate::tree::{File, Violation, assert_none, repository};

/// Finds links of Markdown files that lead nowhere in the tree.
fn dead_links(files: &[File], exists: impl Fn(&str) -> bool) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.has_extension("md") && !file.path.starts_with("tests/fixtures/"))
    {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, link) in links(&file.text) {
            let (path, anchor) =
                link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { file.path.clone() } else { joined(folder, path) };
            if !exists(&target) {
                found.push(file.violation(line, format!("`{link}` leads to no file ({target})")));
            } else if let Some(anchor) = anchor.filter(|anchor| !has_anchor(files, &target, anchor))
            {
                found.push(
                    file.violation(
                        line,
                        format!("`{link}`: no heading of {target} is `#{anchor}`"),
                    ),
                );
            }
        }
    }
    found
}

/// Returns the links to files, `](path)`, outside code blocks, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut found = Vec::new();
    for (line, content) in text.lines().enumerate() {
        in_code ^= content.trim_start().starts_with("```");
        if in_code {
            continue;
        }
        for (at, mark) in content.match_indices("](") {
            let rest = &content[at + mark.len()..];
            let link = &rest[..rest.find(')').unwrap_or(rest.len())];
            if !link.contains("://") && !link.starts_with("mailto:") {
                found.push((line, link));
            }
        }
    }
    found
}

/// Returns `path` seen from `folder`, with `..` resolved.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// Returns whether a file has a heading with this anchor, or spells the anchor out.
fn has_anchor(files: &[File], path: &str, anchor: &str) -> bool {
    files.iter().filter(|file| file.path == path).any(|file| {
        file.text.contains(&format!("id=\"{anchor}\""))
            || file
                .text
                .lines()
                .filter(|line| line.starts_with('#'))
                .any(|line| slug(line) == anchor)
    })
}

/// Returns the anchor of a heading as forges derive it.
fn slug(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    title
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn every_link_to_a_file_leads_to_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_none(&dead_links(&repository(), |path| root.join(path).exists()));
}

#[test]
fn planted_violations_are_seen() {
    let text = "# One `two`: 3\n[a](b.md) [c](../README.md) [d](#one-two-3) [e](#four) [f](https://github.com/g)\n```\n[h](i.md)\n```\n";
    let files = [File::planted("docs/x.md", text)];
    let found = dead_links(&files, |path| ["docs/x.md", "README.md"].contains(&path));
    let said: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "docs/x.md:2: `b.md` leads to no file (docs/b.md)",
            "docs/x.md:2: `#four`: no heading of docs/x.md is `#four`",
        ]
    );
}
