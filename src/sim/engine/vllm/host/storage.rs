//! The rank's side of the storage tier: it writes what reaches the host tier and restores into it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::sim::kv::host::{CopyId, HostKey, HostTier, Plan, Presence};
use crate::sim::kv::storage::{Ended, Probe, StorageTier};
use crate::sim::link::Direction;
use crate::units::SimTime;

/// Restores that a request may begin while its rank makes no progress; beyond, it computes what the host tier lacks.
const MOST_FRUITLESS_ROUNDS: u32 = 1024;

/// The rank's side of the storage tier.
#[derive(Debug)]
pub(crate) struct RankStorage {
    tier: Rc<RefCell<StorageTier>>,
    /// Which worker of the tier the rank is.
    worker: usize,
    /// Reservations in the host tier that reads fill, by transfer.
    restores: BTreeMap<u64, Restore>,
    /// What was restored at one instant, so that it is not restored again and again at it.
    attempted: (SimTime, BTreeSet<(u64, HostKey)>),
    /// Changes whenever a transfer begins or ends, or a load begins: what makes a pass without effect try again.
    pub(super) epoch: u64,
    /// Transfers of all workers up to which it has looked.
    seen: u64,
    /// Passes in which the rank did anything.
    progress: u64,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The rank's client of the host tier.
    pub(super) client: usize,
    /// The request.
    pub(super) owner: u64,
    /// The blocks that it lacks, in order.
    pub(super) keys: &'a [HostKey],
}

/// A restore in flight.
#[derive(Debug)]
struct Restore {
    /// The request that began it, while it wants it.
    owner: Option<u64>,
    reservation: CopyId,
}

/// How often a request began to restore while its rank made no progress.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rounds {
    fruitless: u32,
    progress: u64,
}

impl Rounds {
    /// Returns whether the request restores no more.
    pub(super) fn is_bypassed(self) -> bool {
        self.fruitless >= MOST_FRUITLESS_ROUNDS
    }

    /// Starts over: the request was admitted or preempted.
    pub(super) fn reset(&mut self) {
        self.fruitless = 0;
    }

    /// Counts a round; returns whether it is the last.
    fn count(&mut self, progress: u64) -> bool {
        if self.progress != progress {
            *self = Self { fruitless: 0, progress };
        }
        self.fruitless += 1;
        self.is_bypassed()
    }
}

impl RankStorage {
    /// Returns the side of worker `worker`.
    pub(crate) fn new(tier: Rc<RefCell<StorageTier>>, worker: usize) -> Self {
        Self {
            tier,
            worker,
            restores: BTreeMap::new(),
            attempted: (SimTime::ZERO, BTreeSet::new()),
            epoch: 0,
            seen: 0,
            progress: 0,
        }
    }

    /// Notes that the rank did something.
    pub(super) fn note_progress(&mut self) {
        self.progress += 1;
    }

    /// Writes blocks whose store has ended; those that the tier takes stay pinned in the host tier until they are written.
    pub(super) fn write(&mut self, host: &mut HostTier, keys: &[HostKey], now: SimTime) {
        let mut tier = self.tier.borrow_mut();
        let job = tier.write(self.worker, keys, now);
        let mut taken = job.map_or(&[][..], |job| tier.keys(job)).iter().peekable();
        let declined: Vec<HostKey> =
            keys.iter().filter(|key| taken.next_if_eq(key).is_none()).copied().collect();
        host.unpin(&declined);
        self.epoch += u64::from(job.is_some());
    }

