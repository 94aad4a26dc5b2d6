//! Arguments of `graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::graph::{Drawing, Graph, IdleGapCap};
use crate::units::Nanos;

/// Arguments of `graph`.
#[derive(Debug, Clone, Args)]
pub(crate) struct GraphArgs {
    /// Files of one recording or graph, plain, gzip or Zstandard; folders and starts of names of segments
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The graph to draw, by the name of its root session [default: all]
    #[arg(long, value_name = "ID")]
    pub(crate) tree: Option<String>,

    /// How to draw it
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = DrawingFormat::Dot)]
    pub(crate) format: DrawingFormat,

    /// What the files hold [default: weka or dynamo, by their first record]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) input: Option<GraphInput>,

    /// The longest idle time of a tree that is kept, or `none` to keep all
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = cap)]
    pub(crate) idle_gap_cap: IdleGapCap,
}

impl GraphArgs {
    /// Returns whether a graph was asked for.
    pub(crate) fn is_wanted(&self, graph: &Graph) -> bool {
        self.tree.as_ref().is_none_or(|tree| *tree == graph.id)
    }
}

/// How graphs are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrawingFormat {
    /// For Graphviz
    Dot,
    /// For Mermaid
    Mermaid,
    /// For programs
    Json,
    /// A line each: calls, edges, and what a prefix cache that forgets nothing would serve
    Table,
}

/// What files of graphs hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphInput {
    /// Weka's traces of coding agents
    Weka,
    /// Dynamo's request trace
    Dynamo,
    /// Sessions with forks and spawns, one a line
    DagJsonl,
    /// Graphs and traces in YAML or JSON
    Native,
}

impl DrawingFormat {
    /// Returns the drawing; absent for the table.
    pub(crate) const fn drawing(self) -> Option<Drawing> {
        match self {
            Self::Dot => Some(Drawing::Dot),
            Self::Mermaid => Some(Drawing::Mermaid),
            Self::Json => Some(Drawing::Json),
            Self::Table => None,
        }
    }
}

/// Units of a duration and their milliseconds; longer ones first, so that `ms` is not read as `s`.
const UNITS: [(&str, f64); 4] = [("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6)];

/// Reads a cap: a number and a unit, or `none`.
pub(super) fn cap(text: &str) -> Result<IdleGapCap, String> {
    if text == "none" {
        return Ok(IdleGapCap::None);
    }
    let time = milliseconds(text).and_then(|ms| Nanos::from_ms(ms).ok());
    time.map(IdleGapCap::At).ok_or_else(|| "write `60s`, `500ms` or `none`".to_owned())
}

/// Reads a number and a unit as milliseconds; nothing where it is no such, or nothing that a clock holds.
pub(super) fn milliseconds(text: &str) -> Option<f64> {
    let (number, ms) = UNITS.iter().find_map(|(unit, ms)| Some((text.strip_suffix(unit)?, *ms)))?;
    let found = number.parse::<f64>().ok()? * ms;
    Nanos::from_ms(found).ok().map(|_| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_a_duration_or_none() {
        let at = |ns| Ok(IdleGapCap::At(Nanos::new(ns)));
        assert_eq!(cap("60s"), at(60_000_000_000));
        assert_eq!(cap("1.5ms"), at(1_500_000));
        assert_eq!(cap("0s"), at(0));
        assert_eq!(cap("none"), Ok(IdleGapCap::None));
        for wrong in ["", "60", "s", "-1s", "NaNs", "1 d"] {
            assert!(cap(wrong).is_err(), "{wrong}");
        }
    }
}
