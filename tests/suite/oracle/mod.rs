//! `bench predict` against recorded answers of the reference: one test a case, the same tolerances for all.
//!
//! The cases are in `tests/fixtures/oracle`; its `PROVENANCE.md` says where they come from.

mod case;
mod compare;
mod lacking;
mod predicted;
mod refused;
mod specs;
