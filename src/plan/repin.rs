//! `bench pin`: the digests of a scenario from its pins, as edits of its text.

use std::path::Path;

use super::inputs;
use crate::diag::{Bag, Code, Problem};
use crate::pin::Registry;
use crate::scenario::edit::{self, Edit};
use crate::scenario::model::{EnginePin, FilePin, Scenario};
use crate::scenario::scalar::nearest;
use crate::scenario::syntax::Place;
use crate::scenario::{self, project_root};

/// A scenario's text with its pins filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repinned {
    /// The new text.
    pub text: String,
    /// What changed, a line each.
    pub changes: Vec<String>,
}

/// Fills in the missing digests of a scenario, and moves those of the pins in `update`.
///
/// Every byte that states no digest, version or checksum stays. Nothing is written.
///
/// # Errors
/// A scenario that does not parse; a pin that cannot be read; a name in `update` that is not pinned; a digest that differs and is not in `update`.
pub fn repin(path: &Path, root: Option<&Path>, update: &[String]) -> Result<Repinned, Bag> {
    let loaded = scenario::load(path);
    let Some(scenario) = loaded.scenario else { return Err(loaded.findings) };
    let root = root.map_or_else(|| project_root(path), |root| Ok(root.to_path_buf()))?;
    let registry = Registry::open(&root)?;
    let mut findings = Bag::new();
    for name in update {
        if let Some(problem) = unknown(name, &scenario) {
            findings.push(problem);
        }
    }
    let mut pinner = Pinner {
        scenario: &scenario,
        registry: &registry,
        update,
        refused: loaded.findings.into_sorted(),
        edits: Vec::new(),
        changes: Vec::new(),
    };
    for pin in &scenario.pins.files {
        if let Err(bag) = pinner.file(pin) {
            findings.extend(bag);
        }
    }
    for pin in &scenario.pins.engines {
        if let Err(bag) = pinner.engine(pin) {
            findings.extend(bag);
        }
    }
    if findings.has_errors() {
        return Err(findings);
    }
    let text = edit::apply(scenario.source.text(), &pinner.edits);
    Ok(Repinned { text, changes: pinner.changes })
}

/// Returns the problem of a name that the scenario does not pin.
fn unknown(name: &str, scenario: &Scenario) -> Option<Problem> {
    let files = scenario.pins.files.iter().map(|pin| pin.name.as_str());
    let known: Vec<&str> =
        files.chain(scenario.pins.engines.iter().map(|pin| pin.name.as_str())).collect();
    if known.contains(&name) {
        return None;
    }
    let message = format!("`{}` pins nothing called `{name}`", scenario.source.name());
    let problem = Problem::new(Code::ScenarioUnknownPin, message);
    Some(match nearest(name, known.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `--update {near}`?")),
        None => problem.help(format!("it pins {}", known.join(", "))),
    })
}

/// Collects the edits.
struct Pinner<'p> {
    scenario: &'p Scenario,
    registry: &'p Registry,
    update: &'p [String],
    /// What reading the scenario complained of.
    refused: Vec<Problem>,
    edits: Vec<Edit>,
    changes: Vec<String>,
}

impl Pinner<'_> {
    /// Fills in or moves the digest of one pin.
    fn file(&mut self, pin: &FilePin) -> Result<(), Bag> {
        let found = inputs::digest(pin, self.registry)?;
        if pin.digest == Some(found) {
            return Ok(());
        }
        if let Some(stated) = pin.digest
            && !self.update.contains(&pin.name)
        {
            return Err(inputs::mismatch(pin, self.scenario, stated, found).into());
        }
        self.keep_refused(&pin.name, pin.digest_place.as_ref())?;
        self.change(&pin.place, pin.digest_place.as_ref(), ("sha256", &found.hex()));
        self.changes.push(format!("{} {}: {found}", pin.kind.name(), pin.name));
        Ok(())
    }

    /// Refuses to replace a statement that cannot be read: what it was meant to say is not known.
    fn keep_refused(&self, name: &str, place: Option<&Place>) -> Result<(), Problem> {
        if self.update.iter().any(|update| update == name) {
            return Ok(());
        }
        let is_here = |problem: &&Problem| {
            let label = problem.labels().first().map(|label| label.span);
            place.is_some_and(|place| label == Some(place.span()))
        };
        let Some(problem) = self.refused.iter().find(is_here) else { return Ok(()) };
        let file = self.scenario.source.name();
        let help = problem.help_text().map_or_else(String::new, |help| format!("{help}\n"));
        let advice = "it is not replaced unasked; where the pin's own is right";
        Err(problem.clone().help(format!("{help}{advice}: bench pin {file} --update {name}")))
    }

    /// Fills in the checksum of an engine, or moves its version and checksum.
    fn engine(&mut self, pin: &EnginePin) -> Result<(), Bag> {
        let Some(found) = inputs::pinned_engine(pin, self.registry)? else {
            return Err(self.several(pin)?.into());
        };
        self.keep_refused(&pin.name, pin.version_place.as_ref())?;
        self.keep_refused(&pin.name, pin.checksum_place.as_ref())?;
        let is_moved = self.update.contains(&pin.name);
        let is_same = pin.version.as_ref().is_some_and(|version| found.is_version(version));
        let fills_in = pin.version.is_none() || pin.checksum.is_none() && is_same;
        if !is_moved && !fills_in {
            return inputs::engine(pin, self.scenario, self.registry).map(drop);
        }
        if !is_same {
            self.change(&pin.place, pin.version_place.as_ref(), ("version", &found.version));
            self.changes.push(format!("engine {}: version {}", pin.name, found.version));
        }
        if let Some(checksum) =
            found.checksum.as_ref().filter(|found| pin.checksum.as_ref() != Some(found))
        {
            let anchor = pin.version_place.as_ref().unwrap_or(&pin.place);
            self.change(anchor, pin.checksum_place.as_ref(), ("checksum", checksum));
            self.changes.push(format!("engine {}: checksum {checksum}", pin.name));
        }
        Ok(())
    }

    /// Returns the problem of an engine that states no version and has several pins.
    fn several(&self, pin: &EnginePin) -> Result<Problem, Bag> {
        let versions = self.registry.engine_versions(&pin.name)?;
        let known: Vec<String> =
            versions.iter().map(|found| format!("`{}`", found.version)).collect();
        let message = format!("engine `{}` is pinned at several versions", pin.name);
        let problem = pin.place.problem(Code::PinUnknown, message, "which one is not stated");
        Ok(problem.help(format!("state one as `version=`: {}", known.join(", "))))
    }

    /// Replaces a property's value, or adds the property behind `anchor`.
    fn change(&mut self, anchor: &Place, value: Option<&Place>, (name, new): (&str, &str)) {
        self.edits.push(match value {
            Some(place) => Edit::replace(place, spelled(place, new)),
            None => Edit::insert_after(anchor, format!(" {name}=\"{new}\"")),
        });
    }
}

/// Returns a digest in the spelling of the one it replaces: quoted, or the bare word with its prefix.
fn spelled(place: &Place, new: &str) -> String {
    let span = place.span();
    let old =
        place.source().text().get(span.offset()..span.offset() + span.length()).unwrap_or_default();
    if old.starts_with("sha256:") {
        format!("sha256:{new}")
    } else if old.starts_with("\"sha256:") {
        format!("\"sha256:{new}\"")
    } else {
        format!("\"{new}\"")
    }
}
