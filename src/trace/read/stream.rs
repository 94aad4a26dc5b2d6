//! The lines of a shard one after the other, in bounded memory, with the digests of what went by.
//!
//! Whatever is not in order with a file (it cannot be read or unpacked, is named wrong, is no UTF-8) is [`Irregular`] here, without a
//! reason: the caller reads the file as a whole then, and says exactly what is wrong and where.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use memchr::{memchr, memchr_iter, memrchr};

use crate::digest::{Hasher, Sha256};

use super::super::row::Line;
use super::packing::{Packing, ZstdStream};
use super::pipe::read_ahead;
use super::shard::{Contents, Shard};

/// How many bytes are read at once.
const AT_ONCE: usize = 1 << 18;
/// How many bytes are unpacked at once: rows are read from the first of them while the next are unpacked.
const UNPACKED_AT_ONCE: usize = 1 << 16;

/// Something is not in order with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Irregular;

/// Whether digests are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digests {
    /// No.
    Skipped,
    /// Those of the file and of what it holds.
    Taken,
}

/// What went by when a shard was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The size of the file.
    pub bytes: u64,
    /// The digest of the file; that of nothing where it was not asked for.
    pub sha256: Sha256,
    /// The digest of what it holds once unpacked.
    pub content_sha256: Sha256,
    /// Lines that are not blank.
    pub rows: u64,
    /// Lines.
    pub(super) lines: u64,
}

/// Counts and hashes what is read through it.
struct Watched<R> {
    from: R,
    hasher: Option<Hasher>,
    bytes: u64,
}

impl<R: Read> Watched<R> {
    fn new(from: R, digests: Digests) -> Self {
        let hasher = (digests == Digests::Taken).then(Hasher::new);
        Self { from, hasher, bytes: 0 }
    }

    fn finish(self) -> (u64, Sha256) {
        (self.bytes, self.hasher.unwrap_or_default().finish())
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&into[..count]);
        }
        self.bytes += count as u64;
        Ok(count)
    }
}

