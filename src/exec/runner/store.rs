//! Built runners: in a cache outside of every checkout, by what they are built from; or ready made, by whoever packaged the program.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::exec::{CommandError, run_command};
use crate::pin::EnginePin;
use crate::record::file_digest;

use super::{Limits, RunnerSource, Upstream};

/// How often it is looked whether another process still builds, and whether someone asked to stop.
const TICK: Duration = Duration::from_millis(20);
/// The program of a built runner.
const PROGRAM: &str = "runner";
/// The digest of the program's bytes, beside it.
const DIGEST: &str = "runner.sha256";
/// Held by whoever builds: all runners are compiled into one folder.
const LOCK: &str = "build.lock";

/// Where runners are.
#[derive(Debug, Clone)]
pub struct RunnerStore {
    /// The project root, whose pins and packages are meant.
    pub root: PathBuf,
    /// The folder of built runners.
    pub cache: PathBuf,
    /// A folder of ready-made runners: `FOLDER/runner` for each pin. What is there is never built.
    pub prebuilt: Option<PathBuf>,
    /// What a runner may take.
    pub limits: Limits,
    /// Set when someone asks to stop: what is being built then is ended.
    pub stop: Option<&'static AtomicBool>,
}

/// How a runner is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerState {
    /// It came with the program.
    Prebuilt,
    /// It was built from the package as it is.
    Built,
    /// It is not there.
    Absent,
}

impl RunnerState {
    /// Returns the word of listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prebuilt => "prebuilt",
            Self::Built => "built",
            Self::Absent => "not built",
        }
    }
}

impl RunnerStore {
    /// Returns how the runner of a pin is there, and its program where it is.
    ///
    /// # Errors
    /// As [`RunnerSource::read`].
    pub fn state(&self, pin: &EnginePin) -> Result<(RunnerState, Option<PathBuf>), Bag> {
        if let Some(program) = self.prebuilt(pin) {
            return Ok((RunnerState::Prebuilt, Some(program)));
        }
        let program = self.entry(&RunnerSource::read(&self.root, pin)?, pin).join(PROGRAM);
        Ok(if program.is_file() {
            (RunnerState::Built, Some(program))
        } else {
            (RunnerState::Absent, None)
        })
    }

    /// Returns an engine with its runner, which is built where it is not there; `tell` hears the compiler.
    ///
    /// # Errors
    /// As [`RunnerSource::read`]; [`Code::EngineBuild`] where it cannot be built; [`Code::EngineDamaged`] where the program is not the one that was
    /// built.
    pub fn upstream(&self, pin: &EnginePin, tell: &dyn Fn(&str)) -> Result<Upstream, Bag> {
        let (program, digest) = match self.prebuilt(pin) {
            Some(program) => {
                let digest = digest_of(&program)?;
                (program, digest)
            }
            None => self.built(pin, tell)?,
        };
        Ok(Upstream { pin: pin.clone(), program, digest, limits: self.limits })
    }

    /// Builds the runner of a pin, whether or not it is there, and returns the digest of its bytes.
    ///
    /// # Errors
    /// As [`RunnerStore::upstream`].
    pub fn build(&self, pin: &EnginePin, tell: &dyn Fn(&str)) -> Result<Sha256, Bag> {
        let source = RunnerSource::read(&self.root, pin)?;
        let entry = self.entry(&source, pin);
        let target = self.cache.join("target");
        let failed = |why: &str| {
            let message = format!("cannot build the runner of `{}`: {why}", pin.folder);
            Problem::new(Code::EngineBuild, message).help(format!(
                "cargo build --locked --release --manifest-path {}",
                source.folder.join("Cargo.toml").display()
            ))
        };
        let _alone = self.alone(tell).map_err(|error| failed(&error.to_string()))?;
        tell(&format!("building the runner of `{}`; this takes minutes", pin.folder));
        compile(&source.folder, &target, self.stop, tell).map_err(|why| failed(&why))?;
        let built = target.join("release").join(PROGRAM);
        Ok(self.keep(&built, &entry).map_err(|error| failed(&error.to_string()))?)
    }

