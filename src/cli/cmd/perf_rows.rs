//! `bench perf trace --rows`: how much memory a simulation takes that streams a Mooncake file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use super::{bars, predict};
use crate::cli::args::{Format, PerfTraceArgs};
use crate::cli::{Align, Context, Exit, Failure, columns, print};
use crate::diag::{Code, Problem};
use crate::digest::canonical::{Value, object};

/// Mebibytes of memory at the most beside the size of the file.
const MEBIBYTES: u64 = 100;

/// What was measured.
struct Taken {
    bytes: u64,
    requests: u64,
    cpu: Duration,
    /// The most memory that the process ever had, in KiB, where the system says so.
    peak_kib: Option<u64>,
}

/// Runs the command.
pub(super) fn run(rows: u64, args: &PerfTraceArgs, context: &Context) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| {
        Failure::from(Problem::new(Code::TraceRead, format!("cannot write the trace: {error}")))
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let file = folder.path().join("trace.jsonl");
    context.note("writing the trace");
    let bytes = generate(&file, rows).map_err(failed)?;
    let (requests, cpu) = bars::streamed(&file, context)?;
    let taken = Taken { bytes, requests, cpu, peak_kib: predict::peak_kib() };
    print(match args.format {
        Format::Table => table(&taken).into_bytes(),
        Format::Json => json(&taken).to_document(),
    })?;
    Ok(if args.strict && taken.misses() { Exit::Drift } else { Exit::Success })
}

/// Writes rows as Mooncake's are: one block that all share, some of the conversation, some of their own. Returns the size of the file.
fn generate(path: &Path, rows: u64) -> std::io::Result<u64> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
    for row in 0..rows {
        let (shared, own) = (row % 11, 5 + row % 13);
        let blocks = 1 + shared + own;
        let (input, output) = (blocks * 512 - row % 509, 20 + row % 40);
        write!(
            out,
            "{{\"timestamp\": {}, \"input_length\": {input}, \"output_length\": {output}, \"hash_ids\": [0",
            row * 40
        )?;
        let conversation = row / 64;
        for block in 0..shared {
            write!(out, ", {}", 1 + conversation * 16 + block)?;
        }
        for block in 0..own {
            write!(out, ", {}", (1 << 28) + row * 20 + block)?;
        }
        out.write_all(b"]}\n")?;
    }
    out.flush()?;
    Ok(out.get_ref().metadata()?.len())
}

impl Taken {
    /// Returns the mebibytes that it may take.
    fn limit(&self) -> u64 {
        (self.bytes >> 20) + MEBIBYTES
    }

    /// Returns whether the bar is missed. A system that does not tell its memory misses none.
    fn misses(&self) -> bool {
        self.peak_kib.is_some_and(|kib| kib > self.limit() * 1024)
    }
}

/// Returns the figures as a table.
fn table(taken: &Taken) -> String {
    let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
    let memory = taken.peak_kib.map_or("-".to_owned(), |kib| kib.div_ceil(1024).to_string());
    let rows = vec![
        row(["a trace streamed into a simulation", "figure", "limit"]),
        row(["requests", &taken.requests.to_string(), ""]),
        row(["file, MiB", &(taken.bytes >> 20).to_string(), ""]),
        row(["CPU seconds", &format!("{:.1}", taken.cpu.as_secs_f64()), ""]),
        row(["peak memory, MiB", &memory, &format!("<= {}", taken.limit())]),
    ];
    columns(&rows, &[Align::Left, Align::Right])
}

/// Returns the figures as JSON.
fn json(taken: &Taken) -> Value {
    object([
        ("bytes", Value::count(taken.bytes)),
        ("cpu_ns", Value::count(u64::try_from(taken.cpu.as_nanos()).unwrap_or(u64::MAX))),
        ("peak_kib", taken.peak_kib.map_or(Value::Null, Value::count)),
        ("requests", Value::count(taken.requests)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{ReadOptions, Shard, TraceFormat, read_corpus};
    use crate::units::BlockSize;

    #[test]
    fn a_generated_trace_is_a_right_one_of_so_many_rows() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("trace.jsonl");
        let bytes = generate(&file, 500).expect("a file");
        assert_eq!(bytes, std::fs::metadata(&file).expect("a file").len());
        let shard = Shard::on_disk(&file, "trace.jsonl").expect("a file");
        let size = BlockSize::new(512).expect("no zero");
        let options = ReadOptions::strict(TraceFormat::Mooncake, size);
        let (corpus, counts) = read_corpus(&[shard], &options).expect("a right trace");
        assert_eq!((corpus.len(), counts.rows), (500, 500));
    }

    #[test]
    fn the_bar_is_met_at_its_value_and_missed_beyond() {
        let taken =
            |kib| Taken { bytes: 200 << 20, requests: 1, cpu: Duration::ZERO, peak_kib: Some(kib) };
        assert!(!taken(300 << 10).misses() && taken((300 << 10) + 1).misses());
        assert!(table(&taken(1)).contains("<= 300"));
    }
}
