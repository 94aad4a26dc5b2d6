//! A recording as `agentic-mooncake` is the same plays, but for what counts as lost.

use proptest::prelude::*;

use crate::trace::{
    Conversion, ConvertTarget, ConvertedSource, CorpusView, ReadOptions, Shard, TraceFormat,
    convert_in_memory, read_corpus,
};
use crate::units::BlockSize;
use crate::workload::{Corpus, PlayNode};

/// A request: the gap since the one before and how long it took, in microseconds, how much of its prompt it shares, its session, and the
/// request before it that it waits for.
type Shape = (u32, u32, u8, u8, u8);

fn read(format: TraceFormat, text: &str) -> CorpusView {
    let options = ReadOptions::strict(format, BlockSize::new(64).expect("a size"));
    let shard = Shard::new("a.jsonl", text.as_bytes().to_vec());
    read_corpus(&[shard], &options).unwrap_or_else(|bag| panic!("{bag:?}\n{text}"))
}

fn converted(format: TraceFormat, text: &str) -> Conversion {
    let source = ConvertedSource { format: "f".to_owned(), digest: "d".to_owned() };
    let options = ReadOptions::strict(format, BlockSize::new(64).expect("a size"));
    let shard = Shard::new("a.jsonl", text.as_bytes().to_vec());
    convert_in_memory(&[shard], &options, ConvertTarget::AgenticMooncake, &source).expect("plays")
}

/// Converts and reads again; whatever differs must be counted.
fn check(format: TraceFormat, text: &str) -> Result<(), TestCaseError> {
    let first = read(format, text);
    let Conversion { text: written, lost } = converted(format, text);
    let written = String::from_utf8(written).expect("JSON is text");
    let again = read(TraceFormat::AgenticMooncake, &written);
    let (before, after) = (first.0.plays().expect("plays"), again.0.plays().expect("plays"));
    prop_assert_eq!(before.plays(), after.plays());
    let mut moved = 0;
    for (one, other) in before.nodes().iter().zip(after.nodes()) {
        if one.recorded_ms.0.total_cmp(&other.recorded_ms.0).is_ne() {
            moved += 1;
            let as_read = PlayNode { recorded_ms: other.recorded_ms, ..one.clone() };
            prop_assert_eq!(&as_read, other);
        } else {
            prop_assert_eq!(one, other);
        }
    }
    prop_assert_eq!(before.nodes().len(), after.nodes().len());
    prop_assert_eq!(lost.get("recorded-start").copied().unwrap_or(0), moved);
    prop_assert_eq!(rows(&first.0), rows(&again.0));
    // What was lost is lost once.
    let twice = converted(TraceFormat::AgenticMooncake, &written).text;
    prop_assert_eq!(String::from_utf8(twice).expect("JSON is text"), written);
    Ok(())
}

/// Returns what simulation reads of rows, beside plays.
fn rows(corpus: &Corpus) -> Vec<String> {
    let reader = corpus.reader();
    let row = |row: crate::workload::RecordedRow| {
        let names = (reader.request_id(&row), reader.session(&row));
        format!("{names:?} {} {} {:?}", row.input, row.output, reader.hash_ids(&row))
    };
    reader.rows().map(row).collect()
}

/// Returns the names of a prompt's blocks: a shared beginning, then one of its own.
fn hashes(at: usize, shared: u8) -> Vec<u64> {
    let own = 1_000 + at as u64;
    (0..u64::from(shared % 4)).chain([own]).collect()
}

fn weka(shapes: &[Shape]) -> String {
    let (mut micros, mut entries) = (0_u64, Vec::new());
    for (at, (gap, took, shared, ..)) in shapes.iter().enumerate() {
        micros += u64::from(*gap);
        let hashes = hashes(at, *shared);
        entries.push(format!(
            r#"{{"type":"n","t":{micros}e-6,"model":"m","in":{},"out":8,"hash_ids":{hashes:?},"api_time":{took}e-6}}"#,
            hashes.len() * 64
        ));
    }
    format!(
        r#"{{"id":"a","models":["m"],"block_size":64,"hash_id_scope":"local","requests":[{}]}}"#,
        entries.join(",")
    )
}

fn dynamo(shapes: &[Shape]) -> String {
    let (mut ms, mut lines) = (100_u64, Vec::new());
    for (at, (gap, took, shared, session, _)) in shapes.iter().enumerate() {
        ms += u64::from(gap % 1_000);
        let (took, hashes) = (took % 1_000, hashes(at, *shared));
        // The first session is the parent of the others.
        let parent = match session % 3 {
            0 => String::new(),
            _ if shapes.iter().all(|shape| shape.3 % 3 > 0) => String::new(),
            _ => r#","parent_session_id":"s0""#.to_owned(),
        };
        lines.push(format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{},"agent_context":{{"session_id":"s{}"{parent}}},"request":{{"request_id":"r{at}","output_tokens":2,"request_received_ms":{ms},"total_time_ms":{took},"replay":{{"trace_block_size":4,"input_length":{},"input_sequence_hashes":{hashes:?}}}}}}}"#,
            ms + u64::from(took),
            session % 3,
            hashes.len() * 4
        ));
    }
    lines.join("\n")
}

fn agentic(shapes: &[Shape], has_header: bool) -> String {
    const HEADER: &str = r#"{"schema":"dynamo.agentic_mooncake","version":2,"block_size":64,"hash_id_scope":"local","source":{"format":"f","digest":"d"}}"#;
    let mut lines: Vec<String> = has_header.then(|| HEADER.to_owned()).into_iter().collect();
    for (at, (gap, took, shared, session, waits)) in shapes.iter().enumerate() {
        let hashes = hashes(at, *shared);
        let waited = Some(usize::from(*waits)).filter(|waited| *waited < at);
        let own = format!(
            r#""request_id":"r{at}","session_id":"s{session}","input_length":{},"output_length":1,"hash_ids":{hashes:?}"#,
            hashes.len() * 64
        );
        lines.push(if has_header {
            let wait = waited.map_or(String::new(), |waited| {
                format!(r#"{{"request_id":"r{waited}","trigger":"completion","delay_ms":{gap}e-3,"relation":"sequence"}}"#)
            });
            format!(
                r#"{{{own},"play_id":"p","model":"m","not_before_ms":{gap}e-3,"recorded_api_time_ms":{took}e-3,"dependencies":[{wait}]}}"#
            )
        } else {
            let wait = waited.map_or(String::new(), |waited| {
                format!(r#","wait_for":["r{waited}"],"delay_ms":{took}e-3"#)
            });
            format!(r#"{{{own},"timestamp":{gap}e-3{wait}}}"#)
        });
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_conversion_and_what_it_counts_as_lost_are_the_recording(
        shapes in prop::collection::vec((0_u32..5_000_000, 0_u32..9_000_000, any::<u8>(), any::<u8>(), 0_u8..12), 1..12)
    ) {
        check(TraceFormat::Weka, &weka(&shapes))?;
        check(TraceFormat::Dynamo, &dynamo(&shapes))?;
        check(TraceFormat::AgenticMooncake, &agentic(&shapes, true))?;
        check(TraceFormat::AgenticMooncake, &agentic(&shapes, false))?;
    }
}
