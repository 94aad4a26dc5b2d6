//! The same plan against the same engine, in real time and in virtual time.

use super::super::simulated::job;
use super::super::support::server_with;
use super::support::{authored, order, send};
use crate::deployment::ContextLength;
use crate::measure::live::LiveLaw;
use crate::mock::{Behaviour, Security, simulate};
use crate::record::{LiveOutcome, LiveRequest, LiveRun};
use crate::units::Tokens;

/// A session whose second turn is longer than 60 tokens, and one that goes on beside it.
fn sessions() -> String {
    let (short, long) = (" one".repeat(20), " one".repeat(70));
    let turn = |words: &str| {
        format!(r#"{{"messages":[{{"role":"user","content":"{words}"}}],"max_tokens":3}}"#)
    };
    format!(
        "{{\"session_id\":\"grows\",\"turns\":[{},{},{}]}}\n{{\"session_id\":\"stays\",\"turns\":[{}]}}",
        turn(&short),
        turn(&long),
        turn(&short),
        turn(&short),
    )
}

#[test]
fn a_context_that_overflows_ends_its_session_in_virtual_time_as_it_does_in_real_time() {
    let mut engine = job();
    engine.deployment.context_length = ContextLength::Tokens(Tokens::new(60));
    let plan = authored(&sessions()).plan();
    let simulated = simulate(&engine, &plan).expect("an engine");
    assert_eq!(LiveLaw::violations(&simulated), []);
    let server = server_with(Behaviour::Simulated(Box::new(engine)), Security::Plain);
    let sent = send(&plan, &server, |_, _| false);
    let seen = |run: &LiveRun| {
        let outcomes: Vec<LiveOutcome> = run.measured().map(LiveRequest::outcome).collect();
        let errors: Vec<_> = run.measured().map(|it| it.exchange.outcome.clone()).collect();
        (order(run), outcomes, errors, run.tally)
    };
    assert_eq!(seen(&simulated), seen(&sent));
    assert_eq!((simulated.tally.completed, simulated.tally.overflowed), (1, 1));
    assert_eq!(simulated.requests.len(), 3, "the third turn is not sent");
}
