//! The laws of every run, on random small jobs over all that the simulator supports.
//!
//! A [`plant::Plant`] is what is drawn, [`build`] makes a job of it, the [`auditor::Auditor`] looks at every pass and every instant of
//! the run, [`outcome`] at its record. Cases are drawn from a fixed seed; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` draw others, and what
//! they find is kept beside the properties.

mod auditor;
mod build;
mod outcome;
mod plant;
mod properties;
