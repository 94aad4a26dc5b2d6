//! A file of a recording as a stream of lines.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;

use crate::diag::{Code, Problem, SourceFile, Span, agreed, counted};

use super::Shard;
use super::packing::{GzipStream, Packing, ZstdStream};
use super::shard::Contents;

/// How much is read of a file at once.
const BUFFER: usize = 256 * 1024;

/// The longest line: the longest trace of a public corpus takes some megabytes.
const LINE_MAX: u64 = 1 << 28;

/// A file of a recording: its name for people, and where its bytes are.
#[derive(Debug, Clone)]
pub struct TraceInput {
    name: Arc<str>,
    bytes: Bytes,
}

/// Where the bytes of a file are.
#[derive(Debug, Clone)]
enum Bytes {
    /// On the disk; read once from start to end each time.
    Path(PathBuf),
    /// In memory, verified.
    Memory(Arc<[u8]>),
    /// The same, unpacked, whatever the name says.
    Unpacked(Arc<[u8]>),
}

/// Lines of a file, one after another, in bounded memory.
pub(in super::super) struct Lines {
    name: Arc<str>,
    unpacked: Box<dyn BufRead + Send>,
    /// Lines handed out.
    count: u64,
    /// What an error of the stream means.
    damage: (Code, &'static str),
}

impl TraceInput {
    /// Returns a file on the disk; `name` is what messages call it.
    pub fn file(path: impl Into<PathBuf>, name: &str) -> Self {
        Self { name: name.into(), bytes: Bytes::Path(path.into()) }
    }

    /// Returns a file in memory.
    pub fn bytes(name: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.into(), bytes: Bytes::Memory(bytes.into()) }
    }

    /// Returns the file that a shard holds.
    pub fn shard(shard: &Shard) -> Self {
        match shard.contents() {
            Contents::Disk(path) => Self::file(path, shard.name()),
            Contents::AsFile(bytes) => Self::bytes(shard.name(), bytes.as_slice()),
            Contents::Unpacked(bytes) => {
                Self { name: shard.name().into(), bytes: Bytes::Unpacked(bytes.as_slice().into()) }
            }
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns the name without what says how the file is packed.
    pub fn bare_name(&self) -> &str {
        let (_, end) = Packing::named(&self.name).words();
        &self.name[..self.name.len() - end.len()]
    }

    /// Returns whether the name says that the file is one JSON value over any number of lines.
    pub fn is_document(&self) -> bool {
        self.bare_name().to_ascii_lowercase().ends_with(".json")
    }

    /// Opens the file.
    ///
    /// # Errors
    /// `trace::read` where it cannot be read, `trace::extension` where name and contents disagree about how it is packed.
    pub(in super::super) fn lines(&self) -> Result<Lines, Problem> {
        let mut packed: Box<dyn BufRead + Send> = match &self.bytes {
            Bytes::Path(path) => {
                let file = File::open(path).map_err(|error| self.unreadable(&error))?;
                Box::new(BufReader::with_capacity(BUFFER, file))
            }
            Bytes::Memory(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            Bytes::Unpacked(bytes) => {
                let unpacked = Box::new(Cursor::new(Arc::clone(bytes)));
                let damage = (Code::TraceRead, "cannot read on");
                return Ok(Lines { name: Arc::clone(&self.name), unpacked, count: 0, damage });
            }
        };
        let start = packed.fill_buf().map_err(|error| self.unreadable(&error))?;
        let found = Packing::of(start);
        self.check_name(found)?;
        let buffered = |stream: Box<dyn Read + Send>| BufReader::with_capacity(BUFFER, stream);
        let (unpacked, damage): (Box<dyn BufRead + Send>, _) = match found {
            Packing::Plain => (packed, (Code::TraceRead, "cannot read on")),
            Packing::Gzip => (
                Box::new(buffered(Box::new(GzipStream::Between(packed)))),
                (Code::TraceGzip, "truncated or corrupt gzip stream"),
            ),
            Packing::Zstd => (
                Box::new(buffered(Box::new(ZstdStream::new(packed)))),
                (Code::TraceZstd, "truncated or corrupt Zstandard stream"),
            ),
        };
        Ok(Lines { name: Arc::clone(&self.name), unpacked, count: 0, damage })
    }

    /// Returns the whole text.
    ///
    /// # Errors
    /// As [`TraceInput::lines`], and for what is no UTF-8.
    pub fn text(&self) -> Result<String, Problem> {
        let mut lines = self.lines()?;
        let mut bytes = Vec::new();
        if let Err(error) = lines.unpacked.read_to_end(&mut bytes) {
            return Err(lines.damaged(&error));
        }
        let name = &self.name;
        String::from_utf8(bytes)
            .map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                crate::diag::not_utf8(Code::TraceEncoding, name, error.as_bytes(), at)
            })
            .and_then(|text| without_mark(name, text))
    }

    fn unreadable(&self, error: &std::io::Error) -> Problem {
        Problem::new(Code::TraceRead, format!("cannot read `{}`: {error}", self.name))
            .help("give the path of a trace file or folder, or the name of a pin under pins/traces")
    }

    /// Checks that the name says how the file is packed.
    fn check_name(&self, found: Packing) -> Result<(), Problem> {
        let named = Packing::named(&self.name);
        if named == found {
            return Ok(());
        }
        let (message, help) = if found == Packing::Plain {
            let (what, end) = named.words();
            (format!("`{}` ends in `{end}` and is no {what} stream", self.name), "rename, or pack")
        } else {
            let (what, end) = found.words();
            (format!("`{}` holds {what} and its name does not end in `{end}`", self.name), "rename")
        };
        Err(Problem::new(Code::TraceExtension, message)
            .label(&SourceFile::new(&self.name, ""), Span::default(), "its first bytes say so")
            .help(format!("{help} it: the end of the name says how a file is packed")))
    }
}

impl Lines {
    /// Returns the number of the next line, from 1.
    pub(in super::super) fn next_number(&self) -> u64 {
        self.count + 1
    }

