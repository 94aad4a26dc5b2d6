//! The pins of a scenario, read once and held against what the scenario says of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::alone::registered;
use super::{Compat, EngineIdentity, PlannedPin, TableInput};
use crate::deployment::{Parallelism, Workers};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::pin::{self, GraphFormat, HardwarePin, ModelPin, Pin, PinError, Registry, TimingPin};
use crate::scenario::model::{EnginePin, FilePin, PinKind, Scenario};
use crate::scenario::syntax::Place;

/// An engine as a scenario pins it.
#[derive(Debug)]
pub(super) struct PlannedEngine {
    /// Part of every job key.
    pub(super) identity: EngineIdentity,
    /// The folder of its pin.
    folder: String,
    /// The digest of its pin.
    digest: Sha256,
}

/// What the pin of a trace says of its files.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlannedTrace {
    /// How many requests they hold; absent for graphs.
    pub(super) rows: Option<u64>,
    /// Their format, if they are graphs.
    pub(super) graphs: Option<GraphFormat>,
    /// The word of their format.
    pub(super) format: &'static str,
}

/// The pins that are as the scenario says; wrong ones are absent and in the bag.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    digests: BTreeMap<(PinKind, String), Sha256>,
    models: BTreeMap<String, ModelPin>,
    traces: BTreeMap<String, PlannedTrace>,
    engines: BTreeMap<String, PlannedEngine>,
    hardware: BTreeMap<String, HardwarePin>,
    timings: Vec<(TimingPin, TableInput)>,
    registry: Option<Registry>,
}

impl Inputs {
    /// Reads every pin of the scenario.
    pub(super) fn read(scenario: &Scenario, registry: &Registry, findings: &mut Bag) -> Self {
        let mut inputs = Self { registry: Some(registry.clone()), ..Self::default() };
        for pinned in &scenario.pins.files {
            match inputs.file(pinned, scenario, registry) {
                Ok(()) => {}
                Err(bag) => findings.extend(bag),
            }
        }
        for pinned in &scenario.pins.engines {
            match engine(pinned, scenario, registry) {
                Ok(None) => {} // the version was refused, which was complained of
                Ok(Some(engine)) => drop(inputs.engines.insert(pinned.name.clone(), engine)),
                Err(bag) => findings.extend(bag),
            }
        }
        inputs
    }

    /// Reads one pin with a digest.
    fn file(
        &mut self,
        pinned: &FilePin,
        scenario: &Scenario,
        registry: &Registry,
    ) -> Result<(), Bag> {
        let pin = pin(pinned, registry)?;
        let found = pin.digest();
        match pin {
            Pin::Model(model) => drop(self.models.insert(pinned.name.clone(), model)),
            Pin::Trace(trace) => {
                let (rows, graphs, format) =
                    (trace.requests(), trace.graphs(), trace.format_name());
                self.traces.insert(pinned.name.clone(), PlannedTrace { rows, graphs, format });
            }
            Pin::Hardware(hardware) => drop(self.hardware.insert(pinned.name.clone(), hardware)),
            Pin::Timing(timing) => {
                let table = TableInput {
                    name: pinned.name.clone(),
                    digest: found,
                    table: Arc::new(timing.open(registry.root())?),
                };
                self.timings.push((timing, table));
            }
            Pin::Engine(_) => {}
        }
        // a pin that was refused is remembered all the same: what uses it needs no second complaint
        self.digests.insert((pinned.kind, pinned.name.clone()), found);
        match pinned.digest {
            Some(stated) if stated == found => Ok(()),
            Some(stated) => Err(mismatch(pinned, scenario, stated, found).into()),
            None if pinned.digest_place.is_some() => Ok(()), // it was refused, which was complained of
            None => {
                let message = format!("{} `{}` has no digest", pinned.kind.name(), pinned.name);
                let problem = pinned.place.problem(
                    Code::ScenarioDigestMissing,
                    message,
                    "missing after this",
                );
                let help = format!(
                    "`bench pin {}` fills it in: sha256=\"{}\"",
                    scenario.source.name(),
                    found.hex()
                );
                Err(problem.help(help).into())
            }
        }
    }

