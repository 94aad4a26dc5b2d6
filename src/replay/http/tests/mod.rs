//! Every knob by its effect, against servers of raw bytes.

mod limits;
mod pooling;
mod proxies;
mod secrets;
mod secured;
mod server;
mod stamps;
