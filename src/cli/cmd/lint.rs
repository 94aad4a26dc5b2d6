//! `bench lint`: say everything that is wrong with a scenario, without running it.

use crate::cli::args::LintArgs;
use crate::cli::{Context, Exit, Failure};
use crate::diag::Bag;
use crate::plan::lint_plan;

use super::plan::not_runnable;

/// Runs the command: warnings leave exit 0, mistakes are exit 2.
pub(super) fn run(args: &LintArgs, context: &Context) -> Result<Exit, Failure> {
    let mut findings = Bag::new();
    for file in &args.files {
        match lint_plan(file, context.root()) {
            Ok((plan, warnings)) => {
                let (jobs, shown) = (plan.jobs.len(), file.display());
                let ending = if jobs == 1 { "" } else { "s" };
                context.note(&format!("{shown}: plans {jobs} job{ending}"));
                findings.extend(warnings);
                match not_runnable(&plan) {
                    Ok(bag) | Err(bag) => findings.extend(bag),
                }
            }
            Err(mistakes) => findings.extend(mistakes),
        }
    }
    if findings.has_errors() {
        return Err(findings.into());
    }
    context.report(findings);
    Ok(Exit::Success)
}
