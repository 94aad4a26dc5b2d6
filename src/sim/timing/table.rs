//! A pinned table.

use std::cell::Cell;
use std::sync::Arc;

use crate::pin::{NearMeasured, PassTable, Segment};

use super::{DecodeWork, PassTiming, PrefillWork};

/// Times from a pinned table.
///
/// It is asked with the means that the reference forms, each rounded down: of prompt work the requests, the length that each
/// has reached and the prefix before it; of decode work the requests and their mean length.
#[derive(Debug)]
pub struct TableTiming {
    table: Arc<PassTable>,
    /// Where the last answers lay. Passes change little from one to the next: a search mostly begins where it ends.
    near: Cell<Near>,
}

/// The segments of the last answers.
#[derive(Debug, Clone, Copy, Default)]
struct Near {
    tokens: Segment,
    prefill_requests: Segment,
    prefill_attention: (Segment, Segment),
    decode_requests: Segment,
    measured: NearMeasured,
    decode_attention: (Segment, Segment),
}

impl TableTiming {
    /// Returns the timing of a table.
    pub fn new(table: Arc<PassTable>) -> Self {
        Self { table, near: Cell::default() }
    }
}

impl PassTiming for TableTiming {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn prefill_ms(&self, work: PrefillWork) -> f64 {
        let (requests, new) = (work.requests, work.mean_new());
        if requests == 0 || new == 0 {
            return 0.0;
        }
        let (table, mut near) = (&self.table.prefill, self.near.get());
        let length = work.mean_length() as f64;
        let known = work.mean_prefix() as f64 / length;
        let tokens = table.tokens.at((requests * new) as f64, &mut near.tokens);
        let head = table.requests.at(requests as f64, &mut near.prefill_requests);
        let attention = table.attention.at(requests as f64, length, &mut near.prefill_attention);
        self.near.set(near);
        tokens + head + attention * (1.0 - known * known)
    }

    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn decode_ms(&self, work: DecodeWork) -> f64 {
        if work.requests == 0 {
            return 0.0;
        }
        let (table, mut near) = (&self.table.decode, self.near.get());
        let context = work.mean_context() as f64;
        let others = table.requests.at(work.requests as f64, &mut near.decode_requests);
        let requests = work.requests as f64;
        let measured = table.measured.as_ref();
        let measured =
            measured.and_then(|all| all.at(requests, work.mean_context(), &mut near.measured));
        let attention = measured
            .unwrap_or_else(|| table.attention.at(requests, context, &mut near.decode_attention));
        self.near.set(near);
        others + attention
    }
}

#[cfg(test)]
mod tests;
