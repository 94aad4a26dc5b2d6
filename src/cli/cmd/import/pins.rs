//! The pins of an imported scenario: those that are there, and the one that a trace gets.

use std::path::Path;

use crate::deployment::{Timing, Worker, Workers};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::pin::{ModelPin, PinKind, Registry};
use crate::plan::{PoolInputs, SimulationJob};
use crate::scenario::dynosim::TraceFormat;
use crate::scenario::dynosim::{Prediction, TraceFile};
use crate::scenario::export::quoted;
use crate::trace::{Shard, TimestampBasis, TraceFormat as Format, count_rows, is_named_packed};

/// A pin's name and digest.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// Its name.
    pub(super) name: String,
    /// Its digest.
    pub(super) digest: Sha256,
}

/// Returns the model's pin: the stated one, or the one that the configuration's name means.
pub(super) fn model(
    prediction: &Prediction,
    registry: &Registry,
    stated: Option<&str>,
) -> Result<Named, Bag> {
    let named = |name: &str| -> Result<Named, Bag> {
        let pin = registry.model(name).map_err(Bag::from)?;
        Ok(Named { name: name.to_owned(), digest: pin.digest() })
    };
    if let Some(name) = stated {
        return named(name);
    }
    let wanted = &prediction.deployment.model;
    let known = registry.names(PinKind::Model)?;
    for name in &known {
        if means(wanted, name, &registry.model(name).map_err(Bag::from)?) {
            return named(name);
        }
    }
    Err(unpinned(prediction, "model", wanted, &known).into())
}

/// Returns the hardware's pin: the stated one, or the one of the configuration's name.
pub(super) fn hardware(
    prediction: &Prediction,
    registry: &Registry,
    stated: Option<&str>,
) -> Result<Named, Bag> {
    let name = stated.unwrap_or(&prediction.deployment.hardware);
    let known = registry.names(PinKind::Hardware)?;
    if !known.iter().any(|known| known == name) {
        let lacking = unpinned(prediction, "hardware", name, &known);
        return Err(if stated.is_some() { of_option(&lacking, "hardware") } else { lacking }.into());
    }
    let pin = registry.hardware(name).map_err(Bag::from)?;
    Ok(Named { name: name.to_owned(), digest: pin.digest() })
}

/// Returns whether a worker's passes or pool come from a table or from the model.
pub(super) fn needs_tables(prediction: &Prediction) -> bool {
    let needs = |worker: &Worker| matches!(worker.timing, Timing::Default);
    match &prediction.deployment.workers {
        Workers::Aggregated(worker) => needs(worker),
        Workers::Disaggregated { prefill, decode } => needs(prefill) || needs(decode),
    }
}

/// Returns the pins of the tables that price a job, by name.
pub(super) fn tables(
    job: &SimulationJob,
    registry: &Registry,
) -> Result<Vec<(String, Sha256)>, Bag> {
    let mut tables = Vec::new();
    for name in registry.names(PinKind::Timing)? {
        let digest = registry.timing(&name).map_err(Bag::from)?.digest();
        let prices =
            |pool: &PoolInputs| pool.table.as_ref().is_some_and(|table| table.digest == digest);
        if job.pools.iter().any(prices) {
            tables.push((name, digest));
        }
    }
    Ok(tables)
}

/// Returns whether a model's name means a pin: its own name, its repository, or either without who publishes it.
fn means(wanted: &str, name: &str, pin: &ModelPin) -> bool {
    let plain = |text: &str| {
        let last = text.rsplit('/').next().unwrap_or(text).to_lowercase();
        last.strip_prefix("meta-").map_or(last.clone(), str::to_owned)
    };
    pin.is_called(wanted) || plain(wanted) == plain(name) || plain(wanted) == plain(&pin.repository)
}

/// Returns the refusal of something without a pin.
fn unpinned(prediction: &Prediction, kind: &str, name: &str, known: &[String]) -> Problem {
    let place = prediction.place_named_in(kind).unwrap_or(&prediction.engine_place);
    let message = format!("the project has no pin of the {kind} `{name}`");
    let problem = place.problem(Code::ImportUnpinned, message, "named here");
    problem.help(format!(
        "write `pins/{kind}` for it, or name one that stands for it with `--{kind} PIN`; known are {}",
        known.join(", ")
    ))
}

/// Returns the refusal of a pin that the command line names: the configuration has no part in it.
fn of_option(lacking: &Problem, kind: &str) -> Problem {
    let problem = Problem::new(lacking.code(), format!("`--{kind}`: {}", lacking.message()));
    problem.help(lacking.help_text().unwrap_or_default())
}

