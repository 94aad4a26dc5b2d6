//! `bench parity`: how far this program agrees with recorded answers, case by case.
//!
//! A case is a recording ([`recording`]) that somebody answers ([`answer`]); who answers is the one thing that a live engine changes.

mod answer;
mod command;
mod recording;
mod table;

pub(super) use command::run;
