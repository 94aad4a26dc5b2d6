//! `bench pins audit` and `bench pins update`: the places in another repository that state an engine's version.

use std::path::Path;

use crate::cli::args::{Format, PinsAuditArgs, PinsUpdateArgs};
use crate::cli::{Align, Context, Exit, Failure, columns, print};
use crate::diag::{Code, Problem};
use crate::digest::canonical::{Value, object};
use crate::pin::Registry;
use crate::pin::audit::{self, Audit, Plan, Rules, StatedVersion, UpdateError};
use crate::scenario::project_root;

use super::forbid::forbid_pins_write;

/// Runs `pins audit`: stdout has every place, stderr what is wrong.
pub(super) fn audit(args: &PinsAuditArgs, context: &Context) -> Result<Exit, Failure> {
    let rules = Rules::load(&args.rules)?;
    let audit = audit::audit(folder(args)?, &rules, &registry(args, context)?)?;
    print(match args.format {
        Format::Table => places_table(&audit).into_bytes(),
        Format::Json => places_json(&audit).to_document(),
    })?;
    verdict(audit)
}

/// Runs `pins update`: stdout has what changed.
pub(super) fn update(args: &PinsUpdateArgs, context: &Context) -> Result<Exit, Failure> {
    let to = StatedVersion::parse(&args.to).ok_or_else(|| {
        let message = format!("`{}` is no version", args.to);
        Problem::new(Code::PinAuditRules, message)
            .help("write it like `0.13.0`, `0.13.0-dev.87` or `0.13.0.dev87`")
    })?;
    let rules = Rules::load(&args.audit.rules)?;
    let registry = registry(&args.audit, context)?;
    let plan = match audit::update(folder(&args.audit)?, &rules, to, &registry) {
        Ok(plan) => plan,
        Err(UpdateError::Input(bag)) => return Err(bag.into()),
        Err(UpdateError::NotClean(audit)) => return verdict(audit),
    };
    if !args.dry_run {
        for file in plan.files() {
            forbid_pins_write(Code::PinForbidden, file, context)?;
        }
        plan.write().map_err(|problem| Failure::new(Exit::JobFailed, problem))?;
    }
    print(match args.audit.format {
        Format::Table => moves_table(&plan).into_bytes(),
        Format::Json => moves_json(&plan).to_document(),
    })?;
    for left in &plan.left {
        context.note(&format!(
            "`{left}` holds digests of archives and was left; let its own tool lock it again"
        ));
    }
    Ok(if plan.left.is_empty() { Exit::Success } else { Exit::Drift })
}

/// Returns the folder to look into.
fn folder(args: &PinsAuditArgs) -> Result<&Path, Problem> {
    if args.folder.is_dir() {
        return Ok(&args.folder);
    }
    let message = format!("`{}` is no folder", args.folder.display());
    Err(Problem::new(Code::PinAuditFile, message)
        .help("give the root of the repository to look into"))
}

/// Returns the pins of the project that the rules belong to.
fn registry(args: &PinsAuditArgs, context: &Context) -> Result<Registry, Failure> {
    let root = match context.root() {
        Some(root) => root.to_owned(),
        None => project_root(&args.rules)?,
    };
    Ok(Registry::open(&root)?)
}

/// Returns the exit of an audit: 2 where something could not be read, 3 where something does not agree.
fn verdict(audit: Audit) -> Result<Exit, Failure> {
    if !audit.findings.has_errors() {
        return Ok(Exit::Success);
    }
    let exit = if audit.is_partial { Exit::Refused } else { Exit::Drift };
    Err(Failure::new(exit, audit.findings))
}

/// Returns the places as a table.
fn places_table(audit: &Audit) -> String {
    let rows = audit.rows.iter().map(|row| {
        [row.rule, &row.place, &row.states, row.verdict.name()].map(str::to_owned).to_vec()
    });
    columns(&rows.collect::<Vec<_>>(), &[Align::Left])
}

/// Returns the places as one value.
fn places_json(audit: &Audit) -> Value {
    let rows = audit.rows.iter().map(|row| {
        object([
            ("place", Value::text(&row.place)),
            ("rule", Value::text(row.rule)),
            ("states", Value::text(&row.states)),
            ("verdict", Value::text(row.verdict.name())),
        ])
    });
    object([("places", Value::List(rows.collect()))])
}

/// Returns what changes as a table.
fn moves_table(plan: &Plan) -> String {
    let rows = plan.moves.iter().map(|moved| {
        [moved.place.as_str(), &moved.from, "->", &moved.to].map(str::to_owned).to_vec()
    });
    columns(&rows.collect::<Vec<_>>(), &[Align::Left])
}

/// Returns what changes as one value.
fn moves_json(plan: &Plan) -> Value {
    let moves = plan.moves.iter().map(|moved| {
        object([
            ("from", Value::text(&moved.from)),
            ("place", Value::text(&moved.place)),
            ("to", Value::text(&moved.to)),
        ])
    });
    let left = plan.left.iter().map(Value::text).collect();
    object([("left", Value::List(left)), ("moves", Value::List(moves.collect()))])
}
