//! Places of a long text: line and column of any byte, without reading the text again from its start for each.

/// How many bytes lie between two marks.
const EVERY: usize = 4096;

/// Marks in a text, from the nearest of which a place is told: for any number of places the text is read once, and a part of bounded length
/// for each.
#[derive(Debug)]
pub(super) struct Marks(Vec<Mark>);

/// What stands before a byte.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    /// Ends of lines.
    lines: u64,
    /// Where the line starts that the byte is of.
    line_start: usize,
    /// Characters.
    characters: usize,
}

impl Mark {
    /// Adds bytes, of which the first is byte `at` of the text.
    fn add(&mut self, at: usize, bytes: &[u8]) {
        for (byte, next) in bytes.iter().zip(at + 1..) {
            if *byte == b'\n' {
                self.lines += 1;
                self.line_start = next;
            }
            // The other bytes of a character go on what its first one began.
            self.characters += usize::from(byte & 0xc0 != 0x80);
        }
    }
}

impl Marks {
    /// Returns the marks of a text.
    pub(super) fn of(text: &str) -> Self {
        let (mut mark, mut marks) = (Mark::default(), Vec::new());
        for (chunk, at) in text.as_bytes().chunks(EVERY).zip((0..).step_by(EVERY)) {
            marks.push(mark);
            mark.add(at, chunk);
        }
        marks.push(mark);
        Self(marks)
    }

    /// Returns what stands before byte `at`, which starts a character of the text or is its end.
    fn before(&self, text: &str, at: usize) -> Mark {
        let nearest = at / EVERY;
        let mut mark = self.0[nearest];
        mark.add(nearest * EVERY, &text.as_bytes()[nearest * EVERY..at]);
        mark
    }

    /// Returns how many lines end before byte `at`, and where the line starts that it is of.
    pub(super) fn line(&self, text: &str, at: usize) -> (u64, usize) {
        let mark = self.before(text, at);
        (mark.lines, mark.line_start)
    }

    /// Returns how many characters stand between two bytes.
    pub(super) fn characters(&self, text: &str, from: usize, to: usize) -> usize {
        self.before(text, to).characters - self.before(text, from).characters
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

        #[test]
        fn places_are_those_that_counting_from_the_start_tells(
            pieces in prop::collection::vec(("[a-zé€\n😀]{0,40}", 1_usize..60), 0..20), picks in prop::collection::vec(any::<prop::sample::Index>(), 2..20)
        ) {
            let text: String = pieces.iter().map(|(piece, times)| piece.repeat(*times)).collect();
            let marks = Marks::of(&text);
            let at = |pick: &prop::sample::Index| text.floor_char_boundary(pick.index(text.len() + 1));
            for pair in picks.windows(2) {
                let (one, other) = (at(&pair[0]), at(&pair[1]));
                let before = &text[..one];
                let lines = before.matches('\n').map(|_| 1).sum::<u64>();
                prop_assert_eq!(marks.line(&text, one), (lines, before.rfind('\n').map_or(0, |end| end + 1)));
                let (from, to) = (one.min(other), one.max(other));
                prop_assert_eq!(marks.characters(&text, from, to), text[from..to].chars().count());
            }
        }
    }
}
