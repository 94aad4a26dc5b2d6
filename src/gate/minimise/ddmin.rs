//! Delta debugging of a list.

/// Why a search ends before it has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// As many candidates were tried as may be.
    Budget,
    /// Someone asked to stop.
    Interrupted,
}

/// Returns a part of `items`, in their order, that still passes and of which no single item can be left out.
///
/// `passes` is asked of parts of what passed last; `items` themselves pass. Source: Zeller and Hildebrandt, Simplifying and
/// Isolating Failure-Inducing Input (2002), algorithm ddmin.
///
/// # Errors
/// Whatever `passes` answers.
pub fn ddmin<T: Clone>(
    items: &[T],
    passes: &mut dyn FnMut(&[T]) -> Result<bool, Stop>,
) -> Result<Vec<T>, Stop> {
    let (mut items, mut parts) = (items.to_vec(), 2);
    while items.len() > 1 {
        let ranges = ranges(items.len(), parts.min(items.len()));
        if let Some(alone) = first_alone(&items, &ranges, passes)? {
            (items, parts) = (alone, 2);
        } else if let Some(rest) = first_rest(&items, &ranges, passes)? {
            (items, parts) = (rest, (ranges.len() - 1).max(2));
        } else if ranges.len() < items.len() {
            parts = 2 * ranges.len();
        } else {
            break;
        }
    }
    Ok(items)
}

/// Returns `parts` ranges of about the same length.
fn ranges(length: usize, parts: usize) -> Vec<std::ops::Range<usize>> {
    (0..parts).map(|part| part * length / parts..(part + 1) * length / parts).collect()
}

/// Returns the first part that passes alone.
fn first_alone<T: Clone>(
    items: &[T],
    ranges: &[std::ops::Range<usize>],
    passes: &mut dyn FnMut(&[T]) -> Result<bool, Stop>,
) -> Result<Option<Vec<T>>, Stop> {
    for range in ranges {
        let alone = &items[range.clone()];
        if passes(alone)? {
            return Ok(Some(alone.to_vec()));
        }
    }
    Ok(None)
}

/// Returns what is left of the first part without which the others pass.
fn first_rest<T: Clone>(
    items: &[T],
    ranges: &[std::ops::Range<usize>],
    passes: &mut dyn FnMut(&[T]) -> Result<bool, Stop>,
) -> Result<Option<Vec<T>>, Stop> {
    for range in ranges {
        let rest = [&items[..range.start], &items[range.end..]].concat();
        if passes(&rest)? {
            return Ok(Some(rest));
        }
    }
    Ok(None)
}