    /// Returns the digest of a pin that was read.
    pub(super) fn digest(&self, kind: PinKind, name: &str) -> Option<Sha256> {
        self.digests.get(&(kind, name.to_owned())).copied()
    }

    /// Returns a model that was read.
    pub(super) fn model(&self, name: &str) -> Option<&ModelPin> {
        self.models.get(name)
    }

    /// Returns what a trace holds that was read.
    pub(super) fn trace(&self, name: &str) -> Option<PlannedTrace> {
        self.traces.get(name).copied()
    }

    /// Returns an engine that was read.
    pub(super) fn engine(&self, name: &str) -> Option<&EngineIdentity> {
        self.engines.get(name).map(|engine| &engine.identity)
    }

    /// Returns the folder of the pin of an engine that was read.
    pub(super) fn engine_folder(&self, name: &str) -> Option<&str> {
        self.engines.get(name).map(|engine| engine.folder.as_str())
    }

    /// Returns every pin that was read, by kind and name.
    pub(super) fn pins(&self) -> Vec<PlannedPin> {
        let files = self.digests.iter().map(|((kind, name), digest)| (kind.name(), name, digest));
        let engines =
            self.engines.values().map(|engine| ("engine", &engine.folder, &engine.digest));
        let mut pins: Vec<PlannedPin> = files
            .chain(engines)
            .map(|(kind, name, digest)| PlannedPin { kind, name: name.clone(), digest: *digest })
            .collect();
        pins.sort_unstable();
        pins
    }

    /// Returns a GPU that was read.
    pub(super) fn hardware(&self, name: &str) -> Option<&HardwarePin> {
        self.hardware.get(name)
    }

    /// Returns the timing pins that were read, with their tables; sorted by name.
    pub(super) fn timings(&self) -> &[(TimingPin, TableInput)] {
        &self.timings
    }

    /// Returns the timing pins of the project, for advice; none where they cannot be read.
    pub(super) fn project_timings(&self) -> Vec<TimingPin> {
        let Some(registry) = &self.registry else { return Vec::new() };
        let names = registry.names(pin::PinKind::Timing).unwrap_or_default();
        names.iter().filter_map(|name| registry.timing(name).ok()).collect()
    }
}

/// A pin is not there; the bag says why.
#[derive(Debug, Clone, Copy)]
pub(super) struct MissingPin;

/// Returns the parallelisms by which KV bytes of a token are counted: those of the workers that compute prompts and of those that
/// hold whole sequences.
pub(super) fn kv_parallelisms(workers: &Workers) -> (&Parallelism, &Parallelism) {
    match workers {
        Workers::Aggregated(worker) => (&worker.parallelism, &worker.parallelism),
        Workers::Disaggregated { prefill, decode } => (&prefill.parallelism, &decode.parallelism),
    }
}

/// Returns a pin's own digest as the registry has it.
pub(super) fn digest(pinned: &FilePin, registry: &Registry) -> Result<Sha256, Bag> {
    pin(pinned, registry).map(|pin| pin.digest())
}

/// Reads a pin's file: its digest and its values come from the same bytes.
pub(super) fn pin(pinned: &FilePin, registry: &Registry) -> Result<Pin, Bag> {
    let found = registry.pin(registered(pinned.kind), &pinned.name);
    found.map_err(|error| error.at(pinned.place.source(), pinned.place.span()))
}

/// Returns the problem of a pin that is not what the scenario says, with both digests.
pub(super) fn mismatch(
    pinned: &FilePin,
    scenario: &Scenario,
    stated: Sha256,
    found: Sha256,
) -> Problem {
    let message = format!("{} `{}` is not what the scenario says", pinned.kind.name(), pinned.name);
    let place = pinned.digest_place.as_ref().unwrap_or(&pinned.place);
    place.problem(Code::ScenarioDigestMismatch, message, "the scenario's digest").help(format!(
        "scenario {stated}\npin file {found}\nif it was changed on purpose: bench pin {} --update {}",
        scenario.source.name(),
        pinned.name
    ))
}

