//! The storage tier.

use std::collections::BTreeMap;

use crate::record::StorageUse;
use crate::sim::kv::host::HostKey;
use crate::sim::link::{Direction, Links, Transfer};
use crate::units::SimTime;

use super::StorageConfig;
use super::pool::Pool;
use super::usage::of_direction;

/// What a lookup of a block found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    /// Nothing.
    Missing,
    /// A write that has not ended.
    Pending,
    /// The block.
    Resident,
}

/// A transfer that ended.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    /// Its name.
    pub(crate) job: u64,
    /// Which way it went.
    pub(crate) direction: Direction,
    /// Its blocks.
    pub(crate) keys: Vec<HostKey>,
    at: SimTime,
}

/// A transfer in flight.
#[derive(Debug)]
struct Job {
    worker: usize,
    direction: Direction,
    keys: Vec<HostKey>,
    submitted: SimTime,
}

/// The storage tier.
#[derive(Debug)]
pub(crate) struct StorageTier {
    config: StorageConfig,
    /// By namespace: each worker's own, or the one they share.
    pools: BTreeMap<usize, Pool>,
    jobs: BTreeMap<u64, Job>,
    links: Links,
    /// What each worker has not heard of.
    ended: Vec<Vec<Ended>>,
    last_job: u64,
    /// Transfers that ended so far: what makes workers look again.
    changes: u64,
    usage: StorageUse,
}

impl StorageTier {
    /// Returns an empty tier.
    pub(crate) fn new(config: StorageConfig, workers: usize) -> Self {
        Self {
            config,
            pools: BTreeMap::new(),
            jobs: BTreeMap::new(),
            links: Links::new(config.sharing),
            ended: vec![Vec::new(); workers],
            last_job: 0,
            changes: 0,
            usage: StorageUse::default(),
        }
    }

    /// Returns the instant up to which transfers have moved.
    pub(crate) fn now(&self) -> SimTime {
        self.links.now()
    }

    /// Returns how many transfers have ended.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns whether a worker waits for a transfer.
    pub(crate) fn has_work(&self, worker: usize) -> bool {
        !self.ended[worker].is_empty() || self.jobs.values().any(|job| job.worker == worker)
    }

    /// Returns whether a block is there or being written. It is not a lookup.
    pub(crate) fn contains(&self, worker: usize, key: HostKey) -> bool {
        self.pools.get(&self.namespace(worker)).is_some_and(|pool| pool.entries.contains_key(&key))
    }

    /// Looks a block up: one that is there becomes the newest.
    pub(crate) fn probe(&mut self, worker: usize, key: HostKey) -> Probe {
        self.usage.lookup_probes += 1;
        let namespace = self.namespace(worker);
        let Some(Pool { entries, recency }) = self.pools.get_mut(&namespace) else {
            return Probe::Missing;
        };
        match entries.get_mut(&key) {
            None => Probe::Missing,
            Some(entry) if entry.is_pending => {
                self.usage.lookup_pending += 1;
                Probe::Pending
            }
            Some(entry) => {
                recency.touch(&mut entry.place, key);
                self.usage.lookup_hits += 1;
                Probe::Resident
            }
        }
    }

    /// Starts to write the blocks that are missing, as many of the leading ones as fit; `None` where that is none.
    pub(crate) fn write(&mut self, worker: usize, keys: &[HostKey], now: SimTime) -> Option<u64> {
        self.advance(now);
        let pool = self.pools.entry(self.namespace(worker)).or_default();
        let (keys, evicted) = pool.admit(keys, self.config.capacity, worker);
        self.usage.evictions += evicted;
        (!keys.is_empty()).then(|| self.submit(worker, Direction::Write, keys))
    }

    /// Starts to read blocks; `None` where one is not there.
    pub(crate) fn read(&mut self, worker: usize, keys: &[HostKey], now: SimTime) -> Option<u64> {
        self.advance(now);
        let pool = self.pools.get_mut(&self.namespace(worker))?;
        let is_there = |key: &HostKey| pool.entries.get(key).is_some_and(|entry| !entry.is_pending);
        if keys.is_empty() || !keys.iter().all(is_there) {
            return None;
        }
        for key in keys {
            if let Some(entry) = pool.entries.get_mut(key) {
                entry.reads += 1;
            }
        }
        Some(self.submit(worker, Direction::Read, keys.to_vec()))
    }

