//! Options that are checked before the configuration is read.

use crate::cli::args::{PredictArgs, Unavailable};
use crate::diag::{Bag, Code, Problem};
use crate::plan::Compat;

/// The stacks of this build.
const STACKS: [&str; 1] = ["engine"];

/// Returns the reference behaviour that is asked for.
///
/// # Errors
/// Each option that this build lacks, by name.
pub(super) fn check(args: &PredictArgs) -> Result<Compat, Bag> {
    let mut bag = Bag::new();
    if !STACKS.contains(&args.stack.as_str()) {
        let message = format!("the stack `{}` is not installed", args.stack);
        bag.push(
            Problem::new(Code::PredictStack, message)
                .help(format!("installed stacks: {}", STACKS.join(", "))),
        );
    }
    for option in stated(&args.unavailable) {
        let message = format!("`{option}` is DynoSim's and this build lacks it");
        bag.push(Problem::new(Code::PredictUnavailable, message).help("leave it out"));
    }
    match compat(args.compat.as_deref()) {
        Ok(compat) if bag.is_empty() => Ok(compat),
        Ok(_) => Err(bag),
        Err(problem) => {
            bag.push(problem);
            Err(bag)
        }
    }
}

/// Returns the reference behaviour of a name; without one the newest.
///
/// # Errors
/// A name that is not known.
pub(in crate::cli::cmd) fn compat(stated: Option<&str>) -> Result<Compat, Problem> {
    let Some(text) = stated else { return Ok(Compat::NEWEST) };
    text.parse().map_err(|()| {
        let known: Vec<&str> = Compat::ALL.iter().map(|known| known.name()).collect();
        let message = format!("the behaviour `{text}` is not known");
        Problem::new(Code::PredictCompat, message)
            .help(format!("known behaviours: {}", known.join(", ")))
    })
}

/// Returns the names of the options that are given.
fn stated(unavailable: &Unavailable) -> Vec<&'static str> {
    [
        ("--detail", unavailable.detail.is_some()),
        ("--detail-top-n", unavailable.detail_top_n.is_some()),
        ("--diagnostics", unavailable.diagnostics.is_some()),
        ("--online", unavailable.online),
    ]
    .into_iter()
    .filter_map(|(name, given)| given.then_some(name))
    .collect()
}
