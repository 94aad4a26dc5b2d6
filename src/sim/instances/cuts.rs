//! Where an instance of a play begins, and what is left of the play then.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::blake3_share;
use crate::sim::error::SimError;
use crate::workload::{CorpusReader, EdgeTrigger, PlayEdge, Plays, SessionName};

/// The name under which cuts are drawn.
const DOMAIN: &str = "aisimulate.agentic.snapshot.v1";
/// The conversation of requests that name none.
const NO_SESSION: &str = "agentic-session";
/// How many names of blocks there are for all instances together.
const NAMES: u64 = 1 << 32;
/// Numbers of requests stay below: what prepares for them is numbered from here on.
const FIRST_PREPARATION: u64 = 1 << 52;

/// What instances are cut from.
#[derive(Debug)]
pub(crate) struct Cuts<'a> {
    plays: &'a Plays,
    digest: &'a str,
    seed: u64,
    lanes: u32,
    /// The conversation of each node: its place among the sorted names.
    conversations: Vec<usize>,
    /// The place of each node in an order in which it stands behind what it waits for.
    ranks: Vec<usize>,
    /// The most blocks that one play names.
    names_per_play: u64,
}

/// Where a play begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Beginning {
    /// In its middle half, as the seed draws it.
    Drawn,
    /// At this time of the recording, in milliseconds.
    #[cfg(test)]
    At(f64),
    /// With its first request.
    First,
}

/// Which instance: each has requests and blocks of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The lane that runs it.
    pub(crate) lane: u32,
    /// How many the lane ran before it.
    pub(crate) ordinal: u64,
    /// Its number among those of all lanes.
    pub(crate) slot: u64,
    /// The play, in the order of the recording.
    pub(crate) play: usize,
}

/// An instance of a play. Times are milliseconds on the clock of the recording.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instance {
    pub(crate) identity: Identity,
    /// When it begins.
    pub(crate) cut_ms: f64,
    /// When the first and the last request of the play were sent.
    pub(crate) starts_ms: (f64, f64),
    /// Every request of the play, by node.
    pub(crate) requests: Vec<InstanceRequest>,
    /// The last request before the cut of each conversation that goes on, by the conversation's name.
    pub(crate) primers: Vec<usize>,
}

/// A request of an instance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InstanceRequest {
    pub(crate) node: usize,
    /// Whether it was sent before the cut: it is not sent again.
    pub(crate) is_history: bool,
    /// How long after the cut it may be sent at the earliest.
    pub(crate) remaining_ms: f64,
    /// What it waits for of what is left.
    pub(crate) pending: Vec<PlayEdge>,
}

impl<'a> Cuts<'a> {
    /// Returns what instances are cut from, for `lanes` lanes.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] where the digest of the recording was not taken.
    pub(crate) fn new(
        reader: &CorpusReader<'a>,
        plays: &'a Plays,
        (seed, lanes): (u64, u32),
    ) -> Result<Self, SimError> {
        let digest = plays.digest().ok_or_else(|| {
            SimError::bad_workload("snapshots need a recording whose digest was taken")
        })?;
        Ok(Self {
            plays,
            digest,
            seed,
            lanes,
            conversations: conversations(reader),
            ranks: ranks(plays),
            names_per_play: names_per_play(reader, plays),
        })
    }

