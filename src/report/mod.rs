//! From a run record to files that others can verify: reports, request records, run folders, and views for people.
//!
//! Owns the schemas of everything under `runs/`. Whatever is hashed is written by `digest::canonical` and holds nothing volatile;
//! host and times are in `provenance.json` alone.

mod artifacts;
mod build;
mod ceiling;
pub(crate) mod dynosim;
mod execute;
mod folder;
mod json;
mod junit;
#[cfg(test)]
mod laws;
mod limits;
pub mod live;
mod markdown;
mod names;
mod partial;
mod produce;
mod provenance;
mod prune;
mod read;
mod requests;
mod row;
mod run_file;
#[cfg(test)]
pub(crate) mod sample;
mod schema;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod verdict;

pub use artifacts::Artifacts;
pub use build::build;
pub(crate) use execute::outcome_of;
pub use execute::{Execution, JobResult, JobState, execute};
pub use folder::{Extent, FinishedRun, RunFolder, write_file, write_job};
pub use json::parse as parse_json;
pub(crate) use junit::escape as escape_xml;
pub use junit::junit;
pub use limits::limits;
pub use live::{LiveFiles, Measured, measured_table};
pub(crate) use markdown::escape as escape_markdown;
pub use markdown::markdown;
pub use names::{file_name, job_folder};
pub use partial::{
    PARTIAL_SCHEMA, PartialFile, PartialJob, PartialRun, Programs, Share, check as check_parts,
    collect as collect_parts, is_partial, partial_runs,
};
pub use produce::{EventLines, Producer, Traffic};
pub use provenance::{Circumstances, MergedPart, statement};
pub use prune::{Prunable, PruneReason, PruneRule, prunable};
pub use read::{Report, ReportError};
pub(crate) use row::HEADLINE;
pub use run_file::{RunFile, RunFileError, RunJob, run_file, run_name};
pub use schema::{RUN_SCHEMA, Section};
pub(crate) use table::{finish as finish_table, plain_table};
pub use table::{jobs_json, jobs_table};
pub use verdict::{JobVerdict, Verdicts};
