//! Which engine runs a job: part of every job key.

use crate::diag::{Bag, Code, Problem};
use crate::digest::canonical::{Value, object};
use crate::pin::{EnginePin, Registry};

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

    /// Returns the upstream engine of a pin.
    pub fn upstream(pin: &EnginePin) -> Self {
        Self {
            name: pin.name.clone(),
            version: pin.version.clone(),
            checksum: pin.checksum.clone(),
            compat: Compat::NEWEST,
        }
    }

    /// Returns the engine that a name and a version mean on a command line. The versions of `native` are the behaviours that it
    /// imitates; those of others are those of its pins, where a nightly may be stated by its number alone.
    ///
    /// # Errors
    /// `pin::unknown` for a name or a version that is not pinned; everything wrong with the engine's pins.
    pub fn find(registry: &Registry, name: &str, version: &str) -> Result<Self, Bag> {
        if name != "native" {
            return Ok(Self::upstream(&registry.engine_at(name, version)?));
        }
        version.parse().map(Self::native).map_err(|()| {
            let known: Vec<String> =
                Compat::ALL.iter().map(|compat| format!("`{}`", compat.name())).collect();
            let message = format!("engine `native` does not behave as `{version}`");
            let help = format!("it can behave as {}", known.join(" or as "));
            Problem::new(Code::PinUnknown, message).help(help).into()
        })
    }

    /// Returns the version that tells it from others of its name: of `native` the behaviour that it imitates.
    pub fn shown_version(&self) -> &str {
        if self.is_native() { self.compat.name() } else { &self.version }
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
