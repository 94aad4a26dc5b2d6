//! The kinds of pins and where their files are; number formats that pins name.

use std::path::{Path, PathBuf};

/// A kind of pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PinKind {
    /// A recorded workload.
    Trace,
    /// An engine.
    Engine,
    /// A GPU.
    Hardware,
    /// A model.
    Model,
    /// A table of pass times.
    Timing,
}

impl PinKind {
    /// Every kind, in the order of listings.
    pub const ALL: &'static [Self] =
        &[Self::Trace, Self::Engine, Self::Hardware, Self::Model, Self::Timing];

    /// Returns the word of scenarios and pin files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Engine => "engine",
            Self::Hardware => "hardware",
            Self::Model => "model",
            Self::Timing => "timing",
        }
    }

    /// Returns the folder under the project root.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Trace => "pins/traces",
            Self::Engine => "pins/engines",
            Self::Hardware => "pins/hardware",
            Self::Model => "pins/models",
            Self::Timing => "pins/timing",
        }
    }

    /// Returns the pin's file relative to the project root, with `/`.
    pub fn file(self, name: &str) -> String {
        match self {
            Self::Engine => format!("{}/{name}/pin.kdl", self.folder()),
            Self::Trace | Self::Hardware | Self::Model | Self::Timing => {
                format!("{}/{name}.kdl", self.folder())
            }
        }
    }

    /// Returns the project root, kind and name of the pin whose file lies at `path`, or `None` where no pin's file lies.
    pub fn locate(path: &Path) -> Option<(PathBuf, Self, String)> {
        let absolute = std::path::absolute(path).ok()?;
        Self::ALL.iter().copied().find_map(|kind| {
            let entry = match kind {
                Self::Engine => absolute.parent()?,
                Self::Trace | Self::Hardware | Self::Model | Self::Timing => absolute.as_path(),
            };
            let name = kind.name_of(entry.file_name()?.to_str()?)?;
            let depth = kind.file(&name).split('/').count();
            let root = absolute.ancestors().nth(depth)?;
            (root.join(kind.file(&name)) == absolute).then(|| (root.to_owned(), kind, name))
        })
    }

    /// Returns whether a pin whose file is `stem` may call itself `name`: the same, and for an engine also without its version.
    pub(super) fn is_called(self, stem: &str, name: &str) -> bool {
        let is_versioned =
            || stem.strip_prefix(name).is_some_and(|version| version.starts_with('-'));
        stem == name || self == Self::Engine && is_versioned()
    }

    /// Returns the name of the pin that an entry of the folder stands for, where it may stand for one.
    pub(super) fn name_of(self, entry: &str) -> Option<String> {
        match self {
            Self::Engine => Some(entry.to_owned()),
            Self::Trace | Self::Hardware | Self::Model | Self::Timing => {
                entry.strip_suffix(".kdl").map(str::to_owned)
            }
        }
    }
}

/// A number format of weights, KV caches and tensor cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dtype {
    /// bfloat16.
    Bf16,
    /// IEEE half precision.
    Fp16,
    /// Four-bit floats.
    Fp4,
    /// Eight-bit floats.
    Fp8,
    /// Eight-bit integers.
    Int8,
    /// `TensorFloat-32`, held in four bytes.
    Tf32,
}

impl Dtype {
    /// The words of pin files, in the order of the variants.
    pub(super) const NAMES: &'static [&'static str] =
        &["bf16", "fp16", "fp4", "fp8", "int8", "tf32"];
    /// Every format.
    pub const ALL: &'static [Self] =
        &[Self::Bf16, Self::Fp16, Self::Fp4, Self::Fp8, Self::Int8, Self::Tf32];

    /// Returns the word of pin files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::Fp16 => "fp16",
            Self::Fp4 => "fp4",
            Self::Fp8 => "fp8",
            Self::Int8 => "int8",
            Self::Tf32 => "tf32",
        }
    }

    /// Returns the bits of one number.
    pub const fn bits(self) -> u64 {
        match self {
            Self::Fp4 => 4,
            Self::Fp8 | Self::Int8 => 8,
            Self::Bf16 | Self::Fp16 => 16,
            Self::Tf32 => 32,
        }
    }

    /// Returns the format of a word that a shape has checked.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }
}
