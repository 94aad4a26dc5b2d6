//! The server over real sockets: bytes and counts, and that nothing is early.

mod faults;
mod live;
mod secured;
mod simulated;
mod streams;
mod support;
