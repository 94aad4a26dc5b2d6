//! The rank's side of the host tier.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::sim::engine::Retry;
use crate::sim::kv::Sources;
use crate::sim::kv::host::{CopyId, Done, HostKey, HostTier, prompt_keys};
use crate::units::SimTime;
use crate::workload::{Content, Vocabulary};

use super::super::rank::{Rank, Seat};
use super::{HostRequest, RankStorage};

/// The rank's side of the host tier.
#[derive(Debug)]
pub(crate) struct RankHost {
    pub(super) tier: Rc<RefCell<HostTier>>,
    /// Which client of the tier the rank is.
    pub(super) client: usize,
    vocabulary: Rc<Vocabulary>,
    /// Requests that the connector deferred, tried again before all others.
    pub(super) line: VecDeque<Seat>,
    /// Blocks that are being loaded.
    pub(super) loading: BTreeMap<HostKey, CopyId>,
    /// Before this the GPU does not compute: a block that it writes is still read.
    pub(super) not_before: SimTime,
    /// The storage tier behind it, where there is one.
    pub(super) storage: Option<RankStorage>,
    /// Loads that began or ended.
    pub(super) load_epoch: u64,
}

impl RankHost {
    /// Returns the side of client `client`.
    pub(crate) fn new(
        tier: Rc<RefCell<HostTier>>,
        client: usize,
        vocabulary: Rc<Vocabulary>,
        storage: Option<RankStorage>,
    ) -> Self {
        Self {
            tier,
            client,
            vocabulary,
            line: VecDeque::new(),
            loading: BTreeMap::new(),
            not_before: SimTime::ZERO,
            storage,
            load_epoch: 0,
        }
    }

    /// Returns what the connector knows of a new request.
    pub(in super::super) fn request(&self, content: &Content, block_size: u32) -> HostRequest {
        HostRequest::new(prompt_keys(content, &self.vocabulary, block_size))
    }

    /// Returns what changes whenever a transfer or a load begins or ends, where there is a storage tier: while it does, a pass
    /// without effect is worth another try.
    pub(super) fn epoch(&self) -> Option<u64> {
        self.storage.as_ref().map(|storage| storage.epoch + self.load_epoch)
    }
}

impl Rank {
    /// Puts the host tier behind the rank.
    pub(crate) fn attach_host(&mut self, host: RankHost) {
        let is_shared = host.tier.borrow().is_shared();
        // A private lane says when its copy ends, so the block can be given away; a shared one does not.
        self.pool.allow_reading(if is_shared { Sources::Held } else { Sources::Fenced });
        self.host = Some(Box::new(host));
    }

    /// Returns when a copy next needs the rank.
    pub(crate) fn next_deadline(&self) -> Option<SimTime> {
        let host = self.host.as_deref()?;
        let copies = host.tier.borrow_mut().next_deadline(host.client);
        let transfers = host.storage.as_ref().and_then(RankStorage::next_deadline);
        [copies, transfers].into_iter().flatten().min()
    }

    /// Takes note of copies that ended by `now`. The rank is idle.
    pub(crate) fn hear(&mut self, now: SimTime) {
        let Some(host) = self.host.as_deref_mut() else { return };
        let mut tier = host.tier.borrow_mut();
        let (done, mut has_news) = tier.tick(host.client, now);
        host.load_epoch += done.len() as u64;
        let mut loads = Vec::new();
        for done in done {
            match done {
                Done::Store { id, keys } => {
                    self.pool.end_reading(id.0);
                    if let Some(storage) = &mut host.storage {
                        storage.write(&mut tier, &keys, now);
                    }
                }
                Done::Load { id, owner, keys } => {
                    for key in keys {
                        host.loading.remove(&key);
                    }
                    loads.push((Seat(owner), id));
                }
            }
        }
        if let Some(storage) = &mut host.storage {
            has_news |= storage.hear(&mut tier, now);
        }
        drop(tier);
        for (seat, id) in loads {
            self.take_loaded(seat, id);
        }
        if has_news {
            self.wake();
        }
    }

    /// Ends a pass at `now` for the connector: what ended is noted, what the pass prepared starts, and what takes no time ends.
    pub(crate) fn end_step(&mut self, now: SimTime) {
        if self.host.is_none() {
            return;
        }
        self.hear(now);
        if let Some(host) = self.host.as_deref() {
            host.tier.borrow_mut().submit_stores(host.client, now);
        }
        self.hear(now);
    }

    /// Returns [`RankHost::epoch`], where there is a storage tier.
    pub(in super::super) fn epoch(&self) -> Option<u64> {
        self.host.as_deref().and_then(RankHost::epoch)
    }

    /// Notes a formed pass: whether the rank made progress in it, and whether it is worth another try at once; `before` is the
    /// epoch at its start.
    pub(in super::super) fn note_step(&mut self, before: Option<u64>, now: SimTime) {
        let Some(host) = self.host.as_deref_mut() else { return };
        let has_worked = !self.pass.scheduled.is_empty() || !self.pass.rejected.is_empty();
        if let Some(storage) = host.storage.as_mut().filter(|_| has_worked) {
            storage.note_progress();
        }
        let has_moved = before.is_some() && host.epoch() != before;
        let is_due = has_moved || self.next_deadline().is_some_and(|at| at <= now);
        if before.is_some() && self.pass.formed.end == now && is_due {
            self.pass.formed.retry = Retry::Restore;
        }
    }

    /// Returns whether the connector has neither requests nor copies.
    pub(in super::super) fn has_idle_host(&self) -> bool {
        self.host.as_deref().is_none_or(|host| {
            host.line.is_empty()
                && !host.tier.borrow().has_work(host.client)
                && !host.storage.as_ref().is_some_and(RankStorage::has_work)
        })
    }

    /// Returns whether a deferred request can be tried again.
    pub(in super::super) fn has_awake(&self) -> bool {
        self.host.as_deref().is_some_and(|host| host.line.iter().any(|seat| !self.is_asleep(*seat)))
    }

    /// Returns whether a deferred request sleeps.
    pub(super) fn is_asleep(&self, seat: Seat) -> bool {
        self.look(seat).host.as_deref().is_some_and(|host| host.is_asleep)
    }

    /// Returns what the connector knows of a request.
    pub(super) fn hosted(&mut self, seat: Seat) -> &mut HostRequest {
        self.sequence(seat).host.as_deref_mut().expect("every request of a rank with a host")
    }

    /// Makes every deferred request try again.
    fn wake(&mut self) {
        let line: Vec<Seat> = self
            .host
            .as_deref()
            .map(|host| host.line.iter().copied().collect())
            .unwrap_or_default();
        for seat in line {
            self.hosted(seat).is_asleep = false;
        }
    }
}
