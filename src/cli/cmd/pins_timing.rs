//! `bench pins timing export`: a table from the estimator of an installed `aisimulate`, pinned with where it comes from.

use std::path::Path;

use crate::cli::args::ExportArgs;
use crate::cli::{Context, Exit, Failure, print};
use crate::deployment::{Backend, Parallelism};
use crate::diag::{Bag, Code, Problem};
use crate::exec::export::{
    Announced, Child, ExportError, ExportSubject, PROTOCOL, TableError, check, document, sample,
};
use crate::pin::{ModelPin, PassTable, PinKind, Registry, Scope};
use crate::scenario::edit;
use crate::trace::pack_gzip;

use super::forbid::forbid_pins_write;

/// Runs the command; stdout names the pin with its digest, and how far the table is off between its points.
pub(super) fn export(
    args: &ExportArgs,
    registry: &Registry,
    context: &Context,
) -> Result<Exit, Failure> {
    let model = registry.model(&args.model).map_err(Bag::from)?;
    registry.hardware(&args.hardware).map_err(Bag::from)?;
    let parallelism = Parallelism {
        tensor: args.tensor,
        pipeline: args.pipeline,
        attention_data: args.attention_data,
        moe_tensor: args.moe_tensor,
        moe_expert: args.moe_expert,
        ..Parallelism::default()
    };
    if let Err(error) = model.check_moe(&parallelism) {
        return Err(Problem::new(Code::TimingExport, error.to_string())
            .help("give `--moe-tensor` and `--moe-expert` so that their product fits")
            .into());
    }
    let name = args.name.clone().unwrap_or_else(|| default_name(args, &model));
    let pin = registry.root().join(PinKind::Timing.file(&name));
    forbid_pins_write(Code::PinForbidden, &pin, context)?;
    if pin.exists() {
        let message = format!("there is a timing pin `{name}` already");
        let help = "remove it first, or give another `--name`";
        return Err(Problem::new(Code::TimingExport, message).help(help).into());
    }
    let subject = subject(args, &model);
    let (bytes, announced, errors) = made(args, &name, &subject).map_err(|error| failed(&error))?;
    write(registry, (&name, &pin), &bytes, &pin_text(&name, args, &subject, &announced))?;
    let pinned = registry.timing(&name).map_err(Bag::from)?;
    let [prefill, decode] = errors.map(shown);
    print(format!(
        "timing {name}: {}\nprefill off by {prefill}\ndecode off by {decode}\n",
        pinned.digest()
    ))?;
    Ok(Exit::Success)
}

/// Returns what the estimator is asked to time.
fn subject(args: &ExportArgs, model: &ModelPin) -> ExportSubject {
    let names = model.aliases.iter().chain([&model.repository]).cloned();
    ExportSubject {
        protocol: PROTOCOL,
        models: names.collect(),
        hardware: args.hardware.clone(),
        backend: Backend::from(args.backend).name().to_owned(),
        backend_version: args.backend_version.clone(),
        tensor: args.tensor,
        pipeline: args.pipeline,
        attention_data: args.attention_data,
        moe_tensor: args.moe_tensor,
        moe_expert: args.moe_expert,
    }
}

/// Makes the table and holds it against the estimator.
fn made(
    args: &ExportArgs,
    name: &str,
    subject: &ExportSubject,
) -> Result<(Vec<u8>, Announced, [TableError; 2]), ExportError> {
    let (mut child, announced) = Child::start(&args.python, subject)?;
    let averages = announced.decode_average.as_deref() == Some("five-samples");
    let sampled = sample(&mut child, averages)?;
    let bytes = document(name, subject, &announced, &sampled);
    let table = PassTable::read(name, &bytes)
        .map_err(|problem| ExportError::Protocol { found: problem.message().to_owned() })?;
    let errors = check(&mut child, table)?;
    Ok((bytes, announced, errors))
}

