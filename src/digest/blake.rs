//! BLAKE3, by which the reference names what it makes of recordings, and draws where plays begin. Nothing of ours is addressed by it.

use std::io;

use serde::Serialize;

/// Returns the first 16 hexadecimal digits of the BLAKE3 digest of bytes.
pub(crate) fn blake3_name(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// Returns the first 64 bits of the BLAKE3 digest of bytes, little-endian.
pub(crate) fn blake3_number(bytes: &[u8]) -> u64 {
    first_word(blake3::hash(bytes))
}

/// Returns the BLAKE3 digest of a value as compact JSON, in 64 hexadecimal digits.
///
/// Real numbers are written as `serde_json` writes them: it is the reference's text that is hashed, not one of ours.
pub(crate) fn blake3_of_json(value: &impl Serialize) -> String {
    json(value).to_hex().to_string()
}

/// Returns a number from 0 up to 1 that a value as compact JSON draws: the first 53 bits of its BLAKE3 digest.
pub(crate) fn blake3_share(value: &impl Serialize) -> f64 {
    let bits = first_word(json(value)) >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double")]
    let share = bits as f64 / (1_u64 << 53) as f64;
    share
}

fn first_word(digest: blake3::Hash) -> u64 {
    let bytes = digest.as_bytes()[..8].try_into().expect("a digest has 32 bytes");
    u64::from_le_bytes(bytes)
}

fn json(value: &impl Serialize) -> blake3::Hash {
    let mut sink = Sink(blake3::Hasher::new());
    serde_json::to_writer(&mut sink, value)
        .expect("names and numbers are JSON, and a hasher takes all");
    sink.0.finalize()
}

/// Takes what is written.
struct Sink(blake3::Hasher);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The empty input of the function's published test vectors.
    #[test]
    fn the_name_of_nothing_is_the_published_one() {
        assert_eq!(blake3_name(b""), "af1349b9f5f9a1a6");
        assert_eq!(
            blake3_number(b""),
            u64::from_le_bytes([0xaf, 0x13, 0x49, 0xb9, 0xf5, 0xf9, 0xa1, 0xa6])
        );
    }

    #[test]
    fn a_value_is_hashed_as_its_compact_text_and_a_share_is_below_one() {
        let text = blake3::hash(br#"["a",1,2.0,null]"#).to_hex().to_string();
        let value = ("a", 1, 2.0, None::<u8>);
        assert_eq!(blake3_of_json(&value), text);
        assert!((0.0..1.0).contains(&blake3_share(&value)));
    }
}