    /// Returns the blocks of a transfer in flight.
    pub(crate) fn keys(&self, job: u64) -> &[HostKey] {
        self.jobs.get(&job).map_or(&[], |job| &job.keys)
    }

    /// Returns when a worker next has something to do here.
    pub(crate) fn next_deadline(&mut self, worker: usize) -> Option<SimTime> {
        let event = self.links.next_event();
        let ended = self.ended[worker].iter().map(|ended| ended.at).min();
        [event, ended].into_iter().flatten().min()
    }

    /// Returns a worker's transfers that have ended by `now`, once each.
    pub(crate) fn take_ended(&mut self, worker: usize, now: SimTime) -> Vec<Ended> {
        self.advance(now);
        let (heard, later) = std::mem::take(&mut self.ended[worker])
            .into_iter()
            .partition(|ended: &Ended| ended.at <= now);
        self.ended[worker] = later;
        heard
    }

    /// Notes that a request stopped to restore.
    pub(crate) fn note_bypass(&mut self) {
        self.usage.bypassed_restores += 1;
    }

    /// Returns what the tier did so far.
    pub(crate) fn usage(&self) -> StorageUse {
        let entries = self.pools.values().flat_map(|pool| pool.entries.values());
        let pending = entries.clone().filter(|entry| entry.is_pending).count() as u64;
        StorageUse {
            pending_blocks: pending,
            resident_blocks: entries.count() as u64 - pending,
            ..self.usage
        }
    }

    /// Returns the namespace of a worker.
    fn namespace(&self, worker: usize) -> usize {
        if self.config.is_shared { 0 } else { worker }
    }

    /// Starts a transfer.
    #[expect(clippy::cast_precision_loss, reason = "blocks of one transfer are far below 2^53")]
    fn submit(&mut self, worker: usize, direction: Direction, keys: Vec<HostKey>) -> u64 {
        self.last_job += 1;
        let (id, now) = (self.last_job, self.links.now());
        of_direction(&mut self.usage, direction).submitted_jobs += 1;
        self.links.submit(Transfer {
            id,
            direction,
            ready: now + self.config.latency,
            size: keys.len() as f64 * self.config.block_bytes,
            links: self.config.links(worker, direction),
        });
        self.jobs.insert(id, Job { worker, direction, keys, submitted: now });
        id
    }

    /// Moves transfers to `now` and applies those that end by then.
    fn advance(&mut self, now: SimTime) {
        let mut ended = Vec::new();
        self.links.advance(now, &mut ended);
        for (id, at) in ended {
            let job = self.jobs.remove(&id).expect("a transfer ends once");
            self.end(id, job, at);
        }
    }

    /// Applies the end of a transfer: its blocks are the newest, by name.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "block bytes are a whole number far below 2^53"
    )]
    fn end(&mut self, id: u64, job: Job, at: SimTime) {
        self.changes += 1;
        let namespace = self.namespace(job.worker);
        let Pool { entries, recency } = self.pools.entry(namespace).or_default();
        let mut keys = job.keys.clone();
        keys.sort_unstable();
        for key in keys {
            let entry = entries.get_mut(&key).expect("a block of a transfer stays");
            match job.direction {
                Direction::Write => entry.is_pending = false,
                Direction::Read => {
                    entry.reads -= 1;
                    self.usage.cross_worker_read_blocks += u64::from(entry.writer != job.worker);
                }
            }
            recency.touch(&mut entry.place, key);
        }
        let io = of_direction(&mut self.usage, job.direction);
        io.completed_jobs += 1;
        io.completed_bytes += (job.keys.len() as f64 * self.config.block_bytes) as u64;
        io.transfer_ms += at.ms_since(job.submitted);
        let Job { worker, direction, keys, .. } = job;
        self.ended[worker].push(Ended { job: id, direction, keys, at });
    }
}

#[cfg(test)]
mod audit;
