//! The passes of one rank on both sides, pass by pass.
//!
//! A transcript holds decodes of an unchanged batch as one line, and cuts that line wherever something else happens on the rank. So
//! passes are compared by their number, not line by line: what is within a line on both sides is the same.

use crate::units::Nanos;

use super::difference::{Difference, Facts};
use super::event::{Identity, Passes};

/// A place in the passes of one side.
struct Cursor<'p, 'a> {
    passes: &'p [Passes<'a>],
    line: usize,
    /// Passes of the line that lie behind.
    behind: u64,
}

impl<'p, 'a> Cursor<'p, 'a> {
    fn new(passes: &'p [Passes<'a>]) -> Self {
        Self { passes, line: 0, behind: 0 }
    }

    fn here(&self) -> Option<&'p Passes<'a>> {
        self.passes.get(self.line)
    }

    /// Returns how many passes of the line lie ahead.
    fn ahead(&self) -> u64 {
        self.here().map_or(0, |passes| passes.count - self.behind)
    }

    fn go(&mut self, passes: u64) {
        self.behind += passes;
        if self.ahead() == 0 {
            self.line += 1;
            self.behind = 0;
        }
    }
}

/// Returns the first pass of a rank that differs: those behind it have other numbers.
pub(super) fn first_pass(
    rank: u64,
    left: &[Passes<'_>],
    right: &[Passes<'_>],
) -> Option<Difference> {
    let (mut left, mut right) = (Cursor::new(left), Cursor::new(right));
    let mut nth = 0;
    loop {
        let found = match (left.here(), right.here()) {
            (None, None) => return None,
            (Some(_), Some(_)) => at_cursors(Identity::Pass { rank, nth }, &left, &right),
            (a, b) => Difference::between(Identity::Pass { rank, nth }, facts(a), facts(b)),
        };
        if found.is_some() {
            return found;
        }
        let step = left.ahead().min(right.ahead());
        nth += step;
        left.go(step);
        right.go(step);
    }
}

fn facts(passes: Option<&Passes<'_>>) -> Option<Facts> {
    passes.map(|passes| Facts::of(&passes.event))
}

/// Returns how the lines at both cursors differ, as far as they lie side by side.
fn at_cursors(
    identity: Identity,
    left: &Cursor<'_, '_>,
    right: &Cursor<'_, '_>,
) -> Option<Difference> {
    let (a, b) = left.here().zip(right.here())?;
    match (a.decoding, b.decoding) {
        (Some(of_left), Some(of_right)) if of_left == of_right => {
            decodes(identity, (left, a), (right, b))
        }
        (None, None) if a.event.json == b.event.json => None,
        _ => {
            let (mut a, mut b) = (Facts::of(&a.event), Facts::of(&b.event));
            // A pass within a line begins where the other side's does: both agreed up to here.
            let begins = if left.behind == 0 { a.begins } else { b.begins };
            if left.behind > 0 {
                (a.begins, a.ends) = (begins, None);
            }
            if right.behind > 0 {
                (b.begins, b.ends) = (begins, None);
            }
            Difference::between(identity, Some(a), Some(b))
        }
    }
}

/// Returns how two runs of decodes of equal batches differ: where they begin, and where both end.
fn decodes(
    identity: Identity,
    (left, a): (&Cursor<'_, '_>, &Passes<'_>),
    (right, b): (&Cursor<'_, '_>, &Passes<'_>),
) -> Option<Difference> {
    let begin_together = left.behind == 0 && right.behind == 0;
    let end_together = left.ahead() == right.ahead();
    let mut both = [Facts::of(&a.event), Facts::of(&b.event)];
    // How many passes a line holds is how it was cut; of both sides only what lies side by side is compared.
    for facts in &mut both {
        facts.fields.remove("passes");
    }
    let [mut a, mut b] = both;
    if !begin_together {
        a.fields.remove("from_ns");
        b.fields.remove("from_ns");
    }
    if !end_together {
        let (of_left, of_right) = (a.fields.remove("to_ns"), b.fields.remove("to_ns"));
        // The shorter line cannot end behind the longer one.
        let is_behind = match (a.ends.zip(b.ends), left.ahead() < right.ahead()) {
            (Some((a, b)), true) => a > b,
            (Some((a, b)), false) => b > a,
            (None, _) => false,
        };
        if is_behind {
            a.fields.extend(of_left.map(|value| ("to_ns".to_owned(), value)));
            b.fields.extend(of_right.map(|value| ("to_ns".to_owned(), value)));
        }
    }
    if !begin_together {
        let begins: Nanos = a.begins.max(b.begins);
        (a.begins, b.begins) = (begins, begins);
    }
    Difference::between(identity, Some(a), Some(b))
}
