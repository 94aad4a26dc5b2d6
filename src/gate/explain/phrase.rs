//! Times, rates and events in words.

use crate::units::Nanos;

use super::event::{Identity, Step};

/// Returns milliseconds without trailing zeros: `258`, `0.000001`.
pub(super) fn ms(at: Nanos) -> String {
    signed_ms(i128::from(at.get()))
}

/// As [`ms`], of a difference.
pub(super) fn signed_ms(ns: i128) -> String {
    let (sign, size) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    let (whole, rest) = (size / 1_000_000, size % 1_000_000);
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{}", format!("{rest:06}").trim_end_matches('0'))
}

/// Returns a rate in the largest unit of a thousand that keeps it above 1.
pub(super) fn rate(bytes_per_second: u64) -> String {
    let bytes_per_second = u128::from(bytes_per_second);
    let units = [("GB/s", 1_000_000_000), ("MB/s", 1_000_000), ("kB/s", 1_000)];
    let unit = units.into_iter().find(|(_, size)| bytes_per_second >= *size);
    let (name, size) = unit.unwrap_or(("B/s", 1));
    let thousandths = bytes_per_second * 1000 / size;
    let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns `request 3`, `requests 0, 1`, or `none`.
pub(super) fn requests(numbers: &[u64]) -> String {
    let list: Vec<String> = numbers.iter().map(u64::to_string).collect();
    match list.as_slice() {
        [] => "none".to_owned(),
        [one] => format!("request {one}"),
        many => format!("requests {}", many.join(", ")),
    }
}

/// Returns the event's name: `transfer of request 0`, `pass 3 of rank 1`.
pub(super) fn event(identity: Identity) -> String {
    match identity {
        Identity::Pass { rank, nth } => format!("pass {nth} of rank {rank}"),
        Identity::Step { who, step, nth: 0 } => format!("{} of {who}", step.name()),
        Identity::Step { who, step: step @ (Step::Admit | Step::Preempt), nth } => {
            format!("{} {} of {who}", step.name(), nth + 1)
        }
        Identity::Step { who, step, nth } => format!("{} of {who} ({} before)", step.name(), nth),
    }
}
