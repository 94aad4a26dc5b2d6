//! `bench perf store`: how fast a generated capture becomes a segment store, and how much memory that takes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::predict;
use crate::cli::args::{Format, PerfStoreArgs};
use crate::cli::{Align, Context, Exit, Failure, Stopwatch, columns, print, process_cpu_time};
use crate::diag::{Code, Problem};
use crate::digest::canonical::{Value, object};
use crate::graph::content::{Synthesis, Tokenizer};
use crate::graph::store::{Recording, StoreFolder, StoreInfo};
use crate::graph::{IdleGapCap, LowerOptions};
use crate::trace::{RecordedOptions, RecordedSource, TraceInput};

/// Records a second at the least.
const RECORDS_A_SECOND: u64 = 20_000;
/// Mebibytes of memory at the most.
const MEBIBYTES: u64 = 512;
/// Turns of a session.
const TURNS: u64 = 100;
/// Tokens of a block.
const BLOCK: u64 = 64;
/// Blocks of the first prompt of a session; every turn adds two, so the mean is 200.
const FIRST_BLOCKS: u64 = 101;

/// What was measured.
struct Taken {
    records: u64,
    bytes: u64,
    wall: Duration,
    /// CPU time of all threads, where the system says so.
    cpu: Option<Duration>,
    /// The most memory that the process ever had, in KiB, where the system says so.
    peak_kib: Option<u64>,
    info: StoreInfo,
}

/// Runs the command.
pub(super) fn run(args: &PerfStoreArgs, context: &Context) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| {
        Failure::from(Problem::new(Code::StoreFile, format!("cannot write the capture: {error}")))
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let file = folder.path().join("capture.jsonl");
    context.note("writing the capture");
    let sessions = args.records.div_ceil(TURNS);
    let bytes = generate(&file, sessions).map_err(failed)?;
    let (watch, before) = (Stopwatch::start(), process_cpu_time());
    let synthesis = Synthesis::new(0, Arc::new(Tokenizer::builtin()))?;
    let mut store = StoreFolder::create(&folder.path().join("store"), &synthesis)?;
    let recording = Recording {
        source: RecordedSource::Dynamo,
        options: RecordedOptions::strict(),
        lower: LowerOptions { idle_gap_cap: IdleGapCap::DEFAULT },
    };
    let input = [TraceInput::file(&file, "capture.jsonl")];
    store.add_recording(&input, recording, &synthesis)?;
    let (info, _) = store.finish()?;
    let records = sessions * TURNS;
    let (wall, peak_kib) = (watch.elapsed(), predict::peak_kib());
    let cpu = process_cpu_time().zip(before).map(|(after, before)| after.saturating_sub(before));
    let taken = Taken { records, bytes, wall, cpu, peak_kib, info };
    print(match args.format {
        Format::Table => table(&taken).into_bytes(),
        Format::Json => json(&taken).to_document(),
    })?;
    Ok(if args.strict && taken.misses() { Exit::Drift } else { Exit::Success })
}

