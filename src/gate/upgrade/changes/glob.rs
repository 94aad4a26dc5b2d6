//! Patterns over job ids and names: `*` stands for any text, `?` for one character.

/// A pattern: `*` stands for any text, `/` included; `?` for one character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob(Vec<char>);

impl Glob {
    /// Returns the pattern of a text.
    pub(super) fn new(text: &str) -> Self {
        Self(text.chars().collect())
    }

    /// Returns whether a text is of this pattern.
    pub(super) fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut read) = (0, 0);
        // The last star, and how far the text was read when it was taken for as little as possible.
        let mut star: Option<(usize, usize)> = None;
        while read < text.len() {
            match self.0.get(at) {
                Some('*') => {
                    star = Some((at, read));
                    at += 1;
                }
                Some(c) if *c == '?' || *c == text[read] => (at, read) = (at + 1, read + 1),
                Some(_) | None => {
                    let Some((place, taken)) = star else { return false };
                    star = Some((place, taken + 1));
                    (at, read) = (place + 1, taken + 1);
                }
            }
        }
        self.0[at..].iter().all(|c| *c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_character() {
        for (pattern, text, expected) in [
            ("probes/*/pd", "probes/two/pd", true),
            ("probes/*", "probes/two/pd/a=1", true),
            ("*two*pd", "probes/two/pd", true),
            ("a*b*c", "a-b-b-c", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("", "", true),
            ("a", "ab", false),
            ("probes/*/pd", "probes/two/pd2", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(text), expected, "{pattern} {text}");
        }
    }
}
