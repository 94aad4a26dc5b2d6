//! One walk over the AST beside its shape; every mistake goes into the bag.

use std::collections::BTreeMap;

use super::View;
use super::hint::{self, NodeHint};
use super::view::Given;
use crate::diag::{Bag, Code, Span};
use crate::scenario::scalar::{self, Datum};
use crate::scenario::shape::{Absent, Field, Kind, Occurs, Shape};
use crate::scenario::syntax::{Document, Node, Place, Property, Value};

/// Checks a file against the shape of a whole file (`Shape::root`).
pub fn check<'a>(document: &'a Document, root: &'static Shape, bag: &mut Bag) -> View<'a> {
    // What is missing is missing behind the last character.
    let last = document.source().text().trim_end().char_indices().next_back();
    let span = last.map_or(Span::new(0, 0), |(at, last)| Span::new(at, last.len_utf8()));
    let place = Place::new(document.source(), span);
    let mut checker = Checker { root, bag };
    let children =
        checker.block(&document.nodes, &Frame { shape: root, kind: None, place: &place });
    View {
        shape: root,
        kind: None,
        node: None,
        fields: BTreeMap::new(),
        rest: Vec::new(),
        open: Vec::new(),
        children,
        place,
    }
}

/// Checks one node against its shape; `root` is the file's, for saying where strangers belong.
pub fn check_node<'a>(
    node: &'a Node,
    shape: &'static Shape,
    root: &'static Shape,
    bag: &mut Bag,
) -> View<'a> {
    Checker { root, bag }.node(node, shape)
}

/// The walk's state.
struct Checker<'b> {
    root: &'static Shape,
    bag: &'b mut Bag,
}

/// The block that is being checked.
struct Frame<'p> {
    shape: &'static Shape,
    kind: Option<&'static Kind>,
    place: &'p Place,
}

impl Frame<'_> {
    /// Returns the nodes that the block may hold.
    fn children(&self) -> impl Iterator<Item = &'static Shape> {
        self.shape
            .children
            .iter()
            .chain(self.kind.into_iter().flat_map(|kind| kind.children))
            .copied()
    }

    /// Returns the block's name in messages.
    fn title(&self) -> String {
        match (self.shape.name, self.kind) {
            ("", _) => "the top level".to_owned(),
            (name, None) => format!("`{name}`"),
            (name, Some(kind)) => format!("`{name} \"{}\"`", kind.word),
        }
    }
}

