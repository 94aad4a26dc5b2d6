//! Arrays of block hash ids: 64 bits each, and as many as the prompt has blocks.

use std::ops::Range;

use crate::diag::{Code, Problem};
use crate::units::{BlockSize, Tokens};

use super::field::Written;
use super::row::Line;

/// How many blocks of one prompt a reader makes up at most, where a recording does not name them: their names take memory that no
/// byte of the file stands for.
pub(super) const MADE_UP_MAX: u64 = 1 << 22;

/// Says that a prompt has too many blocks that the recording does not name; `None` where it has not.
pub(super) fn too_many(made_up: u64, size: BlockSize) -> Option<String> {
    (made_up > MADE_UP_MAX).then(|| {
        format!(
            "the prompt has {made_up} blocks of {size} tokens without hash ids, at most {MADE_UP_MAX} are made up"
        )
    })
}

/// How an array of ids is wrong: where in the array, and why.
type Wrong = (Range<usize>, &'static str);

/// Appends the ids of a JSON array to `ids`.
///
/// # Errors
/// `trace::hash_ids` at the first element that is no integer from 0 to 2^64 - 1.
pub(super) fn read(
    line: &Line<'_>,
    value: &Written<'_>,
    ids: &mut Vec<u64>,
) -> Result<(), Problem> {
    scan(value.text.as_bytes(), ids).map_err(|(at, why)| {
        let start = value.at(line).start;
        let number = line.number;
        let shown = value.text.get(at.clone()).unwrap_or_default();
        let message = format!("trace line {number}: hash id `{shown}` {why}");
        line.problem(Code::TraceHashIds, start + at.start..start + at.end, message, why)
            .help("a hash id is an integer from 0 to 18446744073709551615")
    })
}

/// Scans an array whose JSON syntax is known to be right.
pub(super) fn scan(array: &[u8], ids: &mut Vec<u64>) -> Result<(), Wrong> {
    if array.first() != Some(&b'[') {
        return Err((0..array.len().min(20), "is no array"));
    }
    let mut at = 1;
    while at < array.len() {
        match array[at] {
            b',' | b']' | b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            _ => at = element(array, at, ids)?,
        }
    }
    Ok(())
}

/// The powers of ten that a number of one to eight digits more is shifted by.
const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// How many digits a number has at the most that 64 bits hold whatever they are.
const SHORT: usize = 19;

/// Returns the number of at most 19 digits at `start`, and where it ends; `None` where there is no digit, or are more.
///
/// Eight bytes are looked at together. Source: Lemire, "Quickly parsing eight digits" (2018); where digits end, the sum of a byte that is
/// none, less `0`, and 6 has a bit in its upper half, or had one before. Called instead of put in its place, it takes a third more time.
#[inline]
pub(super) fn digits(array: &[u8], start: usize) -> Option<(u64, usize)> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let (mut number, mut at) = (0_u64, start);
    while let Some(eight) = array.get(at..).and_then(<[u8]>::first_chunk) {
        let values = u64::from_le_bytes(*eight) ^ ZEROS;
        let beyond = (values.wrapping_add(0x0606_0606_0606_0606) | values) & 0xf0f0_f0f0_f0f0_f0f0;
        let count = (beyond.trailing_zeros() / 8) as usize;
        if count == 0 {
            break;
        }
        number =
            number.wrapping_mul(TENS[count]).wrapping_add(eight_digits(values << (64 - 8 * count)));
        at += count;
        if count < 8 || at - start > SHORT {
            return (at - start <= SHORT).then_some((number, at));
        }
    }
    while let Some(digit) = array.get(at).filter(|byte| byte.is_ascii_digit()) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        at += 1;
    }
    (at > start && at - start <= SHORT).then_some((number, at))
}

/// Returns the number of eight digits, the first in the lowest byte.
#[inline]
const fn eight_digits(values: u64) -> u64 {
    const EACH: u64 = 0x0000_00ff_0000_00ff;
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let first = (pairs & EACH).wrapping_mul(100 + (1_000_000 << 32));
    let second = ((pairs >> 16) & EACH).wrapping_mul(1 + (10_000 << 32));
    first.wrapping_add(second) >> 32
}

