//! Fields of a JSON object in their order, each once, as they are written.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::digest::canonical::write_text;

/// Fields of a JSON object in their order, each once: name and JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads an object; `None` where the text is none.
    pub(super) fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// States a field: in the place of the one of this name, or behind all others.
    pub(super) fn set(&mut self, name: &str, json: impl Into<String>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, value)) => *value = json.into(),
            None => self.0.push((name.to_owned(), json.into())),
        }
    }

    /// States all fields of another object.
    pub(super) fn append(&mut self, other: Self) {
        for (name, json) in other.0 {
            self.set(&name, json);
        }
    }

    /// Returns the JSON of a field.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, json)| json.as_str())
    }

    /// Appends `"name":json` for each, a comma before every one but the first.
    pub(super) fn write(&self, out: &mut String) {
        for (at, (name, json)) in self.0.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write_text(name, out);
            out.push(':');
            out.push_str(json);
        }
    }

    /// Returns the object.
    pub(super) fn object(&self) -> String {
        let mut out = String::from("{");
        self.write(&mut out);
        out.push('}');
        out
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ordered;
        impl<'de> Visitor<'de> for Ordered {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some((name, raw)) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.set(&name, raw.get());
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Ordered)
    }
}

/// Returns a text in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_text(text, &mut out);
    out
}

/// Returns a text as it stands inside of quotes.
pub(super) fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_stated_again_stays_in_its_place() {
        let mut fields = Fields::read(r#"{"b":1, "a":[ 2 ],"b":3}"#).expect("an object");
        fields.set("a", "4");
        fields.set("c", quoted("x\n"));
        assert_eq!(fields.object(), r#"{"b":3,"a":4,"c":"x\n"}"#);
        assert_eq!(fields.get("b"), Some("3"));
        assert_eq!(Fields::read("[1]"), None);
    }
}
