//! Texts of somebody else without a secret: servers repeat what they refuse, whole or in part, as it is or escaped.

use std::collections::BTreeSet;

use super::key::REDACTED;

/// So many bytes of a secret in a row are taken for the secret: a server, or whoever shortens, may have cut the rest away.
const WINDOW: usize = 8;

/// What takes a secret out of texts. Nothing prints the secret.
#[derive(Clone)]
pub(super) struct Redaction {
    /// Pieces of the secret as it is, and as it reads where what looks like escapes is taken for such.
    pieces: [Pieces; 2],
}

/// Every piece of one length.
#[derive(Clone)]
struct Pieces {
    length: usize,
    all: BTreeSet<Vec<u8>>,
}

/// A byte that a text says, and the bytes from `begin` to `end` that say it.
struct Unit {
    byte: u8,
    begin: usize,
    end: usize,
}

impl Redaction {
    /// Returns what takes out this secret, which is graphic ASCII.
    pub(super) fn of(secret: &str) -> Self {
        Self { pieces: [plain(secret), decoded(secret)].map(|units| Pieces::of(&units)) }
    }

    /// Returns a text without the secret: no [`WINDOW`] bytes of it in a row are left, neither as they are nor behind the escapes of
    /// JSON (also of JSON within JSON), of URLs or of HTML.
    pub(super) fn redacted(&self, text: &str) -> String {
        let readings = [plain(text), decoded(text)];
        let places =
            readings.iter().flat_map(|units| self.pieces.iter().map(|all| all.found(units)));
        let mut found: Vec<(usize, usize)> = places.flatten().collect();
        found.sort_unstable();
        let (mut kept, mut from) = (String::new(), 0);
        for (begin, end) in merged(found) {
            kept.push_str(&text[from..begin]);
            kept.push_str(REDACTED);
            from = end;
        }
        kept + &text[from..]
    }
}

impl Pieces {
    /// Returns the pieces of a secret, or the whole where it is short.
    fn of(secret: &[Unit]) -> Self {
        let bytes: Vec<u8> = secret.iter().map(|unit| unit.byte).collect();
        let length = bytes.len().min(WINDOW);
        let all = if length == 0 { BTreeSet::new() } else { windows(&bytes, length) };
        Self { length, all }
    }

    /// Returns where the text says a piece.
    fn found(&self, text: &[Unit]) -> Vec<(usize, usize)> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let bytes: Vec<u8> = text.iter().map(|unit| unit.byte).collect();
        let places = bytes.windows(self.length).zip(text.windows(self.length));
        let hits = places.filter(|(bytes, _)| self.all.contains(*bytes));
        hits.map(|(_, units)| (units[0].begin, units[self.length - 1].end)).collect()
    }
}

impl std::fmt::Debug for Redaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Returns every piece of this length.
fn windows(bytes: &[u8], length: usize) -> BTreeSet<Vec<u8>> {
    bytes.windows(length).map(<[u8]>::to_vec).collect()
}

/// Returns ranges in order, those that touch as one.
fn merged(ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (begin, end) in ranges {
        match all.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => all.push((begin, end)),
        }
    }
    all
}

/// Returns a text byte by byte.
fn plain(text: &str) -> Vec<Unit> {
    let unit = |(at, byte)| Unit { byte, begin: at, end: at + 1 };
    text.bytes().enumerate().map(unit).collect()
}

/// Returns a text as its escapes read. Backslashes say nothing by themselves, however many: escapes are escaped again where JSON holds
/// JSON as text.
fn decoded(text: &str) -> Vec<Unit> {
    let text = text.as_bytes();
    let (mut units, mut at) = (Vec::with_capacity(text.len()), 0);
    while at < text.len() {
        let begin = at;
        at += text[at..].iter().take_while(|byte| **byte == b'\\').count();
        let Some(byte) = text.get(at) else { break };
        let escape = escape(&text[at..], at > begin);
        let (byte, taken) = escape.unwrap_or((*byte, 1));
        at += taken;
        units.push(Unit { byte, begin, end: at });
    }
    units
}