    /// Returns the plays.
    pub(crate) const fn plays(&self) -> &'a Plays {
        self.plays
    }

    /// Returns the seed and the digest that name instances.
    pub(crate) const fn named_after(&self) -> (u64, &'a str) {
        (self.seed, self.digest)
    }

    /// Returns how many lanes there are.
    pub(crate) const fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Returns the name of an instance.
    pub(crate) fn name(&self, slot: u64) -> String {
        let lanes = u64::from(self.lanes);
        format!("agentic-v1:{}:{}:{}:{}", self.digest, self.seed, slot % lanes, slot / lanes)
    }

    /// Returns the number of a request: those of one instance follow each other, by node.
    pub(crate) fn number(&self, slot: u64, node: usize) -> u64 {
        slot * self.stride() + node as u64
    }

    /// Returns the instance and the node of a numbered request.
    pub(crate) fn request(&self, number: u64) -> (u64, usize) {
        let node = usize::try_from(number % self.stride()).unwrap_or(usize::MAX);
        (number / self.stride(), node)
    }

    /// Returns the number of the n-th request that prepares.
    pub(crate) const fn preparation_number(at: u32) -> u64 {
        FIRST_PREPARATION + at as u64
    }

    /// Returns which of those that prepare a numbered request is, where it is one.
    pub(crate) fn preparation(number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(FIRST_PREPARATION)?).ok()
    }

    /// Returns the name of a block of an instance: the `rank`-th that its play names.
    pub(crate) const fn block(&self, slot: u64, rank: u32) -> u64 {
        slot * self.names_per_play + rank as u64
    }

    /// Returns an instance: of the play that its number falls on, or of `play`.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] where names for it have run out, where the cut lies outside of the play, and where a request of history
    /// waits for one behind the cut.
    pub(crate) fn instance(
        &self,
        (lane, ordinal): (u32, u64),
        play: Option<usize>,
        beginning: Beginning,
    ) -> Result<Instance, SimError> {
        let slot = self.slot(lane, ordinal)?;
        let count = self.plays.plays().len() as u64;
        let play = play.unwrap_or_else(|| usize::try_from(slot % count).unwrap_or(usize::MAX));
        let nodes = &self.plays.plays()[play].nodes;
        let starts = || nodes.iter().map(|node| self.start_ms(*node));
        let none = || SimError::bad_workload("a play has no requests");
        let first = starts().min_by(f64::total_cmp).ok_or_else(none)?;
        let last = starts().max_by(f64::total_cmp).ok_or_else(none)?;
        let cut_ms = match beginning {
            Beginning::Drawn => {
                let id = &self.plays.plays()[play].id;
                let share = blake3_share(&(DOMAIN, self.seed, self.digest, id, lane, ordinal));
                first + (0.25 + 0.5 * share) * (last - first)
            }
            #[cfg(test)]
            Beginning::At(ms) => ms,
            Beginning::First => first,
        };
        if !(first..=last).contains(&cut_ms) {
            return Err(SimError::bad_workload("a snapshot lies outside of its play"));
        }
        let requests =
            nodes.iter().map(|node| self.cut(*node, cut_ms)).collect::<Result<_, _>>()?;
        Ok(Instance {
            identity: Identity { lane, ordinal, slot, play },
            cut_ms,
            starts_ms: (first, last),
            requests,
            primers: self.primers(nodes, cut_ms),
        })
    }

    /// Returns how far apart the numbers of two instances' requests are.
    fn stride(&self) -> u64 {
        self.plays.nodes().len() as u64 + 1
    }

    fn slot(&self, lane: u32, ordinal: u64) -> Result<u64, SimError> {
        let slot = ordinal.checked_mul(u64::from(self.lanes));
        let slot = slot.and_then(|slot| slot.checked_add(u64::from(lane)));
        slot.filter(|slot| {
            let end = slot.checked_add(1);
            let names = end.and_then(|end| end.checked_mul(self.names_per_play.max(1)));
            let requests = end.and_then(|end| end.checked_mul(self.stride()));
            names.is_some_and(|end| end <= NAMES)
                && requests.is_some_and(|end| end <= FIRST_PREPARATION)
        })
        .ok_or_else(|| {
            SimError::bad_workload(
                "names of blocks have run out: each instance of a play has its own",
            )
        })
    }

    fn start_ms(&self, node: usize) -> f64 {
        self.plays.nodes()[node].recorded_ms.0
    }

    /// Returns what a cut leaves of a request.
    fn cut(&self, node: usize, cut_ms: f64) -> Result<InstanceRequest, SimError> {
        let recorded = &self.plays.nodes()[node];
        let is_past = |node: usize| self.start_ms(node) < cut_ms;
        let is_history = is_past(node);
        if is_history {
            if recorded.waits.iter().any(|edge| !is_past(edge.node)) {
                return Err(SimError::bad_workload(
                    "a snapshot lies between a request and one that it waits for",
                ));
            }
            return Ok(InstanceRequest {
                node,
                is_history,
                remaining_ms: 0.0,
                pending: Vec::new(),
            });
        }
        let mut remaining_ms = (recorded.not_before_ms - cut_ms).max(0.0);
        let mut pending = Vec::new();
        for edge in &recorded.waits {
            if !is_past(edge.node) {
                pending.push(*edge);
                continue;
            }
            let (start, end) = self.plays.nodes()[edge.node].recorded_ms;
            let happened = match edge.trigger {
                EdgeTrigger::Dispatch => start,
                EdgeTrigger::Completion => end.unwrap_or(start),
            };
            remaining_ms = remaining_ms.max(happened + edge.delay_ms - cut_ms);
        }
        Ok(InstanceRequest { node, is_history, remaining_ms, pending })
    }

    /// Returns the last request before a cut of each conversation that goes on.
    fn primers(&self, nodes: &[usize], cut_ms: f64) -> Vec<usize> {
        let mut lives = BTreeSet::new();
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        for node in nodes {
            let conversation = self.conversations[*node];
            if self.start_ms(*node) >= cut_ms {
                lives.insert(conversation);
                continue;
            }
            let known = last.entry(conversation).or_insert(*node);
            let key = |node: usize| (self.start_ms(node), self.ranks[node]);
            let ((start, rank), (known_start, known_rank)) = (key(*node), key(*known));
            if start.total_cmp(&known_start).then(rank.cmp(&known_rank)).is_gt() {
                *known = *node;
            }
        }
        lives.iter().filter_map(|conversation| last.get(conversation).copied()).collect()
    }
}

