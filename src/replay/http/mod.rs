//! The client: requests as given, over connections of its own, with every instant taken where bytes are read.
//!
//! Owns connections (TCP, Unix sockets, TLS, a proxy), the pool of those that lie idle, HTTP/1.1 and HTTP/2, timeouts and stamps. What
//! an answer says is [`super::answer`]'s, when a request is due is the run's.

mod cancel;
mod client;
mod connect;
mod deadline;
mod destination;
mod error;
mod exchange;
mod key;
mod link;
mod pool;
mod redaction;
mod stamped;
#[cfg(test)]
mod tests;
mod tls;
mod tunnel;
mod turns;
mod words;

pub use client::{Client, Surroundings};
pub use error::ClientError;
pub use key::ApiKey;
