//! `bench pins`: list or verify the pinned inputs.

use std::path::Path;

use crate::cli::args::{Format, PinsAction, PinsArgs, TimingAction, TimingArgs};
use crate::cli::{Align, Context, Exit, Failure, columns, print};
use crate::diag::Bag;
use crate::digest::canonical::{Value, object};
use crate::pin::{Pin, PinKind, Registry};
use crate::scenario::project_root;

use super::pins_audit;

/// Runs the command.
pub(super) fn run(args: &PinsArgs, context: &Context) -> Result<Exit, Failure> {
    match &args.action {
        PinsAction::Audit(args) => pins_audit::audit(args, context),
        PinsAction::List { format } => list(&registry(context)?, *format),
        PinsAction::Update(args) => pins_audit::update(args, context),
        PinsAction::Verify { format } => verify(&registry(context)?, *format),
        PinsAction::Timing(TimingArgs { action: TimingAction::Export(args) }) => {
            super::pins_timing::export(args, &registry(context)?, context)
        }
    }
}

/// Opens the pins of the project that the working directory belongs to, or of the one named with `--root`.
fn registry(context: &Context) -> Result<Registry, Failure> {
    let root = match context.root() {
        Some(root) => root.to_owned(),
        // A file that need not exist: the search starts at the folder that would hold it.
        None => project_root(Path::new("pins"))?,
    };
    Ok(Registry::open(&root)?)
}

/// A pin by kind and name, with what came of reading it.
struct Found {
    kind: PinKind,
    name: String,
    pin: Result<Pin, Bag>,
}

/// Reads every pin, by kind and name.
fn every_pin(registry: &Registry) -> Result<Vec<Found>, Failure> {
    let mut found = Vec::new();
    for kind in PinKind::ALL.iter().copied() {
        for name in registry.names(kind)? {
            let pin = registry.pin(kind, &name).map_err(Bag::from);
            found.push(Found { kind, name, pin });
        }
    }
    Ok(found)
}

/// Lists every pin with what a scenario states of it.
fn list(registry: &Registry, format: Format) -> Result<Exit, Failure> {
    let mut wrong = Bag::new();
    let mut pins: Vec<(PinKind, String, Pin)> = Vec::new();
    for Found { kind, name, pin } in every_pin(registry)? {
        match pin {
            Ok(pin) => pins.push((kind, stated_name(name, &pin), pin)),
            Err(bag) => wrong.extend(bag),
        }
    }
    print(match format {
        Format::Table => {
            let row = |(kind, name, pin): &(PinKind, String, Pin)| {
                vec![kind.name().to_owned(), name.clone(), stated(pin)]
            };
            columns(&pins.iter().map(row).collect::<Vec<_>>(), &[Align::Left]).into_bytes()
        }
        Format::Json => {
            let pins = pins.iter().map(|(kind, name, pin)| listed(*kind, name, pin)).collect();
            object([("pins", Value::List(pins))]).to_document()
        }
    })?;
    if wrong.has_errors() { Err(wrong.into()) } else { Ok(Exit::Success) }
}

/// Returns the name by which a scenario states a pin: an engine's folder may be called after its version too.
fn stated_name(name: String, pin: &Pin) -> String {
    match pin {
        Pin::Engine(engine) => engine.name.clone(),
        Pin::Trace(_) | Pin::Hardware(_) | Pin::Model(_) | Pin::Timing(_) => name,
    }
}

/// Returns what a scenario states of a pin, as it states it.
fn stated(pin: &Pin) -> String {
    match pin {
        Pin::Engine(engine) => {
            let checksum = engine.checksum.as_ref();
            let checksum = checksum.map_or(String::new(), |sum| format!(" checksum=\"{sum}\""));
            format!("version=\"{}\"{checksum}", engine.version)
        }
        Pin::Trace(_) | Pin::Hardware(_) | Pin::Model(_) | Pin::Timing(_) => {
            format!("sha256=\"{}\"", pin.digest().hex())
        }
    }
}

/// Returns a pin of a list as one value.
fn listed(kind: PinKind, name: &str, pin: &Pin) -> Value {
    let (version, checksum) = match pin {
        Pin::Engine(engine) => (Some(engine.version.as_str()), engine.checksum.as_deref()),
        Pin::Trace(_) | Pin::Hardware(_) | Pin::Model(_) | Pin::Timing(_) => (None, None),
    };
    let optional = |text: Option<&str>| text.map_or(Value::Null, Value::text);
    object([
        ("checksum", optional(checksum)),
        ("digest", pin.digest().into()),
        ("kind", Value::text(kind.name())),
        ("name", Value::text(name)),
        ("version", optional(version)),
    ])
}

/// Verifies every pin and every file that one names.
fn verify(registry: &Registry, format: Format) -> Result<Exit, Failure> {
    let mut wrong = Bag::new();
    let mut verdicts: Vec<(PinKind, String, &str)> = Vec::new();
    for Found { kind, name, pin } in every_pin(registry)? {
        let verdict = match pin.and_then(|pin| pin.verify(registry.root())) {
            Ok(()) => "as pinned",
            Err(bag) => {
                wrong.extend(bag);
                "wrong"
            }
        };
        verdicts.push((kind, name, verdict));
    }
    print(match format {
        Format::Table => {
            let row = |(kind, name, verdict): &(PinKind, String, &str)| {
                vec![kind.name().to_owned(), name.clone(), (*verdict).to_owned()]
            };
            columns(&verdicts.iter().map(row).collect::<Vec<_>>(), &[Align::Left]).into_bytes()
        }
        Format::Json => {
            let pin = |(kind, name, verdict): &(PinKind, String, &str)| {
                object([
                    ("kind", Value::text(kind.name())),
                    ("name", Value::text(name)),
                    ("verdict", Value::text(*verdict)),
                ])
            };
            object([("pins", Value::List(verdicts.iter().map(pin).collect()))]).to_document()
        }
    })?;
    if wrong.has_errors() { Err(wrong.into()) } else { Ok(Exit::Success) }
}
