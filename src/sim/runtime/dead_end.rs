//! Why a run can never come to its end.

use crate::deployment::WorkerRole;
use crate::diag::Advice;
use crate::sim::engine::{Blocked, Cause};
use crate::sim::error::SimError;

use super::Runtime;
use super::event_loop::MOST_FRUITLESS_PREEMPTIONS;

impl Runtime<'_> {
    /// Returns that nothing can happen any more, and which request keeps it from going on.
    ///
    /// Of two pools the second is asked first: a prompt that it has no room for is held in the first.
    pub(super) fn dead_end(&self) -> SimError {
        let stuck = self.pools.iter().rev().find_map(|pool| Some((pool, pool.blocked()?)));
        let Some((pool, (rank, blocked))) = stuck else {
            return self.ended_dead("no rank has work".to_owned(), None);
        };
        let reason = format!(
            "{} on {} {rank} {}",
            self.named(&blocked),
            rank_of(pool.role()),
            blocked.cause.told()
        );
        self.ended_dead(reason, Some(blocked.cause.advice(pool.role())))
    }

    /// Returns that requests of a pool preempt each other for ever.
    pub(super) fn fruitless(&self, pool: usize) -> SimError {
        let pool = &self.pools[pool];
        let capacity = pool.ranks().first().map_or(0, crate::sim::engine::Rank::capacity);
        let reason = format!(
            "{MOST_FRUITLESS_PREEMPTIONS} passes preempted requests and none produced a token: the {capacity} KV blocks of each {} are too few for the next token of any of them",
            rank_of(pool.role())
        );
        let lack = Cause::Blocks { needed: capacity, free: 0, capacity };
        self.ended_dead(reason, Some(lack.advice(pool.role())))
    }

    /// Returns a dead end at this instant.
    pub(super) fn ended_dead(&self, reason: String, advice: Option<Advice>) -> SimError {
        let (at_ms, unfinished) = (self.now.as_ms(), self.in_flight);
        SimError::DeadEnd { at_ms, unfinished, reason, advice }
    }

    /// Returns a request by its number, and where it stands in the trace.
    fn named(&self, blocked: &Blocked) -> String {
        let (_, line) = self.traffic.sessions().name(blocked.ticket.turn);
        let line = line.map_or_else(String::new, |line| format!(" (line {line} of the trace)"));
        format!("request {}{line}", blocked.ticket.request)
    }
}

/// Returns what a rank of a role is called.
const fn rank_of(role: WorkerRole) -> &'static str {
    match role {
        WorkerRole::Aggregated => "rank",
        WorkerRole::Prefill => "prefill rank",
        WorkerRole::Decode => "decode rank",
    }
}
