//! The search: what is tried, and in which order.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::Sha256;

use super::configuration::edits;
use super::numbers::shrink;
use super::rows::{Row, Rows};
use super::{Candidate, Stop, ddmin};

/// What the engines say of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// They answer differently still.
    Differs,
    /// They answer alike.
    Same,
    /// It is no job: a scenario refuses it, or an engine comes to no end.
    Invalid,
}

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// The smallest job that still differs.
    pub smallest: Candidate,
    /// Candidates that were tried.
    pub tried: u64,
    /// Why the search ended before nothing more could go; `None` where nothing more can.
    pub stopped: Option<Stop>,
}

/// Told of each phase: its name, what is left after it, and how many candidates were tried.
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, &Candidate, u64);

/// Asks both engines about a candidate.
type Ask<'a> = &'a mut dyn FnMut(&Candidate) -> Result<Tried, Stop>;

/// A search.
struct Search<'a> {
    best: Candidate,
    ask: Ask<'a>,
    known: BTreeMap<Sha256, bool>,
    tried: u64,
    budget: u64,
}

/// What is made smaller, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Sessions,
    Rows,
    Sharing,
    Arrivals,
    Lengths,
    Configuration,
}

impl Phase {
    /// Every phase.
    const ALL: [Self; 6] = [
        Self::Sessions,
        Self::Rows,
        Self::Sharing,
        Self::Arrivals,
        Self::Lengths,
        Self::Configuration,
    ];

    /// Returns its name.
    const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Rows => "rows",
            Self::Sharing => "shared blocks",
            Self::Arrivals => "arrivals",
            Self::Lengths => "lengths",
            Self::Configuration => "configuration",
        }
    }
}

/// Returns the smallest job that `ask` still finds to differ, from one that does. At most `budget` candidates are tried.
pub fn minimise(start: Candidate, ask: Ask<'_>, budget: u64, tell: Progress<'_>) -> Found {
    let known = BTreeMap::from([(start.digest(), true)]);
    let mut search = Search { best: start, ask, known, tried: 0, budget };
    let stopped = search.finish(tell).err();
    Found { smallest: search.best, tried: search.tried, stopped }
}

