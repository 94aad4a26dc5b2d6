//! `docs/scenario.md`, generated from the table that the decoder itself uses.

use super::bounds;
use super::shape::{Absent, Field, Kind, Limit, Occurs, Shape, Type};

/// The beginning of the page.
const HEAD: &str = "# The scenario language

<!-- Generated from the decoder's own table by `bench docs --write`; edit src/scenario/table/. -->

A scenario is one KDL 2 file. It names every input with its digest, so that the file alone says what was run.
Names are kebab-case, quantities carry their unit in their name, durations are strings such as `\"250ms\"`, `\"60s\"` and `\"1h\"`,
versions and digests are strings. Unknown names, doubled properties, surplus arguments and wrong types are errors, all of them reported at once.

In the tables, **required** means that the field has no default. An argument follows the node's name, a property is written `name=value`.
Where a node says what this build does not run, it is decoded and planned; `bench lint` and `bench plan` warn of it, and `bench run` refuses it.
`bench lint FILE` checks a file, `bench plan FILE` lists its jobs, `bench fmt FILE` gives it its one layout, `bench pin FILE` fills in digests.
";

/// Something that is decoded and planned, and not run: told at the nodes that ask for it.
#[derive(Debug, Clone)]
pub struct NotRun {
    /// What, in the scenario's words.
    pub what: String,
    /// The nodes by their names, outermost first: `deployment`, `router`. A property at the end stands for its node.
    pub nodes: Vec<Vec<String>>,
}

/// Returns the page for the shape of a whole file, with what this build does not run.
pub fn page(root: &'static Shape, not_run: &[NotRun]) -> String {
    let mut page = Page { text: HEAD.to_owned(), done: Vec::new(), not_run };
    for child in root.children {
        page.node(child, &[]);
    }
    page.text
}

/// The page so far.
struct Page<'n> {
    text: String,
    /// Nodes that were described, by address: a node that stands in two blocks is described once.
    done: Vec<(*const Shape, String)>,
    not_run: &'n [NotRun],
}

impl Page<'_> {
    /// Describes a node and everything in its block.
    fn node(&mut self, shape: &'static Shape, path: &[&str]) {
        let title: Vec<&str> = path.iter().copied().chain([shape.name]).collect();
        let heading = title.join(" › ");
        self.line(&format!("\n{} {heading}\n", "#".repeat((title.len() + 1).min(4))));
        let address: *const Shape = shape;
        if let Some((_, first)) = self.done.iter().find(|(known, _)| *known == address) {
            let line = format!("As [{first}](#{}).", anchor(first));
            self.line(&line);
            return;
        }
        self.done.push((address, heading));
        self.line(&format!("{} {}", shape.doc, occurs(shape)));
        self.line(&format!("\n```text\n{}\n```", form(shape)));
        self.fields(shape.args, shape.rest, shape.props);
        if let Some(field) = shape.open_props {
            self.line(&format!("\nProperties of any name: {}", field.doc));
        }
        for kind in shape.kinds {
            self.kind(shape, kind);
        }
        self.refused(shape, &title);
        self.contents(shape);
        for child in shape.all_children() {
            self.node(child, &title);
        }
    }

    /// Describes one word of a node's first argument.
    fn kind(&mut self, shape: &Shape, kind: &Kind) {
        self.line(&format!("\n`{} \"{}\"`: {}", shape.name, kind.word, kind.doc));
        self.fields(kind.args, None, kind.props);
    }

    /// Writes the table of arguments and properties.
    fn fields(&mut self, args: &[Field], rest: Option<&Field>, props: &[Field]) {
        if args.is_empty() && rest.is_none() && props.is_empty() {
            return;
        }
        self.line("\n| field | type | default | meaning |\n| --- | --- | --- | --- |");
        for field in args {
            self.field(field, field.name);
        }
        if let Some(field) = rest {
            self.field(field, &format!("{}…", field.name));
        }
        for field in props {
            self.field(field, &format!("{}=", field.name));
        }
    }

    /// Writes one line of the table.
    fn field(&mut self, field: &Field, shown: &str) {
        let doc = field.doc.replace('|', "\\|");
        self.line(&format!("| `{shown}` | {} | {} | {doc} |", kind_of(field), default_of(field)));
    }

    /// Lists what this build does not run of a node.
    fn refused(&mut self, shape: &Shape, title: &[&str]) {
        let is_here = |node: &Vec<String>| match node.split_last() {
            Some((property, above)) if shape.prop(property).is_some() => above == title,
            Some(_) | None => node == title,
        };
        let here = self.not_run.iter().filter(|not_run| not_run.nodes.iter().any(is_here));
        let told: Vec<&str> = here.map(|not_run| not_run.what.as_str()).collect();
        if !told.is_empty() {
            self.line(&format!("\nThis build does not run: {}.", told.join("; ")));
        }
    }

    /// Lists the nodes of a block.
    fn contents(&mut self, shape: &'static Shape) {
        let names: Vec<String> =
            shape.all_children().map(|child| format!("`{}`", child.name)).collect();
        if !names.is_empty() {
            self.line(&format!("\nIn its block: {}.", names.join(", ")));
        }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }
}

/// Returns a heading as the target of a link, as Markdown renderers derive it.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'))
        .collect::<String>()
        .replace(' ', "-")
}

/// Returns how often a node may stand.
fn occurs(shape: &Shape) -> &'static str {
    match shape.occurs {
        Occurs::Once => "Stands once.",
        Occurs::Optional => "May stand once.",
        Occurs::Named => "Any number, each with a first argument of its own.",
        Occurs::NamedRequired => "At least one, each with a first argument of its own.",
        Occurs::Repeated => "Any number.",
    }
}

