//! A scenario as data: names resolved to declarations, values checked, nothing read but the scenario files.

use crate::diag::SourceFile;
use crate::digest::Sha256;
use crate::workload::Sla;
use crate::workload::live::{LiveBounds, ReplaySettings, Target};

use super::syntax::{Node, Place, Value};

/// A scenario with everything that its files say.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The question it asks.
    pub about: Option<String>,
    /// The number that every random stream derives from.
    pub seed: u64,
    /// The head of its `scenario` node.
    pub head: Place,
    /// Its file.
    pub source: SourceFile,
    /// Included files in order of their first mention.
    pub includes: Vec<Include>,
    /// What it pins.
    pub pins: Pins,
    /// Its workloads; of included files too.
    pub workloads: Vec<Declared>,
    /// Its deployments; of included files too.
    pub deployments: Vec<Declared>,
    /// Its blocks of simulation jobs.
    pub simulations: Vec<Simulation>,
    /// Its live replays.
    pub replays: Vec<Replay>,
    /// What must hold.
    pub gate: Gate,
}

/// An included file.
#[derive(Debug, Clone)]
pub struct Include {
    /// The path as the file system knows it.
    pub path: std::path::PathBuf,
    /// SHA-256 of its bytes.
    pub digest: Sha256,
    /// Where it is named.
    pub place: Place,
}

/// A `workload` or `deployment` node. It stays a node, because `vary` changes it before it is decoded.
#[derive(Debug, Clone)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// The node.
    pub node: Node,
    /// Where the scenario's own file states it: the node itself, or the `include` that brought it.
    pub stated: Place,
}

/// The pins of a scenario, each in the order written.
#[derive(Debug, Clone, Default)]
pub struct Pins {
    /// Pins with a digest of their own.
    pub files: Vec<FilePin>,
    /// Engines.
    pub engines: Vec<EnginePin>,
}

/// What a pin with a digest pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PinKind {
    /// A recorded workload.
    Trace,
    /// A GPU.
    Hardware,
    /// A model.
    Model,
    /// A table of pass times.
    Timing,
}

/// A pin with a digest of its own.
#[derive(Debug, Clone)]
pub struct FilePin {
    /// What it pins.
    pub kind: PinKind,
    /// Its name.
    pub name: String,
    /// The digest that the scenario repeats.
    pub digest: Option<Sha256>,
    /// Where the pin is named.
    pub place: Place,
    /// Where the digest stands, where it does.
    pub digest_place: Option<Place>,
}

/// An engine pin.
#[derive(Debug, Clone)]
pub struct EnginePin {
    /// Its name.
    pub name: String,
    /// The version; absent where it was refused.
    pub version: Option<String>,
    /// The registry checksum of an upstream engine.
    pub checksum: Option<String>,
    /// The reference behaviour that `native` imitates.
    pub compat: Option<String>,
    /// Where the pin is named.
    pub place: Place,
    /// Where its version stands, where it does.
    pub version_place: Option<Place>,
    /// Where its checksum stands, where it does.
    pub checksum_place: Option<Place>,
    /// Where its compat stands, where it does.
    pub compat_place: Option<Place>,
}

/// A name with the place where it is used.
#[derive(Debug, Clone)]
pub struct Used {
    /// The name.
    pub name: String,
    /// Where it is used.
    pub place: Place,
}

/// A block of simulation jobs.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// Its name.
    pub name: String,
    /// The node's head.
    pub place: Place,
    /// The workloads.
    pub workloads: Vec<Used>,
    /// The deployments.
    pub deployments: Vec<Used>,
    /// The engines.
    pub engines: Vec<Used>,
    /// The axes in the order written, those of a `together` in one group.
    pub axes: Vec<AxisGroup>,
    /// The combinations that are dropped.
    pub excludes: Vec<Exclude>,
    /// What a good request is.
    pub sla: Option<Sla>,
    /// The node that states it.
    pub sla_node: Option<Node>,
    /// How many jobs there may be, and where that is stated.
    pub limit: (u64, Place),
    /// Jobs of one build derivation.
    pub batch: u64,
}

/// Axes that move in step; most groups hold one.
#[derive(Debug, Clone)]
pub struct AxisGroup {
    /// The axes; all have as many values.
    pub axes: Vec<Axis>,
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What varies.
    pub path: String,
    /// Where the path stands.
    pub place: Place,
    /// Its values, each with its place.
    pub values: Vec<Value>,
}

/// Combinations that are dropped: those that have all of these values.
#[derive(Debug, Clone)]
pub struct Exclude {
    /// The node's head.
    pub place: Place,
    /// Axis name and value.
    pub pairs: Vec<(Used, Value)>,
}

/// Live traffic.
#[derive(Debug, Clone)]
pub struct Replay {
    /// Its name.
    pub name: String,
    /// The node's head.
    pub place: Place,
    /// The workloads, one job each.
    pub workloads: Vec<Used>,
    /// The node itself, by which a setting that does not fit a workload is shown.
    pub node: Node,
    /// How it is sent.
    pub settings: ReplaySettings,
}

/// What must hold.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    /// The golden file relative to the project root.
    pub golden: Option<Used>,
    /// The bounds of each replay.
    pub live: Vec<(Used, LiveBounds)>,
}

impl Replay {
    /// Returns the deployment whose native engine answers, where the endpoint is the server in `bench` and has one.
    pub fn behind(&self) -> Option<Used> {
        let Target::Mock(mock) = &self.settings.endpoint.target else { return None };
        let child = |node: &'_ Node, name: &str| {
            node.children.iter().find(|child| child.name.text == name).cloned()
        };
        let stated = child(&self.node, "endpoint").and_then(|endpoint| child(&endpoint, "mock"));
        let stated = stated
            .as_ref()
            .and_then(|mock| mock.props.iter().find(|property| property.name.text == "deployment"));
        let place = stated.map_or_else(|| self.place.clone(), |it| it.value.place.clone());
        Some(Used { name: mock.deployment.clone()?, place })
    }
}

impl PinKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Trace, Self::Hardware, Self::Model, Self::Timing];

    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Hardware => "hardware",
            Self::Model => "model",
            Self::Timing => "timing",
        }
    }

    /// Returns the folder under `pins/`.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Trace => "traces",
            Self::Hardware => "hardware",
            Self::Model => "models",
            Self::Timing => "timing",
        }
    }
}

impl Pins {
    /// Returns the pin of this kind and name.
    pub fn file(&self, kind: PinKind, name: &str) -> Option<&FilePin> {
        self.files.iter().find(|pin| pin.kind == kind && pin.name == name)
    }

    /// Returns the engine of this name.
    pub fn engine(&self, name: &str) -> Option<&EnginePin> {
        self.engines.iter().find(|pin| pin.name == name)
    }
}
