//! Output tokens as they are counted here.

use crate::graph::content::Tokenizer;
use crate::record::{LiveOutcome, LiveRun, Reply};
use crate::units::Tokens;

/// Counts the output of every request with a whole answer. It takes its time: nothing is in flight any more.
pub(super) fn count(run: &mut LiveRun, tokenizer: &Tokenizer) {
    for request in &mut run.requests {
        if request.outcome() == LiveOutcome::Completed {
            request.counted = Some(tokens(&request.exchange.reply, tokenizer));
        }
    }
}

/// Returns how many tokens a reply is: its reasoning, its text, and of each call of a tool the name and the arguments, each by itself.
///
/// What a chat template writes around them is not counted: no client knows it.
fn tokens(reply: &Reply, tokenizer: &Tokenizer) -> Tokens {
    let calls = reply.tool_calls.iter().flat_map(|call| [&call.name, &call.arguments]);
    let parts = [&reply.reasoning, &reply.text].into_iter().chain(calls);
    parts
        .filter(|part| !part.is_empty())
        .fold(Tokens::ZERO, |sum, part| sum + tokenizer.count(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ToolCall;

    #[test]
    fn a_reply_is_its_reasoning_its_text_and_the_tools_that_it_calls() {
        let tokenizer = Tokenizer::builtin();
        let call = ToolCall { name: "look".to_owned(), ..ToolCall::default() };
        let reply = Reply {
            reasoning: " one two".to_owned(),
            text: " three".to_owned(),
            tool_calls: vec![call],
        };
        assert_eq!(tokens(&reply, &tokenizer), Tokens::new(4));
        assert_eq!(tokens(&Reply::default(), &tokenizer), Tokens::ZERO);
    }
}
