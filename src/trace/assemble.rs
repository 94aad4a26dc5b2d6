//! Rows to a corpus: the rules that hold across rows, and the counts.

use crate::diag::{Bag, Code, Problem};
use crate::units::Nanos;
use crate::workload::{Corpus, CorpusRow, Prompts};

use super::counts::{ArrivalSpan, ReadCounts};
use super::options::{ArrivalRule, ReadOptions, RowOrder, Strictness, TraceFormat};
use super::row::Row;
use super::session::Sessions;

/// A corpus in the making.
#[derive(Debug)]
pub(super) struct Assembly<'o> {
    options: &'o ReadOptions,
    corpus: Corpus,
    /// What was let through.
    pub(super) counts: ReadCounts,
    /// What the earliest calendar time is called, where arrivals are counted from it.
    pub(super) origin: Option<String>,
    sessions: Sessions,
    /// Tokens that each session has said, where rows add to them.
    said: Vec<u64>,
    latest_ms: Option<f64>,
    /// The arrival of the session above.
    above_ms: Option<f64>,
    problems: Bag,
    faulty_rows: u64,
    /// Of how many first rows a corpus is wanted; all rows where absent.
    firsts: Vec<Option<u64>>,
    /// The counts when each of those was reached.
    reached: Vec<Option<ReadCounts>>,
}

impl<'o> Assembly<'o> {
    /// Returns a corpus without rows, of which one view is wanted for each of `firsts`: of that many first rows, or of all.
    pub(super) fn for_views(options: &'o ReadOptions, firsts: &[Option<u64>]) -> Self {
        Self {
            options,
            corpus: Corpus::new(options.block_size).with_prompts(match options.format {
                TraceFormat::MooncakeDelta => Prompts::Added,
                TraceFormat::Mooncake
                | TraceFormat::AgenticMooncake
                | TraceFormat::Weka
                | TraceFormat::AppliedComputeAgentic
                | TraceFormat::Dynamo
                | TraceFormat::Azure
                | TraceFormat::BurstGpt
                | TraceFormat::RagPulse
                | TraceFormat::Csv => Prompts::Whole,
            }),
            said: Vec::new(),
            counts: ReadCounts::default(),
            origin: None,
            sessions: Sessions::default(),
            latest_ms: None,
            above_ms: None,
            problems: Bag::new(),
            faulty_rows: 0,
            firsts: firsts.to_vec(),
            reached: vec![None; firsts.len()],
        }
    }

    /// Returns whether reading can stop: enough rows, or enough faults.
    pub(super) fn is_done(&self) -> bool {
        let kept = self.counts.rows;
        self.faulty_rows >= self.options.faulty_rows_max
            || self.firsts.iter().all(|first| first.is_some_and(|first| kept >= first))
    }

    /// Adds a row, or what is wrong with it.
    pub(super) fn add(&mut self, row: Result<Row<'_>, Problem>, ids: &[u64]) {
        if let Err(problem) = row.and_then(|row| self.add_row(row, ids)) {
            self.problems.push(problem);
            self.faulty_rows += 1;
        }
    }

    /// Adds a problem of a whole shard.
    pub(super) fn add_problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Adds a row.
    fn add_row(&mut self, row: Row<'_>, ids: &[u64]) -> Result<(), Problem> {
        let corpus = &mut self.corpus;
        let turn = self.sessions.place(&row, |name| corpus.add_session(name))?;
        if turn.is_first {
            self.counts.sessions += 1;
            self.check_arrival(&row)?;
        }
        self.check_length(turn.session, &row)?;
        self.counts.rows += 1;
        let row = CorpusRow {
            line: row.line.running,
            arrival_ms: row.arrival_ms,
            input: row.input,
            output: row.output,
            session: turn.session,
            delay_ms: turn.delay_ms,
            request_id: row.request_id,
        };
        self.corpus.add_row(&row, ids);
        for (first, reached) in self.firsts.iter().zip(&mut self.reached) {
            if *first == Some(self.counts.rows) {
                *reached = Some(self.counts.clone());
            }
        }
        Ok(())
    }

    /// Checks that what a session says does not outgrow a prompt, where rows add to it.
    fn check_length(&mut self, session: usize, row: &Row<'_>) -> Result<(), Problem> {
        if self.corpus.prompts() == Prompts::Whole {
            return Ok(());
        }
        self.said.resize(self.said.len().max(session + 1), 0);
        self.said[session] += row.input.get() + row.output.get();
        if u32::try_from(self.said[session]).is_ok() {
            return Ok(());
        }
        let message = format!(
            "trace line {} makes its session {} tokens long, at most {}",
            row.line.number,
            self.said[session],
            u32::MAX
        );
        Err(row.line.problem(Code::TraceField, row.line.whole(), message, "one turn too many"))
    }

    /// Checks the arrival of a row that opens a session.
    fn check_arrival(&mut self, row: &Row<'_>) -> Result<(), Problem> {
        let strict = self.options.strictness == Strictness::Scenario;
        let Some(ms) = row.arrival_ms else {
            if strict && self.options.arrivals != ArrivalRule::Ignored {
                return Err(missing_timestamp(row));
            }
            self.counts.missing_timestamps += 1;
            return Ok(());
        };
        let latest = self.latest_ms.filter(|latest| ms < *latest);
        let is_below_above = self.above_ms.replace(ms).is_some_and(|above| ms < above);
        self.latest_ms = Some(self.latest_ms.map_or(ms, |latest| latest.max(ms)));
        let (Some(latest), RowOrder::AsWritten) = (latest, self.options.order) else {
            return Ok(());
        };
        if strict {
            return Err(unsorted(row, ms, latest));
        }
        self.counts.unsorted_rows += u64::from(is_below_above);
        Ok(())
    }

