//! JSON as a tree, with the place of every value.
//!
//! Lists of token ids are kept as numbers: a prompt of many thousand tokens is one value.

use std::collections::BTreeSet;

use crate::diag::{Bag, Code, SourceFile, Span};

use super::{Data, Entry, Map, Node, Place, Rules};

/// Values nested deeper than this are nothing that a person wrote.
const DEPTH_LIMIT: usize = 64;

/// Returns the one value of a text.
///
/// # Errors
/// The first place that is no JSON, or a key that stands twice in one object.
pub(crate) fn load(source: &SourceFile, rules: Rules) -> Result<Node, Bag> {
    let mut parser = Parser { source, rules, text: source.text(), at: 0, depth: 0 };
    let node = parser.value("").and_then(|node| {
        parser.skip_blanks();
        match parser.peek() {
            None => Ok(node),
            Some(_) => Err(parser.wrong("the end of the text")),
        }
    });
    node.map_err(|refused| {
        let Refused { span, code, message, label } = *refused;
        Place::new(source, span).problem(code, message, label).into()
    })
}

/// Where a text stopped being JSON.
struct Refused {
    span: Span,
    code: Code,
    message: String,
    label: String,
}

/// The reader of one text.
struct Parser<'s> {
    source: &'s SourceFile,
    rules: Rules,
    text: &'s str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    /// Returns the value at the cursor; `key` is what it stands behind.
    fn value(&mut self, key: &str) -> Result<Node, Box<Refused>> {
        self.skip_blanks();
        let start = self.at;
        let data = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') if key.ends_with("_token_ids") => match self.tokens() {
                Some(tokens) => Data::Tokens(tokens),
                None => self.nested(Self::list)?,
            },
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => Data::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Data::Bool(true))?,
            Some(b'f') => self.word("false", Data::Bool(false))?,
            Some(b'n') => self.word("null", Data::Null)?,
            _ => return Err(self.wrong("a value")),
        };
        // A mapping's or a list's own place is its first character: the whole may be megabytes.
        let length = match &data {
            Data::Map(_) | Data::List(_) | Data::Tokens(_) => 1,
            Data::Null
            | Data::Bool(_)
            | Data::Int(_)
            | Data::Float(_)
            | Data::Text(_)
            | Data::Other(_) => self.at - start,
        };
        Ok(Node { data, place: Place::new(self.source, Span::new(start, length)) })
    }

    /// Reads something that may hold values, one level deeper.
    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Data, Box<Refused>>,
    ) -> Result<Data, Box<Refused>> {
        if self.depth == DEPTH_LIMIT {
            return Err(self.wrong(&format!("at most {DEPTH_LIMIT} levels")));
        }
        self.depth += 1;
        let data = read(self);
        self.depth -= 1;
        data
    }

    fn object(&mut self) -> Result<Data, Box<Refused>> {
        self.at += 1;
        let (mut map, mut seen) = (Map::default(), BTreeSet::new());
        if self.takes(b'}') {
            return Ok(Data::Map(map));
        }
        loop {
            self.skip_blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in quotes"));
            }
            let key = self.string()?;
            let span = Span::new(start, self.at - start);
            if !seen.insert(key.clone()) {
                let message = format!("the key `{key}` stands twice in one object");
                let label = "again here".to_owned();
                let code = self.rules.duplicate;
                return Err(Box::new(Refused { span, code, message, label }));
            }
            if !self.takes(b':') {
                return Err(self.wrong("`:`"));
            }
            let value = self.value(&key)?;
            map.entries.push(Entry { key, place: Place::new(self.source, span), value });
            if self.takes(b'}') {
                return Ok(Data::Map(map));
            }
            if !self.takes(b',') {
                return Err(self.wrong("`,` or `}`"));
            }
        }
    }

    fn list(&mut self) -> Result<Data, Box<Refused>> {
        self.at += 1;
        let mut items = Vec::new();
        if self.takes(b']') {
            return Ok(Data::List(items));
        }
        loop {
            items.push(self.value("")?);
            if self.takes(b']') {
                return Ok(Data::List(items));
            }
            if !self.takes(b',') {
                return Err(self.wrong("`,` or `]`"));
            }
        }
    }

    /// Returns a list of numbers of 32 bits; the cursor stays where it is no such list.
    fn tokens(&mut self) -> Option<Vec<u32>> {
        let start = self.at;
        let tokens = self.tokens_or_stop();
        if tokens.is_none() {
            self.at = start;
        }
        tokens
    }

    fn tokens_or_stop(&mut self) -> Option<Vec<u32>> {
        self.at += 1;
        let mut tokens = Vec::new();
        if self.takes(b']') {
            return Some(tokens);
        }
        loop {
            self.skip_blanks();
            let digits = self.digits();
            // Whatever follows the digits must end the number: a fraction is no token.
            let is_plain = digits == "0" || !digits.starts_with('0');
            tokens.push(digits.parse().ok().filter(|_| is_plain)?);
            if self.takes(b']') {
                return Some(tokens);
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn number(&mut self) -> Result<Data, Box<Refused>> {
        let start = self.at;
        let _minus = self.follows(b'-');
        let whole = self.digits();
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            self.at = start;
            return Err(self.wrong("a number"));
        }
        let mut is_whole = true;
        if self.follows(b'.') {
            is_whole = false;
            if self.digits().is_empty() {
                return Err(self.wrong("a digit"));
            }
        }
        if self.follows(b'e') || self.follows(b'E') {
            is_whole = false;
            let _sign = self.follows(b'+') || self.follows(b'-');
            if self.digits().is_empty() {
                return Err(self.wrong("a digit"));
            }
        }
        let text = &self.text[start..self.at];
        if is_whole && let Ok(number) = text.parse() {
            return Ok(Data::Int(number));
        }
        // Digits, point and exponent are what the reader of reals takes; one too large is infinite, which no field accepts.
        Ok(Data::Float(text.parse().unwrap_or(f64::INFINITY)))
    }

    fn string(&mut self) -> Result<String, Box<Refused>> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(byte) if byte >= 0x20 => self.at += 1,
                _ => {
                    self.at = self.at.min(self.text.len());
                    return Err(self.wrong("the end of a text"));
                }
            }
        }
        self.at += 1;
        // Escapes are left to the JSON library; the quotes are those that it needs.
        let text = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(text).map_err(|_| {
            self.at = start;
            self.wrong("a text whose escapes are JSON's")
        })
    }

    fn word(&mut self, word: &str, data: Data) -> Result<Data, Box<Refused>> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.wrong("a value"));
        }
        self.at += word.len();
        Ok(data)
    }

    /// Returns the digits at the cursor and moves behind them.
    fn digits(&mut self) -> &str {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Moves behind blanks and `byte` where it follows them.
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        self.follows(byte)
    }

    /// Moves behind `byte` where it is next.
    fn follows(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns that something else was expected at the cursor.
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "every caller puts it into a result, where it is boxed"
    )]
    fn wrong(&self, expected: &str) -> Box<Refused> {
        let found = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let (length, found) = match found {
            Some(found) if found.is_control() => {
                (found.len_utf8(), found.escape_default().to_string())
            }
            Some(found) => (found.len_utf8(), format!("`{found}`")),
            None => (0, "the end".to_owned()),
        };
        Box::new(Refused {
            span: Span::new(self.at, length),
            code: self.rules.syntax,
            message: format!("the text is no JSON: expected {expected}, found {found}"),
            label: format!("expected {expected}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Node, Vec<String>> {
        let rules = Rules {
            syntax: Code::DynosimJson,
            duplicate: Code::DynosimDuplicateKey,
            values_max: usize::MAX,
        };
        load(&SourceFile::new("s.json", text), rules).map_err(|bag| {
            let shown = |problem: &crate::diag::Problem| {
                format!("{} {problem}", problem.place().unwrap_or_default())
            };
            bag.into_sorted().iter().map(shown).collect()
        })
    }

    /// Returns what the JSON library makes of the same tree.
    fn plain(node: &Node) -> serde_json::Value {
        use serde_json::{Value, json};
        match &node.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => json!(flag),
            // The library makes reals of whole numbers beyond 64 bits.
            Data::Int(number) => serde_json::from_str(&number.to_string()).expect("a number"),
            Data::Float(number) => json!(number),
            Data::Text(text) => json!(text),
            Data::Other(kind) => panic!("JSON has no {kind}"),
            Data::Tokens(tokens) => json!(tokens),
            Data::List(items) => items.iter().map(plain).collect(),
            Data::Map(map) => {
                map.entries.iter().map(|entry| (entry.key.clone(), plain(&entry.value))).collect()
            }
        }
    }

    #[test]
    fn values_have_the_place_where_they_stand() {
        let node = read("{\n  \"a\": [1, -2.5e1,\n true]}").expect("JSON");
        let Data::Map(map) = &node.data else { panic!("{node:?}") };
        let Data::List(items) = &map.entries[0].value.data else { panic!("{map:?}") };
        let place = |node: &Node| node.place.problem(Code::DynosimJson, "", "").place();
        assert_eq!(place(&items[1]).as_deref(), Some("s.json:2:12"));
        assert_eq!(place(&items[2]).as_deref(), Some("s.json:3:2"));
        assert!(
            matches!(items[1].data, Data::Float(number) if (number + 25.0).abs() < f64::EPSILON)
        );
    }

    #[test]
    fn token_ids_are_kept_as_numbers_and_anything_else_as_a_list() {
        let data = |text: &str| {
            let node = read(&format!("{{\"x_token_ids\": {text}}}")).expect("JSON");
            let Data::Map(map) = node.data else { panic!("a map") };
            map.entries.into_iter().next().expect("an entry").value.data
        };
        assert!(
            matches!(data("[ 1,4294967295 , 0]"), Data::Tokens(ids) if ids == [1, u32::MAX, 0])
        );
        assert!(matches!(data("[]"), Data::Tokens(ids) if ids.is_empty()));
        for other in ["[4294967296]", "[1.0]", "[-1]", "[null]", "[[1]]"] {
            assert!(matches!(data(other), Data::List(_)), "{other}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused_where_it_stops_being_some() {
        for (text, expected) in [
            ("", "s.json:1:1 the text is no JSON: expected a value, found the end"),
            ("{\"a\": 1,}", "s.json:1:9 the text is no JSON: expected a key in quotes, found `}`"),
            ("{\"a\" 1}", "s.json:1:6 the text is no JSON: expected `:`, found `1`"),
            ("[1 2]", "s.json:1:4 the text is no JSON: expected `,` or `]`, found `2`"),
            ("[01]", "s.json:1:2 the text is no JSON: expected a number, found `0`"),
            ("[1.]", "s.json:1:4 the text is no JSON: expected a digit, found `]`"),
            ("\"a\\", "s.json:1:4 the text is no JSON: expected the end of a text, found the end"),
            (
                "\"\\q\"",
                "s.json:1:1 the text is no JSON: expected a text whose escapes are JSON's, found `\"`",
            ),
            ("{\"a\":1,\"a\":2}", "s.json:1:8 the key `a` stands twice in one object"),
            ("1 1", "s.json:1:3 the text is no JSON: expected the end of the text, found `1`"),
            ("nul", "s.json:1:1 the text is no JSON: expected a value, found `n`"),
        ] {
            assert_eq!(read(text).expect_err(text), [expected], "{text}");
        }
        let deep = "[".repeat(100);
        assert!(read(&deep).expect_err("deep")[0].contains("at most 64 levels"));
    }

    /// Generates JSON texts, whole and damaged.
    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[\\[\\]{}:, ]{1,3}",
            "-?[0-9]{1,3}(\\.[0-9]{1,2})?([eE][+-]?[0-9])?",
            "\"[a-zé\\\\\"u0-9]{0,4}\"",
            Just("\"x_token_ids\":[1,2,3]".to_owned()),
            Just("true".to_owned()),
            Just("null".to_owned()),
            Just("\"a\":".to_owned()),
            Just("{\"a\":[1,{\"b\":".to_owned()),
            "\\PC{0,2}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_text_is_read_as_the_json_library_reads_it_or_refused_as_there(text in texts()) {
            match (read(&text), serde_json::from_str::<serde_json::Value>(&text)) {
                (Ok(node), Ok(value)) => prop_assert_eq!(plain(&node), value),
                (Err(problems), Ok(_)) => prop_assert!(
                    problems[0].contains("stands twice") || problems[0].contains("levels"), "{:?}", problems
                ),
                // The library refuses numbers beyond its reals; here they are infinite, which no field accepts.
                (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("number out of range"), "{}", error),
                (Err(_), Err(_)) => {}
            }
        }
    }
}
