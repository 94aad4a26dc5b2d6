//! How copies move: one after the other over private lanes, or side by side over shared links.

use std::collections::BTreeSet;

use crate::deployment::HostOffload;
use crate::sim::link::{Direction, Link, Links, Sharing, Transfer};
use crate::units::{SimDuration, SimTime};

use super::copies::{CopyId, Way};
use super::lane::Lane;

/// A client's own link, in bytes a millisecond; infinite is no limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientLink {
    /// To the tier.
    pub(crate) store: f64,
    /// From the tier.
    pub(crate) load: f64,
    /// How long the first byte takes.
    pub(crate) latency: SimDuration,
}

/// The link of a shared pool, in bytes a millisecond; infinite is no limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolLink {
    /// To the pool.
    pub(crate) store: f64,
    /// From the pool.
    pub(crate) load: f64,
    /// How copies share links.
    pub(crate) sharing: Sharing,
}

/// How copies move.
#[derive(Debug)]
pub(super) enum Transport {
    /// One owner; an end is known when a copy is queued.
    Private { store: Lane, load: Lane, ends: BTreeSet<(SimTime, Way, CopyId)> },
    /// Copies share links; an end moves with what else moves.
    Shared { links: Links, pool: PoolLink },
}

impl ClientLink {
    /// Returns the link of a rank.
    pub(crate) fn of(offload: &HostOffload) -> Self {
        Self {
            store: Link::of_gigabytes(0, offload.d2h_gb_per_second).rate,
            load: Link::of_gigabytes(0, offload.h2d_gb_per_second).rate,
            latency: SimDuration::from_ms(offload.latency_to_first_byte_ms)
                .unwrap_or(SimDuration::ZERO),
        }
    }

    /// Returns the rate of a way.
    fn rate(self, way: Way) -> f64 {
        if way == Way::Load { self.load } else { self.store }
    }
}

impl PoolLink {
    /// Returns the link of a shared pool, `None` for a private tier.
    pub(crate) fn of(offload: &HostOffload, sharing: Sharing) -> Option<Self> {
        offload.cluster_shared.then(|| Self {
            store: Link::of_gigabytes(0, offload.shared_d2h_gb_per_second).rate,
            load: Link::of_gigabytes(0, offload.shared_h2d_gb_per_second).rate,
            sharing,
        })
    }

    /// Returns the rate of a way.
    fn rate(self, way: Way) -> f64 {
        if way == Way::Load { self.load } else { self.store }
    }
}

impl Transport {
    /// Returns the transport of a tier: `pool` where it is shared, else that of its one owner.
    pub(super) fn new(owner: ClientLink, pool: Option<PoolLink>) -> Self {
        match pool {
            Some(pool) => Self::Shared { links: Links::new(pool.sharing), pool },
            None => Self::Private {
                store: Lane::new(owner.store),
                load: Lane::new(owner.load),
                ends: BTreeSet::new(),
            },
        }
    }

    /// Starts a copy of `bytes` that may move from `from` on; returns its end where that is known.
    pub(super) fn submit(
        &mut self,
        (id, way): (CopyId, Way),
        (client, link): (usize, ClientLink),
        from: SimTime,
        bytes: f64,
    ) -> Option<SimTime> {
        let ready = from + link.latency;
        match self {
            Self::Private { store, load, ends } => {
                let lane = if way == Way::Load { load } else { store };
                let end = lane.submit(ready, bytes);
                ends.insert((end, way, id));
                Some(end)
            }
            Self::Shared { links, pool } => {
                let direction = if way == Way::Load { Direction::Read } else { Direction::Write };
                links.submit(Transfer {
                    id: id.0,
                    direction,
                    ready: ready.max(links.now()),
                    size: bytes,
                    links: [
                        Link { id: client as u64, rate: link.rate(way) },
                        Link { id: 0, rate: pool.rate(way) },
                    ],
                });
                None
            }
        }
    }

    /// Moves copies to `now` and returns those that end by then, with their ends.
    pub(super) fn advance(&mut self, now: SimTime) -> Vec<(CopyId, SimTime)> {
        match self {
            Self::Private { ends, .. } => {
                let mut ended = Vec::new();
                while let Some((at, way, id)) = ends.first().copied().filter(|end| end.0 <= now) {
                    ends.remove(&(at, way, id));
                    ended.push((id, at));
                }
                ended
            }
            Self::Shared { links, .. } => {
                let mut ended = Vec::new();
                links.advance(now, &mut ended);
                ended.into_iter().map(|(id, at)| (CopyId(id), at)).collect()
            }
        }
    }

    /// Finds a link that carries more than it can.
    ///
    /// # Errors
    /// What was found.
    #[cfg(test)]
    pub(super) fn audit(&mut self) -> Result<(), String> {
        match self {
            // One copy after the other has the whole lane.
            Self::Private { .. } => Ok(()),
            Self::Shared { links, .. } => links.audit(),
        }
    }

    /// Returns when something next happens to a copy.
    pub(super) fn next_event(&mut self) -> Option<SimTime> {
        match self {
            Self::Private { ends, .. } => ends.first().map(|(at, _, _)| *at),
            Self::Shared { links, .. } => links.next_event(),
        }
    }

    /// Returns whether several clients share it.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Shared { .. })
    }
}
