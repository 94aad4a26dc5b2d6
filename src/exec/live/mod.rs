//! Live traffic as a job: its wire plan, the endpoint that it goes to, and the run.
//!
//! Owns what of the surroundings a live run may use ([`LiveEnvironment`]) and the server in `bench` itself where a scenario names it.
//! How requests are made and paced is `replay`'s.

mod environment;
mod error;
mod plans;
mod send;

pub use environment::{LiveEnvironment, ProxyVariable};
pub use error::LiveError;
pub use plans::WirePlans;
pub use send::{check, send};
