//! `bench explain`: why two runs differ, from the first event that does to the last request that it moved.
//!
//! What a side lacks is made: a job is a pure function of its key, so a run without a transcript, or a golden with nothing but
//! digests, is run again, and believed only where it gives the digest that was recorded.

mod again;
mod command;
mod evidence;
mod subject;

pub(super) use command::run;
