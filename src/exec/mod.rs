//! Running jobs: side by side, each single-threaded, results by index; a cache of finished ones; events for whoever watches.
//!
//! Owns the pool (the only home of `rayon`), the result cache and the traces that jobs share. Knows nothing of reports: the cache
//! holds files by name, the pool returns what its jobs return.

mod admit;
mod cache;
mod capability;
mod command;
mod corpora;
mod derived;
mod engines;
mod error;
mod event;
mod executor;
pub mod export;
pub mod live;
mod partition;
mod planted;
mod pool;
pub mod runner;

pub use admit::{cautions, refusals};
pub use cache::{Cache, CachedFiles, Lookup};
pub(crate) use command::{CommandError, run_command};
pub use corpora::{Corpora, FirstRows, LoadedTrace, Reading};
pub use derived::DerivedRoot;
pub(crate) use derived::copy_folder;
pub use engines::Engines;
pub use error::{EndElsewhere, JobError};
pub use event::{Board, Ending, Event, Listener, Origin};
pub use executor::{Executor, Native};
pub use partition::{Partition, PartitionError, PartitionRule};
pub use planted::{Perturbation, Planted};
pub use pool::{guard, run_by_index};
