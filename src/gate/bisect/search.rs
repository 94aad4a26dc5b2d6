//! Two ways from a version that is good to the first that answers otherwise.

use super::{Bisection, Bound, Step};

/// What a version says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe<D> {
    /// It answers: the digest of all answers.
    Digest(D),
    /// It cannot be asked: why.
    Unavailable(String),
}

/// How versions are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// One after the other, which finds the first change whatever follows it.
    Walk,
    /// By halves, which asks few versions and finds the first change where a change once made stays.
    Halve,
}

/// Searches `versions`, the good one first and the bad one last, for the first that answers otherwise than the good one.
///
/// No version is asked twice. `ask` gets the place of a version.
///
/// # Errors
/// What `ask` answers where nothing more can be asked, such as an interruption.
pub fn search<D: PartialEq + Clone, E>(
    (versions, how): (usize, Search),
    mut ask: impl FnMut(usize) -> Result<Probe<D>, E>,
) -> Result<Bisection<D>, E> {
    let mut asked = Asked { good: None, steps: Vec::new() };
    let first = ask(0)?;
    asked.note(0, first);
    let end = versions.saturating_sub(1);
    if asked.good.is_none() || end == 0 {
        return Ok(asked.bisection(Bound::NoGood));
    }
    match how {
        Search::Walk => walk(end, asked, ask),
        Search::Halve => halve(end, asked, ask),
    }
}

/// Asks one version after the other until one answers otherwise.
fn walk<D: PartialEq + Clone, E>(
    end: usize,
    mut asked: Asked<D>,
    mut ask: impl FnMut(usize) -> Result<Probe<D>, E>,
) -> Result<Bisection<D>, E> {
    let mut same = 0;
    for place in 1..=end {
        let probe = ask(place)?;
        match asked.note(place, probe) {
            Seen::Same => same = place,
            Seen::Other => return Ok(asked.bisection(Bound::Changed { same, other: place })),
            Seen::Nothing => {}
        }
    }
    let bound = if same == end { Bound::Unchanged } else { Bound::NoBad { same } };
    Ok(asked.bisection(bound))
}

/// Asks the bad version, then the version nearest to the middle of what is left, until nothing is left.
fn halve<D: PartialEq + Clone, E>(
    end: usize,
    mut asked: Asked<D>,
    mut ask: impl FnMut(usize) -> Result<Probe<D>, E>,
) -> Result<Bisection<D>, E> {
    let probe = ask(end)?;
    match asked.note(end, probe) {
        Seen::Other => {}
        Seen::Same => return Ok(asked.bisection(Bound::Unchanged)),
        Seen::Nothing => return Ok(asked.bisection(Bound::NoBad { same: 0 })),
    }
    let (mut same, mut other) = (0, end);
    while let Some(place) = asked.nearest_to_middle(same, other) {
        let probe = ask(place)?;
        match asked.note(place, probe) {
            Seen::Same => same = place,
            Seen::Other => other = place,
            Seen::Nothing => {}
        }
    }
    Ok(asked.bisection(Bound::Changed { same, other }))
}

/// What is known so far.
struct Asked<D> {
    good: Option<D>,
    steps: Vec<Step<D>>,
}

/// What a version is beside the good one.
enum Seen {
    Same,
    Other,
    Nothing,
}

impl<D: PartialEq + Clone> Asked<D> {
    /// Takes what a version says. The first that answers is the good one.
    fn note(&mut self, place: usize, probe: Probe<D>) -> Seen {
        let seen = match &probe {
            Probe::Unavailable(_) => Seen::Nothing,
            Probe::Digest(digest) => match &self.good {
                None => {
                    self.good = Some(digest.clone());
                    Seen::Same
                }
                Some(good) if good == digest => Seen::Same,
                Some(_) => Seen::Other,
            },
        };
        self.steps.push(Step { place, probe });
        seen
    }

    /// Returns the place nearest to the middle of two that was not asked; of two as near, the earlier.
    fn nearest_to_middle(&self, same: usize, other: usize) -> Option<usize> {
        let twice_middle = same + other;
        let is_asked = |place: &usize| self.steps.iter().any(|step| step.place == *place);
        let unasked = (same + 1..other).filter(|place| !is_asked(place));
        unasked.min_by_key(|place| (2 * place).abs_diff(twice_middle))
    }

    /// Returns what was found.
    fn bisection(self, bound: Bound) -> Bisection<D> {
        Bisection { steps: self.steps, bound }
    }
}
