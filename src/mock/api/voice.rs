//! How an answer is spelt: messages of a stream, and whole bodies.

use crate::mock::script::LineEnd;

use super::{Api, Asked};

/// Words that are one token each in the vocabularies in use, with the space before them.
const WORDS: [&str; 16] = [
    " the", " of", " and", " to", " in", " is", " that", " for", " it", " was", " as", " with",
    " on", " be", " at", " by",
];

/// What was counted of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Tokens of the prompt.
    pub(crate) prompt: u64,
    /// Those of them that came from a cache.
    pub(crate) cached: u64,
    /// Tokens of the output.
    pub(crate) output: u64,
    /// Those of them that are reasoning.
    pub(crate) reasoning: u64,
}

/// A piece of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    /// Text of the answer.
    Content(&'a str),
    /// Text of the reasoning.
    Reasoning(&'a str),
    /// A piece of the arguments of a tool call; the name comes with the first.
    Tool {
        /// The tool, with the first piece.
        name: Option<&'a str>,
        /// The piece.
        arguments: &'a str,
    },
}

/// How an error stands in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorForm {
    /// `{"error":{…}}`.
    Object,
    /// `{"error":"…"}`.
    Text,
    /// The object, as an event of the name `error`.
    Event,
}

/// Spells one answer.
#[derive(Debug, Clone)]
pub(crate) struct Voice {
    api: Api,
    /// The fields that every object of the answer begins with, after its brace.
    head: String,
    /// What stands before and behind the text of a message of content.
    content: (String, &'static str),
    field: &'static str,
    end: &'static str,
    number: u64,
}

impl Voice {
    /// Returns the voice of the answer of a request's number; `space` is whether one follows the colon.
    pub(crate) fn new(asked: &Asked, number: u64, end: LineEnd, space: bool) -> Self {
        let model = serde_json::Value::from(asked.model.as_str());
        let (id, object) = match asked.api {
            Api::Chat => ("chatcmpl", "chat.completion.chunk"),
            Api::Completions => ("cmpl", "text_completion"),
            Api::Responses => ("resp", "response"),
        };
        let head =
            format!(r#""id":"{id}-{number}","object":"{object}","created":0,"model":{model}"#);
        let content = match asked.api {
            Api::Chat => (
                format!(r#"{{{head},"choices":[{{"index":0,"delta":{{"content":""#),
                r#""},"finish_reason":null}]"#,
            ),
            Api::Completions => (
                format!(r#"{{{head},"choices":[{{"index":0,"text":""#),
                r#"","logprobs":null,"finish_reason":null}]"#,
            ),
            Api::Responses => (
                format!(
                    r#"{{"type":"response.output_text.delta","item_id":"msg-{number}","output_index":0,"content_index":0,"delta":""#
                ),
                "\"",
            ),
        };
        Self {
            api: asked.api,
            head,
            content,
            field: if space { "data: " } else { "data:" },
            end: end.text(),
            number,
        }
    }

    /// Adds what opens the stream: the role, or the event that a response is created.
    pub(crate) fn opening(&self, out: &mut Vec<u8>) {
        let head = &self.head;
        match self.api {
            Api::Chat => self.message(
                out,
                &format!(
                    r#"{{{head},"choices":[{{"index":0,"delta":{{"role":"assistant","content":""}},"finish_reason":null}}]}}"#
                ),
            ),
            Api::Completions => {}
            Api::Responses => self.event(
                out,
                "response.created",
                &format!(
                    r#"{{"type":"response.created","response":{{{head},"status":"in_progress","output":[]}}}}"#
                ),
            ),
        }
    }

    /// Adds a message of output, with what was counted so far where that is said with each.
    pub(crate) fn output(&self, out: &mut Vec<u8>, said: Said<'_>, counts: Option<Counts>) {
        match said {
            Said::Content(text) => self.content(out, text, counts),
            Said::Reasoning(text) => match self.api {
                Api::Chat => self.delta(out, &format!(r#""reasoning_content":"{text}""#), counts),
                Api::Completions => self.content(out, text, counts),
                Api::Responses => self.event(
                    out,
                    "response.reasoning_text.delta",
                    &format!(
                        r#"{{"type":"response.reasoning_text.delta","item_id":"rs-{}","output_index":0,"content_index":0,"delta":"{text}"}}"#,
                        self.number
                    ),
                ),
            },
            Said::Tool { name, arguments } => self.tool(out, name, arguments, counts),
        }
    }

    /// Adds what ends the stream: why the output ends, what was counted where that is told, and the end itself.
    pub(crate) fn closing(&self, out: &mut Vec<u8>, finish: &str, counts: Option<Counts>) {
        let head = &self.head;
        let finish_text = serde_json::Value::from(finish);
        match self.api {
            Api::Chat => self.message(
                out,
                &format!(
                    r#"{{{head},"choices":[{{"index":0,"delta":{{}},"finish_reason":{finish_text}}}]}}"#
                ),
            ),
            Api::Completions => self.message(
                out,
                &format!(
                    r#"{{{head},"choices":[{{"index":0,"text":"","logprobs":null,"finish_reason":{finish_text}}}]}}"#
                ),
            ),
            Api::Responses => {
                let (event, body) = self.response(finish, "[]", counts.unwrap_or_default());
                let data = format!(r#"{{"type":"{event}","response":{body}}}"#);
                return self.event(out, event, &data);
            }
        }
        if let Some(counts) = counts {
            let usage = self.usage(counts);
            self.message(out, &format!(r#"{{{head},"choices":[],"usage":{usage}}}"#));
        }
        self.done(out);
    }

    /// Adds the mark that nothing follows, where the API has one.
    pub(crate) fn done(&self, out: &mut Vec<u8>) {
        match self.api {
            Api::Chat | Api::Completions => self.message(out, "[DONE]"),
            Api::Responses => {}
        }
    }

    /// Adds an error in the stream.
    pub(crate) fn error(&self, out: &mut Vec<u8>, form: ErrorForm, message: &str) {
        match form {
            ErrorForm::Object => self.message(out, &error_object(message, 500)),
            ErrorForm::Event => self.event(out, "error", &error_object(message, 500)),
            ErrorForm::Text => {
                let text = serde_json::Value::from(message);
                self.message(out, &format!(r#"{{"error":{text}}}"#));
            }
        }
    }

    /// Adds a comment.
    pub(crate) fn comment(&self, out: &mut Vec<u8>, text: &str) {
        for part in [": ", text, self.end, self.end] {
            out.extend_from_slice(part.as_bytes());
        }
    }

    /// Returns the body of an answer that is not streamed.
    pub(crate) fn whole(&self, said: &[Said<'_>], finish: &str, counts: Counts) -> String {
        let text = |wanted: fn(&Said<'_>) -> Option<String>| -> String {
            said.iter().filter_map(wanted).collect()
        };
        let content = text(|said| match said {
            Said::Content(text) => Some((*text).to_owned()),
            Said::Reasoning(_) | Said::Tool { .. } => None,
        });
        let reasoning = text(|said| match said {
            Said::Reasoning(text) => Some((*text).to_owned()),
            Said::Content(_) | Said::Tool { .. } => None,
        });
        let arguments = text(|said| match said {
            Said::Tool { arguments, .. } => Some((*arguments).to_owned()),
            Said::Content(_) | Said::Reasoning(_) => None,
        });
        let tool = said.iter().find_map(|said| match said {
            Said::Tool { name, .. } => *name,
            Said::Content(_) | Said::Reasoning(_) => None,
        });
        let usage = self.usage(counts);
        let finish_text = serde_json::Value::from(finish);
        match self.api {
            Api::Chat => {
                let head = self.head.replace("chat.completion.chunk", "chat.completion");
                let message = self.whole_message(&content, &reasoning, tool, &arguments);
                format!(
                    r#"{{{head},"choices":[{{"index":0,"message":{message},"finish_reason":{finish_text}}}],"usage":{usage}}}"#
                )
            }
            Api::Completions => {
                let content = serde_json::Value::from(reasoning + &content);
                let head = &self.head;
                format!(
                    r#"{{{head},"choices":[{{"index":0,"text":{content},"logprobs":null,"finish_reason":{finish_text}}}],"usage":{usage}}}"#
                )
            }
            Api::Responses => {
                let items = self.items(&content, &reasoning, tool, &arguments);
                self.response(finish, &items, counts).1
            }
        }
    }

    /// Returns the message of a whole chat answer.
    fn whole_message(
        &self,
        content: &str,
        reasoning: &str,
        tool: Option<&str>,
        arguments: &str,
    ) -> serde_json::Value {
        let mut message = serde_json::json!({"role": "assistant", "content": content});
        if !reasoning.is_empty() {
            message["reasoning_content"] = reasoning.into();
        }
        if let Some(name) = tool {
            message["tool_calls"] = serde_json::json!([{
                "id": format!("call-{}", self.number), "type": "function",
                "function": {"name": name, "arguments": arguments},
            }]);
        }
        message
    }

    /// Returns the items of a whole response.
    fn items(&self, content: &str, reasoning: &str, tool: Option<&str>, arguments: &str) -> String {
        let mut items = Vec::new();
        if !reasoning.is_empty() {
            items.push(serde_json::json!({
                "type": "reasoning", "id": format!("rs-{}", self.number), "summary": [],
                "content": [{"type": "reasoning_text", "text": reasoning}],
            }));
        }
        if let Some(name) = tool {
            items.push(serde_json::json!({
                "type": "function_call", "id": format!("fc-{}", self.number),
                "call_id": format!("call-{}", self.number), "name": name, "arguments": arguments,
            }));
        }
        if !content.is_empty() {
            items.push(serde_json::json!({
                "type": "message", "id": format!("msg-{}", self.number), "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": content, "annotations": []}],
            }));
        }
        serde_json::Value::from(items).to_string()
    }

    /// Returns the event that ends a response, and the response itself.
    fn response(&self, finish: &str, items: &str, counts: Counts) -> (&'static str, String) {
        let (head, usage) = (&self.head, self.usage(counts));
        let (event, status) = match finish {
            "length" => (
                "response.incomplete",
                r#""status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}"#,
            ),
            _ => ("response.completed", r#""status":"completed""#),
        };
        (event, format!(r#"{{{head},{status},"output":{items},"usage":{usage}}}"#))
    }

    /// Returns what was counted.
    fn usage(&self, counts: Counts) -> String {
        let Counts { prompt, cached, output, reasoning } = counts;
        let total = prompt + output;
        let (of_prompt, of_output) = match self.api {
            Api::Chat | Api::Completions => ("prompt", "completion"),
            Api::Responses => ("input", "output"),
        };
        format!(
            r#"{{"{of_prompt}_tokens":{prompt},"{of_output}_tokens":{output},"total_tokens":{total},"{of_prompt}_tokens_details":{{"cached_tokens":{cached}}},"{of_output}_tokens_details":{{"reasoning_tokens":{reasoning}}}}}"#
        )
    }

    /// Adds a message of content: the one that there are many of.
    fn content(&self, out: &mut Vec<u8>, text: &str, counts: Option<Counts>) {
        if self.api == Api::Responses {
            self.event_name(out, "response.output_text.delta");
        }
        for part in [self.field, &self.content.0, text, self.content.1] {
            out.extend_from_slice(part.as_bytes());
        }
        if let Some(counts) = counts.filter(|_| self.api != Api::Responses) {
            out.extend_from_slice(br#","usage":"#);
            out.extend_from_slice(self.usage(counts).as_bytes());
        }
        out.push(b'}');
        self.blank(out);
    }

    /// Adds a message of a chat whose delta is `fields`.
    fn delta(&self, out: &mut Vec<u8>, fields: &str, counts: Option<Counts>) {
        let head = &self.head;
        let usage =
            counts.map_or_else(String::new, |counts| format!(r#","usage":{}"#, self.usage(counts)));
        self.message(
            out,
            &format!(
                r#"{{{head},"choices":[{{"index":0,"delta":{{{fields}}},"finish_reason":null}}]{usage}}}"#
            ),
        );
    }

    /// Adds a piece of a tool call.
    fn tool(&self, out: &mut Vec<u8>, name: Option<&str>, arguments: &str, counts: Option<Counts>) {
        let number = self.number;
        let text = serde_json::Value::from(arguments);
        match self.api {
            Api::Chat => {
                let opening = name.map_or_else(String::new, |name| {
                    let name = serde_json::Value::from(name);
                    format!(r#""id":"call-{number}","type":"function","name":{name},"#)
                });
                // The name stands inside of the function, its id and type beside it.
                let (beside, inside) = match opening.split_once(r#""name""#) {
                    Some((beside, inside)) => (beside.to_owned(), format!(r#""name"{inside}"#)),
                    None => (String::new(), String::new()),
                };
                let call = format!(
                    r#""tool_calls":[{{"index":0,{beside}"function":{{{inside}"arguments":{text}}}}}]"#
                );
                self.delta(out, &call, counts);
            }
            Api::Completions => self.content(out, arguments, counts),
            Api::Responses => {
                if let Some(name) = name {
                    let name = serde_json::Value::from(name);
                    let item = format!(
                        r#"{{"type":"response.output_item.added","output_index":0,"item":{{"type":"function_call","id":"fc-{number}","call_id":"call-{number}","name":{name},"arguments":""}}}}"#
                    );
                    self.event(out, "response.output_item.added", &item);
                }
                let delta = format!(
                    r#"{{"type":"response.function_call_arguments.delta","item_id":"fc-{number}","output_index":0,"delta":{text}}}"#
                );
                self.event(out, "response.function_call_arguments.delta", &delta);
            }
        }
    }

    /// Adds a message without a name.
    fn message(&self, out: &mut Vec<u8>, data: &str) {
        out.extend_from_slice(self.field.as_bytes());
        out.extend_from_slice(data.as_bytes());
        self.blank(out);
    }

    /// Adds an event with its name.
    fn event(&self, out: &mut Vec<u8>, name: &str, data: &str) {
        self.event_name(out, name);
        self.message(out, data);
    }

    fn event_name(&self, out: &mut Vec<u8>, name: &str) {
        for part in ["event: ", name, self.end] {
            out.extend_from_slice(part.as_bytes());
        }
    }

    /// Ends a message.
    fn blank(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.end.as_bytes());
        out.extend_from_slice(self.end.as_bytes());
    }
}

impl LineEnd {
    /// Returns the bytes.
    const fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }
}

/// Returns the text of so many tokens of output from a place on: a word each.
pub(crate) fn words(from: u64, count: u64) -> String {
    let word = |place: u64| WORDS[usize::try_from(place % WORDS.len() as u64).unwrap_or(0)];
    (from..from + count).map(word).collect()
}

/// Returns an error object of the API.
pub(crate) fn error_object(message: &str, code: u16) -> String {
    let kind = match code {
        429 => "rate_limit_exceeded",
        400..500 => "invalid_request_error",
        _ => "server_error",
    };
    let message = serde_json::Value::from(message);
    format!(r#"{{"error":{{"message":{message},"type":"{kind}","param":null,"code":{code}}}}}"#)
}
