//! Nodes, arguments and properties, each with its place and its own source text.

use crate::diag::{Code, Problem, SourceFile, Span};

/// Where something stands: a file and a byte range in it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Place {
    source: SourceFile,
    span: Span,
}

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Document {
    source: SourceFile,
    /// The nodes of the top level, in file order.
    pub nodes: Vec<Node>,
}

/// A name with its place.
#[derive(Debug, Clone)]
pub struct Word {
    /// The name as KDL reads it, without quotes.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name.
    pub name: Word,
    /// Its arguments, in order.
    pub args: Vec<Value>,
    /// Its properties, in order; a name may occur twice.
    pub props: Vec<Property>,
    /// The nodes of its block, in order.
    pub children: Vec<Node>,
    /// All of it, block included.
    pub place: Place,
}

/// A property.
#[derive(Debug, Clone)]
pub struct Property {
    /// Its name.
    pub name: Word,
    /// Its value.
    pub value: Value,
}

/// An argument or the value of a property.
#[derive(Debug, Clone)]
pub struct Value {
    /// What KDL reads.
    pub content: Content,
    /// What the file says, to the byte: `1.10`, `1e400`, `"x"`.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// What KDL reads from a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A string, quoted or bare.
    Text(String),
    /// A number without point and exponent.
    Integer(i128),
    /// Any other number, `#inf`, `#-inf` and `#nan` too.
    Real(f64),
    /// `#true` or `#false`.
    Flag(bool),
    /// `#null`.
    Null,
}

impl Place {
    /// Returns the place of `span` in `source`.
    pub fn new(source: &SourceFile, span: Span) -> Self {
        Self { source: source.clone(), span }
    }

    /// Returns the file.
    pub fn source(&self) -> &SourceFile {
        &self.source
    }

    /// Returns the byte range.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Returns whether both are in one file.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.source.name() == other.source.name()
    }

    /// Returns `file:line:column`.
    pub fn line(&self) -> String {
        let (line, column) = self.source.line_column(self.span.offset());
        format!("{}:{line}:{column}", self.source.name())
    }

    /// Returns a problem whose first label is here.
    pub fn problem(
        &self,
        code: Code,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Problem {
        Problem::new(code, message).label(&self.source, self.span, label)
    }

    /// Adds this place to `problem`: as a label in the same file, else as `file:line:column` in the help.
    pub fn also(&self, problem: Problem, label: &str) -> Problem {
        let same = problem.source_file().is_none_or(|source| source.name() == self.source.name());
        if same {
            return problem.label(&self.source, self.span, label);
        }
        let line = format!("{label}: {}", self.line());
        let help = problem.help_text().map_or(line.clone(), |help| format!("{help}\n{line}"));
        problem.help(help)
    }
}

impl Document {
    /// Returns the document of these nodes of `source`.
    pub fn new(source: &SourceFile, nodes: Vec<Node>) -> Self {
        Self { source: source.clone(), nodes }
    }

    /// Returns the file.
    pub fn source(&self) -> &SourceFile {
        &self.source
    }
}

impl Node {
    /// Returns the first argument where it is a string.
    pub fn first_text(&self) -> Option<&str> {
        self.args.first().and_then(Value::as_text)
    }

    /// Returns where the node's head stands: its name, and its first argument where there is one.
    pub fn head(&self) -> Place {
        let start = self.name.place.span.offset();
        let end = self.args.first().map_or(start + self.name.place.span.length(), |value| {
            value.place.span.offset() + value.place.span.length()
        });
        Place {
            source: self.place.source.clone(),
            span: Span::new(start, end.saturating_sub(start)),
        }
    }
}

impl Value {
    /// Returns the text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Integer(_) | Content::Real(_) | Content::Flag(_) | Content::Null => None,
        }
    }
}

impl Content {
    /// Returns one text for all spellings of a value: `1` and `1.0` have the same, `1` and `"1"` have not.
    pub fn spelling(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Real(number)
                if number.trunc().total_cmp(number).is_eq() && number.is_finite() =>
            {
                format!("{:.0}", number + 0.0) // all digits of the whole number, and no -0
            }
            Self::Real(number) => format!("{number:?}"),
            Self::Text(_) | Self::Flag(_) | Self::Null => format!("{self:?}"),
        }
    }

    /// Returns what it is, with its article.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) | Self::Real(_) => "a number",
            Self::Flag(_) => "a boolean",
            Self::Null => "null",
        }
    }
}