    /// Returns each corpus that is wanted and what was let through; `name` is the trace's for messages.
    ///
    /// # Errors
    /// Everything that was found wrong, or that there are no rows.
    pub(super) fn finish(mut self, name: &str) -> Result<Vec<(Corpus, ReadCounts)>, Bag> {
        if self.problems.has_errors() {
            if self.faulty_rows >= self.options.faulty_rows_max {
                let message =
                    format!("reading {name} stopped after {} wrong rows", self.faulty_rows);
                self.problems.push(Problem::new(Code::TraceStopped, message));
            }
            return Err(self.problems);
        }
        if self.counts.rows == 0 || self.firsts.contains(&Some(0)) {
            let message = format!("trace file {name} did not contain any requests");
            let problem = Problem::new(Code::TraceEmpty, message);
            return Err(problem
                .help("a trace has a row for each request; is it the right file?")
                .into());
        }
        if let Err(error) = self.corpus.complete() {
            let message =
                format!("the rows of {name} go to a temporary file, and that failed: {error}");
            return Err(Problem::new(Code::TraceRead, message).into());
        }
        let reached = std::mem::take(&mut self.reached);
        Ok(reached.into_iter().map(|reached| self.view(reached)).collect())
    }

    /// Returns the rows up to where these counts were taken; all rows where they were not.
    fn view(&self, reached: Option<ReadCounts>) -> (Corpus, ReadCounts) {
        let mut counts = reached.unwrap_or_else(|| self.counts.clone());
        let corpus = self.corpus.first(usize::try_from(counts.rows).unwrap_or(usize::MAX));
        let corpus = match self.options.order {
            RowOrder::Sorted => corpus.sorted_by_arrival(),
            RowOrder::AsWritten => corpus,
        };
        let times = Times::of(&corpus);
        counts.ties = times.ties;
        counts.span = times.first_and_last_ms.map(|(first_ms, last_ms)| {
            let origin = self.origin.clone().unwrap_or_else(|| ms_text(first_ms));
            ArrivalSpan { origin, first_ms, last_ms }
        });
        if let Some(span) = counts.span.as_mut().filter(|_| counts.missing_timestamps > 0) {
            span.begin_at_zero();
        }
        (corpus, counts)
    }
}

/// The arrivals of a corpus.
#[derive(Debug, Default)]
struct Times {
    /// Rows with the arrival of the row before.
    ties: u64,
    /// The earliest and the latest.
    first_and_last_ms: Option<(f64, f64)>,
}

impl Times {
    /// Returns the arrivals of a corpus.
    fn of(corpus: &Corpus) -> Self {
        let (mut times, mut before) = (Self::default(), None::<f64>);
        for row in corpus.reader().rows() {
            if let Some(ms) = row.arrival_ms {
                times.ties += u64::from(before.is_some_and(|before| before.total_cmp(&ms).is_eq()));
                let (first, last) = times.first_and_last_ms.unwrap_or((ms, ms));
                times.first_and_last_ms = Some((first.min(ms), last.max(ms)));
            }
            before = row.arrival_ms;
        }
        times
    }
}

/// Returns milliseconds to the nanosecond as text, without an exponent and without zeros at the end.
fn ms_text(ms: f64) -> String {
    let Ok(ns) = Nanos::from_ms(ms) else { return "beyond the clock".to_owned() };
    let (whole, part) = (ns.get() / 1_000_000, ns.get() % 1_000_000);
    let part = format!(".{part:06}");
    format!("{whole}{} ms", part.trim_end_matches('0').trim_end_matches('.'))
}

/// Says that a row has no arrival.
fn missing_timestamp(row: &Row<'_>) -> Problem {
    let message = format!("trace line {} is missing timestamp", row.line.number);
    row.line
        .problem(Code::TraceArrival, row.arrival_at.clone(), message, "no `timestamp` in this row")
        .help("give each row its arrival, or use a `load` that makes its own times; `lenient=#true` in the pin makes it 0")
}

/// Says that a row arrives before one above it.
fn unsorted(row: &Row<'_>, ms: f64, latest: f64) -> Problem {
    let number = row.line.number;
    let message =
        format!("trace line {number} arrives at {ms} ms, before a row above it ({latest} ms)");
    row.line
        .problem(Code::TraceUnsorted, row.arrival_at.clone(), message, "not in order")
        .help("sort the file, or state `sort=#true` in the pin: rows are then sorted stably")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_of_a_trace_is_written_to_the_nanosecond_and_never_as_a_float() {
        assert_eq!(ms_text(1_770_000_000_000.0), "1770000000000 ms");
        assert_eq!(ms_text(0.1 + 0.2), "0.3 ms");
        assert_eq!(ms_text(1e-6), "0.000001 ms");
        assert_eq!(ms_text(1e300), "beyond the clock");
    }
}
