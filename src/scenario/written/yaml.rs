//! Events of the parser into a tree, with aliases and merge keys resolved.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};

use crate::diag::{Bag, SourceFile, Span};

use super::scalar;
use super::{Data, Entry, Map, Node, Place, Rules};

/// Values nested deeper than this are nothing that a person wrote.
const DEPTH_LIMIT: usize = 64;

/// Returns the one document of a text; an empty text is null.
///
/// # Errors
/// Every duplicate key, key that is no text and foreign tag; or the first place that is no YAML.
pub(crate) fn document(source: &SourceFile, rules: Rules) -> Result<Node, Bag> {
    document_padded(source, source.text(), rules)
}

/// Returns the one document of `text`: the text of `source` with blanks in place of bytes that are no YAML.
///
/// # Errors
/// As [`document`], with what `source` says there.
pub(crate) fn document_padded(source: &SourceFile, text: &str, rules: Rules) -> Result<Node, Bag> {
    let mut loader = Loader::new(source, text, rules);
    match loader.stream(Documents::One) {
        Ok(mut found) if loader.bag.is_empty() => Ok(found.pop().unwrap_or_else(|| Node {
            data: Data::Null,
            place: Place::new(source, Span::new(0, 0)),
        })),
        Ok(_) | Err(Stop) => Err(loader.bag),
    }
}

/// Returns all documents of a text, in order.
///
/// # Errors
/// As [`document`].
pub(crate) fn documents(source: &SourceFile, rules: Rules) -> Result<Vec<Node>, Bag> {
    let mut loader = Loader::new(source, source.text(), rules);
    match loader.stream(Documents::Any) {
        Ok(found) if loader.bag.is_empty() => Ok(found),
        Ok(_) | Err(Stop) => Err(loader.bag),
    }
}

/// How many documents a text may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Documents {
    One,
    Any,
}

/// The text is no YAML; the bag says why.
struct Stop;

/// Reads one source.
struct Loader<'a> {
    source: &'a SourceFile,
    rules: Rules,
    parser: Parser<'a, StrInput<'a>>,
    /// The byte offset of each character, and of the end.
    offsets: Vec<usize>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    bag: Bag,
}

/// A key, which may be the merge sign.
enum Key {
    Text(String),
    Merge,
    Bad,
}

impl<'a> Loader<'a> {
    fn new(source: &'a SourceFile, text: &'a str, rules: Rules) -> Self {
        let mut offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        offsets.push(text.len());
        Self {
            source,
            rules,
            parser: Parser::new_from_str(text),
            offsets,
            anchors: BTreeMap::new(),
            nodes: 0,
            bag: Bag::new(),
        }
    }

