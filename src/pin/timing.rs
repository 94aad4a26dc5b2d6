//! Timing pins: `pins/timing/NAME.kdl`, a table of pass times in a file beside it.

use std::path::Path;

use crate::deployment::{Backend, Parallelism};
use crate::diag::{Bag, Problem};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::scenario::cursor::View;
use crate::scenario::shape::{Field, Shape};
use crate::trace::Shard;

use super::file::{ABOUT, Files, NAME, ORIGIN, PinFile, digest};
use super::table::PassTable;
use super::verify::SHARD;
use super::{PinKind, PinnedFile};

static FORMAT: Shape = Shape::new("format", "The file format.").once().args(&[Field::word(
    "FORMAT",
    &["pass-table"],
    "The file format.",
)]);
static MODEL: Shape = Shape::new("model", "The model whose passes were timed.")
    .once()
    .args(&[Field::name("NAME", "Its pin.")]);
static HARDWARE: Shape = Shape::new("hardware", "The GPU that they were timed on.")
    .once()
    .args(&[Field::name("NAME", "Its pin.")]);
static BACKEND: Shape = Shape::new("backend", "The engine that they were timed with.")
    .once()
    .args(&[Field::word("BACKEND", &["vllm", "sglang", "trtllm"], "The engine.")])
    .props(&[Field::version("version", "Its version.")]);
static PARALLELISM: Shape = Shape::new("parallelism", "The ranks that they were timed with.")
    .props(&[
        Field::factor("tensor", "Tensor parallelism.").or_count(1),
        Field::factor("pipeline", "Pipeline parallelism.").or_count(1),
        Field::factor("attention-data", "Attention data parallelism.").or_count(1),
        Field::factor("moe-tensor", "Tensor parallelism of the experts.").or_count(1),
        Field::factor("moe-expert", "Expert parallelism.").or_count(1),
    ]);
static QUANTIZATION: Shape =
    Shape::new("quantization", "Number formats of the passes, as the engine names them.")
        .once()
        .props(&[
            Field::text("weights", "Of the weights."),
            Field::text("experts", "Of the experts' weights."),
            Field::text("activations", "Of attention."),
            Field::text("kv", "Of the KV cache."),
        ]);

static TIMING: Shape =
    Shape::new("timing", "Times of engine passes, measured.").keyed_once().args(&NAME).block(&[
        &ABOUT,
        &FORMAT,
        &MODEL,
        &HARDWARE,
        &BACKEND,
        &PARALLELISM,
        &QUANTIZATION,
        &SHARD,
        &ORIGIN,
    ]);

/// What the file of a timing pin may hold.
pub(super) static FILE: Shape = Shape::root(&[&TIMING]);

/// A pinned table of pass times.
#[derive(Debug, Clone)]
pub struct TimingPin {
    /// Its name.
    pub name: String,
    /// The file format.
    pub format: String,
    /// What was timed.
    pub subject: TimingSubject,
    /// In which number formats.
    pub quantization: Quantization,
    /// Its file; exactly one.
    pub files: Vec<PinnedFile>,
}

/// What a table timed, and what `timing "default"` looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimingSubject {
    /// The model's pin.
    pub model: String,
    /// The hardware's pin.
    pub hardware: String,
    /// The engine.
    pub backend: Backend,
    /// The engine's version.
    pub backend_version: String,
    /// The ranks; replicas are 1.
    pub parallelism: Parallelism,
}

/// Number formats as the engine names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantization {
    /// Of the weights.
    pub weights: String,
    /// Of the experts' weights.
    pub experts: String,
    /// Of attention.
    pub activations: String,
    /// Of the KV cache.
    pub kv: String,
}

impl TimingPin {
    /// Reads the pin's file.
    pub(super) fn load(files: Files<'_>, name: &str) -> Result<Self, Bag> {
        PinFile { files, kind: PinKind::Timing, name }
            .load(&FILE, |node, bag| decode(name, node, bag))
    }

