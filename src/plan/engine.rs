//! Which engine runs a job: part of every job key.

use crate::digest::canonical::{Value, object};

/// Which engine runs a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineIdentity {
    /// The pin's name; `native` is the simulator in this program.
    pub name: String,
    /// The version; for `native` a behaviour version.
    pub version: String,
    /// The registry checksum of an upstream engine.
    pub checksum: Option<String>,
    /// The reference behaviour that `native` imitates.
    pub compat: Compat,
}

/// A behaviour of the reference that the native simulator imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compat {
    /// Core 0.13.0 and nightlies up to 86: each transfer is alone on its link.
    V0_13_0,
    /// Nightly 87: transfers share links max-min fair.
    Dev87,
}

impl Compat {
    /// Every known behaviour, oldest first.
    pub const ALL: &'static [Self] = &[Self::V0_13_0, Self::Dev87];
    /// The newest.
    pub const NEWEST: Self = Self::Dev87;

    /// Returns the text of scenarios and of `--compat`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V0_13_0 => "0.13.0",
            Self::Dev87 => "0.13.0-dev.87",
        }
    }
}

impl std::str::FromStr for Compat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|compat| compat.name() == text).ok_or(())
    }
}

impl EngineIdentity {
    /// Returns the native simulator at its only behaviour version.
    pub fn native(compat: Compat) -> Self {
        Self { name: "native".to_owned(), version: "1".to_owned(), checksum: None, compat }
    }

    /// Returns whether this program itself runs the engine.
    pub fn is_native(&self) -> bool {
        self.name == "native"
    }

    /// Returns the canonical description.
    pub fn canonical(&self) -> Value {
        object([
            ("checksum", self.checksum.as_deref().map_or(Value::Null, Value::text)),
            (
                "compat",
                if self.is_native() { Value::text(self.compat.name()) } else { Value::Null },
            ),
            ("name", Value::text(&self.name)),
            ("version", Value::text(&self.version)),
        ])
    }
}