/// Returns the byte that an escape at the beginning of a text says, and the escape's length; of characters beyond ASCII, which no secret
/// has, it says 0.
fn escape(text: &[u8], is_behind_backslash: bool) -> Option<(u8, usize)> {
    let of = |digits: &[u8], radix, length| Some((ascii(digits, radix)?, length));
    match text {
        [b'%', first, second, ..] => of(&[*first, *second], 16, 3),
        [b'u', b'{', rest @ ..] if is_behind_backslash => {
            let end = rest.iter().take(7).position(|byte| *byte == b'}')?;
            of(&rest[..end], 16, end + 3)
        }
        [b'u', rest @ ..] if is_behind_backslash => of(rest.get(..4)?, 16, 5),
        [b'x', rest @ ..] if is_behind_backslash => of(rest.get(..2)?, 16, 3),
        [b'&', b'#', rest @ ..] => {
            let end = rest.iter().take(8).position(|byte| *byte == b';')?;
            match &rest[..end] {
                [b'x' | b'X', digits @ ..] => of(digits, 16, end + 3),
                digits => of(digits, 10, end + 3),
            }
        }
        _ => None,
    }
}

/// Returns the character of ASCII with a number, 0 for one beyond; `None` for what is no number.
fn ascii(digits: &[u8], radix: u32) -> Option<u8> {
    let digits = digits.iter().map(|digit| char::from(*digit).to_digit(radix));
    let number = digits.reduce(|number, digit| Some(number? * radix + digit?))??;
    Some(u8::try_from(number).ok().filter(u8::is_ascii).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// With every byte that an escape changes.
    const SECRET: &str = r#"sk-a/b+c=d"e\f%41&#65;gh_ijk"#;

    /// Asserts that no piece of a secret is left.
    fn assert_gone(text: &str, secret: &str) {
        for piece in secret.as_bytes().windows(WINDOW) {
            let piece = std::str::from_utf8(piece).expect("ASCII");
            assert!(!text.contains(piece), "{piece} in {text}");
        }
    }

    /// Returns a secret in the writings that texts have.
    fn writings(secret: &str) -> Vec<String> {
        let each = |write: fn(u8) -> String| secret.bytes().map(write).collect::<String>();
        let json = serde_json::to_string(secret).expect("a text");
        vec![
            secret.to_owned(),
            json.replace('/', "\\/"),
            serde_json::to_string(&json).expect("a text"),
            each(|byte| format!("\\u{byte:04x}")),
            each(|byte| format!("\\\\u{byte:04X}")),
            each(|byte| format!("\\u{{{byte:x}}}")),
            each(|byte| format!("\\x{byte:02x}")),
            each(|byte| format!("%{byte:02X}")),
            each(|byte| format!("&#x{byte:X};")),
            each(|byte| format!("&#{byte};")),
            each(|byte| {
                if byte % 2 == 0 { format!("\\u{byte:04x}") } else { char::from(byte).to_string() }
            }),
            format!("{secret:?}"),
        ]
    }

    #[test]
    fn a_secret_is_found_in_every_writing_and_what_stands_around_it_stays() {
        for secret in [SECRET, "sk-sesame-0123456789"] {
            let redaction = Redaction::of(secret);
            for writing in writings(secret) {
                let told = redaction.redacted(&format!("no key: ä{writing}… at all"));
                assert!(told.starts_with("no key: ä") && told.ends_with("… at all"), "{told}");
                assert!(told.contains(REDACTED), "{writing}: {told}");
                assert_gone(&told, secret);
                let read: String =
                    decoded(&told).iter().map(|unit| char::from(unit.byte)).collect();
                assert_gone(&read, secret);
            }
        }
    }

    #[test]
    fn a_short_secret_is_found_as_a_whole_and_other_texts_stay_as_they_are() {
        assert_eq!(Redaction::of("sk-1").redacted("no sk-1, no sk-2"), "no [redacted], no sk-2");
        assert_eq!(Redaction::of(r"\\").redacted(r"a\\b"), "a[redacted]b");
        for text in ["", r"\", "%4", "&#", r"\u{", r"\u00e9 %zz 你", "length"] {
            assert_eq!(Redaction::of("sk-sesame-0").redacted(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_piece_of_a_secret_is_left_wherever_a_text_was_cut(
            secret in "[!-~]{8,40}",
            writing in 0_usize..12,
            cuts in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
            before in "[ -~]{0,9}",
        ) {
            let text = format!("{before}{} end", writings(&secret)[writing]);
            let ends = [cuts.0.index(text.len() + 1), cuts.1.index(text.len() + 1)];
            let text = &text[ends[0].min(ends[1])..ends[0].max(ends[1])];
            assert_gone(&Redaction::of(&secret).redacted(text), &secret);
        }
    }
}