    /// Returns the pin's digest: everything that can change a number; its own name, `about` and `origin` stay out.
    pub fn digest(&self) -> Sha256 {
        let files = self.files.iter().map(|file| {
            object([
                ("bytes", Value::count(file.bytes)),
                ("content_sha256", file.content_sha256.into()),
                ("sha256", file.sha256.into()),
            ])
        });
        let fields = object([
            ("files", Value::List(files.collect())),
            ("format", Value::text(&self.format)),
            ("quantization", self.quantization.canonical()),
            ("subject", self.subject.canonical()),
        ]);
        digest(PinKind::Timing, fields)
    }

    /// Reads and verifies the file, and returns the table that it holds.
    ///
    /// # Errors
    /// Everything that is not as pinned, and `pin::table` for a file that holds no table.
    pub fn open(&self, root: &Path) -> Result<PassTable, Problem> {
        self.open_from(Files::Folder(root))
    }

    /// As [`TimingPin::open`], from where the pin itself was read.
    pub(super) fn open_from(&self, files: Files<'_>) -> Result<PassTable, Problem> {
        let [file] = self.files.as_slice() else {
            unreachable!("a bug: a decoded timing pin names one file")
        };
        let content = Shard::new(&file.path, file.read_from(files)?).unpack()?.into_owned();
        file.verify_contents(&content)?;
        PassTable::read(&file.path, &content)
    }
}

impl TimingSubject {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        let factor = |count: u32| Value::count(u64::from(count));
        let parallelism = &self.parallelism;
        object([
            ("attention_data", factor(parallelism.attention_data)),
            ("backend", Value::text(self.backend.name())),
            ("backend_version", Value::text(&self.backend_version)),
            ("hardware", Value::text(&self.hardware)),
            ("model", Value::text(&self.model)),
            ("moe_expert", factor(parallelism.moe_expert)),
            ("moe_tensor", factor(parallelism.moe_tensor)),
            ("pipeline", factor(parallelism.pipeline)),
            ("tensor", factor(parallelism.tensor)),
        ])
    }
}

impl Quantization {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        object([
            ("activations", Value::text(&self.activations)),
            ("experts", Value::text(&self.experts)),
            ("kv", Value::text(&self.kv)),
            ("weights", Value::text(&self.weights)),
        ])
    }
}

/// Decodes a `timing` node.
fn decode(name: &str, node: &View<'_>, bag: &mut Bag) -> Option<TimingPin> {
    let folder = PinKind::Timing.folder();
    let files: Vec<PinnedFile> = node
        .all("shard")
        .filter_map(|shard| PinnedFile::decode(shard, folder, name, bag))
        .collect();
    if let Some(second) = node.all("shard").nth(1) {
        let message = "a table of pass times is one file";
        bag.push(second.head().problem(crate::diag::Code::PinField, message, "one too many"));
    }
    let quantization = node.child("quantization")?;
    let format_of = |field: &str| quantization.text(field).map(str::to_owned);
    let pin = TimingPin {
        name: name.to_owned(),
        format: node.child("format")?.text("FORMAT")?.to_owned(),
        subject: subject(node)?,
        quantization: Quantization {
            weights: format_of("weights")?,
            experts: format_of("experts")?,
            activations: format_of("activations")?,
            kv: format_of("kv")?,
        },
        files,
    };
    (pin.files.len() == 1).then_some(pin)
}

/// Decodes what was timed.
fn subject(node: &View<'_>) -> Option<TimingSubject> {
    let backend = node.child("backend")?;
    let engines = [Backend::Vllm, Backend::Sglang, Backend::Trtllm];
    let word = backend.text("BACKEND")?;
    let ranks = node.child("parallelism");
    let factor = |name: &str| ranks.map_or(Some(1), |ranks| ranks.count32(name));
    Some(TimingSubject {
        model: node.child("model")?.text("NAME")?.to_owned(),
        hardware: node.child("hardware")?.text("NAME")?.to_owned(),
        backend: engines.into_iter().find(|engine| engine.name() == word)?,
        backend_version: backend.text("version")?.to_owned(),
        parallelism: Parallelism {
            tensor: factor("tensor")?,
            pipeline: factor("pipeline")?,
            attention_data: factor("attention-data")?,
            moe_tensor: factor("moe-tensor")?,
            moe_expert: factor("moe-expert")?,
            ..Parallelism::default()
        },
    })
}
