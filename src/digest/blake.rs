//! BLAKE3, by which the reference names what it makes of Weka's traces. Nothing of ours is addressed by it.

/// Returns the first 16 hexadecimal digits of the BLAKE3 digest of bytes.
pub(crate) fn blake3_name(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The empty input of the function's published test vectors.
    #[test]
    fn the_name_of_nothing_is_the_published_one() {
        assert_eq!(blake3_name(b""), "af1349b9f5f9a1a6");
    }
}
