//! One job while it runs: the event loop over its pools.
//!
//! A pool is the workers of one role with their router: aggregated jobs have one, disaggregated ones a prefill and a decode pool.
//! At each instant, until nothing changes: internal work of idle engines is done, passes that end take effect by (pool, worker),
//! transfers end and hand-offs go on, ready requests are released and placed, idle workers start passes, prefill workers first.
//! So an arrival at the very end of a pass joins the next one; one that is handed over is placed a round later, and does not.
//! Source: spec/SIMULATION.md §1.2–1.7.

mod dead_end;
mod event_loop;
mod finish;
mod hand_over;
mod live;
mod look;
mod pool;
#[cfg(test)]
mod watch;

pub(crate) use event_loop::Runtime;
pub(crate) use pool::{Pool, PoolConfig};
#[cfg(test)]
pub(crate) use watch::{Moment, Watcher};
