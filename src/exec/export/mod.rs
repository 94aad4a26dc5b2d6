//! Making a timing table from the reference's estimator, which is Python: a child process that answers passes, and what is asked of it.
//!
//! Owns the protocol (`touchstone.timing-export/1`, described in docs/guide.md), the choice of points and the check of the
//! result. Knows nothing of pins or of where the table goes.

mod child;
mod document;
mod error;
mod knots;
mod measured;
mod sampling;

#[cfg(test)]
mod tests;

pub use child::{Announced, Child, ExportSubject, PROTOCOL};
pub use document::document;
pub use error::ExportError;
pub use sampling::{Estimator, Pass, PassAnswer, Sampled, TableError, check, sample};
