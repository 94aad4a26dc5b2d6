//! `bench trace validate`: all that is wrong with a trace, or what is in it.

use std::collections::BTreeMap;

use crate::cli::args::{Format, TraceValidateArgs};
use crate::cli::{Align, Context, Exit, Failure, columns, print};
use crate::diag::{Bag, Problem};
use crate::digest::canonical::{Value, object};
use crate::trace::{
    ReadCounts, ReadOptions, RecordedCounts, RecordedOptions, RecordedSource, Strictness,
    TraceFormat, read_corpus, read_dynamo, read_weka,
};

use super::trace_open::{Opened, open};

/// How many wrong rows are told at the most.
const WRONG_ROWS: u64 = 10_000;

/// What was counted.
struct Counted {
    /// Each count with its name, in order.
    figures: Vec<(&'static str, u64)>,
    unknown_keys: BTreeMap<String, u64>,
    unused_keys: BTreeMap<String, u64>,
    warnings: Vec<Problem>,
}

/// Says everything that is wrong with a trace, or what is in it.
pub(super) fn validate(args: &TraceValidateArgs, context: &Context) -> Result<Exit, Failure> {
    let opened = open(&args.traces, &args.files)?;
    let counted = match opened.format.source() {
        Some(source) => recording(&opened, source, args)?,
        None => rows(&opened, args)?,
    };
    let mut warnings = Bag::new();
    counted.warnings.iter().for_each(|warning| warnings.push(warning.clone()));
    context.report(warnings);
    print(match args.format {
        Format::Table => table(opened.format, &counted).into_bytes(),
        Format::Json => json(opened.format, &counted),
    })?;
    Ok(Exit::Success)
}

const fn strictness(args: &TraceValidateArgs) -> Strictness {
    if args.lenient { Strictness::Lenient } else { Strictness::Scenario }
}

/// Reads sessions as they were recorded.
fn recording(
    opened: &Opened,
    source: RecordedSource,
    args: &TraceValidateArgs,
) -> Result<Counted, Bag> {
    let options = RecordedOptions { strictness: strictness(args), ..RecordedOptions::strict() };
    let counts = match source {
        RecordedSource::Weka => read_weka(&opened.files, options, &mut |_| {})?,
        RecordedSource::Dynamo => read_dynamo(&opened.files, options, &mut |_| {})?.counts,
    };
    let RecordedCounts {
        files,
        trees,
        sessions,
        requests,
        prefill_only,
        tools,
        blank_lines,
        markers,
        unused_events,
        without_session,
        repeated,
        unsorted,
        orphans,
        without_hashes,
        partial_tails,
        misfit_hashes,
        conflicts,
        ..
    } = counts;
    let figures = vec![
        ("files", files),
        ("trees", trees),
        ("sessions", sessions),
        ("requests", requests),
        ("prefill only", prefill_only),
        ("tools", tools),
        ("without hashes", without_hashes),
        ("partial tails without a hash", partial_tails),
        ("blank lines", blank_lines),
        ("markers", markers),
        ("unused events", unused_events),
        ("without a session", without_session),
        ("repeated", repeated),
        ("out of order", unsorted),
        ("orphans", orphans),
        ("hashes that do not fit", misfit_hashes),
        ("contradictions", conflicts),
    ];
    let warnings = counts.warnings(opened.name());
    let (unknown_keys, unused_keys) = (counts.unknown_keys, counts.unused_keys);
    Ok(Counted { figures, unknown_keys, unused_keys, warnings })
}

/// Reads rows.
fn rows(opened: &Opened, args: &TraceValidateArgs) -> Result<Counted, Bag> {
    let options = ReadOptions { faulty_rows_max: WRONG_ROWS, ..opened.options(strictness(args)) };
    let (_, counts) = read_corpus(&opened.shards()?, &options)?;
    let warnings = counts.warnings(opened.name());
    let ReadCounts {
        rows,
        sessions,
        blank_lines,
        unknown_keys,
        unused_keys,
        unsorted_rows,
        missing_timestamps,
        missing_hash_ids,
        extra_hash_ids,
        ignored_hash_ids,
        without_output,
        conflicts,
        repeated,
        orphans,
        misfit_hashes,
        ..
    } = counts;
    let figures = vec![
        ("files", u64::try_from(opened.files.len()).unwrap_or(u64::MAX)),
        ("sessions", sessions),
        ("requests", rows),
        ("blank lines", blank_lines),
        ("out of order", unsorted_rows),
        ("without a timestamp", missing_timestamps),
        ("without hashes", missing_hash_ids),
        ("surplus hash ids", extra_hash_ids),
        ("ignored hash ids", ignored_hash_ids),
        ("failed requests", without_output),
        ("contradictions", conflicts),
        ("repeated", repeated),
        ("orphans", orphans),
        ("hashes that do not fit", misfit_hashes),
    ];
    Ok(Counted { figures, unknown_keys, unused_keys, warnings })
}

impl Counted {
    /// Returns the counts that are not zero.
    fn figures(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.figures.iter().copied().filter(|(_, count)| *count > 0)
    }
}

fn table(format: TraceFormat, counted: &Counted) -> String {
    let mut rows = vec![vec!["format".to_owned(), format.name().to_owned()]];
    rows.extend(counted.figures().map(|(name, count)| vec![name.to_owned(), count.to_string()]));
    for (what, keys) in
        [("unknown key", &counted.unknown_keys), ("key without effect", &counted.unused_keys)]
    {
        rows.extend(
            keys.iter().map(|(key, count)| vec![format!("{what} `{key}`"), count.to_string()]),
        );
    }
    columns(&rows, &[Align::Left, Align::Right])
}

/// Returns the counts as a document; keys are named as the files write them.
fn json(format: TraceFormat, counted: &Counted) -> Vec<u8> {
    let figures: BTreeMap<String, Value> = counted
        .figures()
        .map(|(name, count)| (name.replace(' ', "_"), Value::count(count)))
        .collect();
    let keys = |keys: &BTreeMap<String, u64>| {
        Value::Object(keys.iter().map(|(key, count)| (key.clone(), Value::count(*count))).collect())
    };
    object([
        ("counts", Value::Object(figures)),
        ("format", Value::text(format.name())),
        ("unknown_keys", keys(&counted.unknown_keys)),
        ("unused_keys", keys(&counted.unused_keys)),
    ])
    .to_document()
}
