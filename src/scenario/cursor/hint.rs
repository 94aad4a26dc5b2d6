//! Where a name that does not fit would fit: "did you mean", "belongs into".

use crate::scenario::scalar::nearest;
use crate::scenario::shape::{Absent, Field, Shape, Type};

/// What to say of a node that its block does not know.
pub(super) enum NodeHint {
    /// A name of this block is close.
    Near(String),
    /// The node stands in these blocks.
    Elsewhere(Vec<String>),
    /// Nothing.
    None,
}

/// Looks for an unknown node: first among close names of the block, then by its exact name anywhere in the file's shape.
pub(super) fn unknown_node<'a>(
    root: &'static Shape,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> NodeHint {
    let mut homes = Vec::new();
    find_homes(root, name, &mut homes);
    if !homes.is_empty() {
        return NodeHint::Elsewhere(homes);
    }
    nearest(name, known).map_or(NodeHint::None, |near| NodeHint::Near(near.to_owned()))
}

/// Collects the blocks that hold a node called `name`.
fn find_homes(shape: &'static Shape, name: &str, homes: &mut Vec<String>) {
    for child in shape.children {
        if child.name == name {
            let home =
                if shape.name.is_empty() { "top level".to_owned() } else { shape.name.to_owned() };
            push_new(homes, home);
        }
        find_homes(child, name, homes);
    }
    for kind in shape.kinds {
        for child in kind.children {
            if child.name == name {
                push_new(homes, format!("{} \"{}\"", shape.name, kind.word));
            }
            find_homes(child, name, homes);
        }
    }
}

/// Adds a text that is not there yet.
fn push_new(texts: &mut Vec<String>, text: String) {
    if !texts.contains(&text) {
        texts.push(text);
    }
}

/// Returns what to say of a property that the node, as it stands, does not take.
pub(super) fn unknown_property(
    root: &'static Shape,
    shape: &'static Shape,
    name: &str,
    known: &[&'static str],
) -> String {
    let kinds: Vec<String> = shape
        .kinds
        .iter()
        .filter(|kind| kind.props.iter().any(|field| field.name == name))
        .map(|kind| format!("`{} \"{}\"`", shape.name, kind.word))
        .collect();
    if !kinds.is_empty() {
        return format!("`{name}` belongs to {}", kinds.join(" and "));
    }
    if let Some(child) = shape.child(name) {
        return format!("`{name}` is a node in the block: {}", form(child));
    }
    if let Some(near) = nearest(name, known.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    let mut owners = Vec::new();
    find_owners(root, name, &mut owners);
    if !owners.is_empty() {
        return format!("`{name}` is a property of {}", owners.join(" and "));
    }
    if known.is_empty() {
        return format!("`{}` takes no properties", shape.name);
    }
    format!("`{}` takes {}", shape.name, listed(known))
}

/// Collects the nodes that have a property called `name`.
fn find_owners(shape: &'static Shape, name: &str, owners: &mut Vec<String>) {
    if shape.props.iter().any(|field| field.name == name) {
        push_new(owners, format!("`{}`", shape.name));
    }
    for kind in shape.kinds.iter().filter(|kind| kind.props.iter().any(|field| field.name == name))
    {
        push_new(owners, format!("`{} \"{}\"`", shape.name, kind.word));
    }
    for child in shape.all_children() {
        find_owners(child, name, owners);
    }
}

/// Returns names in backticks with commas.
pub(super) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns what to do about an argument too many: a bare digest is meant for the property that takes one.
pub(super) fn surplus(shape: &Shape, text: &str) -> String {
    let bare = text.trim_matches('"').trim_start_matches("sha256:");
    let is_digest = bare.len() == 64 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    match shape.props.iter().find(|field| matches!(field.kind, Type::Digest)) {
        Some(field) if is_digest => format!("write `{}=\"{bare}\"`", field.name),
        Some(_) | None => format!("the form is {}", form(shape)),
    }
}

/// Returns how a node is written: `worker ROLE { … }`.
pub(super) fn form(shape: &Shape) -> String {
    let mut text = format!("`{}", shape.name);
    if !shape.kinds.is_empty() {
        text.push_str(" \"");
        text.push_str(shape.kinds.first().map_or("", |kind| kind.word));
        text.push('"');
    }
    for field in shape.args {
        let optional = field.absent != Absent::Refused;
        text.push_str(if optional { " [" } else { " " });
        text.push_str(&argument(field));
        text.push_str(if optional { "]" } else { "" });
    }
    if let Some(field) = shape.rest {
        text.push(' ');
        text.push_str(&argument(field));
        text.push('…');
    }
    for field in shape.props.iter().filter(|field| field.absent == Absent::Refused) {
        text.push(' ');
        text.push_str(field.name);
        text.push('=');
        text.push_str(sample(field));
    }
    if shape.all_children().next().is_some() {
        text.push_str(" { … }");
    }
    text.push('`');
    text
}

/// Returns an argument as a form shows it; strings are in quotes.
fn argument(field: &Field) -> String {
    match field.kind {
        Type::Text
        | Type::Name
        | Type::Word(_)
        | Type::Version
        | Type::Digest
        | Type::Duration
        | Type::Path => {
            format!("\"{}\"", field.name)
        }
        Type::Count { .. }
        | Type::Real { .. }
        | Type::Flag
        | Type::CountOr(_)
        | Type::Shares
        | Type::Any => field.name.to_owned(),
    }
}

/// Returns what a property's value looks like.
pub(super) fn sample(field: &Field) -> &'static str {
    match field.kind {
        Type::Count { .. } | Type::CountOr(_) => "1",
        Type::Real { .. } | Type::Shares => "1.0",
        Type::Flag => "#true",
        Type::Text | Type::Name | Type::Any => "\"…\"",
        Type::Word(words) => words.first().copied().unwrap_or("…"),
        Type::Version => "\"1.0.0\"",
        Type::Digest => "\"<64 hex>\"",
        Type::Duration => "\"60s\"",
        Type::Path => "\"a/b\"",
    }
}
