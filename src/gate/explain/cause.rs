//! Why an event differs, in words, from the state that decided it.

use crate::diag::{agreed, counted};
use crate::sim::{LinkSharing, Probe, RankState};
use crate::units::Nanos;

use super::difference::{Change, Difference, Facts, is_time};
use super::event::{Identity, Step};
use super::explanation::{Divergence, Sides};
use super::link_history::{Portion, parting, portions};
use super::pair::Pairing;
use super::phrase::{ms, requests};
use super::state::{Hand, Look, StateRow, link_rows, rank_rows, rank_states};

/// Returns the divergence that a difference is, with why it came to it as far as that can be told.
pub(super) fn divergence(
    difference: Difference,
    (sides, pairing): (&Sides, &Pairing),
    look: Look<'_>,
) -> Divergence {
    let what = sentences(&difference, sides);
    let found = match difference.identity {
        Identity::Step { who, step: Step::Transfer, .. } if difference.ends_otherwise() => {
            transfer(pairing.numbers(who), &difference, (sides, look))
        }
        Identity::Pass { .. } if difference.ends_otherwise() => timing(&difference, sides),
        Identity::Pass { rank, .. } => at_rank(rank, &difference, (sides, look)),
        Identity::Step { step, .. } => step_of_rank(step, &difference, (sides, look)),
    };
    let (why, state_at, state) = found.unwrap_or_default();
    Divergence { difference, what, why, state_at, state }
}

/// Why, the instant of the state, and the state.
type Found = (Vec<String>, Option<Nanos>, Vec<StateRow>);

/// Returns what is seen, without a reason.
fn sentences(difference: &Difference, sides: &Sides) -> Vec<String> {
    let Sides { left, right } = sides;
    let of = |facts: &Facts| facts.begins;
    match (&difference.change, &difference.left, &difference.right) {
        (Change::OnlyLeft, Some(only), _) => one_sided(only, (left, right)),
        (Change::OnlyRight, _, Some(only)) => one_sided(only, (right, left)),
        (Change::Order, _, _) => vec![format!(
            "both have the same events, and in another order from {} ms on",
            ms(difference.at)
        )],
        (Change::Fields(changes), Some(a), Some(b)) => {
            let mut said = Vec::new();
            if of(a) == of(b) {
                said.push(format!("it begins at {} ms on both sides", ms(of(a))));
            } else {
                said.push(format!(
                    "it begins at {} ms under {left}, at {} ms under {right}",
                    ms(of(a)),
                    ms(of(b))
                ));
            }
            if let Some((a, b)) = a.ends.zip(b.ends).filter(|(a, b)| a != b) {
                said.push(format!(
                    "it ends at {} ms under {left}, at {} ms under {right}",
                    ms(a),
                    ms(b)
                ));
            }
            let others = changes.iter().filter(|change| !is_time(&change.name));
            said.extend(others.map(|change| {
                let (name, a, b) = (&change.name, &change.left, &change.right);
                format!("`{name}` is {a} under {left}, {b} under {right}")
            }));
            said
        }
        (Change::OnlyLeft | Change::OnlyRight | Change::Fields(_), _, _) => Vec::new(),
    }
}

/// Returns what is seen of an event of one side.
fn one_sided(only: &Facts, (with, without): (&str, &str)) -> Vec<String> {
    vec![format!("it is at {} ms under {with}, and nowhere under {without}", ms(only.begins))]
}

