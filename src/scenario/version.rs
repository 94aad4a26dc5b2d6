//! `harness-version`: comparisons with this program's version.

/// Says whether `version` satisfies all comparisons of `requirement`; `None` where it is no such text.
///
/// A version in a comparison has one to three numbers; missing ones are 0: `">=0.3"` is `">=0.3.0"`.
pub(super) fn satisfies(version: &str, requirement: &str) -> Option<bool> {
    let version = numbers(version)?;
    let mut all = true;
    for part in requirement.split(',') {
        let part = part.trim();
        let split = part.find(|c: char| c.is_ascii_digit())?;
        let (operator, wanted) = (part[..split].trim(), numbers(&part[split..])?);
        all &= match operator {
            ">=" => version >= wanted,
            ">" => version > wanted,
            "<=" => version <= wanted,
            "<" => version < wanted,
            "=" => version == wanted,
            _ => return None,
        };
    }
    Some(all)
}

/// Reads one to three numbers with dots between them.
fn numbers(text: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() > numbers.len() {
        return None;
    }
    for (number, part) in numbers.iter_mut().zip(parts) {
        *number = part.parse().ok()?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::satisfies;

    #[test]
    fn comparisons_hold_together_and_missing_numbers_are_zero() {
        assert_eq!(satisfies("0.3.1", ">=0.3"), Some(true));
        assert_eq!(satisfies("0.3.1", ">=0.3, <0.4"), Some(true));
        assert_eq!(satisfies("0.3.1", ">0.3.1"), Some(false));
        assert_eq!(satisfies("1.0.0", "=1"), Some(true));
        assert_eq!(satisfies("0.10.0", ">=0.9"), Some(true));
        for wrong in ["0.3", "~0.3", ">=", ">=a", ">=1.2.3.4", ""] {
            assert_eq!(satisfies("0.3.1", wrong), None, "{wrong}");
        }
    }
}