/// Appends the ids of the list that begins at `start`, and returns where it ends; `None` for what is no list of integers of at most 19 digits
/// as JSON writes them. Then `ids` may hold some of them.
pub(super) fn quick(text: &[u8], start: usize, ids: &mut Vec<u64>) -> Option<usize> {
    let space = |mut at: usize| {
        while text.get(at) == Some(&b' ') {
            at += 1;
        }
        at
    };
    let mut at = space(start + 1);
    if text.get(at) == Some(&b']') {
        return Some(at + 1);
    }
    loop {
        let (id, end) = digits(text, at)?;
        if text[at] == b'0' && end - at > 1 {
            return None;
        }
        ids.push(id);
        at = space(end);
        match text.get(at)? {
            b',' => at = space(at + 1),
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Returns the number of at most 19 digits at `start`, which 64 bits hold, and where it ends; `None` for anything else.
fn short(array: &[u8], start: usize) -> Option<(u64, usize)> {
    let (id, at) = digits(array, start)?;
    let ends =
        array.get(at).is_none_or(|next| matches!(next, b',' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
    ends.then_some((id, at))
}

/// Reads the element at `start` and returns where it ends.
fn element(array: &[u8], start: usize, ids: &mut Vec<u64>) -> Result<usize, Wrong> {
    if let Some((id, end)) = short(array, start) {
        ids.push(id);
        return Ok(end);
    }
    let length = array[start..]
        .iter()
        .position(|byte| matches!(byte, b',' | b']' | b' ' | b'\t' | b'\n' | b'\r'))
        .unwrap_or(array.len() - start);
    let end = start + length;
    let digits = &array[start..end];
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err((start..end, "is no integer without sign, fraction and exponent"));
    }
    let id = digits
        .iter()
        .try_fold(0_u64, |id, digit| id.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    ids.push(id.ok_or((start..end, "does not fit 64 bits"))?);
    Ok(end)
}

/// Returns the block size with which `tokens` take exactly `count` ids: a power of two where there is one, else the smallest.
///
/// Source: cases/TRACES.md T6.
pub(super) fn fitting_block_size(tokens: Tokens, count: usize) -> Option<BlockSize> {
    let count = u64::try_from(count).ok().filter(|count| *count > 0)?;
    let smallest = tokens.get().div_ceil(count);
    let fits = |size: u64| size > 0 && tokens.get().div_ceil(size) == count;
    [smallest.next_power_of_two(), smallest]
        .into_iter()
        .find(|size| fits(*size))
        .and_then(|size| u32::try_from(size).ok())
        .and_then(BlockSize::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &str) -> Result<Vec<u64>, Wrong> {
        let mut ids = Vec::new();
        scan(text.as_bytes(), &mut ids).map(|()| ids)
    }

    #[test]
    fn ids_keep_all_64_bits_and_nothing_else_is_an_id() {
        assert_eq!(
            scanned("[ 1 ,4294967297,18446744073709551615]"),
            Ok(vec![1, 4_294_967_297, u64::MAX])
        );
        assert_eq!(
            scanned("[9999999999999999999,10000000000000000000,007]"),
            Ok(vec![9_999_999_999_999_999_999, 10_000_000_000_000_000_000, 7])
        );
        assert_eq!(scanned("[]"), Ok(Vec::new()));
        assert_eq!(scanned("[1,18446744073709551616]"), Err((3..23, "does not fit 64 bits")));
        for (text, end) in [("[-1]", 3), ("[1.5]", 4), ("[1e3]", 4), ("[null]", 5), ("[\"1\"]", 4)]
        {
            assert_eq!(scanned(text).map_err(|(at, _)| at), Err(1..end), "{text}");
        }
        assert!(scanned("{\"a\":1}").is_err());
    }

    #[test]
    fn the_block_size_that_would_fit_prefers_a_power_of_two() {
        let size =
            |tokens, count| fitting_block_size(Tokens::new(tokens), count).map(BlockSize::get);
        assert_eq!(size(655, 3), Some(256));
        assert_eq!(size(20, 2), Some(16));
        assert_eq!(size(300, 7), Some(43));
        assert_eq!(size(10, 0), None);
        assert_eq!(size(3, 9), None);
    }
}
