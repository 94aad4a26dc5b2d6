//! The sessions of a workload: how many there are, and what each turn asks.

use std::rc::Rc;
use std::sync::Arc;

use crate::plan::SimulationJob;
use crate::units::{SimDuration, SimTime};
use crate::workload::{
    Content, Corpus, Load, Origin, Prompts, RankPins, RequestList, Run, SessionName, Source,
    StatedRequest, StopCount, Symbol, SyntheticShape, Vocabulary,
};

use crate::sim::error::SimError;
use crate::sim::instances::Cuts;
use crate::sim::traffic::Turn;

use super::growing::Growing;
use super::instanced::Instanced;
use super::narrow::narrow;
use super::played::Played;
use super::pushed::Pushed;
use super::recorded::{Recorded, content};

/// The sessions of a workload.
#[derive(Debug)]
pub(crate) enum Sessions<'a> {
    /// One request each, all of one shape.
    Single { shape: SyntheticShape, count: u64 },
    /// A prompt that grows by turn.
    Growing(Box<Growing>),
    /// Rows of a trace.
    Recorded(Box<Recorded<'a>>),
    /// Rows that are requests of plays: each a session of its own.
    Played(Box<Played<'a>>),
    /// Requests of instances of plays: each a session of its own.
    Instanced(Box<Instanced<'a>>),
    /// Requests that arrive while the run goes on.
    Pushed(Box<Pushed>),
    /// Stated requests, each a session of its own, in the order in which they arrive.
    Stated { list: Arc<RequestList>, order: Vec<u32> },
}

impl<'a> Sessions<'a> {
    /// Returns the sessions of a workload.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] where a trace is missing or a synthetic source has no count.
    pub(crate) fn new(job: &SimulationJob, corpus: Option<&'a Corpus>) -> Result<Self, SimError> {
        let workload = &job.workload;
        let stated = workload.stop.count.and_then(|count| count.resolve(&workload.load));
        let count =
            || stated.ok_or_else(|| SimError::bad_workload("a synthetic source needs a count"));
        match &workload.source {
            Source::Synthetic(shape) => Ok(Self::Single { shape: *shape, count: count()? }),
            Source::SyntheticSession(shape) => {
                Ok(Self::Growing(Box::new(Growing::new(*shape, count()?, job))))
            }
            Source::Trace { .. } => {
                let corpus =
                    corpus.ok_or_else(|| SimError::bad_workload("the trace was not read"))?;
                if let Some(plays) = corpus.plays() {
                    let played = Played { corpus, reader: corpus.reader(), plays };
                    let Load::Recorded(load) = &workload.load else {
                        return Ok(Self::Played(Box::new(played)));
                    };
                    let Some(seed) = load.snapshot_seed else {
                        return Ok(Self::Played(Box::new(played)));
                    };
                    let lanes = load.agentic_lanes.unwrap_or(1);
                    let cuts = Cuts::new(&played.reader, plays, (seed, lanes))?;
                    let instanced = Instanced::new(played, Rc::new(cuts));
                    return Ok(Self::Instanced(Box::new(instanced)));
                }
                let rows = match workload.stop.count {
                    Some(StopCount::Requests(first)) => {
                        usize::try_from(first).unwrap_or(usize::MAX)
                    }
                    Some(_) | None => usize::MAX,
                };
                let speedup = match workload.load {
                    Load::TraceTimestamps { speedup } => speedup,
                    Load::Concurrency { .. }
                    | Load::ConstantRate { .. }
                    | Load::Poisson { .. }
                    | Load::Recorded(_) => 1.0,
                };
                Ok(Self::Recorded(Box::new(Recorded::new(corpus, rows, speedup))))
            }
            Source::Requests(list) => {
                let requests = list.requests();
                let mut order: Vec<u32> = (0..narrow(requests.len() as u64)).collect();
                order.sort_by(|a, b| {
                    let arrival = |index: &u32| requests[*index as usize].arrival_ms;
                    arrival(a).total_cmp(&arrival(b))
                });
                Ok(Self::Stated { list: Arc::clone(list), order })
            }
            Source::Graph { .. } => Err(SimError::bad_workload("a graph has no sessions here")),
        }
    }

    /// Returns the requests that arrive while the run goes on, where it is one of these.
    pub(crate) fn pushed(&mut self) -> Option<&mut Pushed> {
        match self {
            Self::Pushed(pushed) => Some(pushed),
            Self::Single { .. }
            | Self::Growing(_)
            | Self::Recorded(_)
            | Self::Played(_)
            | Self::Instanced(_)
            | Self::Stated { .. } => None,
        }
    }

    /// Forgets a turn that has ended, where that is worth anything.
    pub(crate) fn forget(&mut self, turn: Turn) {
        if let Some(pushed) = self.pushed() {
            pushed.forget(turn.session);
        }
    }

    /// Returns how many sessions there are.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Single { count, .. } => *count,
            Self::Growing(growing) => growing.count,
            Self::Recorded(recorded) => recorded.sessions(),
            Self::Played(played) => played.corpus.len() as u64,
            Self::Instanced(instanced) => instanced.played.corpus.len() as u64,
            Self::Pushed(pushed) => pushed.count(),
            Self::Stated { order, .. } => order.len() as u64,
        }
    }

    /// Returns how many turns a session has.
    pub(crate) fn turns(&self, session: u64) -> u32 {
        match self {
            Self::Single { .. }
            | Self::Stated { .. }
            | Self::Played(_)
            | Self::Instanced(_)
            | Self::Pushed(_) => 1,
            Self::Growing(growing) => growing.shape.turns,
            Self::Recorded(recorded) => recorded.turns(session),
        }
    }

    /// Returns whether a turn's prompt holds what earlier turns said.
    pub(crate) fn grows(&self) -> bool {
        match self {
            Self::Single { .. }
            | Self::Stated { .. }
            | Self::Played(_)
            | Self::Instanced(_)
            | Self::Pushed(_) => false,
            Self::Growing(_) => true,
            Self::Recorded(recorded) => recorded.corpus.prompts() == Prompts::Added,
        }
    }

    /// Returns the think time before a turn.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] where it is no time, as after a division by a speedup near zero.
    pub(crate) fn delay(&self, turn: Turn) -> Result<SimDuration, SimError> {
        let ms = match self {
            Self::Single { .. }
            | Self::Stated { .. }
            | Self::Played(_)
            | Self::Instanced(_)
            | Self::Pushed(_) => 0.0,
            Self::Growing(growing) => growing.shape.inter_turn_delay_ms,
            Self::Recorded(recorded) => recorded.row(turn).delay_ms / recorded.speedup,
        };
        SimDuration::from_ms(ms).map_err(|_| SimError::bad_workload("a think time is no time"))
    }

    /// Returns the output tokens that a turn asks for.
    pub(crate) fn output(&self, turn: Turn) -> u64 {
        match self {
            Self::Single { shape, .. } => shape.output.get(),
            Self::Growing(growing) => growing.shape.output_per_turn.get(),
            Self::Recorded(recorded) => recorded.row(turn).output.get(),
            Self::Played(played) => played.row(turn).output.get(),
            Self::Instanced(instanced) => instanced.output(turn),
            Self::Pushed(pushed) => pushed.get(turn.session).output,
            Self::Stated { list, order } => stated(list, order, turn).output.get(),
        }
    }

    /// Returns the ranks that a turn asks for.
    pub(crate) fn ranks(&self, turn: Turn) -> RankPins {
        match self {
            Self::Single { .. }
            | Self::Growing(_)
            | Self::Recorded(_)
            | Self::Played(_)
            | Self::Instanced(_)
            | Self::Pushed(_) => RankPins::default(),
            Self::Stated { list, order } => stated(list, order, turn).ranks,
        }
    }

    /// Returns the rank that a turn's affinity holds it to, counted over all workers; requests that arrive during the run alone have such.
    pub(crate) fn kept_rank(&self, turn: Turn) -> Option<usize> {
        if let Self::Pushed(pushed) = self { pushed.rank(turn.session) } else { None }
    }

    /// Notes which rank serves a turn.
    pub(crate) fn note_rank(&mut self, turn: Turn, rank: usize) {
        if let Some(pushed) = self.pushed() {
            pushed.note(turn.session, rank);
        }
    }

    /// Returns the position of a turn in the corpus: sessions in order, turns within.
    pub(crate) fn index(&self, turn: Turn) -> u64 {
        match self {
            Self::Single { .. } | Self::Played(_) | Self::Pushed(_) => turn.session,
            Self::Instanced(_) => Instanced::index(turn),
            Self::Growing(growing) => {
                turn.session * u64::from(growing.shape.turns) + u64::from(turn.number)
            }
            Self::Recorded(recorded) => recorded.place(turn) as u64,
            Self::Stated { order, .. } => place(order, turn) as u64,
        }
    }

    /// Returns the name of a turn's own, where its source gives one.
    pub(crate) fn request_id(&self, turn: Turn) -> Option<String> {
        match self {
            Self::Single { .. } | Self::Growing(_) | Self::Pushed(_) => None,
            Self::Recorded(recorded) => recorded.reader.request_id(&recorded.row(turn)),
            Self::Played(played) => played.reader.request_id(&played.row(turn)),
            Self::Instanced(instanced) => instanced.played.reader.request_id(&instanced.row(turn)),
            Self::Stated { list, order } => Some(stated(list, order, turn).id.clone()),
        }
    }

    /// Returns the numbers of the prompts' tokens, as the reference numbers them for blocks of `block_size` tokens.
    pub(crate) fn vocabulary(&self, block_size: u32) -> Vocabulary {
        match self {
            Self::Single { shape, .. } => Vocabulary::synthetic(shape, block_size),
            Self::Growing(growing) => Vocabulary::sessions(&growing.shape, block_size),
            Self::Recorded(recorded) => Vocabulary::recorded(recorded.corpus),
            Self::Played(played) => Vocabulary::recorded(played.corpus),
            Self::Instanced(_) => Vocabulary::numbered(),
            Self::Pushed(_) => Vocabulary::stated(&RequestList::new(Vec::new())),
            Self::Stated { list, .. } => Vocabulary::stated(list),
        }
    }

    /// Returns how many equal tokens stand side by side in the prompts.
    pub(crate) fn content_block(&self, vocabulary: &Vocabulary) -> u32 {
        match self {
            Self::Single { .. } | Self::Growing(_) | Self::Stated { .. } | Self::Pushed(_) => {
                vocabulary.synthetic_block().unwrap_or(1)
            }
            Self::Recorded(recorded) => recorded.corpus.block_size().get(),
            Self::Played(played) => played.corpus.block_size().get(),
            Self::Instanced(instanced) => instanced.played.corpus.block_size().get(),
        }
    }

    /// Returns whether prompts share prefixes by group.
    pub(crate) fn has_groups(&self) -> bool {
        matches!(self, Self::Growing(growing) if growing.shared > 0)
    }

    /// Returns what a turn's session is called, and the line of the trace that the turn comes from.
    pub(crate) fn name(&self, turn: Turn) -> (SessionName, Option<u64>) {
        match self {
            Self::Single { .. } | Self::Growing(_) | Self::Pushed(_) => {
                (SessionName::Synthetic(turn.session), None)
            }
            Self::Recorded(recorded) => {
                let row = recorded.row(turn);
                (recorded.reader.session(&row), Some(row.line))
            }
            Self::Played(played) => (played.name(turn), Some(played.row(turn).line)),
            Self::Instanced(instanced) => (instanced.name(turn), Some(instanced.row(turn).line)),
            Self::Stated { list, order } => {
                let request = stated(list, order, turn);
                let name = SessionName::Stated {
                    index: place(order, turn) as u64,
                    name: request.session.clone(),
                    turn: request.turn,
                };
                (name, None)
            }
        }
    }

    /// Returns the prompt of a turn; `history` is what a growing session has said before it.
    pub(crate) fn content(&mut self, turn: Turn, history: &[Run]) -> Content {
        let index = self.index(turn);
        let own =
            |length: u32| Run { symbol: Symbol::Unique(Origin::Prompt(index)), start: 0, length };
        match self {
            Self::Single { shape, .. } => {
                let shared = Run {
                    symbol: Symbol::Unique(Origin::Prefix(0)),
                    start: 0,
                    length: narrow(shape.cached_prefix.get()),
                };
                Content::new([shared, own(narrow(shape.input.get()) - shared.length)], index)
            }
            Self::Growing(growing) => {
                let added = narrow(growing.shape.new_input_per_turn.get());
                let shared = growing.shared_run(turn.session);
                let new = own(added - shared.length);
                Content::new(history.iter().copied().chain([shared, new]), index)
            }
            Self::Recorded(recorded) => recorded.content(turn, index, history),
            Self::Pushed(pushed) => pushed.get(turn.session).content.clone(),
            Self::Instanced(instanced) => instanced.content(turn),
            Self::Played(played) => {
                content(played.corpus, &played.reader, &played.row(turn), (index, history))
            }
            Self::Stated { list, order } => list.content(place(order, turn)),
        }
    }

    /// Returns when each session starts, ascending: recorded times from the earliest, divided by the speedup; stated times as
    /// they are.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] for a start that is no time.
    pub(crate) fn recorded_starts(&self) -> Result<Vec<(SimTime, u64)>, SimError> {
        let at = |ms: f64| {
            SimTime::from_ms(ms).map_err(|_| SimError::bad_workload("a timestamp is no time"))
        };
        let recorded = match self {
            Self::Recorded(recorded) => recorded,
            Self::Stated { list, order } => {
                let starts = (0..).zip(order).map(|(session, index)| {
                    Ok((at(list.requests()[*index as usize].arrival_ms)?, session))
                });
                return starts.collect();
            }
            Self::Single { .. }
            | Self::Growing(_)
            | Self::Played(_)
            | Self::Instanced(_)
            | Self::Pushed(_) => {
                return Err(SimError::bad_workload("only a trace has timestamps"));
            }
        };
        let first = |session: u64| recorded.first_arrival_ms(session);
        let origin = (0..self.count()).map(first).min_by(f64::total_cmp).unwrap_or(0.0);
        let mut starts = Vec::new();
        for session in 0..self.count() {
            starts.push((at((first(session) - origin) / recorded.speedup)?, session));
        }
        starts.sort_unstable();
        Ok(starts)
    }

    /// Returns whether sessions start in the order in which they are numbered, so that [`Sessions::start_in_order`] gives what
    /// [`Sessions::recorded_starts`] gives without a list of all.
    pub(crate) fn start_one_by_one(&self) -> bool {
        match self {
            Self::Recorded(recorded) => {
                recorded.corpus.is_plain() && recorded.corpus.is_ascending()
            }
            Self::Single { .. }
            | Self::Growing(_)
            | Self::Stated { .. }
            | Self::Played(_)
            | Self::Instanced(_)
            | Self::Pushed(_) => false,
        }
    }

    /// Returns when a session of a trace starts whose first session is its earliest, or `None` after the last.
    ///
    /// # Errors
    /// As [`Sessions::recorded_starts`].
    pub(crate) fn start_in_order(&self, session: u64) -> Result<Option<SimTime>, SimError> {
        let Self::Recorded(recorded) = self else {
            return Err(SimError::bad_workload("only a trace has timestamps"));
        };
        if session >= self.count() {
            return Ok(None);
        }
        let ms = recorded.first_arrival_ms(session) - recorded.first_arrival_ms(0);
        SimTime::from_ms(ms / recorded.speedup)
            .map(Some)
            .map_err(|_| SimError::bad_workload("a timestamp is no time"))
    }
}

/// Returns the place in its list of a stated request.
fn place(order: &[u32], turn: Turn) -> usize {
    order[usize::try_from(turn.session).unwrap_or(usize::MAX)] as usize
}

/// Returns a stated request.
fn stated<'l>(list: &'l RequestList, order: &[u32], turn: Turn) -> &'l StatedRequest {
    &list.requests()[place(order, turn)]
}