/// Reads an engine and holds version and checksum against the scenario's; with the digest of its pin.
pub(super) fn engine(
    pinned: &EnginePin,
    scenario: &Scenario,
    registry: &Registry,
) -> Result<Option<PlannedEngine>, Bag> {
    let place = &pinned.place;
    let Some(found) = pinned_engine(pinned, registry)? else { return Ok(None) };
    let differs = |what: &str, at: &Place, stated: &str, pin: &str| {
        let message = format!("engine `{}` has another {what} than the scenario says", pinned.name);
        at.problem(Code::ScenarioDigestMismatch, message, format!("the scenario's {what}")).help(format!(
            "scenario {stated}\npin file {pin}\nif it was changed on purpose: bench pin {} --update {}",
            scenario.source.name(),
            pinned.name
        ))
    };
    let Some(version) = &pinned.version else { return Ok(None) };
    if !found.is_version(version) {
        let at = pinned.version_place.as_ref().unwrap_or(place);
        return Err(differs("version", at, version, &found.version).into());
    }
    match (&pinned.checksum, &found.checksum) {
        (None, Some(checksum)) => {
            let message = format!("engine `{}` has no checksum", pinned.name);
            let problem =
                pinned.place.problem(Code::ScenarioDigestMissing, message, "missing after this");
            let help = format!(
                "`bench pin {}` fills it in: checksum=\"{checksum}\"",
                scenario.source.name()
            );
            return Err(problem.help(help).into());
        }
        (Some(stated), pin) if pin.as_ref() != Some(stated) => {
            let at = pinned.checksum_place.as_ref().unwrap_or(&pinned.place);
            return Err(differs("checksum", at, stated, pin.as_deref().unwrap_or("none")).into());
        }
        (Some(_) | None, _) => {}
    }
    let compat = compat(pinned, &found)?;
    let identity = EngineIdentity { compat, ..EngineIdentity::upstream(&found) };
    Ok(Some(PlannedEngine { identity, digest: found.digest(), folder: found.folder }))
}

/// Returns the pin that a scenario means: the one of its version, or the only one that the engine has. `None` where its version was
/// refused, which was complained of.
pub(super) fn pinned_engine(
    pinned: &EnginePin,
    registry: &Registry,
) -> Result<Option<pin::EnginePin>, Bag> {
    let place = &pinned.place;
    let mut versions = registry.engine_versions(&pinned.name)?;
    if versions.len() == 1 {
        return Ok(versions.pop());
    }
    let version = match &pinned.version {
        Some(version) => version.as_str(),
        None if versions.is_empty() => "",
        None => return Ok(None),
    };
    let at = pinned.version_place.as_ref().unwrap_or(place);
    let found = registry.engine_at(&pinned.name, version);
    found.map(Some).map_err(|error| match error {
        PinError::Unknown { .. } => error.at(place.source(), place.span()),
        PinError::NoVersion { .. } | PinError::Invalid(_) => error.at(at.source(), at.span()),
    })
}

/// Returns the behaviour that an engine imitates: as the scenario states, else as the pin does, else the newest.
fn compat(pinned: &EnginePin, found: &pin::EnginePin) -> Result<Compat, Problem> {
    let stated = pinned.compat.as_deref().and_then(|text| text.parse().ok());
    if found.reference.is_some() && pinned.name != "native" {
        let message = format!("engine `{}` imitates nothing: it is upstream itself", pinned.name);
        let problem = pinned.place.problem(Code::PinField, message, "its pin has a `reference`");
        return Err(problem.help("remove `reference` from the pin; it belongs to `native` alone"));
    }
    match (stated, &found.reference) {
        (Some(compat), _) => Ok(compat),
        (None, None) => Ok(Compat::NEWEST),
        (None, Some(reference)) => reference.parse().map_err(|()| {
            let names: Vec<String> =
                Compat::ALL.iter().map(|compat| format!("`{}`", compat.name())).collect();
            let message = format!(
                "the pin of engine `{}` names the reference `{reference}`, which this program does not know",
                pinned.name
            );
            let problem = pinned.place.problem(Code::PinField, message, "pinned here");
            problem.help(format!("known are {}; state one as `compat=`", names.join(", ")))
        }),
    }
}
