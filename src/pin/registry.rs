//! All pins of a project, by kind and name.

use std::path::{Path, PathBuf};

use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;

use super::describe::{Description, Scope, describe};
use super::file::Files;
use super::{
    EnginePin, EngineVersion, HardwarePin, ModelPin, PinError, PinKind, PinnedFile, TimingPin,
    TracePin,
};

/// The pins under a project root.
#[derive(Debug, Clone)]
pub struct Registry {
    root: PathBuf,
}

/// A pin of any kind.
#[derive(Debug, Clone)]
pub enum Pin {
    /// A recorded workload.
    Trace(Box<TracePin>),
    /// An engine.
    Engine(EnginePin),
    /// A GPU.
    Hardware(HardwarePin),
    /// A model.
    Model(ModelPin),
    /// A table of pass times.
    Timing(TimingPin),
}

impl Registry {
    /// Opens the pins of the project at `root`. Nothing is read yet.
    ///
    /// # Errors
    /// `pin::root` where there is no `pins/` in it.
    pub fn open(root: &Path) -> Result<Self, Problem> {
        if root.join("pins").is_dir() {
            return Ok(Self { root: root.to_owned() });
        }
        let message = format!("`{}` holds no `pins/`", root.display());
        Err(Problem::new(Code::PinRoot, message)
            .help("the project root is the folder that holds `pins/`; give it with `--root DIR`"))
    }

