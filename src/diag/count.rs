//! Numbers with their nouns and verbs, as sentences have them.

use std::fmt::Display;

/// Returns a number with its noun: `1 job`, `0 jobs`, `2 jobs`.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = agreed(&number, "", "s");
    format!("{number} {noun}{ending}")
}

/// Returns the word that goes with a number: the first with 1, the second with every other.
pub fn agreed<'w>(number: impl Display, with_one: &'w str, with_others: &'w str) -> &'w str {
    if number.to_string() == "1" { with_one } else { with_others }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_every_other_number_plural() {
        let said =
            |number: u64| format!("{} {}", counted(number, "call"), agreed(number, "has", "have"));
        assert_eq!(
            [0, 1, 2, 11, 21].map(said),
            ["0 calls have", "1 call has", "2 calls have", "11 calls have", "21 calls have"]
        );
    }
}
