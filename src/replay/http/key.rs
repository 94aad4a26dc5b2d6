//! The key of an API: it goes to the server and nowhere else.

use super::redaction::Redaction;

/// What stands where a key stood.
pub(super) const REDACTED: &str = "[redacted]";

/// The key of an API. Nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key as it was read, without white space around it.
    ///
    /// Returns `None` where nothing is left, or where it has characters that a header cannot hold.
    pub fn new(text: &str) -> Option<Self> {
        let key = text.trim();
        let is_sendable = key.bytes().all(|byte| byte.is_ascii_graphic());
        (!key.is_empty() && is_sendable).then(|| Self(key.to_owned()))
    }

    /// Returns the value of the `authorization` header.
    pub(super) fn authorization(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns what takes the key out of texts.
    pub(super) fn redaction(&self) -> Redaction {
        Redaction::of(&self.0)
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REDACTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_no_space_and_no_form_that_prints_it() {
        let key = ApiKey::new(" sk-1 \n").expect("it is a key");
        assert_eq!(key.authorization(), "Bearer sk-1");
        assert_eq!(format!("{key:?}{:?}", key.redaction()).matches("sk-1").count(), 0);
        assert_eq!((ApiKey::new(" "), ApiKey::new("a b"), ApiKey::new("ä")), (None, None, None));
    }
}
