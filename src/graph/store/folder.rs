//! A store as a folder: written whole, or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::graph::content::Synthesis;
use crate::graph::ir::Graph;

use super::manifest::{MANIFEST, Part, SUM, StoreInfo, sum};
use super::read::Store;
use super::tree::TreeParts;
use super::write::StoreWriter;

/// A store on its way to a folder. It has its name only once every byte is on the disk; what is given up leaves nothing.
#[derive(Debug)]
pub struct StoreFolder {
    target: PathBuf,
    beside: TempDir,
    writer: StoreWriter<BufWriter<File>>,
}

impl StoreFolder {
    /// Starts a store that is to be at `target`, whose parent folder exists.
    ///
    /// # Errors
    /// [`Code::StoreFile`] where something is there already, or nothing can be written beside it.
    pub fn create(target: &Path, synthesis: &Synthesis) -> Result<Self, Problem> {
        let failed = |error: &io::Error| unwritable(target, error);
        if fs::symlink_metadata(target).is_ok() {
            let message = format!("`{}` is there already", target.display());
            let help = "a store is never written over: name another folder, or remove this one";
            return Err(Problem::new(Code::StoreFile, message).help(help));
        }
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let beside = tempfile::Builder::new()
            .prefix(".store-")
            .tempdir_in(parent)
            .map_err(|error| failed(&error))?;
        let mut files = Vec::new();
        for part in Part::ALL {
            let path = beside.path().join(part.name());
            files.push(BufWriter::new(File::create_new(path).map_err(|error| failed(&error))?));
        }
        let files: [BufWriter<File>; 5] = files.try_into().expect("one a file");
        let writer = StoreWriter::new(synthesis, files);
        Ok(Self { target: target.to_owned(), beside, writer })
    }

    /// Adds a tree.
    ///
    /// # Errors
    /// [`Code::StoreFile`] where it cannot be written.
    pub fn add(&mut self, graph: &Graph, synthesis: &Synthesis) -> Result<(), Problem> {
        self.add_parts(&TreeParts::of(graph, synthesis))
    }

    /// Adds a tree that was made elsewhere.
    ///
    /// # Errors
    /// [`Code::StoreFile`] where it cannot be written.
    pub fn add_parts(&mut self, tree: &TreeParts) -> Result<(), Problem> {
        self.writer.add_parts(tree).map_err(|error| unwritable(&self.target, &error))
    }

    /// Gives the store its name, and returns what it is made from and its digest.
    ///
    /// # Errors
    /// [`Code::StoreFile`] where it cannot be written.
    pub fn finish(self) -> Result<(StoreInfo, Sha256), Problem> {
        let Self { target, beside, writer } = self;
        let (info, files, manifest) = writer.finish();
        settle(&beside, files, &manifest, &target).map_err(|error| unwritable(&target, &error))?;
        Ok((info, Sha256::of(&manifest)))
    }
}

impl Store {
    /// Makes a store of graphs in a folder, and opens it.
    ///
    /// # Errors
    /// As [`StoreFolder::create`] and [`Store::open`].
    pub fn build<'g>(
        graphs: impl IntoIterator<Item = &'g Graph>,
        synthesis: &Synthesis,
        target: &Path,
    ) -> Result<Self, Problem> {
        let mut folder = StoreFolder::create(target, synthesis)?;
        for graph in graphs {
            folder.add(graph, synthesis)?;
        }
        folder.finish()?;
        Self::open(target)
    }
}

/// Brings every file to the disk, then the folder to its name.
fn settle(
    beside: &TempDir,
    files: [BufWriter<File>; 5],
    manifest: &[u8],
    target: &Path,
) -> io::Result<()> {
    for file in files {
        read_only(&file.into_inner()?)?;
    }
    let sum = sum(manifest);
    for (name, bytes) in [(MANIFEST, manifest), (SUM, sum.as_bytes())] {
        let mut file = File::create_new(beside.path().join(name))?;
        file.write_all(bytes)?;
        read_only(&file)?;
    }
    File::open(beside.path())?.sync_all()?;
    fs::rename(beside.path(), target)
}

/// Brings a file to the disk and closes it for writing.
fn read_only(file: &File) -> io::Result<()> {
    file.sync_all()?;
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(true);
    file.set_permissions(permissions)
}

fn unwritable(target: &Path, error: &io::Error) -> Problem {
    let message = format!("cannot write the store `{}`: {error}", target.display());
    Problem::new(Code::StoreFile, message)
}
