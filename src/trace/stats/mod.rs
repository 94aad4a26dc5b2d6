//! What is in a trace: counts, lengths, prefix reuse and ties. Pure functions of a corpus, in exact integer arithmetic.

mod distribution;
mod figures;
mod prefix;
mod ties;

#[cfg(test)]
mod tests;

pub use distribution::Distribution;
pub use figures::TraceStats;
pub use prefix::PrefixHit;
pub use ties::Ties;
