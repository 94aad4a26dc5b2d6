//! How fast each transfer moves at one instant.

use std::collections::BTreeMap;

use super::{Direction, Transfer};

/// How transfers share links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Max-min fair by progressive filling over both links; what a transfer cannot use goes to the others. From nightly 87 on.
    MaxMin,
    /// The smaller of an equal part of the client's link and an equal part of the pool's, and what is left over is lost. Core
    /// 0.13.0 and nightlies up to 86, between offload tiers.
    EqualParts,
    /// Each transfer as if it were alone. Core 0.13.0 and nightlies up to 86, between prefill and decode.
    Alone,
}

/// One link that limits transfers in flight.
#[derive(Debug, Clone, Copy)]
struct Budget {
    /// Units a millisecond that are not given away.
    left: f64,
    /// Transfers without a rate yet.
    open: usize,
}

impl Budget {
    /// Returns the equal part of each transfer without a rate.
    #[expect(clippy::cast_precision_loss, reason = "transfers in flight are far below 2^53")]
    fn share(self) -> f64 {
        self.left.max(0.0) / self.open as f64
    }
}

/// Memory that the computation of rates uses again at each event.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    budgets: Vec<Budget>,
    names: BTreeMap<(usize, u64, Direction), usize>,
    /// The budgets of each transfer, by slot.
    own: Vec<[Option<usize>; 2]>,
    /// The transfers of each budget, in order of submission.
    members: Vec<Vec<usize>>,
    is_fixed: Vec<bool>,
}

impl Scratch {
    /// Writes the rate of each transfer into `rates`, in order of submission. One whose first byte has not moved has none, one
    /// without a limited link an infinite one.
    pub(super) fn rates(
        &mut self,
        sharing: Sharing,
        now: f64,
        transfers: &[Transfer],
        rates: &mut Vec<f64>,
    ) {
        rates.clear();
        rates.resize(transfers.len(), 0.0);
        let is_coupled = self.count(now, transfers);
        for (at, transfer) in transfers.iter().enumerate() {
            if transfer.ready.as_ms() > now {
                continue;
            }
            rates[at] = match sharing {
                Sharing::Alone => transfer.links[0].rate.min(transfer.links[1].rate),
                // Where no transfer has two limited links, the fair part is the equal one.
                Sharing::EqualParts | Sharing::MaxMin => self.part(at, 0).min(self.part(at, 1)),
            };
        }
        if is_coupled && sharing == Sharing::MaxMin {
            self.fill(rates);
        }
    }

    /// Counts the moving transfers of each limited link; returns whether one has two of those.
    fn count(&mut self, now: f64, transfers: &[Transfer]) -> bool {
        self.budgets.clear();
        self.names.clear();
        self.own.clear();
        self.members.clear();
        let mut is_coupled = false;
        for (at, transfer) in transfers.iter().enumerate() {
            let mut own = [None; 2];
            if transfer.ready.as_ms() <= now {
                for (slot, link) in transfer.links.iter().enumerate() {
                    if link.is_limited() {
                        let key = (slot, link.id, transfer.direction);
                        let next = self.budgets.len();
                        let budget = *self.names.entry(key).or_insert(next);
                        if budget == next {
                            self.budgets.push(Budget { left: link.rate, open: 0 });
                            self.members.push(Vec::new());
                        }
                        self.budgets[budget].open += 1;
                        self.members[budget].push(at);
                        own[slot] = Some(budget);
                    }
                }
            }
            is_coupled |= own.iter().all(Option::is_some);
            self.own.push(own);
        }
        is_coupled
    }

    /// Returns the equal part of a transfer on its link of slot `slot`; infinite without one.
    #[expect(clippy::cast_precision_loss, reason = "transfers in flight are far below 2^53")]
    fn part(&self, at: usize, slot: usize) -> f64 {
        self.own[at][slot].map_or(f64::INFINITY, |budget| {
            let budget = self.budgets[budget];
            budget.left / budget.open as f64
        })
    }

    /// Fixes the transfers of the tightest link at their equal part, takes that from their other links, and goes on until none is
    /// left. Of equally tight links the one seen first goes first.
    fn fill(&mut self, rates: &mut [f64]) {
        self.is_fixed.clear();
        self.is_fixed.resize(rates.len(), false);
        while let Some((tightest, share)) = self.tightest() {
            for at in std::mem::take(&mut self.members[tightest]) {
                if std::mem::replace(&mut self.is_fixed[at], true) {
                    continue;
                }
                rates[at] = share;
                for budget in self.own[at].into_iter().flatten() {
                    self.budgets[budget].open -= 1;
                    if budget != tightest {
                        self.budgets[budget].left -= share;
                    }
                }
            }
        }
    }

    /// Returns the link with the least equal part, and that part.
    fn tightest(&self) -> Option<(usize, f64)> {
        let open = self.budgets.iter().enumerate().filter(|(_, budget)| budget.open > 0);
        open.map(|(at, budget)| (at, budget.share())).min_by(|a, b| a.1.total_cmp(&b.1))
    }
}
