//! Rows of the four keys that published traces of Mooncake have, all of them whole numbers: what they say, without a look at anything else.

use std::ops::Range;

use super::hash_ids;

/// The keys of such a row as JSON writes them: three numbers and the list of hash ids.
const KEYS: [&str; 4] = ["\"timestamp\"", "\"input_length\"", "\"output_length\"", "\"hash_ids\""];
/// Which of the keys is the list.
const IDS: usize = 3;

/// What such a row says beside its hash ids.
#[derive(Debug, PartialEq)]
pub(super) struct PlainRow {
    /// The timestamp, and the bytes that say it.
    pub(super) timestamp: (u32, Range<usize>),
    pub(super) input: u32,
    pub(super) output: u32,
}

/// Reads such a row, with its hash ids appended to `ids`; `None` for any other. Then `ids` may hold some of them.
pub(super) fn read(text: &str, ids: &mut Vec<u64>) -> Option<PlainRow> {
    let text = text.as_bytes();
    let mut numbers: [Option<(u32, Range<usize>)>; IDS] = Default::default();
    let mut has_ids = false;
    let mut at = behind(text, 0, b'{')?;
    loop {
        let rest = text.get(at..)?;
        let key = KEYS.iter().position(|key| rest.starts_with(key.as_bytes()))?;
        at = behind(text, at + KEYS[key].len(), b':')?;
        if key == IDS {
            (!std::mem::replace(&mut has_ids, true)).then_some(())?;
            at = hash_ids::quick(text, at, ids)?;
        } else {
            let (number, end) = whole_number(text, at)?;
            numbers[key].replace((number, at..end)).is_none().then_some(())?;
            at = end;
        }
        at = spaces(text, at);
        match text.get(at)? {
            b',' => at = spaces(text, at + 1),
            b'}' => break,
            _ => return None,
        }
    }
    let [timestamp, input, output] = numbers;
    let is_whole = has_ids && spaces(text, at + 1) == text.len();
    let row = PlainRow { timestamp: timestamp?, input: input?.0, output: output?.0 };
    is_whole.then_some(row)
}

/// Returns where what follows spaces, a byte and spaces begins.
fn behind(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    let at = spaces(text, at);
    (text.get(at) == Some(&byte)).then(|| spaces(text, at + 1))
}

fn spaces(text: &[u8], mut at: usize) -> usize {
    while text.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

/// Returns a number without sign, fraction and exponent, and where it ends.
fn whole_number(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let (number, end) = hash_ids::digits(text, at)?;
    // JSON has no other number that begins with 0 than 0 and its fractions.
    let is_whole = (text[at] != b'0' || end - at == 1)
        && text.get(end).is_some_and(|next| matches!(next, b',' | b'}' | b' '));
    u32::try_from(number).ok().filter(|_| is_whole).map(|number| (number, end))
}