/// Returns the pin of a trace: one of the project that has the same bytes, or one that is written there with a copy of the file.
pub(super) fn trace(
    trace: &TraceFile,
    registry: &Registry,
    written: &mut Vec<String>,
) -> Result<Named, Bag> {
    let shard = Shard::load(Path::new(&trace.path), &trace.path)
        .map_err(|problem| trace.place.adopt(problem, "named here"))?;
    let text = pin_text(trace, &shard)?;
    let base = plain_name(&trace.path);
    let folder = registry.root().join(PinKind::Trace.folder());
    // A name that is taken by the same pin is that pin; one that is taken by another gets a number.
    for number in 1_u32.. {
        let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        let text = text.named(&name);
        let file = folder.join(format!("{name}.kdl"));
        match std::fs::read_to_string(&file) {
            Ok(found) if found == text => {}
            Ok(_) => continue,
            Err(_) => {
                let failed = |error: std::io::Error| {
                    let message = format!("cannot write `{}`: {error}", file.display());
                    Bag::from(Problem::new(Code::ImportOutput, message))
                };
                std::fs::create_dir_all(&folder).map_err(failed)?;
                let data = folder.join(shard_name(&name, &trace.path));
                std::fs::write(&data, shard.bytes()).map_err(failed)?;
                std::fs::write(&file, text).map_err(failed)?;
                written.extend([data.display().to_string(), file.display().to_string()]);
            }
        }
        let pin = registry.trace(&name).map_err(Bag::from)?;
        return Ok(Named { name, digest: pin.digest() });
    }
    unreachable!("some number is free")
}

/// A trace's pin without its name.
struct PinText {
    format: &'static str,
    block_size: Option<u32>,
    states_unit: bool,
    basis: Option<&'static str>,
    path: String,
    digest: Sha256,
    bytes: usize,
    content: Option<Sha256>,
    rows: u64,
}

fn pin_text(trace: &TraceFile, shard: &Shard) -> Result<PinText, Bag> {
    let format = match trace.format {
        TraceFormat::MooncakeDelta => Format::MooncakeDelta,
        TraceFormat::Mooncake => Format::Mooncake,
        TraceFormat::AgenticMooncake => Format::AgenticMooncake,
        TraceFormat::AppliedComputeAgentic => Format::AppliedComputeAgentic,
        TraceFormat::Dynamo => Format::Dynamo,
        TraceFormat::Weka => Format::Weka,
    };
    if !trace.more.is_empty() {
        let message = "a trace of more than one file is pinned by hand, a `shard` a file";
        return Err(trace.place.problem(Code::ImportUnsayable, message, "named here").into());
    }
    let unpacked = shard.unpack()?;
    Ok(PinText {
        format: format.name(),
        block_size: (trace.is_block_size_stated || !embeds_block_size(format))
            .then(|| trace.block_size.get()),
        states_unit: matches!(format, Format::Mooncake | Format::MooncakeDelta),
        basis: (trace.basis != TimestampBasis::Auto).then(|| trace.basis.name()),
        path: trace.path.clone(),
        digest: Sha256::of(shard.bytes()),
        bytes: shard.bytes().len(),
        content: is_named_packed(&trace.path).then(|| Sha256::of(&unpacked)),
        rows: count_rows(&unpacked, format),
    })
}

/// Returns whether the files of a format say what one hash stands for.
const fn embeds_block_size(format: Format) -> bool {
    matches!(format, Format::Weka | Format::Dynamo)
}

impl PinText {
    /// Returns the pin's file.
    fn named(&self, name: &str) -> String {
        let block_size =
            self.block_size.map_or_else(String::new, |size| format!("    block-size {size}\n"));
        let basis = self.basis.map_or_else(String::new, |basis| {
            format!("    nested-timestamp-basis {}\n", quoted(basis))
        });
        let unit = if self.states_unit { "    timestamps unit=\"ms\"\n" } else { "" };
        let content = self
            .content
            .map_or_else(String::new, |digest| format!(" content-sha256=\"{}\"", digest.hex()));
        format!(
            "trace {} lenient=#true {{\n    about \"Imported with a DynoSim configuration.\"\n    format \"{}\"\n\
             {block_size}{basis}{unit}    shard {} sha256=\"{}\" bytes={}{content}\n    requests {}\n}}\n",
            quoted(name),
            self.format,
            quoted(&shard_name(name, &self.path)),
            self.digest.hex(),
            self.bytes,
            self.rows,
        )
    }
}

/// Returns the name of the copy beside the pin.
fn shard_name(name: &str, path: &str) -> String {
    let end = path.rsplit_once('.').filter(|_| is_named_packed(path));
    format!("{name}.jsonl{}", end.map_or(String::new(), |(_, end)| format!(".{end}")))
}

/// Returns a pin's name for a file: lower case letters, digits and `-`.
fn plain_name(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split('.').next().unwrap_or(file);
    let plain: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let trimmed = plain.trim_matches('-');
    if trimmed.is_empty() { "trace".to_owned() } else { trimmed.to_owned() }
}
