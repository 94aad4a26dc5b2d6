//! What is odd about a job that plans: settings that nothing reads, and requests that can never be served.
//!
//! A rule looks at the job as it was decoded; whether the file states a setting is asked only where the rule holds otherwise, so
//! that sweeps of many jobs cost little.

mod all;
mod case;
mod deployment;
mod ledger;
mod serving;
mod worker;

use all::doubts;
pub(super) use case::Case;
use case::Doubt;
pub(super) use ledger::Ledger;
