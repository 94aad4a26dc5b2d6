//! The blocks of a host tier.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::BuildHasherDefault;

use hashbrown::HashMap;

use crate::sim::kv::block_pool::Mixed;
use crate::units::SimTime;

use super::copies::{CopyId, Copying, Done, Way};
use super::plan::Plan;
use super::transport::{ClientLink, PoolLink, Transport};
use super::{HostKey, Recency};

/// Whether a block is in the tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It is not.
    Missing,
    /// A copy to it has not ended.
    Pending,
    /// It is.
    Resident,
}

/// A block of the tier.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    is_resident: bool,
    /// Copies that read it: it stays while there are any.
    pins: u32,
    /// Its place among the blocks that may go: resident, and without pins.
    place: Option<u64>,
}

/// A rank that uses the tier.
#[derive(Debug)]
struct Client {
    link: ClientLink,
    /// Stores that the pass in flight prepared.
    prepared: Vec<CopyId>,
    /// Copies that ended and of which it has not heard.
    done: VecDeque<(SimTime, Done)>,
    /// The changes up to which it has looked.
    seen: u64,
}

/// Whether a store's block stays pinned when it ends, until the tier behind has read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterStore {
    /// It may go at once.
    Free,
    /// It stays.
    Hold,
}

/// A host tier: its blocks, its copies, its clients.
#[derive(Debug)]
pub(crate) struct HostTier {
    capacity: usize,
    block_bytes: f64,
    after_store: AfterStore,
    entries: HashMap<HostKey, Entry, BuildHasherDefault<Mixed>>,
    recency: Recency,
    copies: BTreeMap<CopyId, Copying>,
    transport: Transport,
    clients: Vec<Client>,
    /// Copies that ended and entries that came or went outside one: what makes peers look again.
    changes: u64,
    next_copy: u64,
    now: SimTime,
}

/// Settings of a tier.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TierConfig {
    /// Blocks.
    pub(crate) capacity: usize,
    /// Bytes of a block.
    pub(crate) block_bytes: f64,
    /// Each client's link.
    pub(crate) client: ClientLink,
    /// The pool's link; `None` for a private tier.
    pub(crate) pool: Option<PoolLink>,
    /// What happens to a block when its store ends.
    pub(crate) after_store: AfterStore,
}

impl HostTier {
    /// Returns an empty tier of `clients` clients; a private one has one.
    pub(crate) fn new(config: TierConfig, clients: usize) -> Self {
        let client =
            || Client { link: config.client, prepared: Vec::new(), done: VecDeque::new(), seen: 0 };
        Self {
            capacity: config.capacity,
            block_bytes: config.block_bytes,
            after_store: config.after_store,
            entries: HashMap::default(),
            recency: Recency::default(),
            copies: BTreeMap::new(),
            transport: Transport::new(config.client, config.pool),
            clients: (0..clients).map(|_| client()).collect(),
            changes: 0,
            next_copy: 0,
            now: SimTime::ZERO,
        }
    }

    /// Returns whether several ranks share it.
    pub(crate) fn is_shared(&self) -> bool {
        self.transport.is_shared()
    }

    /// Returns how many blocks it has.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the resident blocks, and those in use: resident or promised to a copy.
    pub(crate) fn occupancy(&self) -> (usize, usize) {
        let resident = self.entries.values().filter(|entry| entry.is_resident).count();
        (resident, self.entries.len())
    }

    /// Returns whether a block is there.
    pub(crate) fn presence(&self, key: HostKey) -> Presence {
        match self.entries.get(&key) {
            None => Presence::Missing,
            Some(entry) if entry.is_resident => Presence::Resident,
            Some(_) => Presence::Pending,
        }
    }

    /// Makes a block the newest, if it is one that may go.
    pub(crate) fn touch(&mut self, key: HostKey) {
        if let Some(entry) = self.entries.get_mut(&key)
            && entry.is_resident
            && entry.pins == 0
        {
            self.recency.touch(&mut entry.place, key);
        }
    }

    /// Makes room for the blocks of `keys` that are missing, all or none, and promises it to a store; the copy starts with
    /// [`HostTier::submit_stores`]. `None` where there is no room. The blocks of `keys` that are there stay.
    pub(crate) fn prepare_store(
        &mut self,
        (client, owner): (usize, u32),
        keys: &[HostKey],
        now: SimTime,
    ) -> Option<CopyId> {
        self.settle(now);
        let missing: Vec<HostKey> =
            keys.iter().copied().filter(|key| !self.entries.contains_key(key)).collect();
        assert!(!missing.is_empty(), "bug: a store of nothing");
        let needed = missing.len().saturating_sub(self.free());
        let stay: BTreeSet<HostKey> = keys.iter().copied().collect();
        let victims = self.recency.victims(needed, |key| !stay.contains(&key));
        if victims.len() < needed {
            return None;
        }
        let id = self.admit((client, owner), Way::Store, &victims, missing);
        self.clients[client].prepared.push(id);
        Some(id)
    }