/// Returns how a node is written.
fn form(shape: &Shape) -> String {
    let mut parts = vec![shape.name.to_owned()];
    if !shape.kinds.is_empty() {
        let words = shape.kinds.iter().map(|kind| format!("\"{}\"", kind.word));
        parts.push(words.collect::<Vec<_>>().join(" | "));
    }
    parts.extend(shape.args.iter().map(|field| {
        if field.absent == Absent::Refused {
            field.name.to_owned()
        } else {
            format!("[{}]", field.name)
        }
    }));
    parts.extend(shape.rest.map(|field| format!("{}…", field.name)));
    if shape.all_props().next().is_some() || shape.open_props.is_some() {
        parts.push("property=value…".to_owned());
    }
    if shape.all_children().next().is_some() {
        parts.push("{ … }".to_owned());
    }
    parts.join(" ")
}

/// Returns a type in words, with its range.
fn kind_of(field: &Field) -> String {
    match field.kind {
        Type::Count { min: 0, max: u64::MAX } => "64-bit seed".to_owned(),
        Type::Count { min, max } if max < bounds::EXACT => format!("count, {min} to {max}"),
        Type::Count { min: 0, .. } => "count".to_owned(),
        Type::Count { min, .. } => format!("count ≥ {min}"),
        Type::Real { min, max } => {
            format!("number{}{}", limit(min, "≥", ">"), limit(max, "≤", "<"))
        }
        Type::Flag => "`#true` or `#false`".to_owned(),
        Type::Text => "text".to_owned(),
        Type::Name => "name".to_owned(),
        Type::Word(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ")
        }
        Type::CountOr(words) => {
            let words = words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>();
            format!("count ≥ 1 or {}", words.join(" "))
        }
        Type::Version => "version".to_owned(),
        Type::Shares => "numbers, 0 to 1".to_owned(),
        Type::Digest => "SHA-256".to_owned(),
        Type::Duration => "duration".to_owned(),
        Type::Path => "path".to_owned(),
        Type::Any => "any value".to_owned(),
    }
}

/// Returns the end of a range in words.
fn limit(limit: Limit, inclusive: &str, exclusive: &str) -> String {
    match limit {
        Limit::None => String::new(),
        Limit::Inclusive(end) => format!(" {inclusive} {end}"),
        Limit::Exclusive(end) => format!(" {exclusive} {end}"),
    }
}

/// Returns what holds where a field is absent.
fn default_of(field: &Field) -> String {
    match field.absent {
        Absent::Refused => "**required**".to_owned(),
        Absent::Nothing => "none".to_owned(),
        Absent::Derived(words) => words.replace('|', "\\|"),
        Absent::Count(count) => format!("`{count}`"),
        Absent::Real(number) => format!("`{number:?}`"),
        Absent::Flag(flag) => format!("`#{flag}`"),
        Absent::Text(text) => format!("`{text}`"),
        Absent::DurationMs(ms) => format!("`\"{ms}ms\"`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::table::ROOT;

    #[test]
    fn every_node_property_and_word_of_the_table_is_on_the_page() {
        let page = page(&ROOT, &[]);
        let mut open: Vec<&'static Shape> = ROOT.all_children().collect();
        while let Some(shape) = open.pop() {
            assert!(page.contains(&format!(" {}\n", shape.name)), "{}", shape.name);
            for field in shape.all_props() {
                assert!(
                    page.contains(&format!("| `{}=` |", field.name)),
                    "{} {}",
                    shape.name,
                    field.name
                );
            }
            for kind in shape.kinds {
                assert!(
                    page.contains(&format!("`{} \"{}\"`", shape.name, kind.word)),
                    "{}",
                    kind.word
                );
            }
            open.extend(shape.all_children());
        }
    }

    #[test]
    fn sentences_end_and_no_line_of_the_page_ends_in_a_blank() {
        let page = page(&ROOT, &[]);
        assert!(page.lines().all(|line| line.trim_end() == line));
        let mut open: Vec<&'static Shape> = ROOT.all_children().collect();
        while let Some(shape) = open.pop() {
            let fields = shape
                .args
                .iter()
                .chain(shape.rest)
                .chain(shape.all_props())
                .chain(shape.open_props);
            let docs = fields
                .map(|field| field.doc)
                .chain([shape.doc])
                .chain(shape.kinds.iter().map(|kind| kind.doc));
            for doc in docs {
                assert!(doc.ends_with('.'), "{}: {doc}", shape.name);
            }
            open.extend(shape.all_children());
        }
    }

    #[test]
    fn what_is_not_run_is_told_at_each_node_that_asks_for_it() {
        let nodes = [
            &["scenario", "deployment", "router"][..],
            &["scenario", "deployment", "worker", "kv-cache", "eviction"],
        ];
        let nodes = nodes.map(|node| node.iter().map(|name| (*name).to_owned()).collect());
        let not_run = [NotRun { what: "this with that".to_owned(), nodes: nodes.to_vec() }];
        let page = page(&ROOT, &not_run);
        let told = "This build does not run: this with that.";
        assert_eq!(page.matches(told).count(), 2);
        let section = |heading: &str| {
            let from = page.find(heading).expect("a section");
            page[from + 1..].split("\n#").next().unwrap_or_default().to_owned()
        };
        assert!(section("### scenario › deployment › router\n").contains(told));
        assert!(section("#### scenario › deployment › worker › kv-cache\n").contains(told));
    }
}
