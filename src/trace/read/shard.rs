//! One file of a trace: in memory, or on the disk until it is read.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::diag::{Code, Problem, SourceFile, Span, not_utf8};

use super::gzip;
use super::input::were_readable;
use super::packing::{Packing, ZstdStream};

/// One file of a trace: its name for people, and its bytes or where they are.
#[derive(Debug, Clone)]
pub struct Shard {
    name: String,
    contents: Contents,
}

/// What a shard holds.
#[derive(Debug, Clone)]
pub(super) enum Contents {
    /// The bytes as the file holds them: packed by their first ones.
    AsFile(Vec<u8>),
    /// Those of a file that was verified, unpacked.
    Unpacked(Vec<u8>),
    /// Those of a file as it is when it is read, line by line.
    Disk(PathBuf),
}

impl Shard {
    /// Returns a shard of a file's bytes, packed or not by the first of them.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), contents: Contents::AsFile(bytes) }
    }

    /// Returns a shard of what a verified file holds once unpacked; lines are still named after the file.
    pub fn unpacked(name: impl Into<String>, text: Vec<u8>) -> Self {
        Self { name: name.into(), contents: Contents::Unpacked(text) }
    }

    /// Reads a file into memory; `name` is what messages call it.
    ///
    /// # Errors
    /// `trace::read` when the file cannot be read.
    pub fn load(path: &Path, name: &str) -> Result<Self, Problem> {
        std::fs::read(path)
            .map(|bytes| Self::new(name, bytes))
            .map_err(|error| unreadable(name, &error))
    }

    /// Returns a file that stays on the disk: its lines are read one after the other; `name` is what messages call it.
    ///
    /// # Errors
    /// `trace::read` when the file cannot be opened.
    pub fn on_disk(path: &Path, name: &str) -> Result<Self, Problem> {
        match std::fs::File::open(path) {
            Ok(_) => Ok(Self { name: name.to_owned(), contents: Contents::Disk(path.to_owned()) }),
            Err(error) => Err(unreadable(name, &error)),
        }
    }

    /// Returns what it holds.
    pub(super) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Returns the shard with its bytes in memory.
    ///
    /// # Errors
    /// `trace::read` when the file cannot be read.
    pub(super) fn in_memory(&self) -> Result<Cow<'_, Self>, Problem> {
        match &self.contents {
            Contents::Disk(path) => Self::load(path, &self.name).map(Cow::Owned),
            Contents::AsFile(_) | Contents::Unpacked(_) => Ok(Cow::Borrowed(self)),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes as they were given.
    ///
    /// # Panics
    /// For a file that stays on the disk.
    pub fn bytes(&self) -> &[u8] {
        match &self.contents {
            Contents::AsFile(bytes) | Contents::Unpacked(bytes) => bytes,
            Contents::Disk(_) => panic!("bug: the bytes of a file on the disk are not given"),
        }
    }

    /// Returns the unpacked text as bytes.
    ///
    /// # Errors
    /// `trace::read` where the file cannot be read, `trace::extension` where name and contents disagree, `trace::gzip` and
    /// `trace::zstd` for a damaged stream, with the row reached.
    pub fn unpack(&self) -> Result<Cow<'_, [u8]>, Problem> {
        let bytes = match &self.contents {
            Contents::Unpacked(bytes) => return Ok(Cow::Borrowed(bytes)),
            Contents::AsFile(bytes) => bytes,
            Contents::Disk(path) => {
                let loaded = Self::load(path, &self.name)?;
                return loaded.unpack().map(|text| Cow::Owned(text.into_owned()));
            }
        };
        match (Packing::named(&self.name), Packing::of(bytes)) {
            (Packing::Plain, Packing::Plain) => Ok(Cow::Borrowed(bytes)),
            (Packing::Gzip, Packing::Gzip | Packing::Plain) => gzip::unpack(bytes)
                .map(Cow::Owned)
                .map_err(|(damage, readable)| self.damaged(&damage, &readable)),
            (Packing::Zstd, Packing::Zstd) => self.unpack_zstd(bytes).map(Cow::Owned),
            (Packing::Zstd, Packing::Plain) => {
                let message = format!("`{}` ends in `.zst` and is no Zstandard stream", self.name);
                Err(self.misnamed(message))
            }
            (_, found @ (Packing::Gzip | Packing::Zstd)) => {
                let (what, end) = found.words();
                let message =
                    format!("`{}` holds {what} and its name does not end in `{end}`", self.name);
                Err(self.misnamed(message))
            }
        }
    }

    fn misnamed(&self, message: String) -> Problem {
        Problem::new(Code::TraceExtension, message)
            .label(&SourceFile::new(&self.name, ""), Span::default(), "its first bytes say so")
            .help("rename it, or pack it anew: the end of the name says how a file is packed")
    }

    fn unpack_zstd(&self, bytes: &[u8]) -> Result<Vec<u8>, Problem> {
        let mut text = Vec::new();
        let Err(error) = ZstdStream::new(bytes).read_to_end(&mut text) else { return Ok(text) };
        let rows = line_ends(&text);
        let message = format!(
            "truncated or corrupt Zstandard stream: {error}; {}",
            were_readable(rows, "row")
        );
        let source = SourceFile::excerpt(&self.name, "", rows.max(1));
        Err(Problem::new(Code::TraceZstd, message)
            .label(&source, Span::default(), "the last readable row")
            .help("fetch the file again, or pack it anew with `zstd -19`"))
    }

    /// Returns the unpacked text.
    ///
    /// # Errors
    /// As [`Shard::unpack`], and `trace::encoding` for a byte order mark or bytes that are no UTF-8.
    pub(in super::super) fn text(&self) -> Result<Cow<'_, str>, Problem> {
        let text = match self.unpack()? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes)
                .map(Cow::Borrowed)
                .map_err(|error| (error, bytes.to_vec())),
            Cow::Owned(bytes) => String::from_utf8(bytes)
                .map(Cow::Owned)
                .map_err(|error| (error.utf8_error(), error.into_bytes())),
        };
        let text = text.map_err(|(error, bytes)| {
            not_utf8(Code::TraceEncoding, &self.name, &bytes, error.valid_up_to())
        })?;
        if text.starts_with('\u{feff}') {
            let line = text.lines().next().unwrap_or_default();
            let source = SourceFile::new(&self.name, line);
            let message = "the file starts with a UTF-8 byte order mark (BOM)";
            return Err(Problem::new(Code::TraceEncoding, message)
                .label(&source, Span::new(0, '\u{feff}'.len_utf8()), "ef bb bf")
                .help("save it as UTF-8 without a BOM"));
        }
        Ok(text)
    }

    /// Says what is wrong with a gzip stream and which row was reached.
    fn damaged(&self, damage: &gzip::Damage, readable: &[u8]) -> Problem {
        let code = match damage {
            gzip::Damage::NotGzip { .. } => Code::TraceExtension,
            gzip::Damage::Empty
            | gzip::Damage::Cut { .. }
            | gzip::Damage::Checksum { .. }
            | gzip::Damage::Deflate { .. }
            | gzip::Damage::Padding { .. }
            | gzip::Damage::Garbage { .. } => Code::TraceGzip,
        };
        let whole = readable.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rows = line_ends(&readable[..whole]);
        let start = readable[..whole.saturating_sub(1)]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let last = String::from_utf8_lossy(&readable[start..whole.saturating_sub(1).max(start)]);
        let source = SourceFile::excerpt(&self.name, &last, rows.max(1));
        Problem::new(code, format!("{damage}; {}", were_readable(rows, "row")))
            .label(&source, Span::new(0, last.len()), "the last readable row")
            .help("fetch the file again, or pack it anew with `gzip -9n`")
    }
}

/// Says that a file cannot be read.
fn unreadable(name: &str, error: &std::io::Error) -> Problem {
    Problem::new(Code::TraceRead, format!("cannot read `{name}`: {error}"))
        .help("give the path of a trace file, or the name of a pin under pins/traces")
}

/// Returns whether a file's name says that it is packed: it ends in `.gz` or `.zst`, in any case.
pub fn is_named_packed(name: &str) -> bool {
    Packing::named(name) != Packing::Plain
}

/// Returns how many lines end in `bytes`.
fn line_ends(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}
