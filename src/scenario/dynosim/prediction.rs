//! The whole configuration, decoded.

use crate::deployment::Deployment;
use crate::diag::{Bag, Problem, SourceFile, Span};
use crate::trace::TimestampBasis;
use crate::units::BlockSize;
use crate::workload::{Sla, Workload};

use super::Place;
use super::decoder::{Fields, Report};
use super::field::{Field, refused, value};
use super::{engine, evaluation, overrides, traffic};
use crate::scenario::written::{self, Data, Node};

/// The sections of a prediction.
const ROOT: &[Field] = &[
    value("traffic"),
    value("engine"),
    value("evaluation"),
    value("execution"),
    refused("router", "belongs to `--stack dynamo`, which is not installed"),
    refused("planner", "belongs to `--stack dynamo`, which is not installed"),
    refused("optimization", "belongs to `recommend`; a prediction has none"),
    refused("optimizer", "belongs to `recommend`; a prediction has none"),
];

/// A DynoSim configuration, valid and complete with its defaults.
#[derive(Debug, Clone)]
pub(crate) struct Prediction {
    /// What is asked.
    pub(crate) workload: Workload,
    /// The file of a trace.
    pub(crate) trace: Option<TraceFile>,
    /// What serves.
    pub(crate) deployment: Deployment,
    /// What a good request is.
    pub(crate) sla: Option<Sla>,
    /// The most memory the process may take, in GB (10^9 bytes).
    pub(crate) memory_limit_gb: Option<f64>,
    /// Where `traffic` is stated.
    pub(crate) traffic_place: Place,
    /// Where `engine` is stated.
    pub(crate) engine_place: Place,
    /// What a person should look at.
    pub(crate) warnings: Vec<Problem>,
    /// Every key in the order written, with its place.
    keys: Vec<(String, Place)>,
}

/// The file of a trace, not yet read.
#[derive(Debug, Clone)]
pub(crate) struct TraceFile {
    /// Its path, relative to the working directory.
    pub(crate) path: String,
    /// The paths after it, which only `dynamo` has.
    pub(crate) more: Vec<String>,
    /// Its format.
    pub(crate) format: TraceFormat,
    /// The tokens that one hash id stands for.
    pub(crate) block_size: BlockSize,
    /// Whether the configuration states it: a file that embeds its own must then embed this one.
    pub(crate) is_block_size_stated: bool,
    /// What times below a sub-agent's marker are counted from.
    pub(crate) basis: TimestampBasis,
    /// Where the path is stated.
    pub(crate) place: Place,
}

/// The trace formats of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TraceFormat {
    /// Requests with arrival times and hash ids.
    Mooncake,
    /// The same, each turn of a session adding to the prompt.
    MooncakeDelta,
    /// Requests with dependencies.
    AgenticMooncake,
    /// Agents with tool calls, without arrival times.
    AppliedComputeAgentic,
    /// Dynamo's request trace.
    Dynamo,
    /// Agentic captures with subagents.
    Weka,
}

/// Decodes a configuration after putting the `--set` overrides into it.
///
/// # Errors
/// Every problem of the text, of the overrides, or of the schema, each with its place.
pub(crate) fn decode(source: &SourceFile, overrides: &[String]) -> Result<Prediction, Bag> {
    let mut root = written::document(source, super::YAML)?;
    if !matches!(root.data, Data::Map(_)) {
        return Err(not_a_mapping(&root));
    }
    overrides::apply(&mut root, overrides)?;
    let mut report = Report::default();
    let prediction = sections(&root, source, &mut report);
    let bag = report.into_bag();
    if bag.has_errors() {
        return Err(bag);
    }
    let mut prediction = prediction.expect("whatever is absent has been reported as an error");
    prediction.warnings = bag.into_sorted();
    prediction.learn_keys(&root);
    Ok(prediction)
}

impl Prediction {
    /// Returns a prediction without a trace or bounds; the places are those of what is asked and of what serves.
    pub(super) fn of(
        workload: Workload,
        deployment: Deployment,
        (traffic_place, engine_place): (Place, Place),
    ) -> Self {
        Self {
            workload,
            trace: None,
            deployment,
            sla: None,
            memory_limit_gb: None,
            traffic_place,
            engine_place,
            warnings: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Learns where the keys of a document stand.
    pub(super) fn learn_keys(&mut self, root: &Node) {
        collect_keys(root, &mut self.keys);
    }

    /// Returns the place of the first key that a description names, `-` standing for `_`: a better label than the whole section.
    pub(crate) fn place_named_in(&self, description: &str) -> Option<&Place> {
        let words = description.split(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c));
        words
            .map(|word| word.replace('-', "_"))
            .find_map(|word| self.keys.iter().find(|(key, _)| *key == word))
            .map(|(_, place)| place)
    }
}

/// Collects the keys of all mappings of a value.
fn collect_keys(node: &Node, keys: &mut Vec<(String, Place)>) {
    if let Data::Map(map) = &node.data {
        for entry in &map.entries {
            keys.push((entry.key.clone(), entry.place.clone()));
            collect_keys(&entry.value, keys);
        }
    }
}

/// Decodes the sections of a mapping.
fn sections(root: &Node, source: &SourceFile, report: &mut Report) -> Option<Prediction> {
    // The root has no key; its first line stands for it.
    let first_line = source.text().lines().next().map_or(0, str::len);
    let start = Place::new(source, Span::new(0, first_line));
    let fields = Fields::open(root, ROOT, String::new(), start.clone(), report)?;
    let place = |name| fields.entry(name).map_or_else(|| start.clone(), |e| e.place.clone());
    let (traffic_place, engine_place) = (place("traffic"), place("engine"));
    let traffic = traffic::decode(&fields, report);
    let deployment = engine::decode(&fields, traffic.kind, report);
    let sla = evaluation::sla(&fields, report);
    let memory_limit_gb = evaluation::memory_limit_gb(&fields, report);
    let places = (traffic_place, engine_place);
    Some(Prediction {
        trace: traffic.trace,
        sla,
        memory_limit_gb,
        ..Prediction::of(traffic.workload?, deployment?, places)
    })
}

/// Returns the finding that the document is no mapping.
fn not_a_mapping(root: &Node) -> Bag {
    let message = format!("a configuration is one YAML mapping, found {}", root.describe());
    root.place
        .problem(crate::diag::Code::DynosimWrongType, message, "is no mapping")
        .help("begin with `traffic:` and `engine:`")
        .into()
}
