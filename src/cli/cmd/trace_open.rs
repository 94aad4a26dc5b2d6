//! The files of one trace, as every command on traces opens them: files, folders and starts of names of segments, in one format.

use std::path::{Path, PathBuf};

use crate::diag::{Bag, Problem};
use crate::trace::{Shard, TraceFormat, TraceInput, detect_format, trace_files};

/// Where a file is, and what messages call it.
pub(super) type Named = (PathBuf, String);

/// The files of one trace, and their format.
pub(super) struct Opened {
    /// Where each file is, and what messages call it.
    pub(super) paths: Vec<Named>,
    /// The same, to be read.
    pub(super) files: Vec<TraceInput>,
    pub(super) format: TraceFormat,
}

/// Opens the files of one trace, in order; their format is what is stated, else what all of them hold.
pub(super) fn open(paths: &[PathBuf], stated: Option<TraceFormat>) -> Result<Opened, Bag> {
    let (paths, files) = inputs(paths)?;
    let format = match stated {
        Some(stated) => stated,
        None => detect_format(&files)?,
    };
    Ok(Opened { paths, files, format })
}

/// Returns the files that paths stand for, in order.
pub(super) fn inputs(paths: &[PathBuf]) -> Result<(Vec<Named>, Vec<TraceInput>), Problem> {
    let mut found = Vec::new();
    for path in paths {
        found.extend(trace_files(path, &shown(path))?);
    }
    let files = found.iter().map(|(path, name)| TraceInput::file(path, name)).collect();
    Ok((found, files))
}

/// Returns what messages call a path.
pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

impl Opened {
    /// Returns the files as shards.
    pub(super) fn shards(&self) -> Result<Vec<Shard>, Bag> {
        let shard = |(path, name): &Named| Shard::on_disk(path, name).map_err(Bag::from);
        self.paths.iter().map(shard).collect()
    }

    /// Returns what messages call the first file.
    pub(super) fn name(&self) -> &str {
        self.files.first().map_or("", |file| file.name())
    }
}