/// Returns the name of a request's conversation.
pub(crate) fn conversation(session: SessionName) -> String {
    match session {
        SessionName::Named(name) => name,
        SessionName::Row(_)
        | SessionName::Synthetic(_)
        | SessionName::Stated { .. }
        | SessionName::Played(_) => NO_SESSION.to_owned(),
    }
}

/// Returns the conversation of each node: its place among the sorted names.
fn conversations(reader: &CorpusReader<'_>) -> Vec<usize> {
    let names: Vec<String> = reader.rows().map(|row| conversation(reader.session(&row))).collect();
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    names.iter().map(|name| sorted.binary_search(&name).unwrap_or_default()).collect()
}

/// Returns the place of each node in an order in which it stands behind what it waits for: the first that can is next.
fn ranks(plays: &Plays) -> Vec<usize> {
    let nodes = plays.nodes();
    let mut missing: Vec<usize> = nodes.iter().map(|node| node.waits.len()).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for edge in &node.waits {
            after[edge.node].push(at);
        }
    }
    let mut ready: BTreeSet<usize> = (0..nodes.len()).filter(|at| missing[*at] == 0).collect();
    let (mut ranks, mut next) = (vec![0; nodes.len()], 0);
    while let Some(at) = ready.pop_first() {
        ranks[at] = next;
        next += 1;
        for dependent in std::mem::take(&mut after[at]) {
            missing[dependent] -= 1;
            if missing[dependent] == 0 {
                ready.insert(dependent);
            }
        }
    }
    ranks
}

/// Returns the most blocks that one play names.
fn names_per_play(reader: &CorpusReader<'_>, plays: &Plays) -> u64 {
    let count = |nodes: &Vec<usize>| {
        let mut names = BTreeSet::new();
        for node in nodes {
            reader.each_hash_id(&reader.row(*node), |name| {
                names.insert(name);
            });
        }
        names.len() as u64
    };
    plays.plays().iter().map(|play| count(&play.nodes)).max().unwrap_or(0)
}
