//! `bench parity`: how far this program agrees with recorded answers, case by case.
//!
//! A case is a recording ([`recording`]) that somebody answers ([`answer`]); who answers is the one thing that a live
//! engine changes: with one ([`live`]) a case's job runs on it and on `native`, and so do the jobs of scenarios.

mod answer;
mod areas;
mod command;
mod fidelity;
mod live;
mod recording;
mod sides;
mod table;

pub(super) use command::run;
pub(super) use fidelity::{PAGE as FIDELITY, page as fidelity};
