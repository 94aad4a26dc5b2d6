//! The state of both sides at the event that differs first.

use crate::sim::{Moment, Probe, RankState, Seen};
use crate::units::Nanos;

use super::link_history::Portion;
use super::phrase::{ms, rate, requests};

/// A side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    /// The first.
    Left,
    /// The second.
    Right,
}

/// Runs the job of a side again with a probe and returns what that saw; `None` where the side's engine shows no state.
pub type Look<'a> = &'a dyn Fn(Hand, Probe) -> Option<Seen>;

/// What both sides had of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRow {
    /// What it is.
    pub name: String,
    /// The left side's.
    pub left: String,
    /// The right side's.
    pub right: String,
}

impl StateRow {
    /// Returns a row.
    fn new(name: impl Into<String>, left: String, right: String) -> Self {
        Self { name: name.into(), left, right }
    }

    /// Returns whether the sides differ in it.
    pub fn differs(&self) -> bool {
        self.left != self.right
    }
}

/// Returns the state of a rank on both sides at `at`.
pub(super) fn rank_states(look: Look<'_>, rank: u64, at: Nanos) -> Option<(RankState, RankState)> {
    let of = |side| look(side, Probe::default().of_rank(rank, at))?.rank;
    Some((of(Hand::Left)?, of(Hand::Right)?))
}

/// Returns the state of a rank, row by row; `rank` is its number in the transcript.
pub(super) fn rank_rows(rank: u64, (left, right): (&RankState, &RankState)) -> Vec<StateRow> {
    let row =
        |name: &str, of: &dyn Fn(&RankState) -> String| StateRow::new(name, of(left), of(right));
    let number = |of: fn(&RankState) -> u64| move |state: &RankState| of(state).to_string();
    let mut rows = vec![
        row(&format!("rank {rank} ({}), as of", left.pool), &|state| {
            let moment = match state.moment {
                Moment::BeforePass => "before a pass",
                Moment::Settled => "after all of the instant",
            };
            format!("{} ms, {moment}", ms(state.at))
        }),
        row("pass in flight until", &|state| {
            state.busy_until.map_or_else(|| "none".to_owned(), |until| format!("{} ms", ms(until)))
        }),
        row("waiting", &|state| line(state.waiting, &state.line)),
        row("running", &|state| format!("{} of {}", state.running, state.most_running)),
        row("tokens a pass", &number(|state| state.token_budget)),
        row("KV blocks held", &|state| format!("{} of {}", state.blocks_held, state.blocks)),
        row("KV blocks to be had", &number(|state| state.blocks_available)),
    ];
    if left.without_room + right.without_room > 0 {
        rows.push(row("accepted and without room", &number(|state| state.without_room)));
    }
    rows
}

/// Returns how many requests wait and the first of them.
fn line(waiting: u64, first: &[u64]) -> String {
    if waiting == 0 {
        return "none".to_owned();
    }
    let more = if waiting > first.len() as u64 { ", …" } else { "" };
    format!("{waiting}: {}{more}", requests(first))
}

/// Returns what a transfer had of its links, row by row.
pub(super) fn link_rows(request: u64, (left, right): (&Portion, &Portion)) -> Vec<StateRow> {
    let row =
        |name: String, of: &dyn Fn(&Portion) -> String| StateRow::new(name, of(left), of(right));
    let both = |of: fn(&Portion) -> u64| {
        let (left, right) = (of(left), of(right));
        if left == right { left.to_string() } else { format!("{left} / {right}") }
    };
    let (prefill, decode) =
        (both(|portion| portion.moving.prefill_rank), both(|portion| portion.moving.decode_rank));
    vec![
        row("transfers move".to_owned(), &|portion| portion.sharing.name().to_owned()),
        row(format!("rate of request {request}"), &|portion| {
            portion.moving.bytes_per_second.map_or_else(|| "-".to_owned(), rate)
        }),
        row("share of the prefill rank's link".to_owned(), &|portion| {
            share(portion.moving.share.get())
        }),
        row(format!("on the link of prefill rank {prefill}"), &|portion| {
            requests(&portion.on_prefill_link)
        }),
        row(format!("on the link of decode rank {decode}"), &|portion| {
            requests(&portion.on_decode_link)
        }),
    ]
}

/// Returns a share of one link: 1 is all of it.
fn share(millionths: u64) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
