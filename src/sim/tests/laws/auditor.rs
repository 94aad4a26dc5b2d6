//! Looks at every pass and every instant of a run.

use std::collections::{BTreeMap, BTreeSet};

use crate::deployment::WorkerRole;
use crate::sim::engine::{Standing, Stations};
use crate::sim::runtime::{Moment, Runtime, Watcher};
use crate::units::SimTime;

/// How many moments of one run are looked at: the rest of a run that goes on and on is like what was seen.
const MOST_MOMENTS: u32 = 1500;
/// What the sums of a transfer's rates over time may lose by rounding, of its size.
const ROUNDING: f64 = 1e-6;

/// Looks at a run, and keeps the first law that it saw broken.
#[derive(Debug, Default)]
pub(super) struct Auditor {
    moments: u32,
    last: SimTime,
    /// Up to when transfers have moved.
    moved_to: SimTime,
    /// Transfers in flight by place in the order of arrival: what was left at first, what has moved since, and how fast it moves.
    moving: BTreeMap<u64, (f64, f64, f64)>,
    /// The most transfers that were in flight together.
    pub(super) most_moving: usize,
    pub(super) broken: Option<String>,
}

impl Watcher for Auditor {
    fn see(&mut self, moment: Moment, run: &mut Runtime<'_>) {
        self.moments += 1;
        if self.broken.is_some() || self.moments > MOST_MOMENTS {
            return;
        }
        if let Err(found) = self.check(moment, run) {
            self.broken = Some(format!("{moment:?} at {:?}: {found}", run.now()));
        }
    }
}

impl Auditor {
    /// Checks the laws of a moment.
    fn check(&mut self, moment: Moment, run: &mut Runtime<'_>) -> Result<(), String> {
        if run.now() < self.last {
            return Err(format!("the clock stood at {:?}", self.last));
        }
        memory(run)?;
        match moment {
            Moment::Formed { pool, worker } => formed(run, pool, worker)?,
            Moment::Settled => {
                idle(run)?;
                stations(run)?;
                self.links(run)?;
            }
        }
        self.last = run.now();
        Ok(())
    }

    /// Transfers move what they are, no faster than their links.
    fn links(&mut self, run: &mut Runtime<'_>) -> Result<(), String> {
        let elapsed = run.now().ms_since(self.moved_to);
        self.moved_to = run.now();
        let Some(handoffs) = run.requests_between() else { return Ok(()) };
        handoffs.audit()?;
        let now_moving = handoffs.moving();
        self.most_moving = self.most_moving.max(now_moving.len());
        for (whole, moved, rate) in self.moving.values_mut() {
            *moved += *rate * elapsed;
            if *moved > *whole * (1.0 + ROUNDING) + ROUNDING {
                return Err(format!("{moved} moved of a transfer of {whole}"));
            }
        }
        let mut still = BTreeMap::new();
        for (id, left, rate) in now_moving {
            let (whole, moved, _) = self.moving.remove(&id).unwrap_or((left, 0.0, 0.0));
            still.insert(id, (whole, moved, rate));
        }
        for (whole, moved, rate) in std::mem::replace(&mut self.moving, still).into_values() {
            if rate.is_finite() && moved < whole * (1.0 - ROUNDING) - ROUNDING {
                return Err(format!("a transfer of {whole} ended after {moved}"));
            }
        }
        Ok(())
    }
}

/// Memory is conserved on every rank and in every tier.
fn memory(run: &Runtime<'_>) -> Result<(), String> {
    for pool in run.pools() {
        for (index, rank) in pool.ranks().iter().enumerate() {
            rank.audit().map_err(|found| format!("rank {}: {found}", pool.number(index)))?;
        }
    }
    run.tiers().map_or(Ok(()), crate::sim::tiers::Tiers::audit)
}

/// A pass leaves nothing undone that fits, and ends no earlier than it starts.
fn formed(run: &Runtime<'_>, pool: usize, worker: usize) -> Result<(), String> {
    let pool = &run.pools()[pool];
    for rank in pool.workers().taking_part(worker) {
        let standing = match pool.workers().prefill_interval() {
            1 => Standing::Computing,
            _ => Standing::PromptsMayWait,
        };
        let formed = pool.ranks()[*rank].formed();
        if formed.start != run.now() || formed.end < formed.start {
            return Err(format!("a pass from {:?} to {:?}", formed.start, formed.end));
        }
        let named = |found| format!("rank {}: {found}", pool.number(*rank));
        pool.ranks()[*rank].audit_work(standing).map_err(named)?;
    }
    Ok(())
}

/// No worker stands still that has something to do.
fn idle(run: &Runtime<'_>) -> Result<(), String> {
    for pool in run.pools() {
        for (index, rank) in
            pool.ranks().iter().enumerate().filter(|(rank, _)| !pool.is_busy(*rank))
        {
            let named = |found| format!("idle rank {}: {found}", pool.number(index));
            rank.audit_work(Standing::Idle).map_err(named)?;
        }
    }
    Ok(())
}

/// What a rank keeps or sets apart for a hand-off belongs to a request that is at that station, and the reverse.
fn stations(run: &mut Runtime<'_>) -> Result<(), String> {
    let Some(handoffs) = run.requests_between() else { return Ok(()) };
    let mut expected: BTreeMap<(WorkerRole, usize), Stations> = BTreeMap::new();
    let mut computing: BTreeSet<(usize, u64)> = BTreeSet::new();
    for flow in handoffs.flows() {
        let (request, times) = (flow.ticket.request, flow.times);
        let station = |role, rank: Option<usize>| (role, rank.expect("a station has a rank"));
        computing.extend(flow.source.filter(|_| times.held.is_none()).map(|rank| (rank, request)));
        if times.held.is_some() && times.released.is_none() {
            let source = station(WorkerRole::Prefill, flow.source);
            expected.entry(source).or_default().held.insert(request);
        }
        if flow.destination.is_some() && times.activated.is_none() {
            let destination = station(WorkerRole::Decode, flow.destination);
            let stations = expected.entry(destination).or_default();
            let is_reserved = times.reserved.is_some();
            let at = if is_reserved { &mut stations.reserved } else { &mut stations.pending };
            at.insert(request);
        }
    }
    for pool in run.pools() {
        for (index, rank) in pool.ranks().iter().enumerate() {
            let expected = expected.remove(&(pool.role(), index)).unwrap_or_default();
            let mut found = rank.stations();
            // SGLang's cache keeps a prompt from the start of the pass that ends it.
            let is_prefill = pool.role() == WorkerRole::Prefill && pool.is_busy(index);
            found.held.retain(|request| !is_prefill || !computing.contains(&(index, *request)));
            if found != expected {
                let rank = pool.number(index);
                return Err(format!("rank {rank} has {found:?}, hand-offs say {expected:?}"));
            }
        }
    }
    let lost: BTreeSet<_> = expected.into_keys().collect();
    if lost.is_empty() { Ok(()) } else { Err(format!("hand-offs at ranks that are not: {lost:?}")) }
}
