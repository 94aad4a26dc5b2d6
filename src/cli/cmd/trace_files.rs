//! `bench trace validate`: whole recordings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::cli::args::{Format, TraceFileFormat, TraceValidateArgs};
use crate::cli::{Align, Context, Exit, Failure, columns, print};
use crate::diag::Bag;
use crate::digest::canonical::{Value, object};
use crate::trace::{
    ArrivalRule, ReadOptions, RecordedCounts, RecordedOptions, Shard, Strictness, TraceFormat,
    TraceInput, detect_format, read_corpus, read_dynamo, read_weka, trace_files,
};
use crate::units::BlockSize;

/// The files of a trace, and how they are read.
pub(super) struct Opened {
    pub(super) paths: Vec<(PathBuf, String)>,
    pub(super) files: Vec<TraceInput>,
    pub(super) format: TraceFormat,
}

pub(super) fn open(paths: &[PathBuf], stated: Option<TraceFileFormat>) -> Result<Opened, Bag> {
    let mut found = Vec::new();
    for path in paths {
        found.extend(trace_files(path, &path.to_string_lossy().replace('\\', "/"))?);
    }
    let files: Vec<TraceInput> =
        found.iter().map(|(path, name)| TraceInput::file(path, name)).collect();
    let format = match stated {
        Some(stated) => stated.format(),
        None => detect_format(&files[0])?,
    };
    Ok(Opened { paths: found, files, format })
}

/// Says everything that is wrong with a trace, or what is in it.
pub(super) fn validate(args: &TraceValidateArgs, context: &Context) -> Result<Exit, Failure> {
    let opened = open(&args.traces, args.trace_format)?;
    let strictness = if args.lenient { Strictness::Lenient } else { Strictness::Scenario };
    let options = RecordedOptions { strictness, ..RecordedOptions::strict() };
    let counts = match opened.format {
        TraceFormat::Weka => read_weka(&opened.files, options, &mut |_| {})?,
        TraceFormat::Dynamo => read_dynamo(&opened.files, options, &mut |_| {})?.counts,
        format @ (TraceFormat::Mooncake
        | TraceFormat::MooncakeDelta
        | TraceFormat::AgenticMooncake
        | TraceFormat::AppliedComputeAgentic
        | TraceFormat::Azure) => {
            let block_size = BlockSize::new(args.block_size).expect("the command line refuses 0");
            let read = ReadOptions {
                strictness,
                arrivals: ArrivalRule::Ignored,
                ..ReadOptions::strict(format, block_size)
            };
            let (_, counts) = read_corpus(&shards(&opened.paths)?, &read)?;
            RecordedCounts {
                files: opened.files.len() as u64,
                sessions: counts.sessions,
                requests: counts.rows,
                blank_lines: counts.blank_lines,
                unsorted: counts.unsorted_rows,
                unknown_keys: counts.unknown_keys,
                ..RecordedCounts::default()
            }
        }
    };
    let mut warnings = Bag::new();
    for warning in counts.warnings(opened.files[0].name()) {
        warnings.push(warning);
    }
    context.report(warnings);
    print(match args.format {
        Format::Table => table(opened.format, &counts).into_bytes(),
        Format::Json => json(opened.format, &counts),
    })?;
    Ok(Exit::Success)
}

pub(super) fn shards(paths: &[(PathBuf, String)]) -> Result<Vec<Shard>, Bag> {
    let shard = |(path, name): &(PathBuf, String)| Shard::on_disk(path, name).map_err(Bag::from);
    paths.iter().map(shard).collect()
}

/// Returns the counts that are not zero.
fn figures(counts: &RecordedCounts) -> Vec<(String, u64)> {
    let named = [
        ("files", counts.files),
        ("trees", counts.trees),
        ("sessions", counts.sessions),
        ("requests", counts.requests),
        ("prefill only", counts.prefill_only),
        ("tools", counts.tools),
        ("without hashes", counts.without_hashes),
        ("partial tails without a hash", counts.partial_tails),
        ("blank lines", counts.blank_lines),
        ("markers", counts.markers),
        ("unused events", counts.unused_events),
        ("without a session", counts.without_session),
        ("repeated", counts.repeated),
        ("out of order", counts.unsorted),
        ("orphans", counts.orphans),
        ("hashes that do not fit", counts.misfit_hashes),
    ];
    let named = named.into_iter().map(|(name, count)| (name.to_owned(), count));
    let keys = counts.unknown_keys.iter();
    let keys = keys.map(|(key, count)| (format!("unknown key `{key}`"), *count));
    named.chain(keys).filter(|(_, count)| *count > 0).collect()
}

fn table(format: TraceFormat, counts: &RecordedCounts) -> String {
    let mut rows = vec![vec!["format".to_owned(), format.name().to_owned()]];
    rows.extend(figures(counts).into_iter().map(|(name, count)| vec![name, count.to_string()]));
    columns(&rows, &[Align::Left, Align::Right])
}

fn json(format: TraceFormat, counts: &RecordedCounts) -> Vec<u8> {
    let figures = figures(counts).into_iter();
    let figures: BTreeMap<String, Value> =
        figures.map(|(name, count)| (name.replace([' ', '`'], "_"), Value::count(count))).collect();
    object([("counts", Value::Object(figures)), ("format", Value::text(format.name()))])
        .to_document()
}
