//! Live runs from plan to figures, against the server: what is sent, in which order, with what in it, and never early.

mod answers;
mod ends;
mod figures;
mod pacing;
mod support;
mod virtually;
mod warmups;
