//! Packs what is written, as the end of a file's name says.

use std::io::{self, Write};

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::packing::Packing;

/// How many bytes a Zstandard frame holds before it is packed: frames follow one another, so that memory stays bounded.
const FRAME: usize = 1 << 22;

/// Packs what is written to it. The same bytes give the same file: no name, no time.
pub struct PackWriter<W: Write>(Packer<W>);

enum Packer<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Zstd { out: W, frame: Vec<u8>, frames: u64 },
}

impl<W: Write> PackWriter<W> {
    /// Returns what packs as the end of `name` says: `.gz`, `.zst`, or not at all.
    pub fn named(name: &str, out: W) -> Self {
        Self(match Packing::named(name) {
            Packing::Plain => Packer::Plain(out),
            Packing::Gzip => Packer::Gzip(GzBuilder::new().write(out, Compression::default())),
            Packing::Zstd => Packer::Zstd { out, frame: Vec::new(), frames: 0 },
        })
    }

    /// Ends the stream and returns what it was written to.
    ///
    /// # Errors
    /// What that one says.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Packer::Plain(out) => Ok(out),
            Packer::Gzip(packer) => packer.finish(),
            Packer::Zstd { mut out, frame, frames } => {
                // An empty file is no Zstandard stream; an empty frame is.
                if !frame.is_empty() || frames == 0 {
                    out.write_all(&packed(&frame))?;
                }
                Ok(out)
            }
        }
    }
}

impl<W: Write> Write for PackWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Packer::Plain(out) => out.write(bytes),
            Packer::Gzip(packer) => packer.write(bytes),
            Packer::Zstd { out, frame, frames } => {
                let count = bytes.len().min(FRAME - frame.len());
                frame.extend_from_slice(&bytes[..count]);
                if frame.len() == FRAME {
                    out.write_all(&packed(frame))?;
                    *frames += 1;
                    frame.clear();
                }
                Ok(count)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Packer::Plain(out) | Packer::Zstd { out, .. } => out.flush(),
            Packer::Gzip(packer) => packer.flush(),
        }
    }
}

impl<W: Write> std::fmt::Debug for PackWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let packing = match &self.0 {
            Packer::Plain(_) => Packing::Plain,
            Packer::Gzip(_) => Packing::Gzip,
            Packer::Zstd { .. } => Packing::Zstd,
        };
        f.debug_struct("PackWriter").field("packing", &packing).finish_non_exhaustive()
    }
}

/// Returns a frame with its checksum.
fn packed(frame: &[u8]) -> Vec<u8> {
    compress_to_vec(frame, CompressionLevel::Fastest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::read::TraceInput;

    fn pack(name: &str, text: &[u8]) -> Vec<u8> {
        let mut packer = PackWriter::named(name, Vec::new());
        text.chunks(70_001).for_each(|part| packer.write_all(part).expect("a Vec"));
        packer.finish().expect("a Vec")
    }

    #[test]
    fn what_is_packed_is_unpacked_as_it_was_and_packed_the_same_again() {
        let row =
            |at: u64| format!("{{\"timestamp\":{at},\"hash_ids\":[{},{at}]}}\n", at * at % 9973);
        let rows: String = (0..150_000).map(row).collect();
        assert!(rows.len() > FRAME, "more than a frame");
        let one_byte = "a".repeat(FRAME);
        for text in ["", "a\n", &rows, &one_byte] {
            for name in ["a.jsonl", "a.jsonl.gz", "a.JSONL.ZST"] {
                let bytes = pack(name, text.as_bytes());
                assert_eq!(bytes, pack(name, text.as_bytes()), "{name}");
                let read = TraceInput::bytes(name, bytes).text().expect("it unpacks");
                assert!(read == text, "{name}: {} bytes are {}", text.len(), read.len());
            }
        }
        assert!(pack("a.zst", rows.as_bytes()).len() * 2 < rows.len(), "it is smaller");
    }
}
