//! The codes of all areas as one type.

use super::cli::cli;
use super::engines::engines;
use super::gates::gates;
use super::graphs::graphs;
use super::kdl::kdl;
use super::parts::parts;
use super::pins::pins;
use super::predictions::predictions;
use super::runs::runs;
use super::scenarios::scenarios;
use super::traces::traces;
use crate::diag::Severity;
use crate::diag::declare::{codes, collect};

// In the order of docs/diagnostics.md.
collect! {
    []
    cli kdl pins traces graphs predictions scenarios runs engines parts gates
}

impl std::str::FromStr for Code {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(())
    }
}
