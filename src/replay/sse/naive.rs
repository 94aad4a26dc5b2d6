//! The grammar read off a whole stream at once: what the incremental parser is held against.

use super::StreamError;
use super::parser::{length, marked};

/// Returns the messages of a whole stream, each its `event` and its data, with what ended it.
///
/// It shares no step with [`super::Parser`]: the text is decoded, split into lines and grouped as the standard words it. Streams
/// beyond the cap are not its business. Source: WHATWG HTML, 9.2.5 and 9.2.6.
pub fn naive(stream: &[u8]) -> (Vec<(String, String)>, Result<(), StreamError>) {
    let (text, fault) = match std::str::from_utf8(stream) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = std::str::from_utf8(&stream[..error.valid_up_to()]);
            (valid.expect("checked above"), Some(error.valid_up_to()))
        }
    };
    let text = text[marked(text.as_bytes())..].replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.split('\n').collect();
    let pending = lines.pop().unwrap_or_default();
    let (messages, open) = grouped(&lines);
    let end = match fault {
        Some(offset) => Err(StreamError::Utf8 { offset: length(offset) }),
        None if !pending.is_empty() => Err(StreamError::Partial),
        None if open.is_some_and(|data| data != "[DONE]") => Err(StreamError::Partial),
        None => Ok(()),
    };
    (messages, end)
}

/// Groups whole lines into messages; also returns the data that no blank line follows.
fn grouped(lines: &[&str]) -> (Vec<(String, String)>, Option<String>) {
    let mut messages = Vec::new();
    let (mut event, mut data) = (String::new(), None::<String>);
    for line in lines {
        if line.is_empty() {
            messages.extend(data.take().map(|data| (event.clone(), data)));
            event.clear();
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut event),
            "data" => {
                data = Some(match data {
                    None => value.to_owned(),
                    Some(before) => format!("{before}\n{value}"),
                });
            }
            _ => {}
        }
    }
    (messages, data)
}
