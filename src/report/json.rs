//! JSON that this program wrote, read back as a canonical value.

use crate::digest::canonical::{Real, Value};

/// Returns the value of a JSON text.
///
/// # Errors
/// What is wrong with the text, or a number that is neither a 64-bit integer nor finite.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    let foreign = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    convert(foreign)
}

/// Returns a foreign value as ours.
fn convert(foreign: serde_json::Value) -> Result<Value, String> {
    Ok(match foreign {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(flag),
        serde_json::Value::Number(number) => convert_number(&number)?,
        serde_json::Value::String(text) => Value::Text(text),
        serde_json::Value::Array(items) => {
            Value::List(items.into_iter().map(convert).collect::<Result<_, _>>()?)
        }
        serde_json::Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, item)| Ok((key, convert(item)?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}

/// Returns a foreign number as ours.
fn convert_number(number: &serde_json::Number) -> Result<Value, String> {
    if let Some(integer) = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from)) {
        return Ok(Value::Integer(integer));
    }
    let real = number.as_f64().ok_or(format!("{number} is no 64-bit number"))?;
    Real::new(real).map(Value::Real).map_err(|error| error.to_string())
}

/// Returns a field of an object, or of objects in it by a path of keys.
pub(super) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.as_object()?.get(*key))
}

/// Returns the text at a path.
pub(super) fn text_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_text()
}

/// Returns the list at a path; empty where there is none.
pub(super) fn list_at<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_list).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_bytes_read_back_to_the_same_bytes() {
        for text in [
            "{\"a\":[1,-2,18446744073709551615,0.1,1e-7],\"b\":null}\n",
            "{\"seed\":\"9007199254740993\"}\n",
        ] {
            let value = parse(text.as_bytes()).expect("JSON");
            assert_eq!(value.to_document(), text.as_bytes());
        }
    }
}