    /// Starts the copies that a client's pass prepared.
    pub(crate) fn submit_stores(&mut self, client: usize, now: SimTime) {
        self.settle(now);
        for id in std::mem::take(&mut self.clients[client].prepared) {
            self.submit(id, now);
        }
    }

    /// Starts a copy of resident blocks to a client; no byte moves before `not_before`.
    pub(crate) fn load(
        &mut self,
        (client, owner): (usize, u32),
        keys: &[HostKey],
        now: SimTime,
        not_before: SimTime,
    ) -> CopyId {
        self.settle(now);
        self.pin(keys);
        let id = self.next_id();
        self.copies.insert(
            id,
            Copying {
                way: Way::Load,
                client,
                owner,
                keys: keys.to_vec(),
                ends: None,
                is_submitted: false,
            },
        );
        self.submit(id, self.now.max(not_before));
        id
    }

    /// Applies what ends by `now`; returns the client's own copies that ended, and whether anything changed since it last
    /// looked.
    pub(crate) fn tick(&mut self, client: usize, now: SimTime) -> (Vec<Done>, bool) {
        self.now = self.now.max(now);
        self.advance();
        let changes = self.changes;
        let client = &mut self.clients[client];
        let has_news = std::mem::replace(&mut client.seen, changes) != changes;
        let mut heard = Vec::new();
        while let Some((_, done)) = client.done.pop_front_if(|(at, _)| *at <= now) {
            heard.push(done);
        }
        (heard, has_news)
    }

    /// Returns when a client next has something to do here.
    pub(crate) fn next_deadline(&mut self, client: usize) -> Option<SimTime> {
        let event = self.transport.next_event();
        if !self.is_shared() {
            return event;
        }
        let client = &self.clients[client];
        let own = client.done.front().map(|(at, _)| *at);
        let news = (client.seen != self.changes).then_some(self.now);
        [event, own, news].into_iter().flatten().min()
    }

    /// Returns when a copy ends, where nothing can change that.
    pub(crate) fn end_of(&self, id: CopyId) -> Option<SimTime> {
        self.copies.get(&id)?.ends
    }

    /// Returns whether a copy has not ended.
    pub(crate) fn is_copying(&self, id: CopyId) -> bool {
        self.copies.contains_key(&id)
    }

    /// Returns whether a client waits for a copy.
    pub(crate) fn has_work(&self, client: usize) -> bool {
        !self.clients[client].done.is_empty()
            || self.copies.values().any(|copying| copying.client == client)
    }

    /// Keeps resident blocks from going.
    pub(crate) fn pin(&mut self, keys: &[HostKey]) {
        for key in keys {
            let entry = self.entries.get_mut(key).expect("a pinned block is resident");
            entry.pins += 1;
            self.recency.remove(&mut entry.place);
        }
    }

    /// Lets pinned blocks go again; those that become evictable together are the newest, by name.
    pub(crate) fn unpin(&mut self, keys: &[HostKey]) {
        let mut freed = Vec::new();
        for key in keys {
            let entry = self.entries.get_mut(key).expect("a pinned block stays");
            entry.pins = entry.pins.checked_sub(1).expect("a pin is taken once");
            if entry.pins == 0 && entry.is_resident {
                freed.push(*key);
            }
        }
        self.touch_together(freed);
    }

    /// Returns a plan of what a reservation would evict, before it does.
    pub(crate) fn plan(&mut self, now: SimTime) -> Plan {
        self.settle(now);
        self.empty_plan()
    }

    /// Returns a plan of nothing yet.
    pub(crate) fn empty_plan(&self) -> Plan {
        Plan::new(self.free())
    }

