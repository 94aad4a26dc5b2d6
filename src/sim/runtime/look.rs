//! Lets a probe look at ranks and links.

use crate::sim::engine::Rank;
use crate::sim::handoff::Handoffs;
use crate::sim::probe::{LINE, Moment, Probe, RankState};
use crate::units::{Nanos, SimTime};

use super::{Pool, Runtime};

impl Runtime<'_> {
    /// Shows a probe the ranks as the current instant leaves them.
    pub(super) fn probe_ranks(&self) {
        let Some(probe) = self.options.probe else { return };
        for pool in &self.pools {
            (0..pool.ranks().len())
                .for_each(|rank| pool.probe(rank, Moment::Settled, self.now, probe));
        }
    }

    /// Shows a probe the links after a transfer began or ended.
    pub(super) fn probe_links(&mut self) {
        let at = Nanos::from(self.now);
        let probe = self.options.probe.filter(|probe| probe.wants_links(at));
        if let Some((probe, handoffs)) = probe.zip(self.handoffs.as_mut()) {
            probe.take_links(Handoffs::link_state(handoffs, at));
        }
    }
}

impl Pool<'_> {
    /// Shows a probe one rank, where it asks for it.
    pub(super) fn probe(&self, rank: usize, moment: Moment, now: SimTime, probe: &Probe) {
        let at = Nanos::from(now);
        if !probe.wants_rank(self.number(rank) as u64, at) {
            return;
        }
        let seen: &Rank = &self.ranks()[rank];
        probe.take_rank(RankState {
            at,
            moment,
            pool: self.name(),
            waiting: seen.waiting() as u64,
            line: seen.line(LINE),
            without_room: seen.without_room() as u64,
            running: seen.running() as u64,
            most_running: seen.most_running(),
            token_budget: seen.token_budget(),
            blocks: seen.capacity(),
            blocks_held: seen.held(),
            blocks_available: seen.available(),
            busy_until: self.is_busy(rank).then(|| Nanos::from(seen.formed().end)),
        });
    }
}
