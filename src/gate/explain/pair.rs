//! Which request of one side is which of the other.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::event::lines;

/// A request of two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The left side's request of this number; the right side may have it as well.
    Left(u64),
    /// The right side's request of this number, which the left side lacks.
    Right(u64),
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left(request) | Self::Right(request) => write!(f, "request {request}"),
        }
    }
}

/// What a request is called by whoever asked it: its session, its turn, and how many of the same came before.
type Name = (String, u64, u64);

/// Which request of the right side is which of the left.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    left_of_right: BTreeMap<u64, u64>,
    right_of_left: BTreeMap<u64, u64>,
}

/// What names a request.
#[derive(Debug, Deserialize)]
struct Record {
    index: u64,
    session: String,
    turn: u64,
}

impl Pairing {
    /// Pairs the requests of two `requests.jsonl` by session and turn.
    ///
    /// # Errors
    /// The number of the first line that is no record, and why.
    pub(super) fn of(left: &[u8], right: &[u8]) -> Result<Self, String> {
        let known: BTreeMap<Name, u64> =
            names(left)?.into_iter().map(|(number, name)| (name, number)).collect();
        let mut pairing = Self::default();
        for (number, name) in names(right)? {
            if let Some(of_left) = known.get(&name) {
                pairing.left_of_right.insert(number, *of_left);
                pairing.right_of_left.insert(*of_left, number);
            }
        }
        Ok(pairing)
    }

    /// Returns the number of a request on the left and on the right side, where both have it.
    pub(super) fn numbers(&self, who: Who) -> Option<(u64, u64)> {
        match who {
            Who::Left(left) => Some((left, *self.right_of_left.get(&left)?)),
            Who::Right(_) => None,
        }
    }

    /// Returns what a request of the right side is called.
    pub(super) fn of_right(&self, request: u64) -> Who {
        self.left_of_right.get(&request).map_or(Who::Right(request), |left| Who::Left(*left))
    }
}

/// Returns the requests of a `requests.jsonl` by number, with their names.
fn names(text: &[u8]) -> Result<Vec<(u64, Name)>, String> {
    let mut seen: BTreeMap<(String, u64), u64> = BTreeMap::new();
    let mut named = Vec::new();
    for (number, line) in (1_u64..).zip(lines(text)) {
        let wrong = |error: serde_json::Error| format!("requests.jsonl, line {number}: {error}");
        let record: Record = serde_json::from_slice(line).map_err(wrong)?;
        let before = seen.entry((record.session.clone(), record.turn)).or_default();
        named.push((record.index, (record.session, record.turn, *before)));
        *before += 1;
    }
    Ok(named)
}
