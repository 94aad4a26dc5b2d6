//! From the `kdl` crate's document to ours.

use kdl::{KdlDocument, KdlEntry, KdlIdentifier, KdlNode, KdlValue};
use miette::SourceSpan;

use super::faults;
use super::{Content, Document, Node, Place, Property, Value, Word};
use crate::diag::{Bag, Code, Problem, SourceFile, Span};

/// Blocks within blocks at the most; the parser recurses, and no file of ours needs ten.
const DEEPEST: usize = 40;

/// Parses KDL 2.
///
/// # Errors
/// Every line's first mistake: `kdl::syntax`, `kdl::unquoted`, `kdl::version_1`, `kdl::too_deep`, `kdl::type_annotation`.
pub fn parse(source: &SourceFile) -> Result<Document, Bag> {
    if let Some(problem) = too_deep(source) {
        return Err(problem.into());
    }
    if let Some(problem) = declares_version_1(source) {
        return Err(problem.into());
    }
    let parsed =
        KdlDocument::parse_v2(source.text()).map_err(|error| faults::report(source, &error))?;
    let mut builder = Builder { source, bag: Bag::new() };
    let nodes = builder.nodes(&parsed);
    if builder.bag.has_errors() { Err(builder.bag) } else { Ok(Document::new(source, nodes)) }
}

/// Returns a problem where braces nest deeper than any file needs (braces in strings count: this guards a recursive parser).
fn too_deep(source: &SourceFile) -> Option<Problem> {
    let mut depth = 0_usize;
    for (offset, byte) in source.text().bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            let message = format!("blocks are nested more than {DEEPEST} levels deep");
            let problem = Problem::new(Code::KdlTooDeep, message);
            return Some(problem.label(source, Span::new(offset, 1), "this level is too many"));
        }
    }
    None
}

/// Returns the problem of a file that begins with the marker of KDL 1, which KDL 2 would read as a comment.
fn declares_version_1(source: &SourceFile) -> Option<Problem> {
    let text = source.text();
    let marker = text.trim_start_matches('\u{feff}').trim_start();
    let rest = marker.strip_prefix("/-")?.trim_start().strip_prefix("kdl-version")?.trim_start();
    if rest.split(|c: char| c.is_whitespace() || c == ';').next() != Some("1") {
        return None;
    }
    let problem = Problem::new(Code::KdlVersion1, "the file says that it is KDL 1").label(
        source,
        Span::new(text.len() - rest.len(), 1),
        "another version",
    );
    Some(problem.help("write it in KDL 2, with `/- kdl-version 2` or without such a line"))
}

/// Builds our nodes and complains of type annotations on the way.
struct Builder<'a> {
    source: &'a SourceFile,
    bag: Bag,
}

impl Builder<'_> {
    fn place(&self, span: SourceSpan) -> Place {
        let text = self.source.text().get(span.offset()..span.offset() + span.len());
        let length = text.map_or(span.len(), |text| text.trim_end().len());
        Place::new(self.source, Span::new(span.offset(), length))
    }

    fn nodes(&mut self, document: &KdlDocument) -> Vec<Node> {
        document.nodes().iter().map(|node| self.node(node)).collect()
    }

    fn node(&mut self, node: &KdlNode) -> Node {
        self.refuse_annotation(node.ty());
        let (mut args, mut props) = (Vec::new(), Vec::new());
        for entry in node.entries() {
            self.refuse_annotation(entry.ty());
            let value = self.value(entry);
            match entry.name() {
                None => args.push(value),
                Some(name) => props.push(Property { name: self.word(name), value }),
            }
        }
        let children = node.children().map(|block| self.nodes(block)).unwrap_or_default();
        Node { name: self.word(node.name()), args, props, children, place: self.place(node.span()) }
    }

    fn word(&self, name: &KdlIdentifier) -> Word {
        Word { text: name.value().to_owned(), place: self.place(name.span()) }
    }

    /// Returns the value of an entry. Its text is the tail of the entry's: the crate spans name and value together.
    fn value(&self, entry: &KdlEntry) -> Value {
        let whole = entry.span();
        let text = entry.format().map_or_else(String::new, |format| format.value_repr.clone());
        let offset = (whole.offset() + whole.len()).saturating_sub(text.len());
        let content = match entry.value() {
            KdlValue::String(text) => Content::Text(text.clone()),
            KdlValue::Integer(number) => Content::Integer(*number),
            KdlValue::Float(number) => Content::Real(*number),
            KdlValue::Bool(flag) => Content::Flag(*flag),
            KdlValue::Null => Content::Null,
        };
        let place = Place::new(self.source, Span::new(offset, text.len()));
        Value { content, text, place }
    }

    fn refuse_annotation(&mut self, annotation: Option<&KdlIdentifier>) {
        let Some(annotation) = annotation else { return };
        let message =
            format!("a type annotation has no meaning here, found `({})`", annotation.value());
        self.bag.push(
            self.place(annotation.span())
                .problem(Code::KdlTypeAnnotation, message, "remove this annotation")
                .help("types are fixed by the language: see docs/scenario.md"),
        );
    }
}
