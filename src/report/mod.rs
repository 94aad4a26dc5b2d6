//! What a run says to people and to other programs.

pub(crate) mod dynosim;
