//! `traffic.source`.

use crate::scenario::bounds;
use crate::trace::TimestampBasis;
use crate::units::{BlockSize, Tokens};
use crate::workload::{SessionShape, Source, SyntheticShape};

use super::decoder::{Fields, Real, Report, Whole, text_of};
use super::field::{Field, not_covered, nullable, value};
use super::prediction::{TraceFile, TraceFormat};
use super::traffic::default_shape;

/// The kind of a source; what `load` and `stop` accept depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// Requests of one shape.
    Synthetic,
    /// Sessions of one shape.
    Session,
    /// Recorded requests.
    Trace(TraceFormat),
}

/// What `source` says; absent where it is wrong and reported.
pub(super) struct Stated {
    /// The kind, where it is known.
    pub(super) kind: Option<SourceKind>,
    /// The source.
    pub(super) source: Option<Source>,
    /// The file of a trace.
    pub(super) trace: Option<TraceFile>,
}

/// Every field that a source of some type has; those of another type than the stated one are reported.
const SOURCE: &[Field] = &[
    value("type"),
    value("input_tokens"),
    value("output_tokens"),
    value("cached_prefix_tokens"),
    not_covered("images"),
    value("new_input_tokens_per_turn"),
    value("output_tokens_per_turn"),
    value("session"),
    value("paths"),
    value("format"),
    nullable("block_size"),
    nullable("nested_timestamp_basis"),
];
/// Fields of `source.session`.
const SESSION: &[Field] = &[
    value("turns"),
    value("shared_prefix_ratio"),
    value("prefix_groups"),
    value("inter_turn_delay_ms"),
];
/// Fields of a synthetic source.
const SYNTHETIC_ONLY: &[&str] = &["input_tokens", "output_tokens", "cached_prefix_tokens"];
/// Fields of a session source.
const SESSION_ONLY: &[&str] = &["new_input_tokens_per_turn", "output_tokens_per_turn", "session"];
/// Fields of a trace.
const TRACE_ONLY: &[&str] = &["paths", "format", "block_size", "nested_timestamp_basis"];

/// The formats by name.
const FORMATS: &[(&str, TraceFormat)] = &[
    ("mooncake", TraceFormat::Mooncake),
    ("mooncake-delta", TraceFormat::MooncakeDelta),
    ("agentic_mooncake", TraceFormat::AgenticMooncake),
    ("applied_compute_agentic", TraceFormat::AppliedComputeAgentic),
    ("dynamo", TraceFormat::Dynamo),
    ("weka", TraceFormat::Weka),
];

/// The three types of source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Synthetic,
    Session,
    Trace,
}

/// Decodes `source`; absent, it is the default synthetic one.
pub(super) fn decode(traffic: &Fields<'_>, report: &mut Report) -> Stated {
    if !traffic.states("source") {
        return Stated {
            kind: Some(SourceKind::Synthetic),
            source: Some(Source::Synthetic(default_shape())),
            trace: None,
        };
    }
    let unknown = Stated { kind: None, source: None, trace: None };
    let Some(source) = traffic.section("source", SOURCE, report) else { return unknown };
    if !source.states("type") {
        source.missing("type", "a source says what it is", report);
        return unknown;
    }
    let types = [
        ("synthetic", Type::Synthetic),
        ("synthetic-session", Type::Session),
        ("trace", Type::Trace),
    ];
    let Some(kind) = source.word("type", &types, report) else { return unknown };
    refuse_foreign(&source, kind, report);
    match kind {
        Type::Synthetic => Stated {
            kind: Some(SourceKind::Synthetic),
            source: Some(Source::Synthetic(synthetic(&source, report))),
            trace: None,
        },
        Type::Session => Stated {
            kind: Some(SourceKind::Session),
            source: session(&source, report).map(Source::SyntheticSession),
            trace: None,
        },
        Type::Trace => trace(&source, report),
    }
}

/// Reports the fields that belong to another type of source.
fn refuse_foreign(source: &Fields<'_>, kind: Type, report: &mut Report) {
    let groups = [
        (Type::Synthetic, "synthetic", SYNTHETIC_ONLY),
        (Type::Session, "synthetic-session", SESSION_ONLY),
        (Type::Trace, "trace", TRACE_ONLY),
    ];
    for (owner, word, names) in groups {
        if owner != kind {
            for name in names {
                source.conflict(name, &format!("belongs to a source of type `{word}`"), report);
            }
        }
    }
}

