//! The reference's built-in polynomials.

use super::{DecodeWork, PassTiming, PrefillWork};

/// Prefill time by computed tokens, decode time by KV use.
///
/// Source: spec/SIMULATION.md §4: prefill 4.209989e-7·T² + 1.518344e-2·T + 16.50142 with T = requests · mean new tokens;
/// decode max(1, −25.74·u² + 54.01·u + 5.74) with u = min(1, context / capacity).
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolynomialTiming;

impl PassTiming for PolynomialTiming {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn prefill_ms(&self, work: PrefillWork) -> f64 {
        let tokens = (work.requests * work.mean_new()) as f64;
        4.209_989e-7 * (tokens * tokens) + 1.518_344e-2 * tokens + 1.650_142e1
    }

    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn decode_ms(&self, work: DecodeWork) -> f64 {
        let used = (work.context_tokens as f64 / work.capacity_tokens as f64).min(1.0);
        (-25.74 * (used * used) + 54.01 * used + 5.74).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(context_tokens: u64) -> f64 {
        PolynomialTiming.decode_ms(DecodeWork { requests: 1, context_tokens, capacity_tokens: 64 })
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the same operations give the same bits")]
    fn decode_time_grows_with_use_and_stops_at_full_capacity() {
        assert_eq!(decode(0), 5.74);
        assert!((decode(64) - 34.01).abs() < 1e-12);
        assert_eq!(decode(6400), decode(64), "use beyond capacity counts as full");
    }

    #[test]
    fn prefill_time_of_a_thousand_tokens_is_the_published_one() {
        let work = PrefillWork { requests: 1, new_tokens: 1000, prefix_tokens: 0 };
        assert!((PolynomialTiming.prefill_ms(work) - 32.105_858_9).abs() < 1e-9);
    }
}
