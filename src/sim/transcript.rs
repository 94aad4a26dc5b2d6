//! The ordered events of a run, as canonical JSON lines.
//!
//! Run-length: decode passes of an unchanged batch are one line with a count. Keys are sorted, times are whole nanoseconds; the
//! digest is that of the lines, so that `sha256sum events.jsonl` shows it.

use std::io;

use crate::digest::{Hasher, Sha256};
use crate::record::{SpoolWriter, Transcript};
use crate::units::{Nanos, SimTime};

use super::engine::{Formed, Served};

/// Writes events.
#[derive(Debug)]
pub(crate) struct EventLog {
    keep: Keep,
    buffer: Vec<u8>,
    count: u64,
    decoding: Vec<Option<DecodeRun>>,
}

/// What is kept of the transcript.
#[derive(Debug)]
pub(crate) enum Keep {
    /// Nothing: not even the digest.
    Nothing,
    /// The digest.
    Digest(Hasher),
    /// The digest and the lines.
    Lines(SpoolWriter),
}

/// Decode passes of one rank with an unchanged batch.
#[derive(Debug, Clone, Copy)]
struct DecodeRun {
    from: SimTime,
    to: SimTime,
    requests: u64,
    passes: u64,
}

/// How much is buffered before it is hashed and, where lines are kept, handed on.
const FLUSH_AT: usize = 1 << 16;

impl EventLog {
    /// Returns an empty log for `ranks` ranks.
    pub(crate) fn new(keep: Keep, ranks: usize) -> Self {
        Self { keep, buffer: Vec::new(), count: 0, decoding: vec![None; ranks] }
    }

    /// Notes a pass that starts. A decode of an unchanged batch is noted when it ends, by [`EventLog::ended`].
    pub(crate) fn started(&mut self, rank: usize, formed: &Formed) {
        if self.is_deaf() || formed.repeats {
            return;
        }
        let start = formed.start;
        self.end_decode(rank);
        for admitted in &formed.admitted {
            self.line(&[
                ("at_ns", Field::Time(start)),
                ("computes", Field::Count(admitted.computes)),
                ("event", Field::Word("admit")),
                ("rank", Field::Count(rank as u64)),
                ("request", Field::Count(admitted.request)),
                ("reused", Field::Count(admitted.reused)),
            ]);
        }
        for request in &formed.preempted {
            self.line(&[
                ("at_ns", Field::Time(start)),
                ("event", Field::Word("preempt")),
                ("rank", Field::Count(rank as u64)),
                ("request", Field::Count(*request)),
            ]);
        }
        let mut fields = vec![
            ("decode_context", Field::Count(formed.decode.context_tokens)),
            ("decode_requests", Field::Count(formed.decode.requests)),
            ("event", Field::Word("pass")),
            ("from_ns", Field::Time(start)),
            ("prefill_new", Field::Count(formed.prefill.new_tokens)),
            ("prefill_prefix", Field::Count(formed.prefill.prefix_tokens)),
            ("prefill_requests", Field::Count(formed.prefill.requests)),
            ("rank", Field::Count(rank as u64)),
            ("rejected", Field::Count(formed.rejected)),
            ("to_ns", Field::Time(formed.end)),
        ];
        // A pass that verifies drafts yields what was accepted.
        fields.extend(formed.speculated.map(|tokens| ("tokens", Field::Count(tokens))));
        self.line(&fields);
    }

    /// Notes a pass that ends.
    pub(crate) fn ended(&mut self, rank: usize, formed: &Formed) {
        if !self.is_deaf() && formed.repeats {
            self.decode(rank, formed);
        }
    }

    /// Notes a request that left rank `rank` at `at`, and the blocks the rank holds afterwards.
    pub(crate) fn terminal(&mut self, rank: usize, at: SimTime, served: &Served, held: u64) {
        if self.is_deaf() {
            return;
        }
        self.end_decode(rank);
        self.line(&[
            ("at_ns", Field::Time(at)),
            ("blocks_held", Field::Count(held)),
            ("event", Field::Word(served.outcome.map_or("cut", |outcome| outcome.name()))),
            ("output", Field::Count(served.output)),
            ("rank", Field::Count(rank as u64)),
            ("request", Field::Count(served.ticket.request)),
        ]);
    }

