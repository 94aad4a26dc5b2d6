//! How fast one transfer moved, and with whom it shared, from its start to its end.

use crate::sim::{LinkSharing, LinkState, Moving};
use crate::units::Nanos;

/// What a transfer had of its links from an instant on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Portion {
    /// From when on.
    pub(super) at: Nanos,
    /// How transfers share.
    pub(super) sharing: LinkSharing,
    /// Its rate, and its ranks.
    pub(super) moving: Moving,
    /// All transfers on the link of its prefill rank, itself included.
    pub(super) on_prefill_link: Vec<u64>,
    /// All transfers on the link of its decode rank, itself included.
    pub(super) on_decode_link: Vec<u64>,
}

/// Returns what the transfer of a request had of its links, state by state.
pub(super) fn portions(states: &[LinkState], request: u64) -> Vec<Portion> {
    let of = |state: &LinkState, on: &dyn Fn(&Moving) -> bool| {
        state.transfers.iter().filter(|one| on(one)).map(|one| one.request).collect()
    };
    let portion = |state: &LinkState| {
        let moving = *state.transfers.iter().find(|one| one.request == request)?;
        Some(Portion {
            at: state.at,
            sharing: state.sharing,
            moving,
            on_prefill_link: of(state, &|one| one.prefill_rank == moving.prefill_rank),
            on_decode_link: of(state, &|one| one.decode_rank == moving.decode_rank),
        })
    };
    states.iter().filter_map(portion).collect()
}

/// Returns the instant from which on two transfers move at different rates, with what each has there.
pub(super) fn parting<'p>(
    left: &'p [Portion],
    right: &'p [Portion],
) -> Option<(Nanos, &'p Portion, &'p Portion)> {
    let mut instants: Vec<Nanos> = left.iter().chain(right).map(|portion| portion.at).collect();
    instants.sort_unstable();
    let last =
        |portions: &'p [Portion], at: Nanos| portions.iter().rev().find(|portion| portion.at <= at);
    instants.into_iter().find_map(|at| {
        let (left, right) = last(left, at).zip(last(right, at))?;
        let rate = |portion: &Portion| (portion.moving.share, portion.moving.bytes_per_second);
        (rate(left) != rate(right)).then_some((at, left, right))
    })
}
