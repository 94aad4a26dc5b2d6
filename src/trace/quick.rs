//! Rows written as nearly all are, read in one look: an object of plain numbers, texts without escapes, and one list of hash ids.
//!
//! What is found here is what `serde_json` and [`hash_ids`] find, in a fraction of the time; of anything else nothing is found, and those say
//! what it means, or what is wrong with it.

use super::field::Fields;
use super::hash_ids;

/// A line while it is read.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// Reads the keys of a row, with its hash ids appended to `ids`; `None` for a row that is written in another way. Then `ids` may hold some of
/// them.
pub(super) fn fields<'a>(text: &'a str, ids: &mut Vec<u64>) -> Option<Fields<'a>> {
    let mut cursor = Cursor { text, at: 0 };
    let mut fields = Fields::default();
    cursor.expect(b'{')?;
    loop {
        let key = cursor.string()?;
        cursor.expect(b':')?;
        cursor.skip_space();
        let start = cursor.at;
        let is_ids = key == "hash_ids";
        match cursor.peek()? {
            b'[' if is_ids => cursor.at = hash_ids::quick(text.as_bytes(), start, ids)?,
            // What is no list where one belongs is told by the other reader.
            _ if is_ids => return None,
            b'"' => drop(cursor.string()?),
            _ => cursor.number()?,
        }
        fields.add_once(key, &text[start..cursor.at])?;
        cursor.skip_space();
        match cursor.next()? {
            b',' => cursor.skip_space(),
            b'}' => break,
            _ => return None,
        }
    }
    cursor.skip_space();
    (cursor.at == text.len()).then_some(fields)
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.peek();
        self.at += 1;
        next
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads a byte behind white space, and the white space behind it.
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip_space();
        (self.next()? == byte).then_some(())?;
        self.skip_space();
        Some(())
    }

    /// Reads a text of printable ASCII without escapes, and returns it without its quotes.
    fn string(&mut self) -> Option<&'a str> {
        (self.next()? == b'"').then_some(())?;
        let start = self.at;
        loop {
            match self.next()? {
                b'"' => return Some(&self.text[start..self.at - 1]),
                b'\\' | ..b' ' | 0x7f.. => return None,
                _ => {}
            }
        }
    }

    /// Reads a number: digits, perhaps a sign before them, perhaps a fraction. One with an exponent is written in another way.
    fn number(&mut self) -> Option<()> {
        if self.peek()? == b'-' {
            self.at += 1;
        }
        let start = self.at;
        self.digits()?;
        // JSON has no other number that begins with 0 than 0 and its fractions.
        if self.text.as_bytes()[start] == b'0' && self.at - start > 1 {
            return None;
        }
        if self.peek()? == b'.' {
            self.at += 1;
            self.digits()?;
        }
        matches!(self.peek()?, b',' | b'}' | b' ').then_some(())
    }

    /// Reads digits, one at least.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::row::Line;
    use super::*;

    /// Returns what the slow reader says, and holds the quick one against it: it finds the same or nothing.
    fn both(text: &str) -> bool {
        let line = Line { file: "a", number: 1, running: 1, text };
        let slow = Fields::read(&line);
        let mut ids = Vec::new();
        let Some(quick) = fields(text, &mut ids) else { return false };
        let slow = slow.unwrap_or_else(|_| panic!("`{text}` is wrong and was read"));
        assert_eq!(format!("{quick:?}"), format!("{slow:?}"), "{text}");
        let mut expected = Vec::new();
        if let Some(value) = slow.get(super::super::field::Field::HashIds) {
            hash_ids::read(&line, &value, &mut expected).expect("ids that were read");
        }
        assert_eq!(ids, expected, "{text}");
        true
    }

    #[test]
    fn rows_as_published_are_read_in_one_look() {
        for text in [
            r#"{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]}"#,
            r#"{"timestamp":27482.5,"input_length":1,"output_length":2,"hash_ids":[]}"#,
            r#" { "session_id" : "a b", "delay":-0.5 , "hash_ids" : [ 18446744073709551 ,7 ] } "#,
            r#"{"timestamp":0,"hash_ids":[9999999999999999999,12345678,123456789012345678],"request_id":""}"#,
        ] {
            assert!(both(text), "{text}");
        }
    }

    #[test]
    fn what_is_written_in_another_way_or_wrong_is_left_to_the_other_reader() {
        for text in [
            "",
            "{}",
            "[]",
            r#"{"timestamp":00}"#,
            r#"{"timestamp":1e3}"#,
            r#"{"timestamp":1.}"#,
            r#"{"timestamp":.5}"#,
            r#"{"timestamp":-}"#,
            r#"{"timestamp":1,}"#,
            r#"{"timestamp":1}x"#,
            r#"{"timestamp":1,"timestamp":2}"#,
            r#"{"input_length":1,"input_tokens":2}"#,
            r#"{"hash_ids":[01]}"#,
            r#"{"hash_ids":[1,]}"#,
            r#"{"hash_ids":[,1]}"#,
            r#"{"hash_ids":[1 2]}"#,
            r#"{"hash_ids":[-1]}"#,
            r#"{"hash_ids":[1.5]}"#,
            r#"{"hash_ids":[18446744073709551615]}"#,
            r#"{"hash_ids":[1"#,
            r#"{"hash_ids":null}"#,
            r#"{"hash_ids":""}"#,
            r#"{"hash_ids":7}"#,
            r#"{"input_length":null}"#,
            r#"{"new":1}"#,
            r#"{"session_id":"\u0041"}"#,
            r#"{"session_id":"é"}"#,
            r#"{"output_token_ids":[1]}"#,
        ] {
            assert!(!both(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_quick_reader_finds_what_the_slow_one_finds_or_nothing(
            text in r#"\{ ?("(timestamp|hash_ids|input_length|x)" ?: ?(-?[0-9]{1,21}(\.[0-9]{0,2})?|\[ ?([0-9]{1,21}( ?, ?[0-9]{1,21}){0,4})?,?\]|"[a\\é ]{0,2}"|null) ?,? ?){0,4}\}?"#
        ) {
            both(&text);
        }

        #[test]
        fn ids_of_any_length_are_read_in_one_look(
            ids in proptest::collection::vec((0_u64..10_000_000_000_000_000_000, 0_u32..64), 0..40)
        ) {
            let ids: Vec<u64> = ids.into_iter().map(|(id, shift)| id >> shift).collect();
            let text = format!("{{\"hash_ids\": {ids:?}}}");
            prop_assert!(both(&text));
            let text = text.replace(' ', "");
            prop_assert!(both(&text));
        }
    }
}
