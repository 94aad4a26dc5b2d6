//! `bench trace`: look into traces.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cli::args::{Format, TraceAction, TraceArgs, TraceStatsArgs};
use crate::cli::{Align, Context, Exit, Failure, columns, print};
use crate::diag::Bag;
use crate::digest::canonical::{Value, object};
use crate::pin::Registry;
use crate::scenario::project_root;
use crate::trace::{
    ArrivalRule, Distribution, PrefixHit, ReadCounts, Strictness, TOO_LONG, TraceStats,
    found_trace_files, is_trace_name, read_corpus,
};
use crate::units::{Micros6, Nanos, Ppm};
use crate::workload::Corpus;

use super::{trace_convert, trace_cut, trace_open, trace_validate};

/// Runs the command.
pub(super) fn run(args: &TraceArgs, context: &Context) -> Result<Exit, Failure> {
    match &args.action {
        TraceAction::Stats(args) => stats(args, context),
        TraceAction::Validate(args) => trace_validate::validate(args, context),
        TraceAction::Convert(args) => trace_convert::convert(args, context),
        TraceAction::Head(args) => trace_cut::head(args, context),
        TraceAction::Split(args) => trace_cut::split(args, context),
        TraceAction::Sample(args) => trace_cut::sample(args, context),
    }
}

/// Prints the statistics of traces.
fn stats(args: &TraceStatsArgs, context: &Context) -> Result<Exit, Failure> {
    let mut found: Vec<(String, TraceStats)> = Vec::new();
    let mut refused = Bag::new();
    let mut warnings = Bag::new();
    for trace in &args.traces {
        let name = trace_open::shown(trace);
        match read(trace, &name, args, context) {
            Ok((corpus, counts)) => {
                counts.warnings(&name).into_iter().for_each(|warning| warnings.push(warning));
                found.push((name, TraceStats::of(&corpus, counts)));
            }
            Err(bag) => refused.extend(bag),
        }
    }
    if refused.has_errors() {
        return Err(refused.into());
    }
    context.report(warnings);
    print(match args.format {
        Format::Table => table(&found).into_bytes(),
        Format::Json => json(&found),
    })?;
    Ok(Exit::Success)
}

/// Returns whether no file is at a path: what cannot be read, such as a link, is there.
fn is_free(path: &Path, name: &str) -> bool {
    found_trace_files(path, name).is_ok_and(|found| found.is_empty())
}

/// Reads a trace: a file, a folder, the start of the names of segments, else a pin of that name.
fn read(
    trace: &Path,
    name: &str,
    args: &TraceStatsArgs,
    context: &Context,
) -> Result<(Corpus, ReadCounts), Bag> {
    if name.contains('/') || is_trace_name(name) || !is_free(trace, name) {
        let opened = trace_open::open(&[trace.to_owned()], &args.files)?;
        // Whatever has a meaning is let through and counted: no pin says how the file is read.
        return read_corpus(&opened.shards()?, &opened.options(Strictness::Lenient));
    }
    let root = match context.root() {
        Some(root) => root.to_owned(),
        None => project_root(trace)?,
    };
    let registry = Registry::open(&root)?;
    registry.trace(name)?.read(registry.root(), ArrivalRule::Required, None)
}

/// Returns the figures as a JSON document.
fn json(found: &[(String, TraceStats)]) -> Vec<u8> {
    let trace = |(name, stats): &(String, TraceStats)| {
        object([("figures", stats.canonical()), ("name", Value::text(name))])
    };
    object([("traces", Value::List(found.iter().map(trace).collect()))]).to_document()
}

