//! Packed files as streams: gzip with all members, Zstandard with all frames, checksums verified.

use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The first bytes of a Zstandard frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// Not at all.
    Plain,
    /// With gzip.
    Gzip,
    /// With Zstandard.
    Zstd,
}

impl Packing {
    /// Returns what a file's name says, in any case.
    pub(super) fn named(name: &str) -> Self {
        let end = Path::new(name).extension().and_then(|end| end.to_str()).unwrap_or_default();
        if end.eq_ignore_ascii_case("gz") {
            Self::Gzip
        } else if end.eq_ignore_ascii_case("zst") {
            Self::Zstd
        } else {
            Self::Plain
        }
    }

    /// Returns what the first bytes say.
    pub(super) fn of(start: &[u8]) -> Self {
        if start.starts_with(&super::gzip::MAGIC) {
            Self::Gzip
        } else if start.starts_with(&ZSTD_MAGIC) {
            Self::Zstd
        } else {
            Self::Plain
        }
    }

    /// Returns what it is called, and how names of such files end.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Plain => ("plain text", ""),
            Self::Gzip => ("gzip", ".gz"),
            Self::Zstd => ("Zstandard", ".zst"),
        }
    }
}

/// Every member of a gzip stream, in order.
#[derive(Debug)]
pub(super) enum GzipStream<R: BufRead> {
    /// Between two members.
    Between(R),
    /// Inside one.
    Inside(GzDecoder<R>),
    /// After the last, or after an error.
    Done,
}

impl<R: BufRead> Read for GzipStream<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::Done) {
                Self::Done => return Ok(0),
                Self::Between(mut packed) => {
                    let start = packed.fill_buf()?;
                    if start.is_empty() {
                        return Ok(0);
                    }
                    if start[0] != super::gzip::MAGIC[0] {
                        let what = "bytes that are no gzip member follow the end of the stream";
                        return Err(io::Error::new(ErrorKind::InvalidData, what));
                    }
                    *self = Self::Inside(GzDecoder::new(packed));
                }
                Self::Inside(mut member) => match member.read(into)? {
                    0 if !into.is_empty() => *self = Self::Between(member.into_inner()),
                    count => {
                        *self = Self::Inside(member);
                        return Ok(count);
                    }
                },
            }
        }
    }
}

/// Every frame of a Zstandard stream, in order; frames to be skipped are skipped.
pub(super) struct ZstdStream<R: BufRead> {
    packed: R,
    decoder: FrameDecoder,
    is_inside: bool,
}

impl<R: BufRead> ZstdStream<R> {
    /// Returns the stream that `packed` holds.
    pub(super) fn new(packed: R) -> Self {
        Self { packed, decoder: FrameDecoder::new(), is_inside: false }
    }

    /// Returns what was packed, read as far as it was unpacked.
    pub(super) fn into_inner(self) -> R {
        self.packed
    }

    /// Begins the next frame; returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.packed.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.packed) {
                Ok(()) => {
                    self.is_inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(u64::from(length))?,
                Err(error) => return Err(damaged(&error)),
            }
        }
        Ok(false)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.packed.by_ref().take(length), &mut io::sink())?;
        if skipped == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    /// Ends the frame.
    ///
    /// # Errors
    /// Where its checksum does not fit what it holds.
    fn end(&mut self) -> io::Result<()> {
        self.is_inside = false;
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            let what = "the checksum of a frame does not fit its contents";
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdStream<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_inside && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.packed, one)
                    .map_err(|error| damaged(&error))?;
            }
            match self.decoder.read(into)? {
                0 => self.end()?,
                count => return Ok(count),
            }
        }
    }
}

impl<R: BufRead> std::fmt::Debug for ZstdStream<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ZstdStream").field("is_inside", &self.is_inside).finish_non_exhaustive()
    }
}

/// Returns what the decoder says as an error of a stream.
fn damaged(error: &FrameDecoderError) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error.to_string())
}