impl Checker<'_> {
    /// Checks a node and everything in it.
    fn node<'a>(&mut self, node: &'a Node, shape: &'static Shape) -> View<'a> {
        let kind = self.kind(node, shape);
        let mut view = View {
            shape,
            kind,
            node: Some(node),
            fields: BTreeMap::new(),
            rest: Vec::new(),
            open: Vec::new(),
            children: Vec::new(),
            place: node.place.clone(),
        };
        self.args(node, &mut view);
        self.props(node, &mut view);
        let frame = Frame { shape, kind, place: &node.head() };
        view.children = self.block(&node.children, &frame);
        view
    }

    /// Finds the kind that the first argument names.
    fn kind(&mut self, node: &Node, shape: &'static Shape) -> Option<&'static Kind> {
        if shape.kinds.is_empty() {
            return None;
        }
        let words: Vec<&str> = shape.kinds.iter().map(|kind| kind.word).collect();
        let Some(value) = node.args.first() else {
            let message = format!("`{}` needs its kind as first argument", shape.name);
            let listed = words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>();
            let problem = node.name.place.problem(
                Code::KdlMissingArgument,
                message,
                "a word is missing after this",
            );
            self.bag.push(problem.help(format!("one of {}", listed.join(", "))));
            return None;
        };
        let found = value.as_text().and_then(|word| shape.kind(word));
        if found.is_none() {
            let problem =
                match value.as_text() {
                    Some(text) => scalar::unknown_word(value, shape.name, text, &words),
                    None => scalar::read(value, &Field::text(shape.name, "")).err().unwrap_or_else(
                        || scalar::unknown_word(value, shape.name, &value.text, &words),
                    ),
                };
            self.bag.push(problem);
        }
        found
    }

    /// Checks the arguments.
    fn args<'a>(&mut self, node: &'a Node, view: &mut View<'a>) {
        let shape = view.shape;
        let mut values = node.args.iter();
        if !shape.kinds.is_empty()
            && let (Some(value), Some(kind)) = (values.next(), view.kind)
        {
            let datum = Datum::Text(kind.word.to_owned());
            view.fields.insert("KIND", Given { datum, value: Some(value) });
        }
        let own = view.kind.map_or(&[] as &[Field], |kind| kind.args);
        let lost = !shape.kinds.is_empty() && view.kind.is_none();
        for field in shape.args.iter().chain(own) {
            match values.next() {
                Some(value) => self.field(field, value, view),
                None if lost => {}
                None => self.absent_arg(field, node, view),
            }
        }
        for value in values {
            match shape.rest {
                Some(field) => match scalar::read(value, field) {
                    Ok(datum) => view.rest.push((value, datum)),
                    Err(problem) => self.bag.push(problem),
                },
                None if lost => {}
                None => self.surplus(value, node, view),
            }
        }
        self.rest_is_required(node, view);
    }

    /// Complains where further arguments are required and none stands.
    fn rest_is_required(&mut self, node: &Node, view: &View<'_>) {
        let Some(field) = view.shape.rest else { return };
        if field.absent == Absent::Refused && node.args.len() <= view.shape.args.len() {
            self.missing_arg(field, node, view.shape);
        }
    }

    /// Complains of an argument that the node has no meaning for.
    fn surplus(&mut self, value: &Value, node: &Node, view: &View<'_>) {
        let message =
            format!("`{}` has no further argument, found `{}`", node.name.text, value.text);
        let problem = value.place.problem(Code::KdlSurplusArgument, message, "one too many");
        self.bag.push(problem.help(hint::surplus(view.shape, &value.text)));
    }

    /// Puts in the default of an argument, or complains.
    fn absent_arg<'a>(&mut self, field: &'static Field, node: &'a Node, view: &mut View<'a>) {
        match default(field) {
            Some(datum) => drop(view.fields.insert(field.name, Given { datum, value: None })),
            None if field.absent == Absent::Refused => self.missing_arg(field, node, view.shape),
            None => {}
        }
    }

    /// Complains of a missing argument.
    fn missing_arg(&mut self, field: &Field, node: &Node, shape: &Shape) {
        let message = format!("`{}` lacks its argument {}", node.name.text, field.name);
        let place = node.args.last().map_or(&node.name.place, |value| &value.place);
        let problem = place.problem(Code::KdlMissingArgument, message, "missing after this");
        self.bag.push(problem.help(format!("the form is {}", hint::form(shape))));
    }

    /// Checks the properties.
    fn props<'a>(&mut self, node: &'a Node, view: &mut View<'a>) {
        let shape = view.shape;
        let own = view.kind.map_or(&[] as &[Field], |kind| kind.props);
        let mut seen: Vec<&Property> = Vec::new();
        for prop in &node.props {
            let name = prop.name.text.as_str();
            if let Some(first) = seen.iter().find(|first| first.name.text == name) {
                let message = format!("property `{name}` is given twice");
                let problem =
                    prop.name.place.problem(Code::KdlDuplicateProperty, message, "given again");
                let problem = first.name.place.also(problem, "first given here");
                self.bag.push(
                    problem.help("keep one; KDL itself would let the last one win in silence"),
                );
                continue; // reported; the first one counts
            }
            seen.push(prop);
            match shape.props.iter().chain(own).find(|field| field.name == name) {
                Some(field) => self.field(field, &prop.value, view),
                None => self.other_prop(prop, view),
            }
        }
        let is_known = |name: &str| shape.props.iter().chain(own).any(|field| field.name == name);
        let strangers = seen.iter().map(|prop| prop.name.text.as_str());
        let strangers: Vec<&str> = strangers.filter(|name| !is_known(name)).collect();
        for field in shape.props.iter().chain(own) {
            let is_misspelt = strangers.iter().any(|name| is_near(name, field.name));
            if !is_misspelt && !seen.iter().any(|prop| prop.name.text == field.name) {
                self.absent_prop(field, node, view);
            }
        }
    }

    /// Takes a property of any name, or complains of an unknown one.
    fn other_prop<'a>(&mut self, prop: &'a Property, view: &mut View<'a>) {
        if let Some(field) = view.shape.open_props {
            match scalar::read(&prop.value, field) {
                Ok(datum) => view.open.push((&prop.name.text, &prop.value, datum)),
                Err(problem) => self.bag.push(problem),
            }
            return;
        }
        let shape = view.shape;
        if !shape.kinds.is_empty() && view.kind.is_none() && shape.prop(&prop.name.text).is_some() {
            return; // the unknown kind is reported; the property may well be right
        }
        let own = view.kind.map_or(&[] as &[Field], |kind| kind.props);
        let known: Vec<&'static str> =
            shape.props.iter().chain(own).map(|field| field.name).collect();
        let title = Frame { shape, kind: view.kind, place: &prop.name.place }.title();
        let message = format!("{title} has no property `{}`", prop.name.text);
        let help = hint::unknown_property(self.root, shape, &prop.name.text, &known);
        let problem = prop
            .name
            .place
            .problem(Code::KdlUnknownProperty, message, "unknown property")
            .help(help);
        self.bag.push(problem);
    }

    /// Puts in the default of a property, or complains.
    fn absent_prop<'a>(&mut self, field: &'static Field, node: &'a Node, view: &mut View<'a>) {
        if let Some(datum) = default(field) {
            view.fields.insert(field.name, Given { datum, value: None });
        } else if field.absent == Absent::Refused {
            let message = format!("`{}` lacks its property `{}`", node.name.text, field.name);
            let problem = node.head().problem(Code::KdlMissingProperty, message, "missing here");
            let help =
                format!("add `{}={}`: {}", field.name, hint::sample(field), first_lower(field.doc));
            self.bag.push(problem.help(help));
        }
    }

    /// Reads a value into the view, or complains.
    fn field<'a>(&mut self, field: &'static Field, value: &'a Value, view: &mut View<'a>) {
        match scalar::read(value, field) {
            Ok(datum) => drop(view.fields.insert(field.name, Given { datum, value: Some(value) })),
            Err(problem) => self.bag.push(problem),
        }
    }

    /// Checks the nodes of a block: names, how often each stands, and each node itself.
    fn block<'a>(&mut self, nodes: &'a [Node], frame: &Frame<'_>) -> Vec<View<'a>> {
        let mut views: Vec<View<'a>> = Vec::new();
        let lost = !frame.shape.kinds.is_empty() && frame.kind.is_none();
        for node in nodes {
            let found = frame.children().find(|child| child.name == node.name.text);
            match found {
                Some(shape) => {
                    self.unique(node, shape, &views);
                    views.push(self.node(node, shape));
                }
                None if lost && frame.shape.child(&node.name.text).is_some() => {}
                None => self.unknown_node(node, frame),
            }
        }
        let strangers = nodes.iter().map(|node| node.name.text.as_str());
        let strangers: Vec<&str> =
            strangers.filter(|name| !frame.children().any(|child| child.name == *name)).collect();
        for child in frame.children() {
            let required = matches!(child.occurs, Occurs::Once | Occurs::NamedRequired);
            let is_misspelt = strangers.iter().any(|name| is_near(name, child.name));
            if required && !is_misspelt && !nodes.iter().any(|node| node.name.text == child.name) {
                self.missing_node(child, frame);
            }
        }
        views
    }

    /// Complains of a second node where one may stand, and of a name that is taken.
    fn unique(&mut self, node: &Node, shape: &'static Shape, before: &[View<'_>]) {
        let mut same =
            before.iter().filter(|view| view.shape.name == shape.name).filter_map(View::node);
        let (code, message, first) = match shape.occurs {
            Occurs::Repeated => return,
            Occurs::Once | Occurs::Optional => {
                let Some(first) = same.next() else { return };
                (Code::KdlDuplicateNode, format!("`{}` is given twice", shape.name), first)
            }
            Occurs::Named | Occurs::NamedRequired => {
                let Some(name) = node.first_text() else { return };
                let Some(first) = same.find(|first| first.first_text() == Some(name)) else {
                    return;
                };
                (
                    Code::KdlDuplicateName,
                    format!("there are two `{}` called `{name}`", shape.name),
                    first,
                )
            }
        };
        let problem = node.head().problem(code, message, "given again");
        self.bag.push(first.head().also(problem, "first given here"));
    }

    /// Complains of a node that the block does not know.
    fn unknown_node(&mut self, node: &Node, frame: &Frame<'_>) {
        let name = &node.name.text;
        let known: Vec<&'static str> = frame.children().map(|child| child.name).collect();
        let title = frame.title();
        let place = &node.name.place;
        let version = env!("CARGO_PKG_VERSION");
        if let Some(field) = frame.shape.all_props().find(|field| field.name == *name) {
            let message = format!("{title} has no node `{name}`");
            let problem = place.problem(Code::KdlUnknownNode, message, "this is a property");
            let help = format!("write `{name}={}` on the line of {title}", hint::sample(field));
            self.bag.push(problem.help(help));
            return;
        }
        let problem = match hint::unknown_node(self.root, name, known.iter().copied()) {
            NodeHint::Elsewhere(homes) => {
                let message = format!("`{name}` does not belong into {title}");
                place
                    .problem(Code::KdlMisplacedNode, message, "not in this block")
                    .help(format!("it belongs into {}", listed_or(&homes)))
            }
            NodeHint::Near(near) => {
                let message = format!("{title} has no node `{name}`");
                place
                    .problem(Code::KdlUnknownNode, message, "unknown node")
                    .help(format!("did you mean `{near}`?"))
            }
            NodeHint::None => {
                let message = format!("{title} has no node `{name}`");
                let all = if known.is_empty() { "none".to_owned() } else { hint::listed(&known) };
                place.problem(Code::KdlUnknownNode, message, "unknown node").help(format!(
                    "this is bench {version}, which knows here: {all}; a newer one may know `{name}`"
                ))
            }
        };
        self.bag.push(problem);
    }

    /// Complains of a node that must stand in the block.
    fn missing_node(&mut self, child: &Shape, frame: &Frame<'_>) {
        let message = format!("{} lacks `{}`", frame.title(), child.name);
        let problem = frame.place.problem(Code::KdlMissingNode, message, "missing here");
        self.bag.push(problem.help(format!(
            "add {}: {}",
            hint::form(child),
            first_lower(child.doc)
        )));
    }
}

/// Returns whether `written` is a misspelling of `meant`: it is complained of as such, not as a lack of what was meant.
fn is_near(written: &str, meant: &str) -> bool {
    scalar::nearest(written, std::iter::once(meant)).is_some()
}

/// Returns a sentence as the rest of another: first letter small, no full stop.
fn first_lower(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Returns blocks with "or" between them.
fn listed_or(homes: &[String]) -> String {
    homes.iter().map(|home| format!("`{home}`")).collect::<Vec<_>>().join(" or ")
}

/// Returns the default that the shape itself states.
fn default(field: &Field) -> Option<Datum> {
    match field.absent {
        Absent::Refused | Absent::Nothing | Absent::Derived(_) => None,
        Absent::Count(count) => Some(Datum::Count(count)),
        Absent::Real(number) | Absent::DurationMs(number) => Some(Datum::Real(number)),
        Absent::Flag(flag) => Some(Datum::Flag(flag)),
        Absent::Text(text) => Some(Datum::Text(text.to_owned())),
    }
}