/// What a figure of a table is called, and its text; an empty text is no sample.
type Line = (&'static str, String);

/// Returns the figures as a table: one column a trace; figures that none has are left out.
fn table(found: &[(String, TraceStats)]) -> String {
    let traces: Vec<Vec<Line>> = found.iter().map(|(_, stats)| lines(stats)).collect();
    let mut rows = vec![vec!["trace".to_owned()]];
    rows[0].extend(found.iter().map(|(name, _)| name.clone()));
    let labels = traces.first().map_or(&[][..], Vec::as_slice);
    for (index, (label, _)) in labels.iter().enumerate() {
        let texts: Vec<&str> = traces.iter().map(|lines| lines[index].1.as_str()).collect();
        if texts.iter().all(|text| text.is_empty()) {
            continue; // nothing is lost: no trace has the figure
        }
        let shown = texts.into_iter().map(|text| if text.is_empty() { "-" } else { text });
        rows.push(std::iter::once(*label).chain(shown).map(str::to_owned).collect());
    }
    columns(&rows, &[Align::Left, Align::Right])
}

/// Returns every figure of a trace, in the order of the table.
fn lines(stats: &TraceStats) -> Vec<Line> {
    let counts = &stats.counts;
    let mut lines = vec![
        ("rows", counts.rows.to_string()),
        ("sessions", unless(counts.sessions, counts.rows)),
        ("duration, s", duration(stats)),
        ("rows a second", stats.rate.map_or(String::new(), |rate| rate.to_places(2))),
    ];
    lines.extend(lengths(["input tokens, mean", "  p50", "  p99"], stats.input));
    lines.extend(lengths(["output tokens, mean", "  p50 ", "  p99 "], stats.output));
    let hit = |of: fn(&PrefixHit) -> Option<Ppm>| {
        stats.prefix.as_ref().and_then(of).map_or(String::new(), percent)
    };
    lines.extend([
        ("prefix hit, full blocks", hit(|hit| hit.full_blocks)),
        ("  ids", hit(|hit| hit.ids)),
        ("  tokens", hit(|hit| hit.tokens)),
        ("rows that tie with the row before", stats.ties.rows.to_string()),
        ("distinct arrivals", stats.ties.distinct.to_string()),
        ("largest tie, rows", stats.ties.largest.to_string()),
    ]);
    lines.extend(let_through(counts));
    lines
}

/// Returns what was let through; empty texts for nothing.
fn let_through(counts: &ReadCounts) -> [Line; 13] {
    let keys = |keys: &BTreeMap<String, u64>| {
        keys.iter().map(|(key, rows)| format!("{key} ({rows})")).collect::<Vec<_>>().join(", ")
    };
    [
        ("blank lines", unless(counts.blank_lines, 0)),
        ("unknown keys (rows)", keys(&counts.unknown_keys)),
        ("keys without effect (rows)", keys(&counts.unused_keys)),
        ("unsorted rows", unless(counts.unsorted_rows, 0)),
        ("rows without timestamp", unless(counts.missing_timestamps, 0)),
        ("rows without hash ids", unless(counts.missing_hash_ids, 0)),
        ("rows with surplus hash ids", unless(counts.extra_hash_ids, 0)),
        ("rows with ignored hash ids", unless(counts.ignored_hash_ids, 0)),
        ("failed requests", unless(counts.without_output, 0)),
        ("rows with contradictions", unless(counts.conflicts, 0)),
        ("repeated records", unless(counts.repeated, 0)),
        ("orphan sessions", unless(counts.orphans, 0)),
        ("rows with hashes that do not fit", unless(counts.misfit_hashes, 0)),
    ]
}

/// Returns a count as text, or nothing where it is what it usually is.
fn unless(count: u64, usual: u64) -> String {
    if count == usual { String::new() } else { count.to_string() }
}

/// Returns mean and percentiles as lines.
fn lengths(labels: [&'static str; 3], found: Option<Distribution>) -> [Line; 3] {
    let texts = found.map_or_else(Default::default, |found| {
        [found.mean, found.p50, found.p99].map(|value| value.to_places(1))
    });
    let [mean, p50, p99] = texts;
    [(labels[0], mean), (labels[1], p50), (labels[2], p99)]
}

/// Returns the time from the first arrival to the last; nothing where there are no arrivals.
fn duration(stats: &TraceStats) -> String {
    match (stats.duration, &stats.counts.span) {
        (Some(duration), _) => seconds(duration),
        (None, Some(_)) => TOO_LONG.to_owned(),
        (None, None) => String::new(),
    }
}

/// Returns a duration in seconds with three places.
fn seconds(duration: Nanos) -> String {
    let seconds = Micros6::ratio(u128::from(duration.get()), 1_000_000_000);
    seconds.map_or(String::new(), |seconds| seconds.to_places(3))
}

/// Returns a share in percent with two places.
pub(super) fn percent(share: Ppm) -> String {
    let percent = Micros6::ratio(u128::from(share.get()), 10_000);
    percent.map_or(String::new(), |percent| percent.to_places(2) + " %")
}
