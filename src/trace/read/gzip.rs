//! Whole gzip streams, all members, with the reason and the row where one is damaged.

use std::io::{ErrorKind, Read, Write};

use flate2::bufread::{GzDecoder, MultiGzDecoder};
use flate2::{Compression, GzBuilder};

/// Packs bytes as one gzip member without name and time: the same bytes give the same file.
pub fn pack_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzBuilder::new().write(Vec::new(), Compression::best());
    packer.write_all(bytes).expect("a Vec takes every write");
    packer.finish().expect("a Vec takes every write")
}

/// Returns how many bytes the contents of all members are, unpacked the way lines are read and then forgotten.
///
/// # Errors
/// What the decoder says.
pub fn gzip_length(bytes: &[u8]) -> std::io::Result<u64> {
    std::io::copy(&mut MultiGzDecoder::new(bytes), &mut std::io::sink())
}

/// The first two bytes of a gzip member.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Why a gzip stream is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum Damage {
    /// There is nothing at all.
    #[error("the file is empty, and an empty file is no gzip stream")]
    Empty,
    /// The first bytes are no gzip header.
    #[error(
        "the file is no gzip stream: it starts with {found:02x?} and gzip starts with [1f, 8b]"
    )]
    NotGzip {
        /// The first bytes.
        found: Vec<u8>,
    },
    /// The stream ends inside a member.
    #[error("the gzip stream is cut: it ends inside member {member}, after {length} bytes")]
    Cut {
        /// Which member, from 1.
        member: usize,
        /// Bytes of the file.
        length: usize,
    },
    /// A member's checksum or length does not fit what it holds.
    #[error(
        "the gzip stream is damaged: the checksum of member {member} does not fit its contents"
    )]
    Checksum {
        /// Which member, from 1.
        member: usize,
    },
    /// A member cannot be decoded.
    #[error("the gzip stream is damaged in member {member}: {reason}")]
    Deflate {
        /// Which member, from 1.
        member: usize,
        /// What the decoder says.
        reason: String,
    },
    /// Zero bytes follow the last member.
    #[error("{count} zero bytes follow the end of the gzip stream at byte {offset}")]
    Padding {
        /// How many.
        count: usize,
        /// Where they start.
        offset: usize,
    },
    /// Something else follows the last member.
    #[error("{count} bytes that are no gzip member follow the end of the stream at byte {offset}")]
    Garbage {
        /// How many.
        count: usize,
        /// Where they start.
        offset: usize,
    },
}

/// Returns the contents of all members, in order.
///
/// # Errors
/// The damage, and the text that was readable before it.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, (Damage, Vec<u8>)> {
    let mut text = Vec::with_capacity(bytes.len().saturating_mul(4));
    let mut rest = bytes;
    let mut member = 0;
    if rest.is_empty() {
        return Err((Damage::Empty, text));
    }
    while !rest.is_empty() {
        if !rest.starts_with(&MAGIC) {
            return Err((stray(bytes, rest), text));
        }
        member += 1;
        let mut decoder = GzDecoder::new(rest);
        if let Err(error) = decoder.read_to_end(&mut text) {
            return Err((damage(&error, member, bytes.len()), text));
        }
        rest = decoder.into_inner();
    }
    Ok(text)
}

/// Says what bytes that start no member are.
fn stray(bytes: &[u8], rest: &[u8]) -> Damage {
    let (count, offset) = (rest.len(), bytes.len() - rest.len());
    if offset == 0 {
        Damage::NotGzip { found: rest.iter().copied().take(2).collect() }
    } else if rest.iter().all(|byte| *byte == 0) {
        Damage::Padding { count, offset }
    } else {
        Damage::Garbage { count, offset }
    }
}

/// Says what an error of the decoder means.
fn damage(error: &std::io::Error, member: usize, length: usize) -> Damage {
    if error.kind() == ErrorKind::UnexpectedEof {
        Damage::Cut { member, length }
    } else if error.kind() == ErrorKind::InvalidInput && error.to_string().contains("checksum") {
        Damage::Checksum { member }
    } else {
        Damage::Deflate { member, reason: error.to_string() }
    }
}
