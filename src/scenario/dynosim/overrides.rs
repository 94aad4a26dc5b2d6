//! `--set PATH=YAML`: values put into the mapping before it is validated.

use crate::diag::{Bag, Code, Problem, SourceFile, Span};

use super::Place;
use crate::scenario::written::{self, Data, Entry, Map, Node};

/// Puts the overrides into `root`, left to right.
///
/// Each splits at its first `=`, its path at dots; the value is YAML; missing mappings on the way are created. Source:
/// spec/PREDICT.md §1.
///
/// # Errors
/// One problem for each override that has no `=`, an empty or numeric part, a section that `predict` has not, a value that is no
/// YAML, or a path through something that is no mapping.
pub(super) fn apply(root: &mut Node, overrides: &[String]) -> Result<(), Bag> {
    let mut bag = Bag::new();
    for text in overrides {
        match Override::parse(text) {
            Ok(parsed) => {
                if let Err(problem) = parsed.put(root) {
                    bag.push(*problem);
                }
            }
            Err(problems) => bag.extend(problems),
        }
    }
    if bag.is_empty() { Ok(()) } else { Err(bag) }
}

/// One override, split.
struct Override<'a> {
    source: SourceFile,
    path: &'a str,
    value: Node,
}

impl<'a> Override<'a> {
    fn parse(text: &'a str) -> Result<Self, Bag> {
        let Some((path, value)) = text.split_once('=') else {
            let source = SourceFile::new("--set", text);
            return Err(refuse(&source, text, &format!("`--set {text}`: expected PATH=YAML"))
                .help("for example `--set traffic.load.concurrency=8`")
                .into());
        };
        let source = SourceFile::new(&format!("--set {path}"), text);
        if let Some(message) = bad_path(path) {
            return Err(refuse(&source, path, &format!("`--set {path}=…`: {message}")).into());
        }
        // The value is read in place, behind blanks, so that its positions are those of the argument.
        let padded = format!("{}{value}", " ".repeat(path.len() + 1));
        let value = written::document_padded(&source, &padded, super::YAML)?;
        Ok(Self { source, path, value })
    }

    /// Puts the value where the path points.
    fn put(self, root: &mut Node) -> Result<(), Box<Problem>> {
        let mut parts: Vec<&str> = self.path.split('.').collect();
        let last = parts.pop().expect("a path has at least one part");
        let place = Place::new(&self.source, Span::new(0, self.path.len()));
        let mut node = root;
        let mut walked: Vec<&str> = Vec::new();
        for part in parts {
            let map = mapping(node, &walked, &place)?;
            walked.push(part);
            let at = map.position(part).unwrap_or_else(|| {
                let value = Node { data: Data::Map(Map::default()), place: place.clone() };
                map.entries.push(Entry { key: part.to_owned(), place: place.clone(), value });
                map.entries.len() - 1
            });
            node = &mut map.entries[at].value;
        }
        let map = mapping(node, &walked, &place)?;
        let entry = Entry { key: last.to_owned(), place, value: self.value };
        match map.position(last) {
            Some(at) => map.entries[at] = entry,
            None => map.entries.push(entry),
        }
        Ok(())
    }
}

/// Returns the mapping that a value is.
fn mapping<'n>(
    node: &'n mut Node,
    walked: &[&str],
    place: &Place,
) -> Result<&'n mut Map, Box<Problem>> {
    let found = node.describe();
    match &mut node.data {
        Data::Map(map) => Ok(map),
        Data::Null
        | Data::Bool(_)
        | Data::Int(_)
        | Data::Float(_)
        | Data::Text(_)
        | Data::Other(_)
        | Data::List(_)
        | Data::Tokens(_) => {
            let at =
                if walked.is_empty() { "the configuration".to_owned() } else { walked.join(".") };
            Err(Box::new(place.problem(
                Code::DynosimOverride,
                format!("the path of `--set` goes through `{at}`, which is {found}, not a mapping"),
                "goes through it",
            )))
        }
    }
}

/// Returns why a path is none.
fn bad_path(path: &str) -> Option<String> {
    for part in path.split('.') {
        if part.is_empty() {
            return Some("the path has an empty part".to_owned());
        }
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(format!("`{part}` is a position in a sequence, which cannot be set"));
        }
    }
    let root = path.split('.').next()?;
    matches!(root, "optimization" | "optimizer")
        .then(|| format!("`{root}` is no section of a prediction"))
}

/// Returns the refusal of an override.
fn refuse(source: &SourceFile, labelled: &str, message: &str) -> Problem {
    Problem::new(Code::DynosimOverride, message).label(
        source,
        Span::new(0, labelled.len()),
        "this path",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(text: &str) -> Node {
        written::document(&SourceFile::new("c.yaml", text), super::super::YAML).expect("YAML")
    }

    fn set(text: &str, overrides: &[&str]) -> Result<Node, Vec<String>> {
        let mut root = root(text);
        let owned: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        match apply(&mut root, &owned) {
            Ok(()) => Ok(root),
            Err(bag) => Err(bag
                .into_sorted()
                .into_iter()
                .map(|problem| format!("{} {problem}", problem.place().unwrap_or_default()))
                .collect()),
        }
    }

    fn at<'n>(node: &'n Node, path: &str) -> &'n Data {
        path.split('.').fold(&node.data, |data, part| {
            let Data::Map(map) = data else { panic!("{data:?} is no mapping") };
            &map.get(part).expect("the key").value.data
        })
    }

    #[test]
    fn a_value_is_set_created_on_the_way_and_replaced_left_to_right() {
        let node = set("a: {b: 1, k: 2}\n", &["a.b=x=y", "c.d.e={f: [1]}", "a.b=3"]).expect("set");
        assert!(matches!(at(&node, "a.b"), Data::Int(3)));
        assert!(matches!(at(&node, "a.k"), Data::Int(2)));
        assert!(matches!(at(&node, "c.d.e.f"), Data::List(items) if items.len() == 1));
        let node = set("a: 1\n", &["b=x=y", "n="]).expect("set");
        assert!(matches!(at(&node, "b"), Data::Text(text) if text == "x=y"));
        assert!(matches!(at(&node, "n"), Data::Null));
    }

    #[test]
    fn a_wrong_value_is_shown_behind_its_path_as_it_was_given() {
        let mut root = root("a: 1\n");
        let found = apply(&mut root, &["é.b=[1".to_owned()]).expect_err("refused").into_sorted();
        assert_eq!(found[0].source_file().map(SourceFile::text), Some("é.b=[1"));
        assert_eq!(found[0].place().as_deref(), Some("--set é.b:1:7"));
    }

    #[test]
    fn each_malformed_override_is_refused_with_its_place() {
        let problems = set(
            "a: 1\ns: [x]\n",
            &["a", "a.0=1", "a..b=1", "optimizer.seed=1", "a.b=1", "s.t=1", "q=[1"],
        )
        .expect_err("refused");
        assert_eq!(
            problems,
            [
                "--set:1:1 `--set a`: expected PATH=YAML",
                "--set a.0:1:1 `--set a.0=…`: `0` is a position in a sequence, which cannot be set",
                "--set a..b:1:1 `--set a..b=…`: the path has an empty part",
                "--set optimizer.seed:1:1 `--set optimizer.seed=…`: `optimizer` is no section of a prediction",
                "--set a.b:1:1 the path of `--set` goes through `a`, which is the whole number `1`, not a mapping",
                "--set s.t:1:1 the path of `--set` goes through `s`, which is a sequence, not a mapping",
                "--set q:1:5 the text is no YAML: while parsing a flow sequence, expected ',' or ']'",
            ]
        );
    }
}