    /// Reads the stream.
    fn stream(&mut self, allowed: Documents) -> Result<Vec<Node>, Stop> {
        let mut found = Vec::new();
        loop {
            let (event, place) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::DocumentStart(_) if allowed == Documents::One && !found.is_empty() => {
                    self.fail(&place, "expected one document, found a second", "begins here");
                    return Err(Stop);
                }
                Event::DocumentStart(_) => {
                    let (event, place) = self.next()?;
                    found.push(self.node(event, place, 0)?);
                }
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
                Event::Alias(_)
                | Event::Scalar(..)
                | Event::SequenceStart(..)
                | Event::SequenceEnd
                | Event::MappingStart(..)
                | Event::MappingEnd => unreachable!("the parser opens a document first"),
            }
        }
        Ok(found)
    }

    /// Returns the next event and its place.
    fn next(&mut self) -> Result<(Event<'a>, Place), Stop> {
        match self.parser.next() {
            Some(Ok((event, span))) => {
                let place = self.place(span.start.index(), span.end.index());
                Ok((event, place))
            }
            Some(Err(error)) => {
                let at = error.marker().index();
                let place = self.place(at, at + 1);
                self.fail(&place, &format!("the text is no YAML: {}", error.info()), "here");
                Err(Stop)
            }
            None => Ok((Event::StreamEnd, self.place(self.offsets.len(), self.offsets.len()))),
        }
    }

    /// Returns the place of a range of characters.
    fn place(&self, start: usize, end: usize) -> Place {
        let last = self.offsets.len() - 1;
        let (start, end) = (self.offsets[start.min(last)], self.offsets[end.min(last)]);
        let text = &self.source.text()[start..end.max(start)];
        // A block collection's range runs to the next token; a label wants what is written.
        let written = text.lines().next().unwrap_or("").trim_end().len();
        Place::new(self.source, Span::new(start, written))
    }

    fn fail(&mut self, place: &Place, message: &str, label: &str) {
        self.bag.push(place.problem(self.rules.syntax, message, label));
    }

    /// Reads one value whose first event is given.
    fn node(&mut self, event: Event<'a>, place: Place, depth: usize) -> Result<Node, Stop> {
        self.nodes += 1;
        if depth > DEPTH_LIMIT || self.nodes > self.rules.values_max {
            self.fail(&place, "the document is too large or too deep", "from here");
            return Err(Stop);
        }
        let (anchor, data) = match event {
            Event::Alias(anchor) => return self.alias(anchor, &place),
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, self.scalar(&text, style, tag.as_ref(), &place))
            }
            Event::SequenceStart(anchor, tag) => {
                self.expect_tag(tag.as_ref(), "seq", &place);
                (anchor, Data::List(self.sequence(depth)?))
            }
            Event::MappingStart(anchor, tag) => {
                self.expect_tag(tag.as_ref(), "map", &place);
                (anchor, Data::Map(self.mapping(depth)?))
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => unreachable!("the parser gives a value here"),
        };
        let node = Node { data, place };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    /// Returns the value that an alias stands for, at the place of the anchor.
    fn alias(&mut self, anchor: usize, place: &Place) -> Result<Node, Stop> {
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            self.fail(place, "the alias stands for a value that contains it", "here");
            return Err(Stop);
        };
        self.nodes += count(&node);
        Ok(node)
    }

    fn sequence(&mut self, depth: usize) -> Result<Vec<Node>, Stop> {
        let mut items = Vec::new();
        loop {
            let (event, place) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(items);
            }
            items.push(self.node(event, place, depth + 1)?);
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Map, Stop> {
        let mut map = Map::default();
        let (mut merged, mut seen) = (Vec::new(), BTreeSet::new());
        loop {
            let (event, place) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let key = self.key(event, &place, depth)?;
            let (event, value_place) = self.next()?;
            let value = self.node(event, value_place, depth + 1)?;
            match key {
                Key::Text(key) => self.insert(&mut map, &mut seen, Entry { key, place, value }),
                Key::Merge => self.merge(value, &mut merged),
                Key::Bad => {}
            }
        }
        for entry in merged {
            if seen.insert(entry.key.clone()) {
                map.entries.push(entry);
            }
        }
        Ok(map)
    }

    /// Reads a key: a text, or the merge sign `<<`.
    fn key(&mut self, event: Event<'a>, place: &Place, depth: usize) -> Result<Key, Stop> {
        if let Event::Scalar(text, ScalarStyle::Plain, _, None) = &event
            && text == "<<"
        {
            return Ok(Key::Merge);
        }
        let node = self.node(event, place.clone(), depth + 1)?;
        if let Data::Text(text) = node.data {
            return Ok(Key::Text(text));
        }
        let message = format!("expected a text as key, found {}", node.describe());
        self.fail(place, &message, "is no text; quote it");
        Ok(Key::Bad)
    }

    fn insert(&mut self, map: &mut Map, seen: &mut BTreeSet<String>, entry: Entry) {
        if !seen.insert(entry.key.clone()) {
            let message = format!("`{}` stands twice in one mapping", entry.key);
            self.bag.push(
                entry
                    .place
                    .problem(self.rules.duplicate, message, "again here")
                    .help("keep one of them"),
            );
            return;
        }
        map.entries.push(entry);
    }

    /// Collects the entries that `<<` brings in; earlier ones win.
    fn merge(&mut self, value: Node, merged: &mut Vec<Entry>) {
        match value.data {
            Data::Map(map) => merged.extend(map.entries),
            Data::List(items) => items.into_iter().for_each(|item| self.merge(item, merged)),
            Data::Null
            | Data::Bool(_)
            | Data::Int(_)
            | Data::Float(_)
            | Data::Text(_)
            | Data::Other(_)
            | Data::Tokens(_) => {
                let message = format!("`<<` takes mappings, found {}", value.describe());
                self.fail(&value.place, &message, "is no mapping");
            }
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Cow<'a, Tag>>,
        place: &Place,
    ) -> Data {
        let Some(tag) = tag else {
            return if style == ScalarStyle::Plain {
                scalar::plain(text)
            } else {
                Data::Text(text.to_owned())
            };
        };
        let data = match (tag.is_yaml_core_schema(), tag.suffix.as_str()) {
            (true, "str") => Some(Data::Text(text.to_owned())),
            (true, "null") => Some(Data::Null),
            (true, "bool") => scalar::boolean(text).map(Data::Bool),
            (true, "int") => scalar::integer(text).map(Data::Int),
            #[expect(clippy::cast_precision_loss, reason = "`!!float 3` is the real 3")]
            (true, "float") => scalar::real(text)
                .or_else(|| scalar::integer(text).map(|whole| whole as f64))
                .map(Data::Float),
            _ => None,
        };
        data.unwrap_or_else(|| {
            self.fail(place, &format!("`{tag}` does not fit `{text}`"), "has this tag");
            Data::Other("a value with a foreign tag")
        })
    }

    fn expect_tag(&mut self, tag: Option<&Cow<'a, Tag>>, suffix: &str, place: &Place) {
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && tag.suffix == suffix)
        {
            self.fail(place, &format!("the tag `{tag}` means nothing here"), "has this tag");
        }
    }
}

