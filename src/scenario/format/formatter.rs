//! Formats a file and proves that nothing is lost.

use super::{layout, token};
use crate::diag::{Bag, Code, Problem, SourceFile, Span};
use crate::scenario::syntax::{self, Document, Node, Property, Value};

/// Returns the text of a file in its one layout.
///
/// # Errors
/// The syntax errors of a file that does not parse, or `kdl::unformattable` where a law fails.
pub fn format(source: &SourceFile) -> Result<String, Bag> {
    let before = syntax::parse(source)?;
    let text = layout::lay_out(&token::tokens(source.text()));
    let formatted = SourceFile::new(source.name(), &text);
    let same = essence(source.text()) == essence(&text)
        && syntax::parse(&formatted).is_ok_and(|after| is_same(&before, &after))
        && layout::lay_out(&token::tokens(&text)) == text;
    if same { Ok(text) } else { Err(unformattable(source).into()) }
}

/// Returns a text without what formatting may change.
fn essence(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ';' | '\u{feff}')).collect()
}

/// Returns the problem of a file that cannot be laid out without changing it.
fn unformattable(source: &SourceFile) -> Problem {
    let message = format!("`{}` cannot be formatted without changing what it says", source.name());
    let problem = Problem::new(Code::KdlUnformattable, message);
    problem
        .label(source, Span::new(0, 0), "left as it is")
        .help("move comments out of values, one node to a line")
}

/// Returns whether two documents say the same, wherever it stands.
fn is_same(a: &Document, b: &Document) -> bool {
    are_same_nodes(&a.nodes, &b.nodes)
}

fn are_same_nodes(a: &[Node], b: &[Node]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_node(a, b))
}

fn is_same_node(a: &Node, b: &Node) -> bool {
    let is_same_value = |(a, b): (&Value, &Value)| a.text == b.text;
    let is_same_prop =
        |(a, b): (&Property, &Property)| a.name.text == b.name.text && a.value.text == b.value.text;
    a.name.text == b.name.text
        && a.args.len() == b.args.len()
        && a.props.len() == b.props.len()
        && a.args.iter().zip(&b.args).all(is_same_value)
        && a.props.iter().zip(&b.props).all(is_same_prop)
        && are_same_nodes(&a.children, &b.children)
}
