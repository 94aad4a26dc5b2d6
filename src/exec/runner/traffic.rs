//! A job's workload in a runner's terms, and whose each request of the answer is.

use serde_json::{Value, json};

use crate::plan::SimulationJob;
use crate::protocol::{RunnerSession, RunnerTraffic, RunnerTurn};
use crate::sim::{Offer, OfferedName, SimError};
use crate::workload::{Corpus, Load, RequestList, Source};

/// A workload in a runner's terms.
#[derive(Debug)]
pub(super) struct Asked {
    /// The requests that the specification lists.
    pub(super) requests: Vec<Value>,
    /// The sessions, where turns depend on each other.
    pub(super) traffic: Option<RunnerTraffic>,
    /// Whose each turn is, by session and turn.
    pub(super) names: Vec<Vec<OfferedName>>,
}

/// Returns a job's workload.
///
/// # Errors
/// As [`Offer::new`].
pub(super) fn asked(job: &SimulationJob, corpus: Option<&Corpus>) -> Result<Asked, SimError> {
    let mut offer = Offer::new(job, corpus)?;
    let sessions = 0..offer.sessions();
    let turns = |offer: &Offer<'_>, session| 0..offer.turns(session);
    let of_session =
        |session| turns(&offer, session).map(|turn| offer.name(session, turn)).collect::<Vec<_>>();
    let names: Vec<Vec<OfferedName>> = sessions.clone().map(of_session).collect();
    if let Source::Requests(list) = &job.workload.source {
        return Ok(Asked { requests: stated(list), traffic: None, names });
    }
    let mut listed = Vec::with_capacity(names.len());
    for session in sessions {
        let turns = turns(&offer, session)
            .map(|turn| {
                let turn = offer.turn(session, turn)?;
                Ok(RunnerTurn {
                    input_tokens: turn.input,
                    output_tokens: turn.output,
                    delay_ms: turn.delay_ms,
                    blocks: turn.blocks,
                })
            })
            .collect::<Result<_, SimError>>()?;
        listed.push(RunnerSession { start_ms: offer.start_ms(session), turns });
    }
    let traffic = RunnerTraffic {
        block_size: offer.block_size(),
        engine_block_size: offer.engine_block_size(),
        accumulates: offer.accumulates(),
        concurrency: match job.workload.load {
            Load::Concurrency { concurrency } => Some(concurrency),
            Load::ConstantRate { .. }
            | Load::Poisson { .. }
            | Load::TraceTimestamps { .. }
            | Load::Recorded(_) => None,
        },
        sessions: listed,
    };
    Ok(Asked { requests: Vec::new(), traffic: Some(traffic), names })
}

/// Returns stated requests as a specification lists them; each is named after its place.
fn stated(list: &RequestList) -> Vec<Value> {
    let request = |(place, request): (usize, &crate::workload::StatedRequest)| {
        let (prompt, planned) = list.tokens(place);
        let mut fields = json!({
            "id": place.to_string(),
            "arrival_time_ms": request.arrival_ms,
            "input_tokens": request.input.get(),
            "input_token_ids": prompt,
            "output_tokens": request.output.get(),
        });
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields[name] = value;
            }
        };
        put("output_token_ids", planned.map(|tokens| json!(tokens)));
        put("dp_rank", request.ranks.serving.map(|rank| json!(rank)));
        let prefill =
            request.ranks.prefill.filter(|_| request.ranks.prefill != request.ranks.serving);
        put("prefill_dp_rank", prefill.map(|rank| json!(rank)));
        put("session_id", request.session.as_ref().map(|name| json!(name)));
        put("turn_index", request.turn.map(|turn| json!(turn)));
        fields
    };
    list.requests().iter().enumerate().map(request).collect()
}