/// Returns why a transfer that began as on the other side ended at another time: its rate, and who it shares links with.
fn transfer(
    numbers: Option<(u64, u64)>,
    difference: &Difference,
    (sides, look): (&Sides, Look<'_>),
) -> Option<Found> {
    let ((request, on_right), began) = (numbers?, difference.left.as_ref()?.begins);
    let of = |side, request| {
        let seen = look(side, Probe::default().of_links(began, difference.at))?;
        Some(portions(&seen.links, request))
    };
    let (left, right) = (of(Hand::Left, request)?, of(Hand::Right, on_right)?);
    let (at, a, b) = parting(&left, &right)?;
    let say = |portion: &Portion, side: &str| said_of_link(portion, (request, side));
    let why = vec![
        format!("from {} ms on they move at different rates", ms(at)),
        say(a, &sides.left),
        say(b, &sides.right),
    ];
    Some((why, Some(at), link_rows(request, (a, b))))
}

/// Returns what a side makes of a link, in words.
fn said_of_link(portion: &Portion, (request, side): (u64, &str)) -> String {
    let others = |on: &[u64]| on.iter().copied().filter(|one| *one != request).collect::<Vec<_>>();
    let (sending, receiving) = (others(&portion.on_prefill_link), others(&portion.on_decode_link));
    let (prefill, decode) = (portion.moving.prefill_rank, portion.moving.decode_rank);
    let mut beside = Vec::new();
    if !sending.is_empty() {
        beside.push(format!("{} on the link of prefill rank {prefill}", requests(&sending)));
    }
    if !receiving.is_empty() {
        beside.push(format!("{} on the link of decode rank {decode}", requests(&receiving)));
    }
    let beside = if beside.is_empty() { "no other".to_owned() } else { beside.join(" and ") };
    match portion.sharing {
        LinkSharing::Alone => {
            format!("under {side} each transfer moves as if it were alone, beside {beside}")
        }
        LinkSharing::MaxMin | LinkSharing::EqualParts => {
            let rule = portion.sharing.name();
            format!("under {side} it shares ({rule}) with {beside}")
        }
        LinkSharing::Constant => format!("under {side} a transfer takes a constant time"),
    }
}

/// Returns why a pass with the same work took another time.
fn timing(difference: &Difference, sides: &Sides) -> Option<Found> {
    let took = |facts: &Facts| facts.ends?.since(facts.begins);
    let (left, right) = (difference.left.as_ref()?, difference.right.as_ref()?);
    let (a, b) = (took(left)?, took(right)?);
    let passes = left.count("passes").unwrap_or(1);
    let work = if passes > 1 { "the same passes take" } else { "the same work takes" };
    let (of_left, of_right) = (&sides.left, &sides.right);
    let why = format!(
        "{work} {} ms under {of_left} and {} ms under {of_right}: the timing of a pass differs",
        ms(a),
        ms(b)
    );
    Some((vec![why], None, Vec::new()))
}

/// Returns the state of the rank on which a step differs, where it is one of a rank's scheduler.
fn step_of_rank(step: Step, difference: &Difference, context: (&Sides, Look<'_>)) -> Option<Found> {
    // The side on which it comes first decides which rank is looked at.
    let both = [difference.left.as_ref(), difference.right.as_ref()];
    let facts = both.into_iter().flatten().min_by_key(|facts| facts.begins)?;
    match step {
        Step::Arrive => Some(arrival(difference, context.0)),
        Step::Admit if difference.field("reused").is_some() => {
            let (_, at, state) = at_rank(facts.count("rank")?, difference, context)?;
            let why = "what the prefix cache holds of its prompt differs".to_owned();
            Some((vec![why], at, state))
        }
        Step::Admit
        | Step::Preempt
        | Step::Reserve
        | Step::Activate
        | Step::Hold
        | Step::Release
        | Step::End => at_rank(facts.count("rank")?, difference, context),
        Step::Transfer | Step::FirstToken | Step::LastToken => None,
    }
}

/// Returns why an arrival differs.
fn arrival(difference: &Difference, sides: &Sides) -> Found {
    let placed = difference.field("rank").or_else(|| difference.field("prefill_rank"));
    let asks =
        difference.field("input_tokens").or_else(|| difference.field("requested_output_tokens"));
    let why = match (&difference.change, placed, asks) {
        (Change::OnlyLeft | Change::OnlyRight, _, _) => {
            format!("{} and {} do not serve the same requests", sides.left, sides.right)
        }
        (_, _, Some(_)) => "the request asks for something else".to_owned(),
        (_, Some(_), _) => "the router places it on another rank".to_owned(),
        _ => "it arrives at another time".to_owned(),
    };
    (vec![why], None, Vec::new())
}

/// Returns the state of a rank when the sides part, and what of it differs.
fn at_rank(rank: u64, difference: &Difference, (sides, look): (&Sides, Look<'_>)) -> Option<Found> {
    let (left, right) = rank_states(look, rank, difference.at)?;
    let rows = rank_rows(rank, (&left, &right));
    Some((reasons(rank, (&left, &right), sides), Some(difference.at), rows))
}

/// Returns what of a rank's state differs, what decides first; that nothing does says that the engines decide differently.
fn reasons(rank: u64, (left, right): (&RankState, &RankState), sides: &Sides) -> Vec<String> {
    let (a, b) = (&sides.left, &sides.right);
    let until = |state: &RankState| {
        let until = state.busy_until;
        until.map_or_else(|| "idle".to_owned(), |until| format!("busy until {} ms", ms(until)))
    };
    let mut why = Vec::new();
    if left.token_budget != right.token_budget {
        let (x, y) = (left.token_budget, right.token_budget);
        why.push(format!(
            "a pass of rank {rank} may compute {} under {a}, {y} under {b}",
            counted(x, "token")
        ));
    }
    if left.most_running != right.most_running {
        let (x, y) = (left.most_running, right.most_running);
        why.push(format!("rank {rank} may run {} under {a}, {y} under {b}", counted(x, "request")));
    }
    if left.blocks != right.blocks {
        let (x, y) = (left.blocks, right.blocks);
        why.push(format!("rank {rank} has {} under {a}, {y} under {b}", counted(x, "KV block")));
    }
    if (left.waiting, &left.line) != (right.waiting, &right.line) {
        let (x, y) = (left.waiting, right.waiting);
        why.push(format!("{} for rank {rank} under {a}, {y} under {b}", waits(x)));
    }
    if left.busy_until.is_some() != right.busy_until.is_some() {
        why.push(format!("rank {rank} is {} under {a}, {} under {b}", until(left), until(right)));
    }
    if left.running != right.running {
        let (x, y) = (left.running, right.running);
        why.push(format!("rank {rank} runs {} under {a}, {y} under {b}", counted(x, "request")));
    }
    if left.blocks_available != right.blocks_available && left.blocks == right.blocks {
        let (x, y) = (left.blocks_available, right.blocks_available);
        why.push(format!("{} can be had under {a}, {y} under {b}", counted(x, "KV block")));
    }
    if why.is_empty() {
        why.push(format!(
            "rank {rank} is in the same state on both sides: the engines decide differently from it"
        ));
    }
    why
}

/// Returns how many requests wait, as a clause.
fn waits(number: u64) -> String {
    format!("{} {}", counted(number, "request"), agreed(number, "waits", "wait"))
}
