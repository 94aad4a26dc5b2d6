//! Model pins: `pins/models/NAME.kdl`.

use crate::deployment::Parallelism;
use crate::diag::{Bag, Code};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::scenario::bounds;
use crate::scenario::cursor::View;
use crate::scenario::shape::{Field, Kind, Shape};
use crate::units::Tokens;

use super::file::{ABOUT, Files, NAME, ORIGIN, PinFile, digest};
use super::{Dtype, PinKind};

/// The argument of nodes that hold one count.
static COUNT: [Field; 1] = [Field::count("COUNT", "How many.").at_least(1).at_most(bounds::WIDTH)];

/// Its counterpart for layers.
static LAYER_COUNT: [Field; 1] =
    [Field::count("COUNT", "How many.").at_least(1).at_most(bounds::PER_LAYER)];

/// Its counterpart for positions.
static POSITIONS: [Field; 1] = [Field::tokens("COUNT", "How many.")];

/// Returns a count of heads, or of numbers in one.
const fn head(name: &'static str, doc: &'static str) -> Field {
    Field::count(name, doc).at_least(1).at_most(bounds::PER_LAYER)
}

static REPOSITORY: Shape =
    Shape::new("repository", "Its Hugging Face name, which engines know it by.")
        .once()
        .args(&[Field::text("NAME", "Owner and name.")]);
static ALIAS: Shape = Shape::new("alias", "Another name that engines know it by; not hashed.")
    .repeated()
    .args(&[Field::text("NAME", "Owner and name.")]);
static LAYERS: Shape = Shape::new("layers", "Transformer layers.").once().args(&LAYER_COUNT);
static HIDDEN: Shape = Shape::new("hidden", "The width between layers.").once().args(&COUNT);
static VOCABULARY: Shape = Shape::new("vocabulary", "Tokens it knows.").once().args(&COUNT);
static CONTEXT_LIMIT: Shape =
    Shape::new("context-limit", "Positions it is made for.").once().args(&POSITIONS);
static FEED_FORWARD: Shape = Shape::new("feed-forward", "Dense layers' inner width.")
    .props(&[Field::count("intermediate", "The width.").at_least(1).at_most(bounds::WIDTH)]);
static DTYPE: Shape = Shape::new("dtype", "Number formats.").once().props(&[
    Field::word("weights", Dtype::NAMES, "Of the weights."),
    Field::word("kv", Dtype::NAMES, "Of the KV cache."),
]);
static HEADS: Field = head("heads", "Query heads.");
static ATTENTION: Shape = Shape::new("attention", "How it attends.").once().kinds(&[
    Kind::new("grouped", "Heads of keys and values, each shared by a group of query heads.").props(
        &[
            HEADS,
            head("kv-heads", "Key and value heads."),
            head("head-size", "Numbers in one head."),
        ],
    ),
    Kind::new("latent", "One compressed vector for keys and values of all heads.").props(&[
        HEADS,
        head("kv-lora-rank", "Numbers in the compressed vector."),
        head("q-lora-rank", "Numbers in the compressed query."),
        head("rope-head-size", "Numbers of a key that carry positions."),
        head("nope-head-size", "Numbers of a key that do not."),
        head("value-head-size", "Numbers of a value."),
    ]),
]);
static EXPERTS: Shape = Shape::new("experts", "Mixture of experts.").props(&[
    Field::count("count", "Routed experts of a layer.").at_least(1).at_most(bounds::WIDTH),
    Field::count("active", "Routed experts of a token.").at_least(1).at_most(bounds::WIDTH),
    Field::count("intermediate", "The inner width of an expert.")
        .at_least(1)
        .at_most(bounds::WIDTH),
    Field::count("shared", "Experts that every token passes.").at_most(bounds::WIDTH).or_count(0),
    Field::count("dense-layers", "Leading layers without experts.")
        .at_most(bounds::WIDTH)
        .or_count(0),
]);
static MODEL: Shape =
    Shape::new("model", "A model's architecture.").keyed_once().args(&NAME).block(&[
        &ABOUT,
        &REPOSITORY,
        &ALIAS,
        &LAYERS,
        &ATTENTION,
        &HIDDEN,
        &FEED_FORWARD,
        &EXPERTS,
        &VOCABULARY,
        &DTYPE,
        &CONTEXT_LIMIT,
        &ORIGIN,
    ]);

/// What the file of a model pin may hold.
pub(super) static FILE: Shape = Shape::root(&[&MODEL]);

