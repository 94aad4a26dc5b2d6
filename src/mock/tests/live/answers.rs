//! What later prompts hold of earlier answers. The server counts a token for each four bytes of the prompt.

use super::support::{authored, node, of, order, rule, send, server};
use crate::graph::NodeIndex;
use crate::measure::live::{LiveErrors, LiveFailure};
use crate::record::{LiveOutcome, LiveRun, Reply};
use crate::replay::wire::{WireCall, WirePlan};

/// A root whose second turn joins two spawned sessions, and which forks in the end.
const SESSIONS: &str = r#"{"session_id":"root","turns":[{"messages":[{"role":"user","content":"Plan."}],"max_tokens":8,"spawns":["kid"]},{"messages":[{"role":"user","content":"Join."}],"max_tokens":6},{"messages":[{"role":"user","content":"Go on."}],"max_tokens":5}]}
{"session_id":"kid","turns":[{"messages":[{"role":"user","content":"Look."}],"max_tokens":4}]}"#;

/// Returns how many tokens the server counts in the prompt of a call, by the answers that this run brought.
fn prompt_tokens(plan: &WirePlan, run: &LiveRun, at: NodeIndex) -> u64 {
    let call = WireCall { instance: 0, node: at, warmup: None };
    let reply = |of: NodeIndex| -> Option<&Reply> {
        let request = run.measured().find(|it| it.call == of.0)?;
        request.exchange.outcome.is_ok().then_some(&request.exchange.reply)
    };
    let body = plan.request(&call, &reply).body;
    let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert!(body["messages"].is_array());
    let text = String::from_utf8(plan.request(&call, &reply).body.to_vec()).expect("UTF-8");
    let end = text.find("],\"model\"").expect("the fields follow the messages") + 1;
    let prompt = &text["{\"messages\":".len()..end];
    u64::try_from(prompt.len()).expect("64 bits") / 4
}

/// Returns how many tokens the server counted in the prompt of a call.
fn counted(run: &LiveRun, at: NodeIndex) -> Option<u64> {
    let usage = of(run, 0, at.0).exchange.usage.expect("counts");
    usage.prompt.map(crate::units::Tokens::get)
}

#[test]
fn prompts_hold_what_their_ancestors_answered_calls_of_tools_too() {
    let plan = authored(SESSIONS).plan();
    let [first, second, third] = ["root:0", "root:1", "root:2"].map(|id| node(&plan, 0, id));
    let tool = r##"tool "search" #"{"q":"a \"quoted\" word"}"#; tokens 3; usage "always";"##;
    let script = format!("{}answer {{ usage \"always\" }}", rule(&plan, (0, "root:0"), tool));
    let run = send(&plan, &server(&script), |_, _| false);
    let reply = &of(&run, 0, first.0).exchange.reply;
    assert_eq!(reply.tool_calls[0].name, "search");
    assert_eq!(reply.tool_calls[0].arguments, r#"{"q":"a \"quoted\" word"}"#);
    assert!(!of(&run, 0, second.0).exchange.reply.text.is_empty());
    for at in [second, third] {
        assert_eq!(counted(&run, at), Some(prompt_tokens(&plan, &run, at)));
    }
    assert!(prompt_tokens(&plan, &run, third) > prompt_tokens(&plan, &run, second) + 10);
}

#[test]
fn a_call_that_failed_is_left_out_of_later_prompts_and_the_conversation_goes_on() {
    let plan = authored(SESSIONS).plan();
    let script =
        format!("{}answer {{ usage \"always\" }}", rule(&plan, (0, "root:1"), "status 500"));
    let run = send(&plan, &server(&script), |_, _| false);
    let [second, third] = ["root:1", "root:2"].map(|id| node(&plan, 0, id));
    assert_eq!(of(&run, 0, second.0).outcome(), LiveOutcome::Failed);
    assert_eq!(of(&run, 0, third.0).outcome(), LiveOutcome::Completed);
    assert_eq!(counted(&run, third), Some(prompt_tokens(&plan, &run, third)));
    assert_eq!(LiveErrors::of(&run).count(), 1);
    assert_eq!(LiveFailure::of(&run), [], "one failure of many fails no job");
    assert_eq!(run.tally.completed, 1, "the session came to its end");
}

#[test]
fn an_overflow_of_the_context_ends_the_trajectory_and_is_no_failure() {
    let plan = authored(SESSIONS).plan();
    let refused = r#"status 400 body="This model's maximum context length is 9 tokens.""#;
    let run = send(&plan, &server(&rule(&plan, (0, "root:1"), refused)), |_, _| false);
    let second = node(&plan, 0, "root:1");
    assert_eq!(of(&run, 0, second.0).outcome(), LiveOutcome::Overflowed);
    assert_eq!(order(&run).len(), 3, "the last turn was not sent");
    assert_eq!((run.tally.overflowed, run.tally.completed), (1, 0));
    assert_eq!(LiveErrors::of(&run).count(), 0);
}
