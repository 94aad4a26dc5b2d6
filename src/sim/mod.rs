//! The native simulator: engines in virtual time.
//!
//! One job is single-threaded and a pure function of its description. Owns the clock, the event loop, engines, KV pools, timing
//! models and routers; knows nothing of scenarios, files or reports.

mod config;
mod engine;
mod error;
mod handoff;
mod instances;
mod kv;
mod lacking;
mod limitation;
mod link;
mod live;
mod offer;
mod options;
mod plays;
mod probe;
mod router;
mod run;
mod runtime;
mod sessions;
mod ticket;
mod tiers;
mod timing;
mod traffic;
mod transcript;
mod worker;

#[cfg(test)]
mod tests;

pub use error::{SimError, Unsupported};
pub use lacking::unsupported;
pub use limitation::{LIMITATIONS, Limitation};
pub use live::{Arriving, Live, LiveEnd, LiveTokens, live};
pub use offer::{Offer, OfferedName, OfferedTurn};
pub use options::{Options, Progress};
pub use probe::{LinkSharing, LinkState, Moment, Moving, Probe, RankState, Seen};
pub use run::{run, run_timed};
pub use timing::{DecodeWork, PassTiming, PrefillWork, TableTiming};
