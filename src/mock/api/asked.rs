//! What a request asks for.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::digest::xxh3_of_bytes;

/// The output of a request that states no limit.
const TOKENS_UNASKED: u64 = 16;

/// Headers that say which session a request belongs to: the first that it carries does.
const SESSION_HEADERS: [&str; 3] = ["x-dynamo-session-id", "x-session-id", "x-smg-routing-key"];

/// Which endpoint is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    /// `chat/completions`.
    Chat,
    /// `completions`.
    Completions,
    /// `responses`.
    Responses,
}

/// What a request asks for, as far as it shapes the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The endpoint.
    pub(crate) api: Api,
    /// The model's name, which the answer repeats.
    pub(crate) model: String,
    /// Whether the answer is streamed.
    pub(crate) is_streamed: bool,
    /// Whether the stream ends with what was counted.
    pub(crate) wants_usage: bool,
    /// The limit on the output.
    pub(crate) limit: Option<u64>,
    /// The prompt as JSON: messages, text or items.
    pub(crate) prompt: String,
    /// The session that the body names.
    pub(crate) session: Option<String>,
}

/// A body that is no request of the API.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct BadRequest {
    message: String,
}

/// The fields that are read; every other may hold anything.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    max_completion_tokens: Option<u64>,
    max_tokens: Option<u64>,
    max_output_tokens: Option<u64>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    nvext: Option<Nvext>,
}

/// Dynamo's extension of a request.
#[derive(Deserialize)]
struct Nvext {
    session_control: Option<SessionControl>,
}

/// The session that a request belongs to.
#[derive(Deserialize)]
struct SessionControl {
    session_id: Option<String>,
}

/// Options of a stream.
#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

impl Api {
    /// Returns the endpoint of a path, whatever it is mounted below.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("/completions") {
            Some(Self::Completions)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else {
            None
        }
    }
}

impl Asked {
    /// Reads a request's body.
    ///
    /// # Errors
    /// [`BadRequest`] where it is no JSON object, or lacks the prompt of its endpoint.
    pub(crate) fn read(api: Api, body: &[u8]) -> Result<Self, BadRequest> {
        let body: Body<'_> = serde_json::from_slice(body)
            .map_err(|error| BadRequest { message: format!("the body is no request: {error}") })?;
        let (name, prompt) = match api {
            Api::Chat => ("messages", body.messages),
            Api::Completions => ("prompt", body.prompt),
            Api::Responses => ("input", body.input),
        };
        let Some(prompt) = prompt else {
            return Err(BadRequest { message: format!("the body has no `{name}`") });
        };
        let asked = body.stream_options.and_then(|options| options.include_usage);
        Ok(Self {
            api,
            model: body.model.map_or_else(|| "mock".to_owned(), Cow::into_owned),
            is_streamed: body.stream.unwrap_or(false),
            wants_usage: asked.unwrap_or(false),
            limit: body.max_completion_tokens.or(body.max_tokens).or(body.max_output_tokens),
            prompt: prompt.get().to_owned(),
            session: body.nvext.and_then(|nvext| nvext.session_control?.session_id),
        })
    }

    /// Returns how many tokens of output there are where nothing else says.
    pub(crate) fn output(&self) -> u64 {
        self.limit.unwrap_or(TOKENS_UNASKED)
    }

    /// Returns the session that the request says it belongs to, as a number; `header` returns a header's value by its name in lower
    /// case. A header is heard before the body.
    pub(crate) fn affinity<'a>(
        &'a self,
        header: impl Fn(&'static str) -> Option<&'a [u8]>,
    ) -> Option<u64> {
        let of_header = SESSION_HEADERS.into_iter().find_map(header);
        of_header.or_else(|| self.session.as_deref().map(str::as_bytes)).map(xxh3_of_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_known_whatever_they_are_mounted_below() {
        let of = Api::of_path;
        assert_eq!(of("/v1/chat/completions"), Some(Api::Chat));
        assert_eq!(of("/proxy/a/v1/completions/"), Some(Api::Completions));
        assert_eq!(of("/v1/responses"), Some(Api::Responses));
        assert_eq!((of("/v1/models"), of("/completionsx")), (None, None));
    }

    #[test]
    fn a_request_says_what_shapes_its_answer_and_may_say_anything_else() {
        let body = br#"{"model":"m","messages":[],"max_completion_tokens":7,"stream":true,"stream_options":{"include_usage":true},"nvext":{"a":[1]}}"#;
        let asked = Asked::read(Api::Chat, body).expect("a request");
        assert_eq!((asked.model.as_str(), asked.limit), ("m", Some(7)));
        assert!(asked.is_streamed && asked.wants_usage);
        let plain = Asked::read(Api::Completions, br#"{"prompt":"x","max_tokens":null}"#);
        let plain = plain.expect("a request");
        assert_eq!((plain.limit, plain.is_streamed, plain.wants_usage), (None, false, false));
    }

    #[test]
    fn what_is_no_request_is_refused_with_what_it_lacks() {
        let message = |api, body: &[u8]| {
            Asked::read(api, body).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(message(Api::Chat, b"{\"prompt\":\"x\"}").contains("`messages`"));
        assert!(message(Api::Responses, b"[]").contains("no request"));
    }
}
