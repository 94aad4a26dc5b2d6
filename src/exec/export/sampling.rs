//! What is asked of an estimator, and the table that its answers make.

use crate::pin::PassTable;
use crate::sim::{DecodeWork, PassTiming, PrefillWork, TableTiming};

use super::ExportError;
use super::knots::knots;
use super::measured::{MeasuredSurface, measured};

/// A pass that an estimator is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Prompt work.
    Prefill {
        /// Requests.
        requests: u64,
        /// The length that each reaches.
        length: u64,
        /// How much of it was there before.
        prefix: u64,
    },
    /// Decode work.
    Decode {
        /// Requests.
        requests: u64,
        /// Their length, the token that is fed included; at least 2.
        context: u64,
    },
}

/// What a pass takes, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassAnswer {
    /// All of it.
    pub total: f64,
    /// Attention.
    pub attention: f64,
    /// The output head.
    pub head: f64,
}

/// Whoever answers passes.
pub trait Estimator {
    /// Returns what each pass takes, in their order.
    ///
    /// # Errors
    /// Why there is no answer.
    fn answer(&mut self, passes: &[Pass]) -> Result<Vec<PassAnswer>, ExportError>;
}

/// Points and times along one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledCurve {
    /// The points.
    pub points: Vec<u64>,
    /// Their milliseconds.
    pub ms: Vec<f64>,
}

/// Points and times along two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledSurface {
    /// The points of the first axis.
    pub rows: Vec<u64>,
    /// The points of the second.
    pub columns: Vec<u64>,
    /// Milliseconds, row by row.
    pub ms: Vec<Vec<f64>>,
}

/// The parts of a table, sampled.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// Prompt work along the tokens.
    pub prefill_tokens: SampledCurve,
    /// Prompt work along the requests: the output head.
    pub prefill_requests: SampledCurve,
    /// Attention of prompts along requests and length.
    pub prefill_attention: SampledSurface,
    /// Decode work along the requests.
    pub decode_requests: SampledCurve,
    /// Attention of decodes along requests and length.
    pub decode_attention: SampledSurface,
    /// Attention of decodes as it was measured, where the estimator averages over it.
    pub measured: Option<MeasuredSurface>,
}

/// How far a table is off between its points, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableError {
    /// The median.
    pub median: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

/// Points of an axis of requests at the most, and of one of tokens or lengths.
const MOST: (usize, usize) = (72, 190);
/// The most tokens of a pass.
const TOKENS: u64 = 131_072;
/// The longest length.
const LENGTH: u64 = 262_144;
/// Rows and columns at which an axis is judged.
const ROWS: [u64; 4] = [1, 4, 16, 64];
const COLUMNS: [u64; 4] = [64, 1024, 8192, 65_536];

/// Samples the parts of a table. `averages` says that decode attention is a mean over five lengths around the one asked.
///
/// # Errors
/// What the estimator answers instead.
pub fn sample(estimator: &mut dyn Estimator, averages: bool) -> Result<Sampled, ExportError> {
    let prompt = |requests, length| Pass::Prefill { requests, length, prefix: 0 };
    let decode = |requests, context| Pass::Decode { requests, context };
    let attention = |answer: PassAnswer| answer.attention;
    let mut asked = Asked(estimator);
    let prefill_tokens = asked.curve(
        (1, TOKENS, MOST.1),
        |tokens| prompt(1, tokens),
        |answer| answer.total - answer.attention - answer.head,
    )?;
    let points = knots((1, 1024, MOST.0), |requests| {
        Ok(asked.served(requests)?.into_iter().map(|(head, fixed)| vec![head + fixed]).collect())
    })?;
    let served = asked.served(&points)?;
    let ms = served.into_iter().map(|(head, fixed)| head + fixed).collect();
    let prefill_requests = SampledCurve { points, ms };
    let mut prefill_attention = asked.surface((256, 1, LENGTH), prompt, attention)?;
    let fixed = asked.served(&prefill_attention.rows)?;
    for (row, (_, fixed)) in prefill_attention.ms.iter_mut().zip(fixed) {
        for ms in row {
            *ms -= fixed;
        }
    }
    let decode_requests = asked.curve(
        (1, 1024, MOST.1),
        |requests| decode(requests, 1024),
        |answer| answer.total - answer.attention,
    )?;
    let decode_attention = asked.surface((1024, 2, LENGTH), decode, attention)?;
    let measured = if averages { Some(measured(asked.0)?) } else { None };
    Ok(Sampled {
        prefill_tokens,
        prefill_requests,
        prefill_attention,
        decode_requests,
        decode_attention,
        measured,
    })
}

/// An estimator that is asked for the points of axes.
struct Asked<'a>(&'a mut dyn Estimator);

