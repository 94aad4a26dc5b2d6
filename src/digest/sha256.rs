//! SHA-256 as a value, its text form, and the incremental hasher.

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use sha2::Digest as _;

/// A SHA-256 digest. Text form: `sha256:<64 hex>`; [`Sha256::hex`] without the prefix.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256([u8; 32]);

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DigestParseError {
    /// The number of hexadecimal digits is not 64.
    #[error("a SHA-256 digest has 64 hexadecimal digits, found {found}")]
    Length {
        /// How many characters were found.
        found: usize,
    },
    /// A character is no lower-case hexadecimal digit.
    #[error("a SHA-256 digest is written in lower-case hexadecimal digits, found `{found}`")]
    NotHex {
        /// The first character that is none.
        found: char,
    },
}

/// Hashes bytes as they come. `std::io::Write`, so that a stream can be hashed while it is copied.
#[derive(Debug, Clone, Default)]
pub struct Hasher(sha2::Sha256);

impl Sha256 {
    /// Returns the digest of `bytes`: what `sha256sum` prints for a file that holds them.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Returns the 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        let mut text = String::with_capacity(64);
        for byte in self.0 {
            for nibble in [byte >> 4, byte & 15] {
                text.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
            }
        }
        text
    }

    /// Returns the first 12 hexadecimal digits, for people only.
    pub fn short(&self) -> String {
        self.hex()[..12].to_owned()
    }

    /// Returns the raw bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256 {
    type Err = DigestParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        if let Some(found) = hex.chars().find(|c| !matches!(c, '0'..='9' | 'a'..='f')) {
            return Err(DigestParseError::NotHex { found });
        }
        if hex.len() != 64 {
            return Err(DigestParseError::Length { found: hex.len() });
        }
        let mut bytes = [0_u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = nibble(pair[0]) << 4 | nibble(pair[1]);
        }
        Ok(Self(bytes))
    }
}

/// Returns the value of a lower-case hexadecimal digit.
fn nibble(digit: u8) -> u8 {
    if digit.is_ascii_digit() { digit - b'0' } else { digit - b'a' + 10 }
}

impl Hasher {
    /// Returns a hasher of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes added.
    pub fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips_and_says_what_is_wrong() {
        let digest = Sha256::of(b"abc");
        assert_eq!(
            digest.hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(digest.hex().parse(), Ok(digest));
        assert_eq!("abc".parse::<Sha256>(), Err(DigestParseError::Length { found: 3 }));
        assert_eq!("xyz".parse::<Sha256>(), Err(DigestParseError::NotHex { found: 'x' }));
    }
}