    /// Returns the next line without its end, or `None` after the last.
    ///
    /// # Errors
    /// Where the file cannot be read or unpacked, and for what is no UTF-8.
    pub(in super::super) fn next(&mut self) -> Result<Option<String>, Problem> {
        let mut bytes = Vec::new();
        match (&mut self.unpacked).take(LINE_MAX + 1).read_until(b'\n', &mut bytes) {
            Ok(0) => return Ok(None),
            Ok(length) if length as u64 > LINE_MAX => return Err(self.too_long()),
            Ok(_) => {}
            Err(error) => return Err(self.damaged(&error)),
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
        self.count += 1;
        let line = String::from_utf8(bytes).map_err(|error| self.not_utf8(&error))?;
        let line = if self.count == 1 { without_mark(&self.name, line)? } else { line };
        Ok(Some(line))
    }

    /// Says that a line has no end in sight: no record is that long, and a packed file may hold any number of bytes.
    fn too_long(&self) -> Problem {
        let number = usize::try_from(self.next_number()).unwrap_or(usize::MAX);
        let source = SourceFile::excerpt(&self.name, "", number);
        let message = format!("the line is longer than {LINE_MAX} bytes");
        Problem::new(Code::TraceSyntax, message)
            .label(&source, Span::default(), "no line end")
            .help("a recording has a record a line; is it the right file?")
    }

    fn not_utf8(&self, error: &std::string::FromUtf8Error) -> Problem {
        let valid = error.utf8_error().valid_up_to();
        let start = String::from_utf8_lossy(&error.as_bytes()[..valid]);
        let shown: String = start.chars().rev().take(60).collect();
        let shown: String = shown.chars().rev().collect();
        let column = start.chars().count() - shown.chars().count() + 1;
        let number = usize::try_from(self.count).unwrap_or(usize::MAX);
        let source = SourceFile::excerpt(&self.name, &shown, number).from_column(column);
        Problem::new(Code::TraceEncoding, "not valid UTF-8")
            .label(&source, Span::new(shown.len(), 0), "this byte")
            .help("traces are UTF-8: save the file so")
    }

    /// Says how far a stream could be read.
    fn damaged(&self, error: &std::io::Error) -> Problem {
        let reason = if error.kind() == ErrorKind::UnexpectedEof {
            "it is cut".to_owned()
        } else {
            error.to_string()
        };
        let (code, what) = self.damage;
        let rows = self.count;
        let number = usize::try_from(rows.max(1)).unwrap_or(usize::MAX);
        let source = SourceFile::excerpt(&self.name, "", number);
        Problem::new(code, format!("{what}: {reason}; {}", were_readable(rows, "line")))
            .label(&source, Span::default(), "the last readable line")
            .help("fetch the file again, or pack it anew")
    }
}

/// Returns how many rows or lines could be read, as a clause.
pub(super) fn were_readable(number: impl std::fmt::Display + Copy, noun: &str) -> String {
    format!("{} {} readable", counted(number, noun), agreed(number, "was", "were"))
}

/// Refuses a text that starts with a byte order mark.
fn without_mark(name: &str, text: String) -> Result<String, Problem> {
    if !text.starts_with('\u{feff}') {
        return Ok(text);
    }
    let line: Cow<'_, str> = text.chars().take(60).collect::<String>().into();
    let source = SourceFile::new(name, &line);
    Err(Problem::new(Code::TraceEncoding, "the file starts with a UTF-8 byte order mark (BOM)")
        .label(&source, Span::new(0, '\u{feff}'.len_utf8()), "ef bb bf")
        .help("save it as UTF-8 without a BOM"))
}
