//! A model whose passes are sped up.

use crate::deployment::Speedup;

use super::{DecodeWork, PassTiming, PrefillWork};

/// Another model's times, with the ratios by which they are divided once they are rounded.
#[derive(Debug)]
pub(crate) struct SpedUp<'a> {
    /// The model.
    pub(crate) timing: &'a dyn PassTiming,
    /// The ratios.
    pub(crate) speedup: Speedup,
}

impl PassTiming for SpedUp<'_> {
    fn prefill_ms(&self, work: PrefillWork) -> f64 {
        self.timing.prefill_ms(work)
    }

    fn decode_ms(&self, work: DecodeWork) -> f64 {
        self.timing.decode_ms(work)
    }

    fn speedup(&self) -> Speedup {
        self.speedup
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::timing::{FixedTiming, pass_times};
    use crate::units::Nanos;

    #[test]
    fn a_decode_is_divided_by_both_ratios_and_a_prefill_by_one() {
        let fixed = FixedTiming { prefill_ms: 10.0, decode_ms: 4.0 };
        let times = |all: f64, decode: f64| {
            let timing = SpedUp { timing: &fixed, speedup: Speedup { all, decode } };
            let prefill = PrefillWork { requests: 1, new_tokens: 4, prefix_tokens: 0 };
            let decode = DecodeWork { requests: 1, context_tokens: 4, capacity_tokens: 64 };
            let (prefill, decode) = pass_times(&timing, prefill, decode).expect("times");
            [prefill, decode].map(|part| Nanos::from_ms(part.as_ms()).expect("a time").get())
        };
        assert_eq!(times(1.0, 1.0), [10_000_000, 4_000_000]);
        assert_eq!(times(3.0, 1.0), [3_333_333, 1_333_333]);
        assert_eq!(times(3.0, 4.0), [3_333_333, 333_333]);
        assert_eq!(times(0.0, 4.0), [10_000_000, 4_000_000], "a product of 0 leaves both");
    }
}