/// Hands every line of a shard to `take`, `lines_before` counting those of earlier shards, and returns what went by.
///
/// # Errors
/// [`Irregular`].
pub(super) fn each_line(
    shard: &Shard,
    lines_before: u64,
    digests: Digests,
    take: impl FnMut(Line<'_>),
) -> Result<Seen, Irregular> {
    match shard.contents() {
        Contents::Disk(path) => {
            let file = File::open(path).map_err(|_| Irregular)?;
            packed_lines(file, shard.name(), (lines_before, digests), take)
        }
        Contents::AsFile(bytes) => {
            packed_lines(bytes.as_slice(), shard.name(), (lines_before, digests), take)
        }
        Contents::Unpacked(bytes) => {
            plain_lines(bytes.as_slice(), shard.name(), (lines_before, digests), take)
        }
    }
}

/// As [`each_line`], of a file that may be packed.
fn packed_lines(
    file: impl Read + Send,
    name: &str,
    (lines_before, digests): (u64, Digests),
    take: impl FnMut(Line<'_>),
) -> Result<Seen, Irregular> {
    let mut file = BufReader::with_capacity(AT_ONCE, Watched::new(file, digests));
    let found = Packing::of(file.fill_buf().map_err(|_| Irregular)?);
    if found != Packing::named(name) {
        return Err(Irregular);
    }
    let at = (lines_before, digests);
    let (content, file, (lines, rows)) = match found {
        Packing::Plain => return watched_lines(file, name, lines_before, take),
        Packing::Gzip => {
            let (content, decoder, counts) =
                unpacked_lines(MultiGzDecoder::new(file), name, at, take)?;
            (content, decoder.into_inner(), counts)
        }
        Packing::Zstd => {
            let (content, decoder, counts) = unpacked_lines(ZstdStream::new(file), name, at, take)?;
            (content, decoder.into_inner(), counts)
        }
    };
    let (bytes, sha256) = file.into_inner().finish();
    Ok(Seen { bytes, sha256, content_sha256: content, rows, lines })
}

/// Reads the lines that a decoder yields, which goes on unpacking while they are read; returns the digest of what it yielded, the decoder,
/// and the numbers of lines.
fn unpacked_lines<D: Read + Send>(
    decoder: D,
    name: &str,
    (lines_before, digests): (u64, Digests),
    take: impl FnMut(Line<'_>),
) -> Result<(Sha256, D, (u64, u64)), Irregular> {
    let watched = Watched::new(decoder, digests);
    let (content, counts) =
        read_ahead(watched, UNPACKED_AT_ONCE, |content| lines(content, name, lines_before, take));
    Ok((content.hasher.unwrap_or_default().finish(), content.from, counts?))
}

/// As [`each_line`], of a text that is not packed, whatever it is called.
fn plain_lines(
    text: impl Read,
    name: &str,
    (lines_before, digests): (u64, Digests),
    take: impl FnMut(Line<'_>),
) -> Result<Seen, Irregular> {
    let text = BufReader::with_capacity(AT_ONCE, Watched::new(text, digests));
    watched_lines(text, name, lines_before, take)
}

/// Reads the lines of what is its own contents.
fn watched_lines<R: Read>(
    mut text: BufReader<Watched<R>>,
    name: &str,
    lines_before: u64,
    take: impl FnMut(Line<'_>),
) -> Result<Seen, Irregular> {
    let (lines, rows) = lines(&mut text, name, lines_before, take)?;
    let (bytes, sha256) = text.into_inner().finish();
    Ok(Seen { bytes, sha256, content_sha256: sha256, rows, lines })
}

/// Reads lines to the end; returns how many there were, and how many of them were not blank. They are handed over from where they lie: only those
/// that reach across two pieces of what is read are put together.
fn lines(
    text: &mut impl BufRead,
    name: &str,
    lines_before: u64,
    mut take: impl FnMut(Line<'_>),
) -> Result<(u64, u64), Irregular> {
    let (mut number, mut rows, mut begun) = (0, 0, Vec::new());
    let mut each = |bytes: &[u8]| {
        let whole = std::str::from_utf8(bytes).map_err(|_| Irregular)?;
        if number == 0 && whole.starts_with('\u{feff}') {
            return Err(Irregular);
        }
        for text in lines_of(whole) {
            number += 1;
            rows += u64::from(!text.as_bytes().trim_ascii().is_empty());
            take(Line { file: name, number, running: lines_before + number, text });
        }
        Ok(())
    };
    loop {
        let piece = match text.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            piece => piece.map_err(|_| Irregular)?,
        };
        let length = piece.len();
        if length == 0 {
            break;
        }
        let mut piece = piece;
        if !begun.is_empty()
            && let Some(end) = memchr(b'\n', piece)
        {
            begun.extend_from_slice(&piece[..=end]);
            each(&begun)?;
            begun.clear();
            piece = &piece[end + 1..];
        }
        let whole = memrchr(b'\n', piece).map_or(0, |end| end + 1);
        each(&piece[..whole])?;
        begun.extend_from_slice(&piece[whole..]);
        text.consume(length);
    }
    each(&begun)?;
    Ok((number, rows))
}

/// Returns the lines of a text, as [`str::lines`] does.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    let ends = memchr_iter(b'\n', text.as_bytes()).map(Some).chain([None]);
    ends.filter_map(move |end| {
        let line = &text[from..end.unwrap_or(text.len())];
        if let Some(end) = end {
            from = end + 1;
            Some(line.strip_suffix('\r').unwrap_or(line))
        } else {
            (!line.is_empty()).then_some(line)
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lines with both their numbers, and how many there are.
    type Read = (Vec<(u64, u64, String)>, (u64, u64));

    /// Returns what is read in pieces of a size.
    fn read(bytes: &[u8], size: usize) -> Result<Read, Irregular> {
        let mut all = Vec::new();
        let counts = lines(&mut BufReader::with_capacity(size, bytes), "f", 5, |line| {
            all.push((line.number, line.running, line.text.to_owned()));
        })?;
        Ok((all, counts))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

        #[test]
        fn lines_are_the_same_however_reads_fall(text in "[a é€\r\n]{0,60}", size in 1_usize..20) {
            let (all, counts) = read(text.as_bytes(), size).expect("a text");
            let expected: Vec<&str> = text.lines().collect();
            let found: Vec<&str> = all.iter().map(|(_, _, line)| line.as_str()).collect();
            prop_assert_eq!(found, expected);
            prop_assert!(all.iter().zip(1..).all(|(line, number)| (line.0, line.1) == (number, number + 5)));
            let rows = all.iter().filter(|(_, _, line)| !line.trim_ascii().is_empty());
            prop_assert_eq!(counts, (all.len() as u64, rows.map(|_| 1).sum::<u64>()));
        }
    }

    #[test]
    fn bytes_that_are_no_text_and_a_byte_order_mark_are_irregular() {
        for size in [1, 2, 7, 100] {
            assert_eq!(read(b"a\n\xffb\nc", size), Err(Irregular));
            assert_eq!(read(b"a\n\xe2\x82", size), Err(Irregular));
            assert_eq!(read("\u{feff}a\nb".as_bytes(), size), Err(Irregular));
            assert!(read("a\n\u{feff}b".as_bytes(), size).is_ok());
        }
    }
}