impl Search<'_> {
    /// Goes round until a whole round changes nothing.
    fn finish(&mut self, tell: Progress<'_>) -> Result<(), Stop> {
        loop {
            let before = self.best.digest();
            for phase in Phase::ALL {
                let ended = self.go(phase);
                tell(phase.name(), &self.best, self.tried);
                ended?;
            }
            if self.best.digest() == before {
                return Ok(());
            }
        }
    }

    /// Does one phase.
    fn go(&mut self, phase: Phase) -> Result<(), Stop> {
        match phase {
            Phase::Sessions => self.sessions(),
            Phase::Rows => self.rows(),
            Phase::Sharing => self.sharing(),
            Phase::Arrivals => self.arrivals(),
            Phase::Lengths => self.lengths(),
            Phase::Configuration => self.configuration(),
        }
    }

    /// Tries a candidate, which becomes the best where it still differs.
    fn is_smaller(&mut self, candidate: Candidate) -> Result<bool, Stop> {
        let digest = candidate.digest();
        let differs = match self.known.get(&digest) {
            Some(known) => *known,
            None if self.tried >= self.budget => return Err(Stop::Budget),
            None => {
                self.tried += 1;
                (self.ask)(&candidate)? == Tried::Differs
            }
        };
        self.known.insert(digest, differs);
        if differs {
            self.best = candidate;
        }
        Ok(differs)
    }

    /// Tries other rows.
    fn try_rows(&mut self, rows: Rows) -> Result<bool, Stop> {
        let candidate = Candidate { rows: Some(rows), scenario: self.best.scenario.clone() };
        self.is_smaller(candidate)
    }

    /// Leaves out whole sessions.
    fn sessions(&mut self) -> Result<(), Stop> {
        let Some(rows) = self.best.rows.clone() else { return Ok(()) };
        let mut names: Vec<&String> =
            rows.rows.iter().filter_map(|row| row.session.as_ref()).collect();
        names.sort_unstable();
        names.dedup();
        if names.len() < 2 {
            return Ok(());
        }
        ddmin(&names, &mut |kept| {
            let is_kept = |row: &&Row| row.session.as_ref().is_none_or(|name| kept.contains(&name));
            self.try_rows(rows.with(rows.rows.iter().filter(is_kept).cloned().collect()))
        })?;
        Ok(())
    }

    /// Leaves out rows; of those that stay none can be left out.
    fn rows(&mut self) -> Result<(), Stop> {
        let Some(rows) = self.best.rows.clone() else { return Ok(()) };
        ddmin(&rows.rows, &mut |kept| self.try_rows(rows.with(kept.to_vec())))?;
        Ok(())
    }

    /// Makes prompts unique: all of them, else every block whose sharing is not needed.
    fn sharing(&mut self) -> Result<(), Stop> {
        let Some(rows) = self.best.rows.clone().filter(Rows::has_ids) else { return Ok(()) };
        let unique = rows.rows.iter().map(|row| Row { ids: Vec::new(), ..row.clone() });
        if self.try_rows(rows.with(unique.collect()))? {
            return Ok(());
        }
        let shared = shared_places(&rows);
        let alone = |kept: &BTreeSet<(usize, usize)>| with_shared(&rows, kept);
        if self.try_rows(alone(&BTreeSet::new()))? {
            return Ok(());
        }
        ddmin(&shared, &mut |kept| self.try_rows(alone(&kept.iter().copied().collect())))?;
        Ok(())
    }

    /// Moves arrivals: all to 0, else each to a whole millisecond, and as early as can be.
    fn arrivals(&mut self) -> Result<(), Stop> {
        let Some(rows) = self.best.rows.clone() else { return Ok(()) };
        let moved = |to: &dyn Fn(f64) -> f64| {
            let row = |row: &Row| Row { timestamp_ms: row.timestamp_ms.map(to), ..row.clone() };
            rows.with(rows.rows.iter().map(row).collect())
        };
        if self.try_rows(moved(&|_| 0.0))? {
            return Ok(());
        }
        let times = rows.rows.iter().filter_map(|row| row.timestamp_ms);
        let first = times.min_by(f64::total_cmp).unwrap_or(0.0);
        if !self.try_rows(moved(&|ms| (ms - first).round()))? {
            self.try_rows(moved(&|ms| ms - first))?;
        }
        for place in 0..self.row_count() {
            self.earlier(place)?;
        }
        Ok(())
    }

    /// Moves one arrival to an earlier whole millisecond.
    fn earlier(&mut self, place: usize) -> Result<(), Stop> {
        let Some(ms) = self.row(place).and_then(|row| row.timestamp_ms) else { return Ok(()) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "arrivals are not negative, and saturating keeps the search in range"
        )]
        let whole = ms.floor() as u64;
        #[expect(clippy::cast_precision_loss, reason = "milliseconds are far below 2^53")]
        let at = |ms: u64| ms as f64;
        shrink(whole, 0, &mut |ms| self.try_row(place, |row| row.timestamp_ms = Some(at(ms))))?;
        Ok(())
    }

    /// Shortens prompts and outputs: all at once, then each.
    fn lengths(&mut self) -> Result<(), Stop> {
        let Some(rows) = self.best.rows.clone() else { return Ok(()) };
        let one = rows.rows.iter().map(|row| Row { output: row.output.min(1), ..row.clone() });
        self.try_rows(rows.with(one.collect()))?;
        let size = u64::from(rows.block_size.get());
        for place in 0..self.row_count() {
            let Some(row) = self.row(place).cloned() else { continue };
            shrink(row.output, 1, &mut |output| self.try_row(place, |row| row.output = output))?;
            shrink(row.input, 1, &mut |input| {
                let blocks = usize::try_from(input.div_ceil(size)).unwrap_or(usize::MAX);
                self.try_row(place, |row| {
                    row.input = input;
                    row.ids.truncate(blocks);
                })
            })?;
        }
        Ok(())
    }

    /// Leaves out what the scenario need not state, and makes its numbers less.
    fn configuration(&mut self) -> Result<(), Stop> {
        let mut from = 0;
        while let Some(edit) = edits(&self.best.scenario).into_iter().nth(from) {
            let Some(scenario) = edit.without(&self.best.scenario) else {
                self.number(&edit)?;
                from += 1;
                continue;
            };
            // What follows moves up where something went.
            from += usize::from(!self.try_scenario(scenario)?);
        }
        Ok(())
    }

    /// Makes a number of the scenario less.
    fn number(&mut self, edit: &super::configuration::Edit) -> Result<(), Stop> {
        let scenario = self.best.scenario.clone();
        let Some(number) = edit.number(&scenario) else { return Ok(()) };
        shrink(number, 1, &mut |number| match edit.with_number(&scenario, number) {
            Some(scenario) => self.try_scenario(scenario),
            None => Ok(false),
        })?;
        Ok(())
    }

    /// Tries another scenario.
    fn try_scenario(&mut self, scenario: crate::scenario::syntax::Node) -> Result<bool, Stop> {
        self.is_smaller(Candidate { scenario, rows: self.best.rows.clone() })
    }

    /// Tries the best rows with one of them changed.
    fn try_row(&mut self, place: usize, change: impl Fn(&mut Row)) -> Result<bool, Stop> {
        let Some(mut rows) = self.best.rows.clone() else { return Ok(false) };
        rows.rows.get_mut(place).into_iter().for_each(change);
        self.try_rows(rows)
    }

    fn row(&self, place: usize) -> Option<&Row> {
        self.best.rows.as_ref()?.rows.get(place)
    }

    fn row_count(&self) -> usize {
        self.best.rows.as_ref().map_or(0, |rows| rows.rows.len())
    }
}

/// Returns the places, by row and block, of ids that occur at several.
fn shared_places(rows: &Rows) -> Vec<(usize, usize)> {
    let places = || {
        let rows = rows.rows.iter().enumerate();
        rows.flat_map(|(row, one)| one.ids.iter().enumerate().map(move |(at, id)| (*id, (row, at))))
    };
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    places().for_each(|(id, _)| *counts.entry(id).or_default() += 1);
    places().filter(|(id, _)| counts[id] > 1).map(|(_, place)| place).collect()
}

/// Returns the rows with these places as they are and all others unique, numbered anew from 0 by appearance.
fn with_shared(rows: &Rows, kept: &BTreeSet<(usize, usize)>) -> Rows {
    let (mut numbers, mut next): (BTreeMap<u64, u64>, u64) = (BTreeMap::new(), 0);
    let mut fresh = || {
        next += 1;
        next - 1
    };
    let renamed = rows.rows.iter().enumerate().map(|(row, one)| {
        let ids = one.ids.iter().enumerate().map(|(at, id)| {
            if kept.contains(&(row, at)) {
                *numbers.entry(*id).or_insert_with(&mut fresh)
            } else {
                fresh()
            }
        });
        Row { ids: ids.collect(), ..one.clone() }
    });
    rows.with(renamed.collect())
}
