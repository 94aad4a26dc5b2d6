//! Who serves a request.

mod round_robin;

pub(crate) use round_robin::RoundRobin;
