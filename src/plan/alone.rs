//! A job as a scenario of its own: all that it needs, and nothing that belongs to its neighbours.
//!
//! A build derivation runs jobs from this text, so that a change of the scenario which leaves a job as it is leaves the text as it is.
//! Reading it back gives the same job key, which whoever runs it checks.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::pin;
use crate::scenario::model::{EnginePin, FilePin, PinKind, Scenario};
use crate::scenario::pins_named;
use crate::scenario::print::{node_text, quoted};
use crate::scenario::syntax::Node;

/// A simulation job as a scenario of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alone {
    /// The scenario, in KDL. Its one job has another id and the same key.
    pub text: String,
    /// The pins that it names.
    pub pins: BTreeSet<(pin::PinKind, String)>,
}

impl Alone {
    /// Returns the scenario of one workload, deployment and engine of `scenario`, with the values of all axes in their places;
    /// `engine_folder` is that of the engine's pin, `tables` are the timing pins that a timing `default` comes to.
    pub(super) fn new(
        scenario: &Scenario,
        (workload, deployment, engine): (&Node, &Node, &str),
        (engine_folder, tables): (&str, &[String]),
        sla: Option<&Node>,
    ) -> Self {
        let mut named = pins_named(workload);
        named.extend(pins_named(deployment));
        named.extend(tables.iter().map(|name| (PinKind::Timing, name.clone())));
        let named: Vec<(PinKind, String)> = named.into_iter().collect();
        let mut text = format!("scenario \"job\" {{\n    seed {}\n    pins {{\n", scenario.seed);
        for pin in named.iter().filter_map(|(kind, name)| scenario.pins.file(*kind, name)) {
            text.push_str(&file_pin(pin));
        }
        text.extend(scenario.pins.engine(engine).map(engine_pin));
        text.push_str("    }\n");
        text.push_str(&node_text(workload, 1));
        text.push_str(&node_text(deployment, 1));
        text.push_str("    simulate \"job\" {\n");
        for (word, name) in [
            ("workload", workload.first_text()),
            ("deployment", deployment.first_text()),
            ("engine", Some(engine)),
        ] {
            let name = quoted(name.unwrap_or_default());
            writeln!(text, "        {word} {name}").expect("a String takes every write");
        }
        text.extend(sla.map(|sla| node_text(sla, 2)));
        text.push_str("    }\n}\n");
        let files = named.into_iter().map(|(kind, name)| (registered(kind), name));
        let engine = (pin::PinKind::Engine, engine_folder.to_owned());
        Self { text, pins: files.chain([engine]).collect() }
    }
}

/// Returns the registry's word for a kind.
pub(super) const fn registered(kind: PinKind) -> pin::PinKind {
    match kind {
        PinKind::Trace => pin::PinKind::Trace,
        PinKind::Hardware => pin::PinKind::Hardware,
        PinKind::Model => pin::PinKind::Model,
        PinKind::Timing => pin::PinKind::Timing,
    }
}

/// Returns the line of a pin with a digest.
fn file_pin(pin: &FilePin) -> String {
    let digest = pin.digest.map(|digest| format!(" sha256=\"{}\"", digest.hex()));
    let (kind, name) = (pin.kind.name(), quoted(&pin.name));
    format!("        {kind} {name}{}\n", digest.unwrap_or_default())
}

/// Returns the line of an engine.
fn engine_pin(pin: &EnginePin) -> String {
    let mut line = format!("        engine {}", quoted(&pin.name));
    let stated = [("version", &pin.version), ("checksum", &pin.checksum), ("compat", &pin.compat)];
    for (name, value) in stated {
        line.extend(value.as_ref().map(|value| format!(" {name}={}", quoted(value))));
    }
    line.push('\n');
    line
}
