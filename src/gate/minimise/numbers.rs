//! Smaller numbers.

use super::Stop;

/// Returns a number from `least` to `number` that still passes, found by halving its distance to `least`: none of `least`, and of the
/// numbers one, two, four, … below the answer, passes.
///
/// # Errors
/// Whatever `passes` answers.
pub(super) fn shrink(
    number: u64,
    least: u64,
    passes: &mut dyn FnMut(u64) -> Result<bool, Stop>,
) -> Result<u64, Stop> {
    let mut number = number;
    if number <= least {
        return Ok(number);
    }
    if passes(least)? {
        return Ok(least);
    }
    let mut step = (number - least) / 2;
    while step > 0 {
        if number - least > step && passes(number - step)? {
            number -= step;
            step = step.min(number - least);
        } else {
            step /= 2;
        }
    }
    Ok(number)
}
