//! `bench perf trace`: how fast the rows of a trace are read, against the text that a core reads a second and against unpacking alone.
//!
//! Text is read on one thread, so CPU time says how fast a core is. A packed file is unpacked on one thread while its rows are read on
//! another, so time on the clock says what packing costs; of several rounds the fastest counts, because others use the machine.

use std::path::Path;
use std::time::Duration;

use super::{perf_corpus, perf_rows};
use crate::cli::args::{Format, PerfTraceArgs};
use crate::cli::{Align, Context, Exit, Failure, Stopwatch, columns, cpu_time, print};
use crate::digest::canonical::{Value, object};
use crate::trace::{
    ArrivalRule, ReadOptions, Shard, Strictness, TraceFormat, gzip_length, pack_gzip, read_corpus,
};
use crate::units::BlockSize;

/// Megabytes of text that a core reads a second at the least.
const MEGABYTES_A_SECOND: u64 = 250;
/// What reading a packed file may take at the most, in hundredths of what unpacking it takes.
const HUNDREDTHS_OF_UNPACKING: u128 = 130;
/// How long each is measured at the least: a system counts CPU time in steps of some milliseconds.
const LONG_ENOUGH: Duration = Duration::from_millis(400);

/// What was measured.
#[derive(Debug)]
struct Taken {
    /// Bytes of text.
    bytes: u64,
    /// CPU time of reading the rows of the text.
    plain: Duration,
    /// Time of reading them from a gzip file.
    packed: Duration,
    /// Time of unpacking the file and nothing else.
    unpacking: Duration,
}

/// Runs the command.
pub(super) fn run(args: &PerfTraceArgs, context: &Context) -> Result<Exit, Failure> {
    match (&args.trace, &args.corpus, args.rows) {
        (Some(trace), ..) => rows(trace, args),
        (None, Some(corpus), _) => perf_corpus::run(corpus, args),
        (None, None, Some(rows)) => perf_rows::run(rows, args, context),
        (None, None, None) => unreachable!("one of them is required"),
    }
}

/// Measures how the rows of a trace are read.
fn rows(path: &Path, args: &PerfTraceArgs) -> Result<Exit, Failure> {
    let name = path.to_string_lossy();
    let file = Shard::load(path, &name)?;
    let text = file.unpack()?.into_owned();
    let bytes = text.len() as u64;
    let packed = Shard::new("trace.jsonl.gz", pack_gzip(&text));
    let plain = Shard::unpacked("trace.jsonl", text);
    let taken = Taken {
        bytes,
        plain: measured(|| read(&plain))?,
        packed: fastest(|| read(&packed))?,
        unpacking: fastest(|| {
            let _length =
                gzip_length(packed.bytes()).expect("what was packed here can be unpacked");
            Ok(())
        })?,
    };
    print(match args.format {
        Format::Table => table(&taken).into_bytes(),
        Format::Json => json(&taken).to_document(),
    })?;
    Ok(if args.strict && taken.misses() { Exit::Drift } else { Exit::Success })
}

/// Reads the rows of a shard and forgets them.
fn read(shard: &Shard) -> Result<(), Failure> {
    let block_size = BlockSize::new(512).expect("512 is no zero");
    let options = ReadOptions {
        strictness: Strictness::Lenient,
        arrivals: ArrivalRule::Ignored,
        ..ReadOptions::strict(TraceFormat::Mooncake, block_size)
    };
    read_corpus(std::slice::from_ref(shard), &options)?;
    Ok(())
}

/// Returns the CPU time of something that is done several times over.
fn measured(mut once: impl FnMut() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let (clock, before) = (Stopwatch::start(), cpu_time());
    let mut rounds = 0;
    loop {
        once()?;
        rounds += 1;
        let cpu = cpu_time().zip(before).map(|(after, before)| after.saturating_sub(before));
        let taken = cpu.unwrap_or_else(|| clock.elapsed());
        if taken >= LONG_ENOUGH {
            return Ok(taken / rounds);
        }
    }
}

/// Returns the shortest time of something that is done several times over.
fn fastest(mut once: impl FnMut() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let clock = Stopwatch::start();
    let mut least = Duration::MAX;
    while clock.elapsed() < 2 * LONG_ENOUGH {
        let round = Stopwatch::start();
        once()?;
        least = least.min(round.elapsed());
    }
    Ok(least)
}

impl Taken {
    /// Returns the megabytes (10^6 bytes) of text that were read a second.
    fn megabytes_a_second(&self) -> u64 {
        let nanos = self.plain.as_nanos().max(1);
        u64::try_from(u128::from(self.bytes) * 1000 / nanos).unwrap_or(u64::MAX)
    }

    /// Returns what reading a packed file took, in hundredths of what unpacking it took.
    fn hundredths_of_unpacking(&self) -> u128 {
        self.packed.as_nanos() * 100 / self.unpacking.as_nanos().max(1)
    }

    /// Returns whether a bar is missed.
    fn misses(&self) -> bool {
        self.megabytes_a_second() < MEGABYTES_A_SECOND
            || self.hundredths_of_unpacking() > HUNDREDTHS_OF_UNPACKING
    }
}

/// Returns the figures as a table.
fn table(taken: &Taken) -> String {
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1000.0);
    let hundredths = |part: u128| format!("{}.{:02}", part / 100, part % 100);
    let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
    let rows = vec![
        row(["reading", "ms", "figure", "limit"]),
        row([
            "text, MB a second of CPU time",
            &ms(taken.plain),
            &taken.megabytes_a_second().to_string(),
            &format!(">= {MEGABYTES_A_SECOND}"),
        ]),
        row([
            "gzip, times unpacking alone",
            &ms(taken.packed),
            &hundredths(taken.hundredths_of_unpacking()),
            &format!("<= {}", hundredths(HUNDREDTHS_OF_UNPACKING)),
        ]),
        row(["unpacking alone", &ms(taken.unpacking), "", ""]),
    ];
    columns(&rows, &[Align::Left, Align::Right])
}

/// Returns the figures as JSON.
fn json(taken: &Taken) -> Value {
    let ns = |time: Duration| Value::count(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    object([
        ("bytes", Value::count(taken.bytes)),
        ("packed_ns", ns(taken.packed)),
        ("plain_cpu_ns", ns(taken.plain)),
        ("unpacking_ns", ns(taken.unpacking)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bars_are_met_at_their_value_and_missed_beyond() {
        let taken = |plain, packed| Taken {
            bytes: 250_000_000,
            plain: Duration::from_millis(plain),
            packed: Duration::from_millis(packed),
            unpacking: Duration::from_secs(1),
        };
        assert!(!taken(1000, 1300).misses());
        assert!(taken(1005, 1300).misses() && taken(1000, 1310).misses());
        assert_eq!(taken(500, 1250).megabytes_a_second(), 500);
        let shown = table(&taken(1000, 1250));
        assert!(shown.contains("1.25") && shown.contains(">= 250"), "{shown}");
    }
}