/// A pinned model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPin {
    /// Its name.
    pub name: String,
    /// Its Hugging Face name.
    pub repository: String,
    /// Other names that engines know it by.
    pub aliases: Vec<String>,
    /// Transformer layers.
    pub layers: u64,
    /// How it attends.
    pub attention: Attention,
    /// The width between layers.
    pub hidden: u64,
    /// The inner width of dense layers, where there are any.
    pub intermediate: Option<u64>,
    /// The experts, where it has any.
    pub experts: Option<Experts>,
    /// Tokens it knows.
    pub vocabulary: u64,
    /// Number format of the weights.
    pub weights: Dtype,
    /// Number format of the KV cache.
    pub kv: Dtype,
    /// Positions it is made for.
    pub context_limit: Tokens,
}

/// How a model attends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// Grouped-query attention.
    Grouped {
        /// Query heads.
        heads: u64,
        /// Key and value heads.
        kv_heads: u64,
        /// Numbers in one head.
        head_size: u64,
    },
    /// Multi-head latent attention.
    Latent {
        /// Query heads.
        heads: u64,
        /// Numbers in the compressed key and value.
        kv_lora_rank: u64,
        /// Numbers in the compressed query.
        q_lora_rank: u64,
        /// Numbers of a key that carry positions; cached beside the compressed vector.
        rope_head_size: u64,
        /// Numbers of a key that do not.
        nope_head_size: u64,
        /// Numbers of a value.
        value_head_size: u64,
    },
}

/// A mixture of experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts {
    /// Routed experts of a layer.
    pub count: u64,
    /// Routed experts of a token.
    pub active: u64,
    /// The inner width of an expert.
    pub intermediate: u64,
    /// Experts that every token passes.
    pub shared: u64,
    /// Leading layers without experts.
    pub dense_layers: u64,
}

impl ModelPin {
    /// Reads the pin's file.
    pub(super) fn load(files: Files<'_>, name: &str) -> Result<Self, Bag> {
        PinFile { files, kind: PinKind::Model, name }
            .load(&FILE, |node, bag| decode(name, node, bag))
    }

    /// Returns whether a name is one of the model's.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name
            || self.repository == name
            || self.aliases.iter().any(|alias| alias == name)
    }

    /// Returns the positions it is made for: what `context-length "max"` means.
    pub fn context_limit(&self) -> Tokens {
        self.context_limit
    }

    /// Returns the bytes that one token's KV takes on one GPU, the fullest of its rank.
    ///
    /// Unit: bytes. Pipeline parallelism gives a GPU ceil(layers / pipeline) layers. Tensor parallelism splits key and value
    /// heads, ceil(heads / tensor) each; where there are more GPUs than heads, a head is held several times, so a GPU never
    /// has less than one. A latent vector belongs to all heads and is held whole by every GPU of the group. Data parallelism
    /// gives each rank tokens of its own and changes nothing, nor do replicas or the experts' parallelism.
    ///
    /// Source: grouped, 2 (key and value) · layers · heads · head size · bytes; latent, layers · (kv-lora-rank +
    /// rope-head-size) · bytes (DeepSeek-V2, arXiv 2405.04434, §2.1).
    pub fn kv_bytes_per_token(&self, parallelism: &Parallelism) -> u64 {
        let layers = self.layers.div_ceil(u64::from(parallelism.pipeline));
        let numbers = match self.attention {
            Attention::Grouped { kv_heads, head_size, .. } => {
                2 * kv_heads.div_ceil(u64::from(parallelism.tensor)) * head_size
            }
            Attention::Latent { kv_lora_rank, rope_head_size, .. } => kv_lora_rank + rope_head_size,
        };
        (layers * numbers * self.kv.bits()).div_ceil(8)
    }

    /// Returns the pin's digest: everything that can change a number; names, `about` and `origin` stay out.
    pub fn digest(&self) -> Sha256 {
        let experts = self.experts.map_or(Value::Null, Experts::canonical);
        let fields = object([
            ("attention", self.attention.canonical()),
            ("context_limit", self.context_limit.into()),
            ("experts", experts),
            ("hidden", Value::count(self.hidden)),
            ("intermediate", self.intermediate.map_or(Value::Null, Value::count)),
            ("kv_dtype", Value::text(self.kv.name())),
            ("layers", Value::count(self.layers)),
            ("repository", Value::text(&self.repository)),
            ("vocabulary", Value::count(self.vocabulary)),
            ("weights_dtype", Value::text(self.weights.name())),
        ]);
        digest(PinKind::Model, fields)
    }
}

