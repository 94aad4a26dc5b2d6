//! Pins as files: what they may hold, what they verify, and what their digests cover.

mod digests;
mod files;
mod models;
mod traces;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Registry;

/// Returns the project's own root.
fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns a project with these files under `pins/`.
fn with_files(files: &[(&str, &[u8])]) -> (TempDir, Registry) {
    let root = tempfile::tempdir().expect("a folder");
    write(root.path(), files);
    let registry = Registry::open(root.path()).expect("a root");
    (root, registry)
}

/// Writes files under `pins/`.
fn write(root: &Path, files: &[(&str, &[u8])]) {
    for (path, bytes) in files {
        let path = root.join("pins").join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("written");
        std::fs::write(path, bytes).expect("written");
    }
}