    /// Notes a step of a hand-off on rank `rank`.
    pub(crate) fn handed_over(
        &mut self,
        step: &'static str,
        rank: usize,
        at: SimTime,
        request: u64,
    ) {
        if self.is_deaf() {
            return;
        }
        self.end_decode(rank);
        self.line(&[
            ("at_ns", Field::Time(at)),
            ("event", Field::Word(step)),
            ("rank", Field::Count(rank as u64)),
            ("request", Field::Count(request)),
        ]);
    }

    /// Returns whether nothing is noted.
    const fn is_deaf(&self) -> bool {
        matches!(self.keep, Keep::Nothing)
    }

    /// Ends the log.
    ///
    /// # Errors
    /// The answer of the system where kept lines are too many for memory and cannot be written to a file.
    pub(crate) fn finish(mut self) -> io::Result<Transcript> {
        for rank in 0..self.decoding.len() {
            self.end_decode(rank);
        }
        self.flush();
        let (digest, lines) = match self.keep {
            Keep::Nothing => (Sha256::of(b""), None),
            Keep::Digest(hasher) => (hasher.finish(), None),
            Keep::Lines(writer) => {
                let lines = writer.finish()?;
                (lines.digest(), Some(lines))
            }
        };
        Ok(Transcript { count: self.count, digest, lines })
    }

    /// Hands on what is buffered.
    fn flush(&mut self) {
        match &mut self.keep {
            Keep::Nothing => {}
            Keep::Digest(hasher) => hasher.update(&self.buffer),
            Keep::Lines(writer) => writer.push(&self.buffer),
        }
        self.buffer.clear();
    }

    /// Adds a decode pass to the run of its rank.
    fn decode(&mut self, rank: usize, formed: &Formed) {
        let requests = formed.decode.requests;
        if let Some(run) = &mut self.decoding[rank]
            && run.requests == requests
        {
            run.to = formed.end;
            run.passes += 1;
            return;
        }
        self.end_decode(rank);
        self.decoding[rank] =
            Some(DecodeRun { from: formed.start, to: formed.end, requests, passes: 1 });
    }

    /// Writes the run of decode passes of a rank, where there is one.
    fn end_decode(&mut self, rank: usize) {
        let Some(run) = self.decoding[rank].take() else { return };
        self.line(&[
            ("event", Field::Word("decode")),
            ("from_ns", Field::Time(run.from)),
            ("passes", Field::Count(run.passes)),
            ("rank", Field::Count(rank as u64)),
            ("requests", Field::Count(run.requests)),
            ("to_ns", Field::Time(run.to)),
        ]);
    }

    /// Writes one line; the caller gives the fields in the byte order of their keys.
    fn line(&mut self, fields: &[(&str, Field)]) {
        debug_assert!(fields.is_sorted_by_key(|(key, _)| *key), "keys are sorted");
        let mut digits = itoa::Buffer::new();
        for (index, (key, field)) in fields.iter().enumerate() {
            self.buffer.extend_from_slice(if index == 0 { b"{\"" } else { b",\"" });
            self.buffer.extend_from_slice(key.as_bytes());
            self.buffer.extend_from_slice(b"\":");
            match field {
                Field::Time(at) => {
                    self.buffer.extend_from_slice(digits.format(Nanos::from(*at).get()).as_bytes());
                }
                Field::Count(count) => {
                    self.buffer.extend_from_slice(digits.format(*count).as_bytes());
                }
                Field::Word(word) => {
                    self.buffer.push(b'"');
                    self.buffer.extend_from_slice(word.as_bytes());
                    self.buffer.push(b'"');
                }
            }
        }
        self.buffer.extend_from_slice(b"}\n");
        self.count += 1;
        if self.buffer.len() >= FLUSH_AT {
            self.flush();
        }
    }
}

/// A value of an event; words need no escaping.
#[derive(Debug, Clone, Copy)]
enum Field {
    Time(SimTime),
    Count(u64),
    Word(&'static str),
}
