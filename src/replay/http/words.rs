//! Words of others, as they may be kept: every word of a server, of a proxy or of the transport goes through here before it leaves the
//! client, and nothing else shortens it.

use super::key::ApiKey;
use super::redaction::Redaction;
use crate::record::{Exchange, ExchangeError};

/// The most characters of a text that are kept.
const KEPT: usize = 500;

/// The most bytes of a text that are looked at: its beginning, in which far more than [`KEPT`] characters stand.
const LOOKED_AT: usize = 64 << 10;

/// What makes words of others such that they may be kept: without the key, in one line, short.
#[derive(Debug)]
pub(super) struct Words {
    key: Option<Redaction>,
}

impl Words {
    /// Returns what takes out this key.
    pub(super) fn new(key: Option<&ApiKey>) -> Self {
        Self { key: key.map(ApiKey::redaction) }
    }

    /// Returns an exchange as it may be kept.
    pub(super) fn of_exchange(&self, exchange: Exchange) -> Exchange {
        // Every field is named: whoever adds one decides here whether others wrote it.
        let Exchange {
            begun,
            connection,
            sent,
            first_byte,
            headers,
            delivery,
            events,
            end,
            status,
            usage,
            finish_reason,
            reply,
            outcome,
            is_retried,
            keepalives,
        } = exchange;
        Exchange {
            finish_reason: finish_reason.map(|reason| self.kept(&reason)),
            outcome: outcome.map_err(|error| self.of_error(error)),
            // A later prompt returns it to the server that said it, byte for byte; no file holds it.
            reply,
            begun,
            connection,
            sent,
            first_byte,
            headers,
            delivery,
            events,
            end,
            status,
            usage,
            is_retried,
            keepalives,
        }
    }

    /// Returns an error as it may be kept.
    fn of_error(&self, error: ExchangeError) -> ExchangeError {
        match error {
            ExchangeError::Status { status, message, retry_after } => ExchangeError::Status {
                status,
                message: self.kept(&message),
                retry_after: retry_after.map(|text| self.kept(&text)),
            },
            ExchangeError::InBand { message, code } => ExchangeError::InBand {
                message: self.kept(&message),
                code: code.map(|text| self.kept(&text)),
            },
            ExchangeError::Connect { stage, reason } => {
                ExchangeError::Connect { stage, reason: self.kept(&reason) }
            }
            ExchangeError::Malformed { offset, reason } => {
                ExchangeError::Malformed { offset, reason: self.kept(&reason) }
            }
            ExchangeError::Lost(reason) => ExchangeError::Lost(self.kept(&reason)),
            ExchangeError::Unsendable(reason) => ExchangeError::Unsendable(self.kept(&reason)),
            ExchangeError::Timeout(_)
            | ExchangeError::Truncated(_)
            | ExchangeError::NoOutput
            | ExchangeError::TooLong { .. }
            | ExchangeError::Cancelled => error,
        }
    }

    /// Returns a text as it may be kept. The key goes first: of one that is cut, the rest would be no key any more.
    fn kept(&self, text: &str) -> String {
        let text = text.trim();
        let text = &text[..text.floor_char_boundary(LOOKED_AT)];
        let told = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redacted(text));
        // Whatever moves a terminal's cursor is none of a server's business.
        let line = told.replace(char::is_control, " ");
        match line.char_indices().nth(KEPT) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_short_line_and_moves_no_cursor() {
        let words = Words::new(None);
        assert_eq!(words.kept("<html>\nbu\u{1b}[1msy</html>\r\n"), "<html> bu [1msy</html>");
        assert_eq!(words.kept(&"ä".repeat(500)), "ä".repeat(500));
        assert_eq!(words.kept(&"ä".repeat(501)), format!("{}…", "ä".repeat(500)));
        assert_eq!(words.kept(&"ä".repeat(1 << 20)), format!("{}…", "ä".repeat(500)));
    }

    #[test]
    fn a_key_is_gone_before_a_text_is_cut_wherever_it_stands() {
        let secret = "sk-sesame-0123456789";
        let key = ApiKey::new(secret).expect("a key");
        let words = Words::new(Some(&key));
        for before in 470..=510 {
            let told = words.kept(&format!("{}{secret}{}", "x".repeat(before), "y".repeat(99)));
            for piece in secret.as_bytes().windows(8) {
                let piece = std::str::from_utf8(piece).expect("ASCII");
                assert!(!told.contains(piece), "{before}: {told}");
            }
        }
    }
}
