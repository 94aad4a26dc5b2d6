//! A job's figures as people read them. Integer arithmetic only, so that the text is the same everywhere.

use crate::measure::{Family, MetricName, Percentile, Statistic};
use crate::units::{Nanos, Ppm, div_half_even};

use super::verdict::last_word;
use super::{JobResult, JobVerdict, Report};

/// The columns of the table of jobs.
pub(super) const COLUMNS: [&str; 13] = [
    "job",
    "done/offered",
    "TTFT p50 ms",
    "TTFT p99 ms",
    "TPOT p50 ms",
    "TPOT p99 ms",
    "E2E p99 ms",
    "req/s",
    "out tok/s",
    "goodput req/s",
    "cache hit",
    "report",
    "verdict",
];

/// Returns the cells of a job, one for each of [`COLUMNS`].
pub(super) fn cells(result: &JobResult, verdict: JobVerdict) -> [String; 13] {
    let verdict = last_word(result, verdict);
    let id = result.id.to_string();
    let Some(report) = result.report() else {
        return std::array::from_fn(|column| match column {
            0 => id.clone(),
            12 => verdict.clone(),
            _ => "-".to_owned(),
        });
    };
    let time = |family, percentile| {
        cell(report.time(MetricName::at(family, percentile)).map(milliseconds))
    };
    let rate = |family| cell(report.rate(MetricName::single(family)).map(three_decimals));
    let hit = report.share(MetricName::single(Family::PrefixHitFirst));
    [
        id,
        done_of_offered(report),
        time(Family::Ttft, Percentile::P50),
        time(Family::Ttft, Percentile::P99),
        time(Family::Tpot, Percentile::P50),
        time(Family::Tpot, Percentile::P99),
        time(Family::E2e, Percentile::P99),
        rate(Family::RequestsPerSecond),
        rate(Family::OutputTokensPerSecond),
        rate(Family::GoodputRequestsPerSecond),
        cell(hit.map(percent)),
        report.digest().short(),
        verdict,
    ]
}

/// The figures that a golden repeats, so that a drift can be read without the old report.
pub(crate) const HEADLINE: [MetricName; 14] = [
    MetricName::single(Family::RequestsOffered),
    MetricName::single(Family::RequestsCompleted),
    MetricName::single(Family::Duration),
    MetricName::of(Family::Ttft, Statistic::Mean),
    MetricName::at(Family::Ttft, Percentile::P50),
    MetricName::at(Family::Ttft, Percentile::P99),
    MetricName::at(Family::Tpot, Percentile::P50),
    MetricName::at(Family::Tpot, Percentile::P99),
    MetricName::at(Family::E2e, Percentile::P50),
    MetricName::at(Family::E2e, Percentile::P99),
    MetricName::single(Family::RequestsPerSecond),
    MetricName::single(Family::OutputTokensPerSecond),
    MetricName::single(Family::GoodputRequestsPerSecond),
    MetricName::single(Family::PrefixHitFirst),
];

/// Returns the text of a figure that may be absent.
fn cell(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// Returns how many requests completed of how many were offered.
fn done_of_offered(report: &Report) -> String {
    let count = |family| report.count(MetricName::single(family)).unwrap_or(0);
    format!("{}/{}", count(Family::RequestsCompleted), count(Family::RequestsOffered))
}

/// Returns milliseconds with three decimals, half to even.
pub(super) fn milliseconds(time: Nanos) -> String {
    let microseconds = div_half_even(u128::from(time.get()), 1000);
    format!("{}.{:03}", microseconds / 1000, microseconds % 1000)
}

/// Returns a share in percent with two decimals, half to even.
pub(super) fn percent(share: Ppm) -> String {
    let hundredths = div_half_even(u128::from(share.get()), 100);
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// Returns a decimal of six places with three, half to even.
pub(super) fn three_decimals(six: &str) -> String {
    let millionths: Option<u128> = six.replacen('.', "", 1).parse().ok();
    millionths.map_or_else(
        || six.to_owned(),
        |millionths| {
            let thousandths = div_half_even(millionths, 1000);
            format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_round_half_to_even_without_floats() {
        assert_eq!(milliseconds(Nanos::new(1_234_567_500)), "1234.568");
        assert_eq!(milliseconds(Nanos::new(500)), "0.000");
        assert_eq!(three_decimals("42.105263"), "42.105");
        assert_eq!(three_decimals("0.999500"), "1.000");
        let share = Ppm::of(1, 3).expect("not empty");
        assert_eq!(percent(share), "33.33%");
    }
}
