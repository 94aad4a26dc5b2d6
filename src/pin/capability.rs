//! What an engine can run, as its pin lists it.

use std::collections::BTreeMap;

use crate::digest::canonical::Value;
use crate::scenario::cursor::View;
use crate::scenario::scalar::Datum;
use crate::scenario::shape::{Field, Shape, Type};

/// A side of a job by which engines differ in what they can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// How workers are pooled.
    Mode,
    /// Which engine family the workers imitate.
    Backend,
    /// How long a pass takes.
    Timing,
    /// Where requests come from.
    Source,
    /// When they arrive.
    Load,
    /// Who chooses the worker.
    Router,
    /// Anything else that a job may ask for.
    Feature,
}

impl Aspect {
    /// Every aspect.
    pub const ALL: &'static [Self] = &[
        Self::Mode,
        Self::Backend,
        Self::Timing,
        Self::Source,
        Self::Load,
        Self::Router,
        Self::Feature,
    ];

    /// Returns the word of pin files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Backend => "backend",
            Self::Timing => "timing",
            Self::Source => "source",
            Self::Load => "load",
            Self::Router => "router",
            Self::Feature => "feature",
        }
    }
}

static MODES: Field = word("MODE", &["aggregated", "disaggregated"]);
static BACKENDS: Field = word("BACKEND", &["vllm", "sglang", "trtllm"]);
static TIMINGS: Field = word("TIMING", &["fixed", "polynomial", "table", "roofline"]);
static SOURCES: Field =
    word("SOURCE", &["synthetic", "synthetic-session", "trace", "requests", "graph"]);
static LOADS: Field =
    word("LOAD", &["concurrency", "constant-rate", "poisson", "trace-timestamps", "recorded"]);
static ROUTERS: Field = word("ROUTER", &["round-robin", "kv-router"]);
static FEATURES: Field = word(
    "FEATURE",
    &[
        "host-offload",
        "storage-offload",
        "state-cache",
        "cache-groups",
        "prefix-match-unit",
        "eviction-belady",
        "speculation",
        "host-loop",
        "select",
        "planner",
        "shared-host-offload",
        "host-offload-latency",
        "prefill-schedule-interval",
        "prefill-decode-interval",
        "prefill-context-parallel",
    ],
);

static MODE: Shape = list("mode", "How workers are pooled.", &MODES);
static BACKEND: Shape = list("backend", "Which engine families it imitates.", &BACKENDS);
static TIMING: Shape = list("timing", "How long passes may be said to take.", &TIMINGS);
static SOURCE: Shape = list("source", "Where requests may come from.", &SOURCES);
static LOAD: Shape = list("load", "How they may arrive.", &LOADS);
static ROUTER: Shape = list("router", "Who may choose the worker.", &ROUTERS);
static FEATURE: Shape = list("feature", "What else a job may ask for.", &FEATURES);

/// What an upstream engine can run.
pub(super) static CAPABILITIES: Shape = Shape::new(
    "capabilities",
    "What the runner can run. A job that asks for anything else is refused before it starts: it is not comparable, never silently different.",
)
.block(&[&MODE, &BACKEND, &TIMING, &SOURCE, &LOAD, &ROUTER, &FEATURE]);

/// Returns one of the words of an aspect.
const fn word(name: &'static str, words: &'static [&'static str]) -> Field {
    Field::new(name, Type::Word(words), "A word of the scenario language.")
}

/// Returns the node of an aspect.
const fn list(name: &'static str, doc: &'static str, words: &'static Field) -> Shape {
    Shape::new(name, doc).rest(words)
}

/// What an engine can run: the words of each aspect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    words: BTreeMap<Aspect, Vec<String>>,
}

impl Capabilities {
    /// Decodes a `capabilities` node.
    pub(super) fn decode(node: &View<'_>) -> Self {
        let words = Aspect::ALL.iter().filter_map(|aspect| {
            let words = node.child(aspect.name())?.rest().iter();
            let words = words.filter_map(|(_, datum)| match datum {
                Datum::Text(word) => Some(word.clone()),
                // The shape admits words alone.
                Datum::Count(_)
                | Datum::Real(_)
                | Datum::Reals(_)
                | Datum::Flag(_)
                | Datum::Digest(_) => None,
            });
            Some((*aspect, words.collect()))
        });
        Self { words: words.collect() }
    }

    /// Returns whether the engine can run what a word of an aspect asks for.
    pub fn can(&self, aspect: Aspect, word: &str) -> bool {
        self.words(aspect).iter().any(|known| known == word)
    }

    /// Returns the words of an aspect.
    pub fn words(&self, aspect: Aspect) -> &[String] {
        self.words.get(&aspect).map_or(&[], Vec::as_slice)
    }

    /// Returns the canonical description.
    pub(super) fn canonical(&self) -> Value {
        let words = |words: &[String]| Value::List(words.iter().map(Value::text).collect());
        Value::Object(
            self.words
                .iter()
                .map(|(aspect, list)| (aspect.name().to_owned(), words(list)))
                .collect(),
        )
    }
}
