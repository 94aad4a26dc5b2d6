//! Plays that lanes began in their middle, warmed up for and ran again.

use crate::units::{SimTime, Tokens};
use crate::workload::Profile;

use super::Outcome;

/// What lanes ran. Times of requests are counted from the end of the preparation; those here are on the clock of the whole run.
#[derive(Debug, Clone)]
pub struct InstancesRecord {
    /// The digest of the recording, by which instances are named.
    pub digest: String,
    /// The seed of the cuts.
    pub seed: u64,
    /// Every instance, in the order in which they began.
    pub instances: Vec<InstanceRecord>,
    /// What prepared the caches, where something did.
    pub preparation: Option<PreparationRecord>,
    /// The measured window, where there is one.
    pub profile: Option<ProfileRecord>,
    /// How often a request was sent, ended, was cleaned up or was left out, and an instance was over.
    pub events: u64,
}

/// An instance of a play. `…_ms` are on the clock of the recording.
#[derive(Debug, Clone)]
pub struct InstanceRecord {
    /// Its name.
    pub name: String,
    /// The lane that ran it.
    pub lane: u32,
    /// How many the lane ran before it.
    pub ordinal: u64,
    /// The play, in the order of the recording.
    pub play: usize,
    /// When it begins.
    pub cut_ms: f64,
    /// When the first and the last request of the play were sent.
    pub starts_ms: (f64, f64),
    /// Every request of the play, by node.
    pub requests: Vec<InstancePart>,
    /// The last request before the cut of each conversation that goes on.
    pub primers: Vec<usize>,
    /// When it began.
    pub began: SimTime,
    /// When the last of its requests ended.
    pub ended: Option<SimTime>,
    /// When it was over, with all that it left to clean up.
    pub settled: Option<SimTime>,
    /// How it ended.
    pub status: InstanceStatus,
    /// The first request that did not complete: its node, when it ended, and how.
    pub failure: Option<(usize, SimTime, Outcome)>,
}

/// A request of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct InstancePart {
    /// The request, by node.
    pub node: usize,
    /// Whether it was sent before the cut.
    pub is_history: bool,
    /// How long after the cut it may be sent at the earliest, on the clock of the recording.
    pub remaining_ms: f64,
    /// The requests behind the cut that it waits for, by node.
    pub pending: Vec<usize>,
}

/// How an instance ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceStatus {
    /// All its requests completed.
    Completed,
    /// One did not; those behind it were left out.
    Failed,
    /// The run ended before it did.
    Incomplete,
}

/// What prepared the caches.
#[derive(Debug, Clone)]
pub struct PreparationRecord {
    /// When it was over: what is measured begins then.
    pub ended: SimTime,
    /// Its requests: lane by lane, in the order in which each sent them.
    pub requests: Vec<PreparingRecord>,
}

/// A request that prepares for others: a whole prompt, and one token of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparingRecord {
    /// Which of the first instances it is of.
    pub instance: usize,
    /// How many the lane sent before it.
    pub ordinal: u32,
    /// Whether it brings back what a conversation had cached; else it repeats such a one.
    pub is_primer: bool,
    /// The request whose prompt it has, by node.
    pub node: usize,
    /// Prompt tokens.
    pub input: Tokens,
    /// When it was sent.
    pub sent: SimTime,
    /// When it was admitted first.
    pub admitted: Option<SimTime>,
    /// Prompt tokens that were cached then.
    pub reused: Tokens,
    /// When it ended.
    pub ended: SimTime,
}

/// The measured window.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRecord {
    /// What was asked for.
    pub asked: Profile,
    /// When it began.
    pub began: SimTime,
    /// When the run ended.
    pub finished: SimTime,
    /// Requests that were sent.
    pub sent: u64,
    /// Those that completed.
    pub completed: u64,
    /// Those that were given up at the end of the grace.
    pub canceled: u64,
    /// Requests of instances under way that were never sent.
    pub never_sent: u64,
    /// When the first was sent.
    pub first_sent: Option<SimTime>,
    /// When the last that completed ended.
    pub last_completed: Option<SimTime>,
    /// How many plays were drawn from the recording.
    pub drawn: u64,
    /// Waits that were cut short.
    pub shifts: Vec<IdleShift>,
}

/// Waits that were cut short: nothing was in flight for too long.
#[derive(Debug, Clone, PartialEq)]
pub struct IdleShift {
    /// When.
    pub at: SimTime,
    /// The instance whose waits they are; of all where it is absent.
    pub instance: Option<usize>,
    /// By how many milliseconds.
    pub by_ms: f64,
    /// How many waits.
    pub waits: usize,
}