/// Returns how many values a tree has.
fn count(node: &Node) -> usize {
    match &node.data {
        Data::List(items) => 1 + items.iter().map(count).sum::<usize>(),
        Data::Map(map) => 1 + map.entries.iter().map(|entry| count(&entry.value)).sum::<usize>(),
        Data::Null
        | Data::Bool(_)
        | Data::Int(_)
        | Data::Float(_)
        | Data::Text(_)
        | Data::Other(_)
        | Data::Tokens(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    const RULES: Rules = Rules {
        syntax: Code::DynosimYaml,
        duplicate: Code::DynosimDuplicateKey,
        values_max: 100_000,
    };

    fn load(source: &SourceFile) -> Result<Node, Bag> {
        document(source, RULES)
    }

    fn places(text: &str) -> Vec<String> {
        let source = SourceFile::new("c.yaml", text);
        let bag = load(&source).expect_err("refused");
        bag.into_sorted()
            .into_iter()
            .map(|problem| format!("{} {problem}", problem.place().unwrap_or_default()))
            .collect()
    }

    #[test]
    fn aliases_and_merge_keys_are_resolved_and_stated_keys_win() {
        let source = SourceFile::new("c.yaml", "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: é\n");
        let Data::Map(root) = load(&source).expect("YAML").data else { panic!("a mapping") };
        let Data::Map(b) = &root.get("b").expect("b").value.data else { panic!("a mapping") };
        assert!(matches!(b.get("p").map(|e| &e.value.data), Some(Data::Int(1))));
        assert!(matches!(b.get("q").map(|e| &e.value.data), Some(Data::Text(t)) if t == "é"));
    }

    #[test]
    fn every_duplicate_and_every_bad_key_has_its_place() {
        assert_eq!(
            places("é: {a: 1, a: 2}\n1: x\né: 3\n"),
            [
                "c.yaml:1:11 `a` stands twice in one mapping",
                "c.yaml:2:1 expected a text as key, found the whole number `1`",
                "c.yaml:3:1 `é` stands twice in one mapping",
            ]
        );
    }

    #[test]
    fn what_is_no_yaml_stops_at_its_place() {
        for text in ["traffic: [unclosed\n", "a: 1\n---\nb: 2\n", "a: *nope\n", "a: &x [*x]\n"] {
            let places = places(text);
            assert_eq!(places.len(), 1, "{places:?}");
            assert!(places[0].starts_with("c.yaml:"), "{places:?}");
        }
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let levels: Vec<String> = (1..9)
            .map(|level| {
                format!("a{level}: &a{level} [{}]\n", format!("*a{},", level - 1).repeat(9))
            })
            .collect();
        let text = format!("a0: &a0 [1,1,1,1,1,1,1,1,1]\n{}", levels.concat());
        assert!(places(&text)[0].contains("too large"));
    }

    #[test]
    fn a_text_may_hold_several_documents_where_that_is_allowed() {
        let source = SourceFile::new("c.yaml", "a: 1\n---\nb: 2\n---\n- 3\n");
        let found = documents(&source, RULES).expect("YAML");
        assert_eq!(found.len(), 3);
        assert!(matches!(&found[2].data, Data::List(items) if items.len() == 1));
    }

    #[test]
    fn an_empty_text_is_null() {
        let node = load(&SourceFile::new("c.yaml", "# nothing\n")).expect("YAML");
        assert!(matches!(node.data, Data::Null));
    }
}
