//! The server: its thread, its connections, and what it does with a request.

mod connection;
mod error;
mod listener;
mod service;
mod simulated;
mod start;
mod tls;

pub use error::MockError;
pub use listener::{Address, Bind};
pub use start::{Behaviour, MockServer, Settings, start};
pub use tls::{Credentials, Security};
