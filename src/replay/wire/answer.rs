//! The answer of a call, as a later prompt holds it.

use crate::record::Reply;
use crate::workload::live::Api;

use super::fields::{escaped, quoted};

/// Returns what an answer is in a prompt of an API; `None` where it says nothing and calls nothing.
///
/// The reasoning is left out, as `chat` asks of clients. Source: REPLAY.md §7.1.
pub(super) fn element(api: Api, reply: &Reply) -> Option<String> {
    if reply.text.is_empty() && reply.tool_calls.is_empty() {
        return None;
    }
    match api {
        Api::Chat => Some(message(reply)),
        Api::Completions => (!reply.text.is_empty()).then(|| escaped(&reply.text)),
        Api::Responses => Some(items(reply)),
    }
}

/// Returns a message of `chat`.
fn message(reply: &Reply) -> String {
    let content = if reply.text.is_empty() { "null".to_owned() } else { quoted(&reply.text) };
    let mut json = format!("{{\"role\":\"assistant\",\"content\":{content}");
    for (at, call) in reply.tool_calls.iter().enumerate() {
        json.push_str(if at == 0 { ",\"tool_calls\":[" } else { "," });
        let (id, name, arguments) = (quoted(&call.id), quoted(&call.name), quoted(&call.arguments));
        json.push_str("{\"id\":");
        json.push_str(&id);
        json.push_str(",\"type\":\"function\",\"function\":{\"name\":");
        json.push_str(&name);
        json.push_str(",\"arguments\":");
        json.push_str(&arguments);
        json.push_str("}}");
    }
    json.push_str(if reply.tool_calls.is_empty() { "}" } else { "]}" });
    json
}

/// Returns the items of `responses`: a message where there is text, and one for each call of a tool.
fn items(reply: &Reply) -> String {
    let text = (!reply.text.is_empty())
        .then(|| format!("{{\"role\":\"assistant\",\"content\":{}}}", quoted(&reply.text)));
    let calls = reply.tool_calls.iter().map(|call| {
        format!(
            "{{\"type\":\"function_call\",\"call_id\":{},\"name\":{},\"arguments\":{}}}",
            quoted(&call.id),
            quoted(&call.name),
            quoted(&call.arguments)
        )
    });
    text.into_iter().chain(calls).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ToolCall;

    #[test]
    fn an_answer_is_a_message_with_its_calls_and_nothing_where_it_is_empty() {
        let mut reply = Reply { text: "a\"".to_owned(), ..Reply::default() };
        assert_eq!(
            element(Api::Chat, &reply).as_deref(),
            Some(r#"{"role":"assistant","content":"a\""}"#)
        );
        assert_eq!(element(Api::Completions, &reply).as_deref(), Some("a\\\""));
        reply.tool_calls.push(ToolCall {
            id: "1".to_owned(),
            name: "f".to_owned(),
            arguments: "{\"x\":2}".to_owned(),
        });
        reply.text.clear();
        assert_eq!(
            element(Api::Chat, &reply).as_deref(),
            Some(
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"x\":2}"}}]}"#
            )
        );
        assert_eq!(
            element(Api::Responses, &reply).as_deref(),
            Some(r#"{"type":"function_call","call_id":"1","name":"f","arguments":"{\"x\":2}"}"#)
        );
        assert_eq!(element(Api::Chat, &Reply::default()), None);
    }
}
