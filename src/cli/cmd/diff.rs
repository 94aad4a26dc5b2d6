//! `bench diff`: compare two runs, or a run and a golden, metric by metric.

use crate::cli::args::{DiffArgs, Format};
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{Code, Problem};
use crate::gate::{Side, diff_json, diff_table, differences, measured_diff_table};

use super::prepared::refuse_partial;

/// Runs the command.
pub(super) fn run(args: &DiffArgs, _context: &Context) -> Result<Exit, Failure> {
    refuse_partial(&args.left)?;
    refuse_partial(&args.right)?;
    let (left, right) = (Side::read(&args.left)?, Side::read(&args.right)?);
    if let (Some(a), Some(b)) = (&left.definition, &right.definition)
        && a != b
    {
        let message = format!("`{}` uses `{a}`, `{}` uses `{b}`", left.name, right.name);
        return Err(Failure::new(Exit::NoVerdict, Problem::new(Code::DiffDefinition, message)));
    }
    let found = differences(&left, &right);
    match args.format {
        Format::Table => {
            let measured = measured_diff_table(&left, &right).map(|table| format!("\n{table}"));
            print(diff_table(&left, &right, &found) + &measured.unwrap_or_default())?;
        }
        Format::Json => print(diff_json(&left, &right, &found))?,
    }
    Ok(if found.is_empty() { Exit::Success } else { Exit::Drift })
}