    /// Returns the project root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the names of a kind's pins, sorted.
    ///
    /// # Errors
    /// `pin::read` when the folder cannot be listed; a folder that is not there holds no pins.
    pub fn names(&self, kind: PinKind) -> Result<Vec<String>, Problem> {
        let folder = self.root.join(kind.folder());
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let unreadable = |error: std::io::Error| {
            Problem::new(Code::PinRead, format!("cannot list `{}`: {error}", kind.folder()))
        };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.file_name();
            // A name that is no UTF-8 cannot be written in a scenario either.
            let name = file.to_str().and_then(|file| kind.name_of(file));
            names.extend(name.filter(|name| self.root.join(kind.file(name)).is_file()));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns a trace pin.
    ///
    /// # Errors
    /// [`PinError::Unknown`] for a name without a file, [`PinError::Invalid`] with everything wrong with the file.
    pub fn trace(&self, name: &str) -> Result<TracePin, PinError> {
        self.known(PinKind::Trace, name)?;
        Ok(TracePin::load(&self.root, name)?)
    }

    /// Returns the engine pin in a folder.
    ///
    /// # Errors
    /// As [`Registry::trace`].
    pub fn engine(&self, folder: &str) -> Result<EnginePin, PinError> {
        self.known(PinKind::Engine, folder)?;
        Ok(EnginePin::load(&self.root, folder)?)
    }

    /// Returns every pin of an engine, oldest version first; none where no folder is called after it.
    ///
    /// # Errors
    /// Everything wrong with any of their files.
    pub fn engine_versions(&self, name: &str) -> Result<Vec<EnginePin>, Bag> {
        let (mut pins, mut bag) = (Vec::new(), Bag::new());
        for folder in self.names(PinKind::Engine)? {
            if !PinKind::Engine.is_called(&folder, name) {
                continue;
            }
            match EnginePin::load(&self.root, &folder) {
                Ok(pin) if pin.name == name => pins.push(pin),
                Ok(_) => {} // another engine, whose name begins with this one's
                Err(findings) => bag.extend(findings),
            }
        }
        if bag.has_errors() {
            return Err(bag);
        }
        pins.sort_by_key(|pin| EngineVersion::parse(&pin.version));
        Ok(pins)
    }

    /// Returns the pin of an engine at a version; `version` may be the short spelling of a nightly (`0.13.0-dev.87`).
    ///
    /// # Errors
    /// [`PinError::Unknown`] for an engine without a pin, [`PinError::NoVersion`] for a version that none of its pins has or that
    /// several might mean, [`PinError::Invalid`] with everything wrong with a file.
    pub fn engine_at(&self, name: &str, version: &str) -> Result<EnginePin, PinError> {
        let mut pins = self.engine_versions(name)?;
        if pins.is_empty() {
            let known = self.names(PinKind::Engine).map_err(Bag::from)?;
            return Err(PinError::Unknown { kind: PinKind::Engine, name: name.to_owned(), known });
        }
        let known = pins.iter().map(|pin| pin.version.clone()).collect();
        if pins.iter().any(|pin| pin.version == version) {
            pins.retain(|pin| pin.version == version);
        } else {
            pins.retain(|pin| pin.is_version(version));
        }
        match (pins.pop(), pins.is_empty()) {
            (Some(pin), true) => Ok(pin),
            _ => Err(PinError::NoVersion {
                name: name.to_owned(),
                version: version.to_owned(),
                known,
            }),
        }
    }

    /// Returns a hardware pin.
    ///
    /// # Errors
    /// As [`Registry::trace`].
    pub fn hardware(&self, name: &str) -> Result<HardwarePin, PinError> {
        self.known(PinKind::Hardware, name)?;
        Ok(HardwarePin::load(Files::Folder(&self.root), name)?)
    }

    /// Returns a model pin.
    ///
    /// # Errors
    /// As [`Registry::trace`].
    pub fn model(&self, name: &str) -> Result<ModelPin, PinError> {
        self.known(PinKind::Model, name)?;
        Ok(ModelPin::load(Files::Folder(&self.root), name)?)
    }

    /// Returns a timing pin.
    ///
    /// # Errors
    /// As [`Registry::trace`].
    pub fn timing(&self, name: &str) -> Result<TimingPin, PinError> {
        self.known(PinKind::Timing, name)?;
        Ok(TimingPin::load(Files::Folder(&self.root), name)?)
    }

    /// Returns a pin of a kind.
    ///
    /// # Errors
    /// As [`Registry::trace`].
    pub fn pin(&self, kind: PinKind, name: &str) -> Result<Pin, PinError> {
        match kind {
            PinKind::Trace => self.trace(name).map(Box::new).map(Pin::Trace),
            PinKind::Engine => self.engine(name).map(Pin::Engine),
            PinKind::Hardware => self.hardware(name).map(Pin::Hardware),
            PinKind::Model => self.model(name).map(Pin::Model),
            PinKind::Timing => self.timing(name).map(Pin::Timing),
        }
    }

    /// Returns the text of a pin's file with what it states, or should state, of the files beside it: digests, sizes, requests.
    ///
    /// # Errors
    /// As [`Registry::trace`], and files that cannot be read or unpacked.
    pub fn describe(
        &self,
        kind: PinKind,
        name: &str,
        scope: Scope,
    ) -> Result<Description, PinError> {
        self.known(kind, name)?;
        Ok(describe(&self.root, kind, name, scope)?)
    }

    /// Checks that a name has a file. Names never lead out of the kind's folder.
    fn known(&self, kind: PinKind, name: &str) -> Result<(), PinError> {
        let known = self.names(kind).map_err(Bag::from)?;
        if known.iter().any(|known| known == name) {
            return Ok(());
        }
        Err(PinError::Unknown { kind, name: name.to_owned(), known })
    }
}

impl Pin {
    /// Returns its digest: what a scenario repeats, except of an engine.
    pub fn digest(&self) -> Sha256 {
        match self {
            Self::Trace(pin) => pin.digest(),
            Self::Engine(pin) => pin.digest(),
            Self::Hardware(pin) => pin.digest(),
            Self::Model(pin) => pin.digest(),
            Self::Timing(pin) => pin.digest(),
        }
    }

    /// Returns the files that the pin names, in order.
    pub fn files(&self) -> &[PinnedFile] {
        match self {
            Self::Trace(pin) => pin.shards(),
            Self::Timing(pin) => &pin.files,
            Self::Engine(_) | Self::Hardware(_) | Self::Model(_) => &[],
        }
    }

    /// Verifies every file that the pin names.
    ///
    /// # Errors
    /// Everything that is not as pinned.
    pub fn verify(&self, root: &Path) -> Result<(), Bag> {
        match self {
            Self::Trace(pin) => pin.open(root).map(drop),
            Self::Timing(pin) => Ok(pin.open(root).map(drop)?),
            Self::Engine(_) | Self::Hardware(_) | Self::Model(_) => Ok(()),
        }
    }
}