    /// Waits until no other process builds runners here, and returns what keeps others waiting.
    ///
    /// Cargo's own lock ends before the program is copied, and all versions leave theirs at one place: the engine of another pin would be kept.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn alone(&self, tell: &dyn Fn(&str)) -> io::Result<File> {
        fs::create_dir_all(&self.cache)?;
        let lock = File::options().create(true).append(true).open(self.cache.join(LOCK))?;
        let mut is_told = false;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) if self.is_stopped() => {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Err(TryLockError::WouldBlock) => {
                    if !std::mem::replace(&mut is_told, true) {
                        tell("waiting for another process that builds runners");
                    }
                    std::thread::park_timeout(TICK);
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Returns whether someone asked to stop.
    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::SeqCst))
    }

    /// Checks that the runner of a pin is the one that was built.
    ///
    /// # Errors
    /// As [`RunnerStore::upstream`], but nothing is built: [`Code::EngineAbsent`] where it is not there.
    pub fn verify(&self, pin: &EnginePin) -> Result<Sha256, Bag> {
        if let Some(program) = self.prebuilt(pin) {
            return digest_of(&program);
        }
        let entry = self.entry(&RunnerSource::read(&self.root, pin)?, pin);
        if !entry.join(PROGRAM).is_file() {
            let message = format!("the runner of `{}` is not built", pin.folder);
            let help = format!("bench engines build {} --version {}", pin.name, pin.version);
            return Err(Problem::new(Code::EngineAbsent, message).help(help).into());
        }
        verified(&entry, pin)
    }

    /// Removes every built runner of a pin and returns how many there were.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, pin: &EnginePin) -> io::Result<usize> {
        let prefix = format!("{}@", pin.folder);
        let entries = match fs::read_dir(&self.cache) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut removed = 0;
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                fs::remove_dir_all(entry.path())?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Returns the ready-made runner of a pin, where there is one.
    fn prebuilt(&self, pin: &EnginePin) -> Option<PathBuf> {
        let program = self.prebuilt.as_ref()?.join(&pin.folder).join(PROGRAM);
        program.is_file().then_some(program)
    }

    /// Returns the built runner of a pin, which is built where it is not there.
    fn built(&self, pin: &EnginePin, tell: &dyn Fn(&str)) -> Result<(PathBuf, Sha256), Bag> {
        let entry = self.entry(&RunnerSource::read(&self.root, pin)?, pin);
        let program = entry.join(PROGRAM);
        let digest =
            if program.is_file() { verified(&entry, pin)? } else { self.build(pin, tell)? };
        Ok((program, digest))
    }

    /// Returns the folder of the runner that is built from a package.
    fn entry(&self, source: &RunnerSource, pin: &EnginePin) -> PathBuf {
        self.cache.join(format!("{}@{}", pin.folder, source.digest.short()))
    }

    /// Keeps a program under its entry, which appears whole or not at all, and returns the digest of what is kept.
    fn keep(&self, built: &Path, entry: &Path) -> io::Result<Sha256> {
        let beside = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.cache)?;
        let program = beside.path().join(PROGRAM);
        fs::copy(built, &program)?;
        let digest = file_digest(&program)?;
        fs::write(beside.path().join(DIGEST), digest.hex())?;
        if entry.exists() {
            fs::remove_dir_all(entry)?;
        }
        fs::rename(beside.path(), entry)?;
        Ok(digest)
    }
}

/// Returns the digest of a built runner, which must be the one that was noted when it was built.
fn verified(entry: &Path, pin: &EnginePin) -> Result<Sha256, Bag> {
    let digest = digest_of(&entry.join(PROGRAM))?;
    let noted = fs::read_to_string(entry.join(DIGEST)).unwrap_or_default();
    if noted.trim() == digest.hex() {
        return Ok(digest);
    }
    let message = format!("the runner of `{}` is not the one that was built", pin.folder);
    let help = format!(
        "it is in `{}`; bench engines build {} --version {} --rebuild all",
        entry.display(),
        pin.name,
        pin.version
    );
    Err(Problem::new(Code::EngineDamaged, message).help(help).into())
}

/// Returns the digest of a program's bytes.
fn digest_of(program: &Path) -> Result<Sha256, Bag> {
    file_digest(program).map_err(|error| {
        let message = format!("cannot read the runner `{}`: {error}", program.display());
        Problem::new(Code::EngineDamaged, message).into()
    })
}

/// Compiles a package until someone asks to stop; what the compiler says goes to `tell`.
fn compile(
    folder: &Path,
    target: &Path,
    stop: Option<&AtomicBool>,
    tell: &dyn Fn(&str),
) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["build", "--locked", "--release", "--color", "never", "--manifest-path"]);
    command.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(target);
    match run_command(&mut command, stop, tell) {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("`cargo build` ended with {}", output.status)),
        Err(CommandError::System(error)) => Err(format!("cannot run `cargo`: {error}")),
        Err(CommandError::Interrupted) => Err("interrupted".to_owned()),
    }
}