    /// Returns the blocks that may go, oldest first, behind a place.
    pub(super) fn evictable_after(
        &self,
        place: Option<u64>,
    ) -> impl Iterator<Item = (u64, HostKey)> + '_ {
        self.recency.oldest_after(place)
    }

    /// Carries a plan out: its blocks are pending until [`HostTier::fill`] or [`HostTier::forgo`].
    pub(crate) fn reserve(&mut self, client: usize, plan: Plan, now: SimTime) -> CopyId {
        self.settle(now);
        let (victims, keys) = plan.into_parts();
        self.admit((client, 0), Way::External, &victims, keys)
    }

    /// Makes the blocks of a reservation resident.
    pub(crate) fn fill(&mut self, id: CopyId) {
        let copying = self.copies.remove(&id).expect("a reservation is filled once");
        for key in &copying.keys {
            let entry = self.entries.get_mut(key).expect("a promised block stays");
            entry.is_resident = true;
            if entry.pins == 0 {
                self.recency.touch(&mut entry.place, *key);
            }
        }
        self.tell_peers(copying.client);
    }

    /// Gives the room of a reservation back.
    pub(crate) fn forgo(&mut self, id: CopyId) {
        let copying = self.copies.remove(&id).expect("a reservation is given back once");
        for key in copying.keys {
            self.entries.remove(&key);
        }
        self.tell_peers(copying.client);
    }

    /// Returns how many blocks hold nothing and are promised to nobody.
    fn free(&self) -> usize {
        self.capacity - self.entries.len()
    }

    /// Evicts `victims` and promises room to `keys`.
    fn admit(
        &mut self,
        (client, owner): (usize, u32),
        way: Way,
        victims: &[HostKey],
        keys: Vec<HostKey>,
    ) -> CopyId {
        for key in victims {
            let mut entry = self.entries.remove(key).expect("a victim is resident");
            self.recency.remove(&mut entry.place);
        }
        for key in &keys {
            self.entries.insert(*key, Entry::default());
        }
        let id = self.next_id();
        let copying = Copying { way, client, owner, keys, ends: None, is_submitted: false };
        self.copies.insert(id, copying);
        id
    }

    /// Starts a copy.
    #[expect(clippy::cast_precision_loss, reason = "blocks of one copy are far below 2^53")]
    fn submit(&mut self, id: CopyId, from: SimTime) {
        let copying = self.copies.get_mut(&id).expect("a copy is started once");
        let client = (copying.client, self.clients[copying.client].link);
        let bytes = copying.keys.len() as f64 * self.block_bytes;
        copying.ends = self.transport.submit((id, copying.way), client, from, bytes);
        copying.is_submitted = true;
    }

    /// Brings a shared pool to `now` before it is changed; a private tier is ticked by its owner.
    fn settle(&mut self, now: SimTime) {
        self.now = self.now.max(now);
        if self.is_shared() {
            self.advance();
        }
    }

    /// Applies all copies that end by the tier's clock: stores before loads, then as they were queued.
    fn advance(&mut self) {
        let mut ended = self.transport.advance(self.now);
        ended.sort_by_key(|(id, at)| (*at, self.copies[id].way, *id));
        for (id, at) in ended {
            self.end(id, at);
        }
    }

    /// Applies the end of a copy.
    fn end(&mut self, id: CopyId, at: SimTime) {
        let copying = self.copies.remove(&id).expect("a copy ends once");
        self.changes += 1;
        let Copying { way, client, owner, keys, .. } = copying;
        let done = if way == Way::Load {
            self.unpin(&keys);
            Done::Load { id, owner, keys }
        } else {
            let is_held = self.after_store == AfterStore::Hold;
            for key in &keys {
                let entry = self.entries.get_mut(key).expect("a promised block stays");
                entry.is_resident = true;
                entry.pins += u32::from(is_held);
            }
            if !is_held {
                self.touch_together(keys.clone());
            }
            Done::Store { id, keys }
        };
        self.clients[client].done.push_back((at, done));
    }

    /// Makes blocks that became evictable together the newest, by name.
    fn touch_together(&mut self, mut keys: Vec<HostKey>) {
        keys.sort_unstable();
        for key in keys {
            let entry = self.entries.get_mut(&key).expect("an evictable block is there");
            self.recency.touch(&mut entry.place, key);
        }
    }

    /// Makes every client but `client` look again: a pending block of a shared pool came or went outside a copy.
    fn tell_peers(&mut self, client: usize) {
        if !self.is_shared() {
            return;
        }
        let before = self.changes;
        self.changes += 1;
        let client = &mut self.clients[client];
        if client.seen == before {
            client.seen = self.changes;
        }
    }

    /// Returns the next name of a copy.
    fn next_id(&mut self) -> CopyId {
        let id = CopyId(self.next_copy);
        self.next_copy += 1;
        id
    }
}

#[cfg(test)]
mod audit;