/// Returns the name of a table by what it times.
fn default_name(args: &ExportArgs, model: &ModelPin) -> String {
    let backend = Backend::from(args.backend).name();
    let mut name = format!("{}.{}.{backend}.tp{}", model.name, args.hardware, args.tensor);
    for (word, factor) in [
        ("pp", args.pipeline),
        ("dp", args.attention_data),
        ("moe_tp", args.moe_tensor),
        ("moe_ep", args.moe_expert),
    ] {
        if factor > 1 {
            name.push_str(&format_args!(".{word}{factor}").to_string());
        }
    }
    name
}

/// Returns the pin's file, without the digests of the table.
fn pin_text(
    name: &str,
    args: &ExportArgs,
    subject: &ExportSubject,
    announced: &Announced,
) -> String {
    let formats = &announced.quantization;
    let backend = &subject.backend;
    let factors = [
        ("pipeline", args.pipeline),
        ("attention-data", args.attention_data),
        ("moe-tensor", args.moe_tensor),
        ("moe-expert", args.moe_expert),
    ];
    let stated = factors.iter().filter(|(_, factor)| *factor > 1);
    let others: Vec<String> = stated.map(|(word, factor)| format!(" {word}={factor}")).collect();
    let version = &announced.backend_version;
    [
        format!("timing \"{name}\" {{"),
        format!(
            "    about \"Pass times of {} on {} with {backend} {version}, sampled from AISimulate's estimator\"",
            announced.model, args.hardware
        ),
        "    format \"pass-table\"".to_owned(),
        format!("    model \"{}\"", args.model),
        format!("    hardware \"{}\"", args.hardware),
        format!("    backend \"{backend}\" version=\"{version}\""),
        format!("    parallelism tensor={}{}", args.tensor, others.concat()),
        format!(
            "    quantization weights=\"{}\" experts=\"{}\" activations=\"{}\" kv=\"{}\"",
            formats.weights, formats.experts, formats.activations, formats.kv
        ),
        format!("    shard \"{name}.json.gz\""),
        format!(
            "    origin \"{} {} (Python package), by {PROTOCOL}\"",
            announced.package, announced.package_version
        ),
        "}".to_owned(),
        String::new(),
    ]
    .join("\n")
}

/// Writes the table and its pin, and fills in the pin's digests.
fn write(
    registry: &Registry,
    (name, pin): (&str, &Path),
    bytes: &[u8],
    text: &str,
) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| {
        Problem::new(Code::TimingExport, format!("cannot write the table: {error}"))
    };
    let folder = registry.root().join(PinKind::Timing.folder());
    std::fs::create_dir_all(&folder).map_err(unwritable)?;
    std::fs::write(folder.join(format!("{name}.json.gz")), pack_gzip(bytes)).map_err(unwritable)?;
    std::fs::write(pin, text).map_err(unwritable)?;
    let described = registry.describe(PinKind::Timing, name, Scope::Missing).map_err(Bag::from)?;
    edit::replace_file(pin, &described.text)?;
    Ok(())
}

/// Returns errors in words.
fn shown(error: TableError) -> String {
    let TableError { median, p99, max } = error;
    format!("{median:.4} % at the median, {p99:.4} % at p99, {max:.4} % at the most")
}

/// Returns the failure of an export: exit 2 where the interpreter or the package is not there or has no answer, 1 where the table is
/// not good enough.
fn failed(error: &ExportError) -> Failure {
    let (exit, help) = match error {
        ExportError::NoInterpreter { .. } => (
            Exit::Refused,
            "name the interpreter with `--python`; its environment needs the package `aisimulate`",
        ),
        ExportError::Refused(_) => (
            Exit::Refused,
            "install the pinned wheel (`pip install aisimulate==0.13.0.dev202610130000000070`) for the interpreter that `--python` names, or time what it has data for",
        ),
        ExportError::Protocol { .. } => {
            (Exit::JobFailed, "docs/guide.md describes the protocol; is it the pinned version?")
        }
        ExportError::Inaccurate { .. } => {
            (Exit::JobFailed, "the estimator does not separate as tables do; nothing was written")
        }
    };
    Failure::new(exit, Problem::new(Code::TimingExport, error.to_string()).help(help))
}