/// Writes a capture of sessions whose turns lie between one another, and returns its size.
fn generate(path: &Path, sessions: u64) -> std::io::Result<u64> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
    let mut line = String::new();
    for turn in 0..TURNS {
        for session in 0..sessions {
            line.clear();
            record(session, turn, &mut line);
            out.write_all(line.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(out.get_ref().metadata()?.len())
}

/// Appends the record of a turn.
fn record(session: u64, turn: u64, out: &mut String) {
    use std::fmt::Write as _;
    let blocks = FIRST_BLOCKS + 2 * turn;
    let (length, end) = (blocks * BLOCK - 17, 1_700_000_000_000 + turn * 5000 + session);
    write!(
        out,
        r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{end},"event_source":"dynamo","agent_context":{{"session_id":"session-{session:06}"}},"request":{{"request_id":"r-{session}-{turn}","model":"recorded-model","input_tokens":{length},"output_tokens":120,"request_received_ms":{},"total_time_ms":3000.5,"ttft_ms":250.25,"replay":{{"trace_block_size":{BLOCK},"input_length":{length},"input_sequence_hashes":["#,
        end - 3001,
    )
    .expect("a String takes every write");
    for block in 0..blocks {
        // An odd factor sends different numbers to different numbers, most of them of nineteen or twenty digits, as hashes have.
        let hash = (session << 20 | block | 1 << 60).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let comma = if block > 0 { "," } else { "" };
        write!(out, "{comma}{hash}").expect("a String takes every write");
    }
    out.push_str("]}}}\n");
}

impl Taken {
    fn records_a_second(&self) -> u64 {
        let nanos = self.wall.as_nanos().max(1);
        u64::try_from(u128::from(self.records) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
    }

    /// Returns whether a bar is missed. A system that does not tell its memory misses none.
    fn misses(&self) -> bool {
        self.records_a_second() < RECORDS_A_SECOND
            || self.peak_kib.is_some_and(|kib| kib > MEBIBYTES * 1024)
    }
}

/// Returns the figures as a table.
fn table(taken: &Taken) -> String {
    let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
    let seconds = |time: Duration| format!("{:.1}", time.as_secs_f64());
    let memory = taken.peak_kib.map_or("-".to_owned(), |kib| kib.div_ceil(1024).to_string());
    let rows = vec![
        row(["a capture to a store", "figure", "limit"]),
        row(["records", &taken.records.to_string(), ""]),
        row(["MB of text read", &(taken.bytes / 1_000_000).to_string(), ""]),
        row(["tokens proven", &taken.info.counts.tokens.to_string(), ""]),
        row(["messages off", &taken.info.counts.residue_messages.to_string(), "<= 0"]),
        row(["seconds", &seconds(taken.wall), ""]),
        row(["CPU seconds", &taken.cpu.map_or("-".to_owned(), seconds), ""]),
        row([
            "records a second",
            &taken.records_a_second().to_string(),
            &format!(">= {RECORDS_A_SECOND}"),
        ]),
        row(["peak memory, MiB", &memory, &format!("<= {MEBIBYTES}")]),
    ];
    columns(&rows, &[Align::Left, Align::Right])
}

/// Returns the figures as JSON.
fn json(taken: &Taken) -> Value {
    let ns = |time: Duration| Value::count(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    object([
        ("bytes", Value::count(taken.bytes)),
        ("cpu_ns", taken.cpu.map_or(Value::Null, ns)),
        ("peak_kib", taken.peak_kib.map_or(Value::Null, Value::count)),
        ("records", Value::count(taken.records)),
        ("records_per_second", Value::count(taken.records_a_second())),
        ("residue_messages", Value::count(taken.info.counts.residue_messages)),
        ("wall_ns", ns(taken.wall)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_capture_is_a_right_one_with_two_hundred_hashes_a_record() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("capture.jsonl");
        let bytes = generate(&file, 2).expect("a file");
        assert_eq!(bytes, std::fs::metadata(&file).expect("a file").len());
        let (mut hashes, mut requests) = (0, 0);
        let input = [TraceInput::file(&file, "capture.jsonl")];
        crate::trace::read_dynamo(&input, RecordedOptions::strict(), &mut |tree| {
            for (_, request) in tree.requests() {
                requests += 1;
                hashes += request.hashes.as_ref().map_or(0, Vec::len);
            }
        })
        .expect("a right capture");
        assert_eq!((requests, hashes), (200, 40_000));
    }

    #[test]
    fn the_bars_are_met_at_their_value_and_missed_beyond() {
        let synthesis = Synthesis::new(0, Arc::new(Tokenizer::builtin())).expect("words");
        let folder = tempfile::tempdir().expect("a folder");
        let store = StoreFolder::create(&folder.path().join("s"), &synthesis).expect("a folder");
        let (info, _) = store.finish().expect("an empty store");
        let taken = |seconds, mebibytes: u64| Taken {
            records: 200_000,
            bytes: 0,
            wall: Duration::from_secs(seconds),
            cpu: None,
            peak_kib: Some(mebibytes * 1024),
            info: info.clone(),
        };
        assert!(!taken(10, 512).misses());
        assert!(taken(11, 512).misses() && taken(10, 513).misses());
    }
}
