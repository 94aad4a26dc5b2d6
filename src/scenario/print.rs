//! Nodes back to text: what an expansion made of a declaration, as a scenario would write it.

use std::fmt::Write as _;

use super::syntax::{Content, Node, Value};

/// Returns a node with its block as KDL, each line behind `depth` steps of four blanks. Reading it gives the same node.
///
/// Texts are written in one way, whatever way the file chose; numbers stand as the file has them.
pub(crate) fn node_text(node: &Node, depth: usize) -> String {
    let mut text = String::new();
    write_node(node, depth, &mut text);
    text
}

/// Returns a text as a quoted string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            // What KDL takes for a line break, or forbids to stand for itself.
            c if c.is_control()
                || matches!(u32::from(c), 0x2028..=0x202e | 0x2066..=0x2069 | 0xfeff) =>
            {
                write!(out, "\\u{{{:x}}}", u32::from(c)).expect("a String takes every write");
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
}

/// Writes a node and its block.
fn write_node(node: &Node, depth: usize, out: &mut String) {
    let indent = "    ".repeat(depth);
    out.push_str(&indent);
    out.push_str(&name(&node.name.text));
    for value in &node.args {
        out.push(' ');
        out.push_str(&value_text(value));
    }
    for prop in &node.props {
        out.push(' ');
        out.push_str(&name(&prop.name.text));
        out.push('=');
        out.push_str(&value_text(&prop.value));
    }
    if !node.children.is_empty() {
        out.push_str(" {\n");
        for child in &node.children {
            write_node(child, depth + 1, out);
        }
        out.push_str(&indent);
        out.push('}');
    }
    out.push('\n');
}

/// Returns a name: the language's own are bare words.
fn name(text: &str) -> String {
    let is_bare = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && !matches!(text, "true" | "false" | "null" | "inf" | "nan");
    if is_bare { text.to_owned() } else { quoted(text) }
}

/// Returns a value.
fn value_text(value: &Value) -> String {
    match &value.content {
        Content::Text(text) => quoted(text),
        Content::Flag(flag) => format!("#{flag}"),
        Content::Null => "#null".to_owned(),
        Content::Integer(_) | Content::Real(_) => value.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::SourceFile;
    use crate::scenario::syntax::parse;

    fn printed(text: &str) -> String {
        let document = parse(&SourceFile::new("a.kdl", text)).expect("KDL");
        document.nodes.iter().map(|node| node_text(node, 0)).collect()
    }

    #[test]
    fn a_node_is_written_in_one_way_and_numbers_as_they_stand() {
        let text = "deployment agg {\n  a 1.10 0x10 -1e3 #true #null #\"raw \"x\"\"#; b c=\"d\" \"true\"=e { f; }\n}\n";
        let expected = "deployment \"agg\" {\n    a 1.10 0x10 -1e3 #true #null \"raw \\\"x\\\"\"\n    b c=\"d\" \"true\"=\"e\" {\n        f\n    }\n}\n";
        assert_eq!(printed(text), expected);
        assert_eq!(printed(expected), expected);
    }

    #[test]
    fn every_text_reads_back_as_itself() {
        for text in [
            "",
            "a\"b\\c",
            "line\nline\r\t",
            "\u{7f}\u{85}\u{2028}\u{feff}é",
            "{}=#;/* */",
            "\\u{41}",
        ] {
            let node = format!("a {}", quoted(text));
            let document =
                parse(&SourceFile::new("a.kdl", &node)).unwrap_or_else(|_| panic!("{node}"));
            assert_eq!(document.nodes[0].first_text(), Some(text), "{node}");
        }
    }
}
