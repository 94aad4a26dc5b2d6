//! Errors that servers write into answers, in their words: the client takes its key out of them and shortens them.

use serde::Deserialize;
use serde_json::Value;

use crate::record::ExchangeError;

/// The fields of a message that say it is an error.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FaultFields {
    /// OpenAI's form, an object; some servers write a text.
    error: Option<Value>,
    /// vLLM's older form: `object` is `error`, and the rest lies beside it. `responses` has `type` instead.
    object: Option<Value>,
    #[serde(rename = "type")]
    kind: Option<Value>,
    message: Option<Value>,
    code: Option<Value>,
    /// What FastAPI answers with.
    detail: Option<Value>,
}

/// Returns the error that a message of a successful answer is, in whichever form; `None` for output.
pub(super) fn in_band(event: &str, data: &str) -> Option<ExchangeError> {
    // Output has a word `error` seldom, and a message without it is none of the forms below.
    if event != "error" && !data.contains("\"error\"") {
        return None;
    }
    let fields = serde_json::from_str::<FaultFields>(data);
    let Ok(fields) = fields else {
        return (event == "error").then(|| fault(data.to_owned(), None));
    };
    if event != "error" && !fields.is_fault() {
        return None;
    }
    let (message, code) = fields.told().unwrap_or_else(|| (data.to_owned(), None));
    Some(fault(message, code))
}

/// Returns the refusal that a status and the beginning of its body are.
pub(crate) fn refusal(status: u16, retry_after: Option<String>, body: &[u8]) -> ExchangeError {
    let text = String::from_utf8_lossy(body);
    let told = serde_json::from_str::<FaultFields>(&text).ok().and_then(|fields| fields.told());
    let message = told.map_or_else(|| text.into_owned(), |(message, _)| message);
    ExchangeError::Status { status, message, retry_after }
}

/// Returns the error of an answer.
pub(super) fn fault(message: String, code: Option<String>) -> ExchangeError {
    ExchangeError::InBand { message, code }
}

impl FaultFields {
    /// Returns whether the message is an error, and not output that has a field like one.
    fn is_fault(&self) -> bool {
        let is = |field: &Option<Value>| field.as_ref().and_then(Value::as_str) == Some("error");
        self.error.is_some() || is(&self.object) || is(&self.kind)
    }

    /// Returns what it says and its code.
    fn told(&self) -> Option<(String, Option<String>)> {
        let inner = self.error.as_ref().and_then(Value::as_object);
        let field = |name: &str, own: &Option<Value>| {
            inner.map_or_else(|| own.clone(), |inner| inner.get(name).cloned())
        };
        let plain = self.error.as_ref().filter(|error| error.is_string()).cloned();
        let message = plain
            .or_else(|| field("message", &self.message))
            .or_else(|| self.error.clone())
            .or_else(|| self.detail.clone())?;
        let code = field("code", &self.code).or_else(|| field("type", &self.kind));
        Some((worded(&message), code.map(|code| worded(&code))))
    }
}

/// Returns a value as words: a text without its quotes, anything else as JSON.
fn worded(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
