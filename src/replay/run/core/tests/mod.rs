//! The machine played through in virtual time.

mod caps;
mod gates;
mod lanes;
mod laws;
mod lowered;
mod open_loop;
mod phases;
mod player;