fn synthetic(source: &Fields<'_>, report: &mut Report) -> SyntheticShape {
    let default = default_shape();
    let tokens = |count: Option<u64>, default: Tokens| count.map_or(default, Tokens::new);
    let input = source.whole("input_tokens", Whole::POSITIVE_32, report);
    let output = source.whole("output_tokens", Whole::POSITIVE_32, report);
    let cached = source.whole("cached_prefix_tokens", Whole::ANY_32, report);
    let shape = SyntheticShape {
        input: tokens(input, default.input),
        output: tokens(output, default.output),
        cached_prefix: tokens(cached, default.cached_prefix),
    };
    if shape.cached_prefix > shape.input {
        let why = format!("is above `input_tokens`, which is {}", shape.input);
        source.conflict("cached_prefix_tokens", &why, report);
    }
    source.too_much(&["input_tokens", "output_tokens"], bounds::request_excess(&shape), report);
    shape
}

fn session(source: &Fields<'_>, report: &mut Report) -> Option<SessionShape> {
    let new_input = source.whole("new_input_tokens_per_turn", Whole::POSITIVE_32, report);
    let output = source.whole("output_tokens_per_turn", Whole::POSITIVE_32, report);
    let mut shape = SessionShape {
        new_input_per_turn: Tokens::new(new_input.unwrap_or(1024)),
        output_per_turn: Tokens::new(output.unwrap_or(128)),
        turns: 4,
        shared_prefix_ratio: 0.0,
        prefix_groups: 0,
        // The public runner draws groups by this seed always.
        prefix_seed: Some(0),
        inter_turn_delay_ms: 0.0,
    };
    let sizes = ["new_input_tokens_per_turn", "output_tokens_per_turn"];
    if !source.states("session") {
        source.too_much(&sizes, bounds::session_excess(&shape), report);
        return Some(shape);
    }
    let session = source.section("session", SESSION, report)?;
    let turns = Whole::between(2, bounds::TURNS);
    shape.turns = session.whole_32("turns", turns, report).unwrap_or(shape.turns);
    shape.shared_prefix_ratio =
        session.real("shared_prefix_ratio", Real::Share, report).unwrap_or(0.0);
    shape.prefix_groups = session.whole_32("prefix_groups", Whole::ANY_32, report).unwrap_or(0);
    shape.inter_turn_delay_ms =
        session.real("inter_turn_delay_ms", Real::NotNegative, report).unwrap_or(0.0);
    if shape.shared_prefix_ratio > 0.0 && shape.prefix_groups == 0 {
        session.conflict("shared_prefix_ratio", "above 0 needs `prefix_groups` above 0", report);
    }
    source.too_much(&sizes, bounds::session_excess(&shape), report);
    Some(shape)
}

fn trace(source: &Fields<'_>, report: &mut Report) -> Stated {
    let format = if source.states("format") {
        source.word("format", FORMATS, report)
    } else {
        Some(TraceFormat::Mooncake)
    };
    let block_size = block_size(source, report);
    let paths = paths(source, format, report);
    if let Some(format) = format
        && format != TraceFormat::Weka
    {
        source.conflict("nested_timestamp_basis", "belongs to the format `weka`", report);
    }
    let known_ones = TimestampBasis::ALL.map(|basis| (basis.name(), basis));
    let basis = if source.states("nested_timestamp_basis") {
        source.word("nested_timestamp_basis", &known_ones, report).unwrap_or_default()
    } else {
        TimestampBasis::Auto
    };
    let is_block_size_stated = source.states("block_size");
    let trace = paths.zip(block_size).zip(format);
    let trace = trace.map(|(((path, more, place), block_size), format)| TraceFile {
        path,
        more,
        format,
        block_size,
        is_block_size_stated,
        basis,
        place,
    });
    Stated {
        kind: format.map(SourceKind::Trace),
        source: trace.as_ref().map(|trace| Source::Trace { pin: trace.path.clone() }),
        trace,
    }
}

/// Returns the tokens of one hash id: 512 unless stated or embedded in the file.
fn block_size(source: &Fields<'_>, report: &mut Report) -> Option<BlockSize> {
    let stated = source.whole_32("block_size", Whole::BLOCK_SIZE, report);
    if source.states("block_size") {
        return stated.and_then(BlockSize::new);
    }
    BlockSize::new(512)
}

/// Returns the path, those after it, and the place of the first.
fn paths(
    source: &Fields<'_>,
    format: Option<TraceFormat>,
    report: &mut Report,
) -> Option<(String, Vec<String>, super::Place)> {
    if !source.states("paths") {
        source.missing("paths", "a trace is read from files", report);
        return None;
    }
    let items = source.items("paths", report)?;
    let at = source.at("paths");
    let paths: Vec<_> = items
        .iter()
        .filter_map(|item| Some((text_of(item, &at, report)?.to_owned(), item.place.clone())))
        .collect();
    if items.is_empty() {
        source.conflict("paths", "names no file", report);
    } else if items.len() > 1 && format.is_some_and(|format| format != TraceFormat::Dynamo) {
        source.conflict("paths", "names more than one file, which only `dynamo` takes", report);
    }
    let mut paths = paths.into_iter();
    let (first, place) = paths.next()?;
    Some((first, paths.map(|(path, _)| path).collect(), place))
}
