//! Connections that lie idle.

use std::sync::{Mutex, PoisonError};

use super::link::Link;
use crate::units::Nanos;

/// How long a connection may lie idle: less than the five seconds after which the servers of Python's frameworks close one.
const IDLE: Nanos = Nanos::new(4_000_000_000);

/// Connections that lie idle, the last used at the end. It bounds nothing: there are as many as were in use at once.
#[derive(Debug, Default)]
pub(super) struct Pool {
    idle: Mutex<Vec<(Nanos, Link)>>,
}

impl Pool {
    /// Returns the connection that was used last and still stands; drops those that do not.
    pub(super) fn take(&self, now: Nanos) -> Option<Link> {
        loop {
            let (since, mut link) =
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            let is_fresh = now.since(since).is_none_or(|idle| idle < IDLE);
            if is_fresh && link.is_reusable() {
                return Some(link);
            }
        }
    }

    /// Keeps a connection for the next request, unless it is over.
    pub(super) fn keep(&self, now: Nanos, mut link: Link) {
        if link.is_reusable() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push((now, link));
        }
    }
}