    /// Restores the leading blocks of `keys` that the host tier lacks and this one has, as one reservation; returns whether the
    /// request has something to wait for.
    pub(super) fn restore(
        &mut self,
        host: &mut HostTier,
        asked: Asked<'_>,
        rounds: &mut Rounds,
        now: SimTime,
    ) -> bool {
        let Asked { client, owner, keys } = asked;
        if now > self.attempted.0 {
            self.attempted = (now, BTreeSet::new());
        }
        let (plan, waits) = self.plan_restore(host, owner, keys, now);
        let Some(plan) = plan.filter(|plan| !plan.reserved().is_empty()) else { return waits };
        let restored = plan.reserved().to_vec();
        let reservation = host.reserve(client, plan, now);
        let mut tier = self.tier.borrow_mut();
        let Some(job) = tier.read(self.worker, &restored, now) else {
            host.forgo(reservation);
            return waits;
        };
        if rounds.count(self.progress) {
            tier.note_bypass();
        }
        self.attempted.1.extend(restored.into_iter().map(|key| (owner, key)));
        self.restores.insert(job, Restore { owner: Some(owner), reservation });
        self.epoch += 1;
        true
    }

    /// Plans a restore: the plan may evict a later block of the same prefix, which is then missing. Returns whether a block on
    /// the way is in flight.
    fn plan_restore(
        &self,
        host: &mut HostTier,
        owner: u64,
        keys: &[HostKey],
        now: SimTime,
    ) -> (Option<Plan>, bool) {
        let (mut plan, mut waits) = (None::<Plan>, false);
        for key in keys {
            let presence = plan.as_ref().map(|plan| plan.presence(host, *key));
            match presence.unwrap_or_else(|| host.presence(*key)) {
                Presence::Resident => continue,
                Presence::Pending => {
                    waits = true;
                    continue;
                }
                Presence::Missing => {}
            }
            let probe = self.tier.borrow_mut().probe(self.worker, *key);
            match probe {
                Probe::Missing => break,
                Probe::Pending => waits = true,
                Probe::Resident => {
                    let again = self.attempted.1.contains(&(owner, *key));
                    if again && !self.fits(host, plan.as_ref().unwrap_or(&host.empty_plan()), keys)
                    {
                        break;
                    }
                    // The tier moves on to this instant only where something is restored.
                    if !plan.get_or_insert_with(|| host.plan(now)).add(host, *key) {
                        break;
                    }
                }
            }
        }
        (plan, waits)
    }

    /// Returns whether all of a prefix that can be had would fit into the host tier at once.
    fn fits(&self, host: &HostTier, plan: &Plan, keys: &[HostKey]) -> bool {
        let tier = self.tier.borrow();
        let can_be_had = |key: &&HostKey| {
            plan.presence(host, **key) != Presence::Missing || tier.contains(self.worker, **key)
        };
        let prefix: Vec<HostKey> = keys.iter().take_while(can_be_had).copied().collect();
        plan.fits(host, &prefix)
    }

    /// Takes note of transfers that ended by `now`; returns whether any did, of whichever worker.
    pub(super) fn hear(&mut self, host: &mut HostTier, now: SimTime) -> bool {
        let mut tier = self.tier.borrow_mut();
        let ended = tier.take_ended(self.worker, now);
        let has_news = !ended.is_empty() || tier.changes() != self.seen;
        self.seen = tier.changes();
        drop(tier);
        for Ended { job, direction, keys, .. } in ended {
            match direction {
                Direction::Write => host.unpin(&keys),
                Direction::Read => {
                    let restore = self.restores.remove(&job).expect("a restore ends once");
                    host.fill(restore.reservation);
                }
            }
            self.epoch += 1;
        }
        has_news
    }

    /// Forgets a request; its restores go on for whoever comes next.
    pub(super) fn forget(&mut self, owner: u64) {
        let mut was_wanted = false;
        for restore in self.restores.values_mut() {
            was_wanted |= restore.owner.take_if(|other| *other == owner).is_some();
        }
        self.epoch += u64::from(was_wanted);
    }

    /// Returns whether a transfer of the rank has not ended.
    pub(super) fn has_work(&self) -> bool {
        self.tier.borrow().has_work(self.worker)
    }

    /// Returns when a transfer next needs the rank.
    pub(super) fn next_deadline(&self) -> Option<SimTime> {
        let mut tier = self.tier.borrow_mut();
        // Another worker may have moved the tier on.
        if tier.changes() == self.seen { tier.next_deadline(self.worker) } else { Some(tier.now()) }
    }
}
