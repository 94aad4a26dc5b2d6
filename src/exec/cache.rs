//! Finished jobs by key and program: verified on read, never trusted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::plan::JobKey;
use crate::record::Spool;

/// Finished jobs, addressed by their key and the digest of the program that ran them.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    program: Sha256,
    runner: Option<Sha256>,
}

/// What a job left: file names and what is in them.
pub type CachedFiles = BTreeMap<String, Spool>;

/// What the cache says of a key.
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup {
    /// It has the job, and every byte is what was stored.
    Hit(CachedFiles),
    /// It does not have it.
    Miss,
    /// It has something else under that name.
    Damaged(String),
}

/// The file that names the others with their digests.
const MANIFEST: &str = "entry.json";

impl Cache {
    /// Returns the cache in `folder` for results of the program with digest `program`.
    pub fn new(folder: impl Into<PathBuf>, program: Sha256) -> Self {
        Self { folder: folder.into(), program, runner: None }
    }

    /// Returns the cache for results that the runner with this digest computed for the program.
    #[must_use]
    pub fn of_runner(&self, runner: Option<Sha256>) -> Self {
        Self { runner, ..self.clone() }
    }

    /// Looks a job up and verifies what is found: what is returned are copies, in `scratch` where they are long.
    pub fn load(&self, key: &JobKey, scratch: Option<&Path>) -> Lookup {
        let folder = self.entry(key);
        let manifest = match fs::read(folder.join(MANIFEST)) {
            Ok(manifest) => manifest,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Lookup::Miss,
            Err(error) => return Lookup::Damaged(format!("{MANIFEST}: {error}")),
        };
        match read_entry(&folder, &manifest, scratch) {
            Ok(files) if self.manifest(key, &files) == manifest => Lookup::Hit(files),
            Ok(_) => Lookup::Damaged(format!("{MANIFEST} does not describe the files beside it")),
            Err(damage) => Lookup::Damaged(damage),
        }
    }

    /// Stores a job; replaces what is there. An entry appears whole or not at all.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn store(&self, key: &JobKey, files: &CachedFiles) -> io::Result<()> {
        let entry = self.entry(key);
        let parent = entry.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent)?;
        let beside = tempfile::Builder::new().prefix(".new-").tempdir_in(parent)?;
        for (name, file) in files {
            file.copy_to(&beside.path().join(name))?;
        }
        fs::write(beside.path().join(MANIFEST), self.manifest(key, files))?;
        if entry.exists() {
            fs::remove_dir_all(&entry)?;
        }
        match fs::rename(beside.path(), &entry) {
            // Another process stored the same job in the meantime: its entry is as good.
            Err(_) if entry.join(MANIFEST).exists() => Ok(()),
            other => other,
        }
    }

    /// Returns the folder of an entry: under the program, whoever ran the job for it.
    fn entry(&self, key: &JobKey) -> PathBuf {
        let name = match self.runner {
            None => *key.digest(),
            Some(runner) => Sha256::of(&[key.digest().bytes().as_slice(), runner.bytes()].concat()),
        };
        self.folder.join(self.program.short()).join(name.hex())
    }

    /// Returns the bytes of the manifest that describes `files`.
    fn manifest(&self, key: &JobKey, files: &CachedFiles) -> Vec<u8> {
        let digests =
            files.iter().map(|(name, file)| (name.clone(), file.digest().into())).collect();
        object([
            ("files", Value::Object(digests)),
            ("key", (*key.digest()).into()),
            ("program", self.program.into()),
        ])
        .with("runner", self.runner.map(Value::from))
        .to_document()
    }
}

/// Reads the files that a manifest names.
fn read_entry(
    folder: &Path,
    manifest: &[u8],
    scratch: Option<&Path>,
) -> Result<CachedFiles, String> {
    let manifest: serde_json::Value =
        serde_json::from_slice(manifest).map_err(|error| format!("{MANIFEST}: {error}"))?;
    let names = manifest["files"].as_object().ok_or(format!("{MANIFEST} names no files"))?;
    names
        .keys()
        .map(|name| {
            let is_plain = Path::new(name).file_name().is_some_and(|last| last == name.as_str());
            if !is_plain {
                return Err(format!("{MANIFEST} names `{name}`, which is no plain file name"));
            }
            let file = Spool::copy_of(&folder.join(name), scratch);
            Ok((name.clone(), file.map_err(|error| format!("{name}: {error}"))?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> JobKey {
        JobKey::from_digest(Sha256::of(text.as_bytes()))
    }

    fn files(text: &str) -> CachedFiles {
        BTreeMap::from([("report.json".to_owned(), text.as_bytes().to_vec().into())])
    }

    #[test]
    fn what_was_stored_is_found_by_the_same_key_and_program_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path(), Sha256::of(b"program"));
        assert_eq!(cache.load(&key("a"), None), Lookup::Miss);
        cache.store(&key("a"), &files("one")).expect("stored");
        cache.store(&key("a"), &files("two")).expect("replaced");
        assert_eq!(cache.load(&key("a"), None), Lookup::Hit(files("two")));
        assert_eq!(cache.load(&key("b"), None), Lookup::Miss);
        let other = Cache::new(folder.path(), Sha256::of(b"another program"));
        assert_eq!(other.load(&key("a"), None), Lookup::Miss);
    }

    #[test]
    fn what_a_runner_computed_is_found_for_that_runner_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path(), Sha256::of(b"program"));
        let of = |runner: &str| cache.of_runner(Some(Sha256::of(runner.as_bytes())));
        of("one").store(&key("a"), &files("one")).expect("stored");
        assert!(matches!(of("one").load(&key("a"), None), Lookup::Hit(_)));
        assert!(matches!(of("two").load(&key("a"), None), Lookup::Miss));
        assert!(matches!(cache.load(&key("a"), None), Lookup::Miss));
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path(), Sha256::of(b"program"));
        for (file, bytes) in [
            ("report.json", Some("other")),
            ("report.json", None),
            (MANIFEST, Some("{}")),
            (MANIFEST, Some("{\"files\":{\"../x\":\"\"}}")),
            (MANIFEST, Some("no JSON")),
        ] {
            cache.store(&key("a"), &files("one")).expect("stored");
            let path = cache.entry(&key("a")).join(file);
            match bytes {
                Some(bytes) => fs::write(path, bytes).expect("written"),
                None => fs::remove_file(path).expect("removed"),
            }
            assert!(matches!(cache.load(&key("a"), None), Lookup::Damaged(_)), "{file} {bytes:?}");
        }
    }

    #[test]
    fn an_entry_of_another_job_under_this_name_is_damage() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path(), Sha256::of(b"program"));
        cache.store(&key("a"), &files("one")).expect("stored");
        fs::rename(cache.entry(&key("a")), cache.entry(&key("b"))).expect("renamed");
        assert!(matches!(cache.load(&key("b"), None), Lookup::Damaged(_)));
    }
}