impl Attention {
    /// Returns the canonical description.
    fn canonical(self) -> Value {
        match self {
            Self::Grouped { heads, kv_heads, head_size } => object([
                ("head_size", Value::count(head_size)),
                ("heads", Value::count(heads)),
                ("kind", Value::text("grouped")),
                ("kv_heads", Value::count(kv_heads)),
            ]),
            Self::Latent {
                heads,
                kv_lora_rank,
                q_lora_rank,
                rope_head_size,
                nope_head_size,
                value_head_size,
            } => object([
                ("heads", Value::count(heads)),
                ("kind", Value::text("latent")),
                ("kv_lora_rank", Value::count(kv_lora_rank)),
                ("nope_head_size", Value::count(nope_head_size)),
                ("q_lora_rank", Value::count(q_lora_rank)),
                ("rope_head_size", Value::count(rope_head_size)),
                ("value_head_size", Value::count(value_head_size)),
            ]),
        }
    }
}

impl Experts {
    /// Returns the canonical description.
    fn canonical(self) -> Value {
        object([
            ("active", Value::count(self.active)),
            ("count", Value::count(self.count)),
            ("dense_layers", Value::count(self.dense_layers)),
            ("intermediate", Value::count(self.intermediate)),
            ("shared", Value::count(self.shared)),
        ])
    }
}

/// Decodes a `model` node.
fn decode(name: &str, node: &View<'_>, bag: &mut Bag) -> Option<ModelPin> {
    let count = |child: &str| node.child(child)?.count("COUNT");
    let dtype = |field: &str| Dtype::from_name(node.child("dtype")?.text(field)?);
    let layers = count("layers")?;
    let experts = match node.child("experts") {
        Some(experts) => Some(decode_experts(experts, layers, bag)?),
        None => None,
    };
    let intermediate = match node.child("feed-forward") {
        Some(dense) => Some(dense.count("intermediate")?),
        None => None,
    };
    if intermediate.is_none() && experts.is_none_or(|experts| experts.dense_layers > 0) {
        let message = "the inner width of dense layers is not stated";
        let problem = node.head().problem(Code::PinField, message, "no `feed-forward`");
        bag.push(problem.help("add `feed-forward intermediate=…`"));
    }
    Some(ModelPin {
        name: name.to_owned(),
        repository: node.child("repository")?.text("NAME")?.to_owned(),
        aliases: node
            .all("alias")
            .filter_map(|alias| alias.text("NAME"))
            .map(str::to_owned)
            .collect(),
        layers,
        attention: decode_attention(node.child("attention")?, bag)?,
        hidden: count("hidden")?,
        intermediate,
        experts,
        vocabulary: count("vocabulary")?,
        weights: dtype("weights")?,
        kv: dtype("kv")?,
        context_limit: Tokens::new(count("context-limit")?),
    })
}

/// Decodes an `attention` node.
fn decode_attention(node: &View<'_>, bag: &mut Bag) -> Option<Attention> {
    let heads = node.count("heads")?;
    if node.kind()? == "latent" {
        return Some(Attention::Latent {
            heads,
            kv_lora_rank: node.count("kv-lora-rank")?,
            q_lora_rank: node.count("q-lora-rank")?,
            rope_head_size: node.count("rope-head-size")?,
            nope_head_size: node.count("nope-head-size")?,
            value_head_size: node.count("value-head-size")?,
        });
    }
    let kv_heads = node.count("kv-heads")?;
    if heads % kv_heads != 0 {
        let message =
            format!("{heads} query heads cannot share {kv_heads} key and value heads evenly");
        bag.push(node.problem(Code::PinField, "kv-heads", message, "no divisor of `heads`"));
    }
    Some(Attention::Grouped { heads, kv_heads, head_size: node.count("head-size")? })
}

/// Decodes an `experts` node of a model of `layers` layers.
fn decode_experts(node: &View<'_>, layers: u64, bag: &mut Bag) -> Option<Experts> {
    let experts = Experts {
        count: node.count("count")?,
        active: node.count("active")?,
        intermediate: node.count("intermediate")?,
        shared: node.count("shared")?,
        dense_layers: node.count("dense-layers")?,
    };
    if experts.active > experts.count {
        let message =
            format!("a token cannot pass {} of {} experts", experts.active, experts.count);
        bag.push(node.problem(Code::PinField, "active", message, "more than there are"));
    }
    if experts.dense_layers >= layers {
        let message = format!(
            "{} of {layers} layers are dense, so no layer has experts",
            experts.dense_layers
        );
        bag.push(node.problem(Code::PinField, "dense-layers", message, "all layers"));
    }
    Some(experts)
}