impl Asked<'_> {
    /// Returns, for each number of requests, the output head and the part of attention that a prefix does not shorten.
    ///
    /// With a share f = 1 − (prefix/length)² of the pairs left, attention takes fixed + f · pairs: two prefixes tell both.
    fn served(&mut self, requests: &[u64]) -> Result<Vec<(f64, f64)>, ExportError> {
        let (length, prefix) = (1024, 1023);
        let passes = requests.iter().flat_map(|requests| {
            [0, prefix].map(|prefix| Pass::Prefill { requests: *requests, length, prefix })
        });
        let answers = self.0.answer(&passes.collect::<Vec<_>>())?;
        let known = f64::from(1023_u32) / f64::from(1024_u32);
        let left = 1.0 - known * known;
        let fixed = |pair: &[PassAnswer]| {
            let fixed = (pair[1].attention - left * pair[0].attention) / (1.0 - left);
            (pair[0].head, fixed.max(0.0))
        };
        Ok(answers.chunks(2).map(fixed).collect())
    }

    /// Samples a part along one axis of at most so many points.
    fn curve(
        &mut self,
        (low, high, most): (u64, u64, usize),
        pass: impl Fn(u64) -> Pass,
        part: impl Fn(PassAnswer) -> f64,
    ) -> Result<SampledCurve, ExportError> {
        let mut at = |points: &[u64]| {
            let passes: Vec<Pass> = points.iter().map(|point| pass(*point)).collect();
            let answers = self.0.answer(&passes)?;
            Ok(answers.into_iter().map(|answer| vec![part(answer)]).collect())
        };
        let points = knots((low, high, most), &mut at)?;
        let ms: Vec<Vec<f64>> = at(&points)?;
        Ok(SampledCurve { points, ms: ms.concat() })
    }

    /// Samples a part along requests, up to `requests`, and lengths.
    fn surface(
        &mut self,
        (requests, shortest, longest): (u64, u64, u64),
        pass: impl Fn(u64, u64) -> Pass,
        part: impl Fn(PassAnswer) -> f64,
    ) -> Result<SampledSurface, ExportError> {
        let mut at = |pairs: Vec<(u64, u64)>, width: usize| {
            let passes: Vec<Pass> = pairs.iter().map(|(row, column)| pass(*row, *column)).collect();
            let ms: Vec<f64> = self.0.answer(&passes)?.into_iter().map(&part).collect();
            Ok(ms.chunks(width).map(<[f64]>::to_vec).collect::<Vec<_>>())
        };
        let rows = knots((1, requests, MOST.0), |rows| at(pairs(rows, &COLUMNS), COLUMNS.len()))?;
        let columns = knots((shortest, longest, MOST.1), |columns| {
            let swapped = pairs(columns, &ROWS).into_iter().map(|(column, row)| (row, column));
            at(swapped.collect(), ROWS.len())
        })?;
        let ms = at(pairs(&rows, &columns), columns.len())?;
        Ok(SampledSurface { rows, columns, ms })
    }
}

/// Returns every pair, the second fastest.
fn pairs(first: &[u64], second: &[u64]) -> Vec<(u64, u64)> {
    first.iter().flat_map(|one| second.iter().map(move |other| (*one, *other))).collect()
}

/// Holds a table against its estimator at points that it was not sampled at.
///
/// Shape: prefill, then decode; 200 points each, spread evenly over the scales of up to 64 requests, 16,384 tokens and lengths of
/// 131,072 (prefill), or 512 requests and lengths of 131,072 (decode).
///
/// # Errors
/// What the estimator answers instead; [`ExportError::Inaccurate`] above 1 % at the median or 3 % at p99.
pub fn check(
    estimator: &mut dyn Estimator,
    table: PassTable,
) -> Result<[TableError; 2], ExportError> {
    let timing = TableTiming::new(std::sync::Arc::new(table));
    let prefills: Vec<Pass> = (1..=200).map(prefill_point).collect();
    let decodes: Vec<Pass> = (1..=200).map(decode_point).collect();
    let mut found = [TableError { median: 0.0, p99: 0.0, max: 0.0 }; 2];
    for (at, (phase, passes)) in [("prefill", prefills), ("decode", decodes)].iter().enumerate() {
        let answers = estimator.answer(passes)?;
        let mut errors: Vec<(f64, Pass)> = passes
            .iter()
            .zip(answers)
            .map(|(pass, answer)| {
                let off = (priced(&timing, *pass) - answer.total).abs();
                (off / answer.total * 100.0, *pass)
            })
            .collect();
        errors.sort_by(|a, b| a.0.total_cmp(&b.0));
        let rank = |percent: usize| errors[(errors.len() - 1) * percent / 100];
        let ((median, _), (p99, _), (max, worst)) = (rank(50), rank(99), rank(100));
        if median > 1.0 || p99 > 3.0 {
            return Err(ExportError::Inaccurate { phase, median, p99, worst });
        }
        found[at] = TableError { median, p99, max };
    }
    Ok(found)
}

/// Returns what a table says of a pass.
fn priced(timing: &TableTiming, pass: Pass) -> f64 {
    match pass {
        Pass::Prefill { requests, length, prefix } => timing.prefill_ms(PrefillWork {
            requests,
            new_tokens: requests * (length - prefix),
            prefix_tokens: requests * prefix,
        }),
        Pass::Decode { requests, context } => timing.decode_ms(DecodeWork {
            requests,
            context_tokens: requests * context,
            capacity_tokens: u64::MAX,
        }),
    }
}

/// Returns the prompt work of a check.
fn prefill_point(index: u64) -> Pass {
    let requests = spread(index, 0, 6);
    let new = spread(index, 1, 14).div_ceil(requests);
    let prefix = if index.is_multiple_of(3) { 0 } else { spread(index, 2, 17).min(131_072 - new) };
    Pass::Prefill { requests, length: new + prefix, prefix }
}

/// Returns the decode work of a check.
fn decode_point(index: u64) -> Pass {
    Pass::Decode { requests: spread(index, 0, 9), context: spread(index, 1, 17).max(2) }
}

/// Returns a number from 1 to 2^`scales`, evenly over the scales: a low-discrepancy sequence, one a coordinate.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]
fn spread(index: u64, coordinate: usize, scales: u32) -> u64 {
    // powers of the plastic number's relative for three dimensions (Roberts, 2018)
    let step = [0.819_172_513_396_164_4, 0.671_043_606_703_789_3, 0.549_700_477_901_970_3];
    let share = (index as f64 * step[coordinate]).fract() * f64::from(scales);
    let (whole, rest) = (share.trunc(), share.fract());
    let low = 2_u64.pow(whole as u32);
    low + (low as f64 * rest) as u64
}
