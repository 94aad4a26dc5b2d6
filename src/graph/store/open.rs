//! The files of a store, checked, to a store.

use std::path::Path;

use serde::Deserialize;

use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::units::{BlockSize, Tokens};

use super::blob::Blob;
use super::bytes::{Reader, wide};
use super::manifest::{MANIFEST, Part, SCHEMA, SUM, StoreCounts, StoreInfo, sum};
use super::read::{INDEX_ENTRY, Store, TreeEntry, openings};

/// The files of a store.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) segments: Blob,
    pub(super) index: Blob,
    pub(super) programs: Blob,
    pub(super) topology: Blob,
    pub(super) trees: Blob,
}

/// The manifest as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    files: Vec<ManifestFile>,
    messages: u64,
    nodes: u64,
    residue_messages: u64,
    residue_tokens: u64,
    schema: String,
    seed: String,
    segments: u64,
    synthesised_tokens: u64,
    tokenizer: String,
    tokenizer_digest: String,
    trees: u64,
    word_bytes: usize,
}

/// A file of a store.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestFile {
    bytes: u64,
    digest: String,
    name: String,
}

impl Store {
    /// Opens a store: every byte is read once and held against its digest, so nothing that was cut or altered is ever sent.
    ///
    /// # Errors
    /// [`Code::StoreFile`] where a file cannot be read, [`Code::StoreDamaged`] where one is not what was written.
    pub fn open(folder: &Path) -> Result<Self, Problem> {
        let path = folder.join(MANIFEST);
        let text = std::fs::read(&path).map_err(|error| unreadable(&path, &error))?;
        let stated = std::fs::read(folder.join(SUM))
            .map_err(|error| damaged(folder, &format!("`{SUM}`: {error}")))?;
        if stated != sum(&text).as_bytes() {
            return Err(damaged(folder, &format!("`{MANIFEST}` is not the one of `{SUM}`")));
        }
        let manifest: Manifest = serde_json::from_slice(&text)
            .map_err(|error| damaged(folder, &format!("`{MANIFEST}`: {error}")))?;
        if manifest.schema != SCHEMA {
            let found = format!("it is of the form `{}`, not `{SCHEMA}`", manifest.schema);
            return Err(damaged(folder, &found));
        }
        let mut blobs = Vec::new();
        for part in Part::ALL {
            blobs.push(part.checked(folder, &manifest)?);
        }
        let info = manifest.info().map_err(|error| damaged(folder, &error))?;
        let blobs: [Blob; 5] = blobs.try_into().expect("one a file");
        let [segments, index, programs, topology, trees] = blobs;
        if info.segments.checked_mul(wide(INDEX_ENTRY)) != Some(wide(index.bytes().len())) {
            return Err(damaged(folder, "the number of its segments is another"));
        }
        let contents = Contents { segments, index, programs, topology, trees };
        let trees = info.trees;
        let store = contents.into_store(info, Sha256::of(&text));
        if wide(store.trees.len()) != trees {
            return Err(damaged(folder, "the number of its trees is another"));
        }
        Ok(store)
    }
}

impl Part {
    /// Maps a file and holds it against the manifest.
    fn checked(self, folder: &Path, manifest: &Manifest) -> Result<Blob, Problem> {
        let name = self.name();
        let stated = manifest.files.iter().find(|file| file.name == name);
        let stated = stated.ok_or_else(|| damaged(folder, &format!("`{name}` is not listed")))?;
        let path = folder.join(name);
        let blob = Blob::map(&path).map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                damaged(folder, &format!("`{name}` is missing"))
            } else {
                unreadable(&path, &error)
            }
        })?;
        let (found, expected) = (wide(blob.bytes().len()), stated.bytes);
        if found != expected {
            return Err(damaged(folder, &format!("`{name}` has {found} bytes, not {expected}")));
        }
        let digest = Sha256::of(blob.bytes());
        if digest.to_string() != stated.digest {
            let found = format!("`{name}` is {digest}, not {}", stated.digest);
            return Err(damaged(folder, &found));
        }
        Ok(blob)
    }
}

impl Manifest {
    fn info(&self) -> Result<StoreInfo, String> {
        let seed = self.seed.parse().map_err(|error| format!("`seed`: {error}"))?;
        let digest = self.tokenizer_digest.parse();
        Ok(StoreInfo {
            seed,
            tokenizer: self.tokenizer.clone(),
            tokenizer_digest: digest.map_err(|error| format!("`tokenizer_digest`: {error}"))?,
            trees: self.trees,
            segments: self.segments,
            counts: StoreCounts {
                nodes: self.nodes,
                messages: self.messages,
                tokens: Tokens::new(self.synthesised_tokens),
                residue_messages: self.residue_messages,
                residue_tokens: Tokens::new(self.residue_tokens),
            },
            width: self.word_bytes,
        })
    }
}

impl Contents {
    /// Returns the store of these files.
    pub(super) fn into_store(self, info: StoreInfo, digest: Sha256) -> Store {
        let trees = entries(self.trees.bytes());
        let Self { segments, index, programs, topology, trees: _ } = self;
        Store { info, digest, segments, index, programs, topology, trees, openings: openings() }
    }
}

/// Reads where the trees are.
fn entries(bytes: &[u8]) -> Vec<TreeEntry> {
    let mut from = Reader(bytes);
    let (mut programs, mut topology) = (0, 0);
    let mut entries = Vec::new();
    while !from.0.is_empty() {
        let id = from.text().to_owned();
        let nodes = from.size();
        let block_size = from.maybe().map(|size| {
            let size = u32::try_from(size).ok().and_then(BlockSize::new);
            size.expect("written from a block size")
        });
        let segments = from.size();
        let programs_start = programs;
        programs += from.size();
        let topology_start = topology;
        topology += from.size();
        let (programs, topology) = (programs_start..programs, topology_start..topology);
        entries.push(TreeEntry { id, nodes, block_size, topology, programs, segments });
    }
    entries
}

/// Returns the problem of a file that the system does not give.
pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    let message = format!("cannot read `{}`: {error}", path.display());
    Problem::new(Code::StoreFile, message).help("name the folder that holds `store.json`")
}

/// Returns the problem of a store that is not what it was.
fn damaged(folder: &Path, found: &str) -> Problem {
    let message = format!("the store `{}` is damaged: {found}", folder.display());
    Problem::new(Code::StoreDamaged, message).help("remove the folder, and build the store again")
}
