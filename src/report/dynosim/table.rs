//! The summary as a table for people.

use super::Summary;

/// The distributions that the table shows: a heading and the name in the summary.
const ROWS: [(&str, &str); 6] = [
    ("TTFT (ms)", "ttft_ms"),
    ("TTST (ms)", "ttst_ms"),
    ("TPOT (ms)", "tpot_ms"),
    ("ITL (ms)", "itl_ms"),
    ("E2E latency (ms)", "e2e_latency_ms"),
    ("Tokens/s per user", "output_token_throughput_per_user"),
];
/// The columns: statistics of a distribution.
const COLUMNS: [(&str, &str); 8] = [
    ("mean", "mean"),
    ("min", "min"),
    ("p50", "median"),
    ("p75", "p75"),
    ("p90", "p90"),
    ("p99", "p99"),
    ("max", "max"),
    ("std", "std"),
];
/// The single numbers below: a heading, the name in the summary, decimal places.
const NUMBERS: [(&str, &str, usize); 12] = [
    ("Requests", "num_requests", 0),
    ("Completed", "completed_requests", 0),
    ("Duration (ms, virtual)", "duration_ms", 3),
    ("Input tokens", "total_input_tokens", 0),
    ("Output tokens", "total_output_tokens", 0),
    ("Requests/s", "request_throughput_rps", 3),
    ("Output tokens/s", "output_throughput_tok_s", 3),
    ("Total tokens/s", "total_throughput_tok_s", 3),
    ("Prefix cache reuse", "prefix_cache_reused_ratio", 6),
    ("GPU hours", "gpu_hours", 6),
    ("Good requests", "goodput_completed_requests", 0),
    ("Good requests/s", "goodput_request_throughput_rps", 3),
];

/// Returns a summary as aligned columns, host time left out so that the text is the same from run to run.
pub(crate) fn table(summary: &Summary) -> String {
    let mut lines = vec![line("", &COLUMNS.map(|(heading, _)| heading.to_owned()))];
    for (heading, name) in ROWS {
        let cells = COLUMNS
            .map(|(_, statistic)| format!("{:.3}", summary.number(&format!("{statistic}_{name}"))));
        lines.push(line(heading, &cells));
    }
    lines.push(String::new());
    for (heading, name, places) in NUMBERS {
        if summary.has(name) {
            lines.push(format!("{heading:<24}{:>14.places$}", summary.number(name)));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Returns a heading and right-aligned cells.
fn line(heading: &str, cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| format!(" {cell:>11}")).collect();
    format!("{heading:<18}{}", cells.concat())
}
