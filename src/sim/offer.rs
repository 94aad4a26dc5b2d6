//! What a workload offers, as data: every session with its turns, for engines that run elsewhere.

use std::collections::BTreeMap;

use crate::deployment::Workers;
use crate::digest::{Purpose, Seed};
use crate::plan::SimulationJob;
use crate::workload::{Arrivals, Content, Corpus, Load, Origin, Run, Symbol, Vocabulary};

use super::SimError;
use super::sessions::Sessions;
use super::traffic::Turn;

/// Everything that a workload offers.
#[derive(Debug)]
pub struct Offer<'a> {
    sessions: Sessions<'a>,
    vocabulary: Vocabulary,
    block_size: u32,
    engine_block_size: u32,
    starts: Vec<Option<f64>>,
    /// Blocks of prompts that share prefixes by group, numbered as they are first seen.
    numbers: BTreeMap<(Origin, u32), u32>,
}

/// A turn that is offered.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTurn {
    /// Tokens of its prompt, or what it adds to the session's.
    pub input: u64,
    /// Output tokens asked for.
    pub output: u64,
    /// Think time before it, in milliseconds.
    pub delay_ms: f64,
    /// The blocks of those tokens: equal numbers are blocks of equal tokens.
    pub blocks: Vec<u32>,
}

/// Whose a place in the workload is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedName {
    /// The place.
    pub index: u64,
    /// What the session is called.
    pub session: crate::workload::SessionName,
    /// The line of the trace, where there is one.
    pub line: Option<u64>,
    /// The request's own name, where the source gives one.
    pub request_id: Option<String>,
}

impl<'a> Offer<'a> {
    /// Returns what a job's workload offers.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] for a trace that is missing, an arrival that is no time, a load that needs more than sessions.
    pub fn new(job: &SimulationJob, corpus: Option<&'a Corpus>) -> Result<Self, SimError> {
        let sessions = Sessions::new(job, corpus)?;
        let worker = match &job.deployment.workers {
            Workers::Aggregated(worker) | Workers::Disaggregated { prefill: worker, .. } => worker,
        };
        let engine_block_size = worker.kv_cache.block_size.get();
        let vocabulary = sessions.vocabulary(engine_block_size);
        let block_size = sessions.content_block(&vocabulary).max(1);
        let starts = starts(job, &sessions)?;
        let numbers = BTreeMap::new();
        Ok(Self { sessions, vocabulary, block_size, engine_block_size, starts, numbers })
    }

    /// Returns the tokens that a number of [`OfferedTurn::blocks`] stands for.
    pub fn block_size(&self) -> u32 {
        self.block_size
    }

    /// Returns the tokens of a block of the engine.
    pub fn engine_block_size(&self) -> u32 {
        self.engine_block_size
    }

    /// Returns whether a turn's tokens follow all that its session has said.
    pub fn accumulates(&self) -> bool {
        self.sessions.grows()
    }

    /// Returns how many sessions there are.
    pub fn sessions(&self) -> u64 {
        self.starts.len() as u64
    }

    /// Returns how many turns a session has.
    pub fn turns(&self, session: u64) -> u32 {
        self.sessions.turns(session)
    }

    /// Returns when a session starts, in milliseconds; `None` in a closed loop.
    pub fn start_ms(&self, session: u64) -> Option<f64> {
        self.starts.get(usize::try_from(session).ok()?).copied().flatten()
    }

    /// Returns a turn. Sessions draw what they are made of in their order, so ask in that order.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] for a think time that is no time.
    pub fn turn(&mut self, session: u64, number: u32) -> Result<OfferedTurn, SimError> {
        let turn = Turn { session, number };
        let content = self.sessions.content(turn, &[]);
        Ok(OfferedTurn {
            input: u64::from(content.prompt_tokens()),
            output: self.sessions.output(turn),
            delay_ms: if number == 0 { 0.0 } else { self.sessions.delay(turn)?.as_ms() },
            blocks: self.blocks(&content),
        })
    }

    /// Returns the prompt of a turn, token by token.
    pub fn tokens(&mut self, session: u64, number: u32) -> Vec<u32> {
        let content = self.sessions.content(Turn { session, number }, &[]);
        self.vocabulary.tokens(&content)
    }

    /// Returns whose a turn is.
    pub fn name(&self, session: u64, number: u32) -> OfferedName {
        let turn = Turn { session, number };
        let (name, line) = self.sessions.name(turn);
        OfferedName {
            index: self.sessions.index(turn),
            session: name,
            line,
            request_id: self.sessions.request_id(turn),
        }
    }

    /// Returns the numbers of a prompt's blocks: those of their first tokens.
    fn blocks(&mut self, content: &Content) -> Vec<u32> {
        if self.sessions.has_groups() {
            return content.runs().iter().flat_map(|run| self.first_seen(*run)).collect();
        }
        let step = usize::try_from(self.block_size).unwrap_or(usize::MAX);
        self.vocabulary.tokens(content).into_iter().step_by(step).collect()
    }

    /// Returns the numbers of a run's blocks, of which each that was not seen before gets the next.
    ///
    /// Source: the reference numbers the blocks of a group when it first uses them.
    fn first_seen(&mut self, run: Run) -> Vec<u32> {
        let Symbol::Unique(origin) = run.symbol else {
            unreachable!("synthetic prompts repeat nothing")
        };
        let first = run.start / self.block_size;
        let blocks = first..first + run.length.div_ceil(self.block_size);
        let number = |block| {
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            *self.numbers.entry((origin, block)).or_insert(next)
        };
        blocks.map(number).collect()
    }
}

/// Returns when each session starts; nothing in a closed loop.
fn starts(job: &SimulationJob, sessions: &Sessions<'_>) -> Result<Vec<Option<f64>>, SimError> {
    let count = usize::try_from(sessions.count()).unwrap_or(usize::MAX);
    match &job.workload.load {
        Load::Concurrency { .. } => Ok(vec![None; count]),
        Load::ConstantRate { rate } => {
            Ok(Arrivals::constant(*rate).take(count).map(Some).collect())
        }
        Load::Poisson { rate, seed } => {
            let derived = || Seed::derive(job.seed, &job.workload.stream, Purpose::Arrivals);
            let seed = seed.map_or_else(derived, Seed::stated);
            Ok(Arrivals::poisson(*rate, seed.stream()).take(count).map(Some).collect())
        }
        Load::TraceTimestamps { .. } => {
            let mut starts = vec![None; count];
            for (at, session) in sessions.recorded_starts()? {
                let place = usize::try_from(session).unwrap_or(usize::MAX);
                starts[place] = Some(at.as_ms());
            }
            Ok(starts)
        }
        Load::Recorded(_) => Err(SimError::bad_workload("a recorded load has no lanes here")),
    }
}
