//! Objects and arrays of a [`Reading`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::diag::Code;
use crate::trace::hash_ids;
use crate::units::{Nanos, Tokens};

use super::{Next, Reading, nanos};

/// The JSON text of a value.
pub(in super::super) type Text<'t> = &'t str;

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Taken {
    /// Its value was read.
    Known,
    /// The format does not know it.
    Unknown,
}

/// What an object of a format is read into.
pub(in super::super) trait Object<'t>: Default {
    /// Reads the value of a key, where the format knows it.
    ///
    /// # Errors
    /// Where the text is no JSON.
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error>;
}

/// A value where an object belongs.
#[derive(Debug)]
pub(in super::super) enum Value<T> {
    /// It is one.
    Object(T),
    /// It is another thing.
    Other,
}

impl<T> Value<T> {
    /// Returns the object.
    pub(in super::super) fn into_object(self) -> Option<T> {
        match self {
            Self::Object(found) => Some(found),
            Self::Other => None,
        }
    }
}

/// Reads the object that a text is.
///
/// # Errors
/// Where the text is no JSON object, or something follows it.
pub(in super::super) fn whole<'t, T: Object<'t>>(
    reading: &mut Reading<'t>,
) -> Result<T, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(reading.text());
    let found = ObjectSeed { reading, found: T::default() }.deserialize(&mut json)?;
    json.end().map(|()| found)
}

impl<'t> Reading<'t> {
    /// Returns a text value.
    pub(in super::super) fn string(
        &mut self,
        key: &str,
        value: Option<Text<'t>>,
    ) -> Option<String> {
        let value = value?;
        let found = serde_json::from_str(value).ok();
        if found.is_none() {
            self.refuse_value(key, value, "a text");
        }
        found
    }

    /// Returns a list of texts.
    pub(in super::super) fn strings(&mut self, key: &str, value: Option<Text<'t>>) -> Vec<String> {
        let Some(value) = value else { return Vec::new() };
        serde_json::from_str(value).unwrap_or_else(|_| {
            self.refuse_value(key, value, "a list of texts");
            Vec::new()
        })
    }

    /// Returns a count from 0 to 2^64 - 1.
    pub(in super::super) fn count(&mut self, key: &str, value: Option<Text<'t>>) -> Option<u64> {
        let value = value?;
        let found = value.parse().ok().filter(|_| value.bytes().all(|byte| byte.is_ascii_digit()));
        if found.is_none() {
            self.refuse_value(key, value, "an integer from 0 to 18446744073709551615");
        }
        found
    }

    /// Returns a length in tokens, below 2^32.
    pub(in super::super) fn tokens(
        &mut self,
        key: &str,
        value: Option<Text<'t>>,
    ) -> Option<Tokens> {
        let value = value?;
        let found = crate::trace::field::length(value);
        if found.is_none() {
            self.refuse_value(key, value, crate::trace::field::A_LENGTH);
        }
        found
    }

    /// Returns a time or duration, given in units of `10^exponent` ns.
    pub(in super::super) fn time(
        &mut self,
        key: &str,
        value: Option<Text<'t>>,
        exponent: i64,
    ) -> Option<Nanos> {
        let value = value?;
        let is_number = value.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        let found = is_number.then(|| nanos(value, exponent)).flatten();
        if found.is_none() {
            self.refuse_value(key, value, "a number from 0 to what 2^64 ns are");
        }
        found
    }

    /// Returns a list of hash ids.
    pub(in super::super) fn hashes(
        &mut self,
        key: &str,
        value: Option<Text<'t>>,
    ) -> Option<Vec<u64>> {
        let value = value?;
        // An id takes two bytes at least: room for the worst case is a few times the text.
        let mut ids = Vec::new();
        match hash_ids::scan(value.as_bytes(), &mut ids) {
            Ok(()) => {
                ids.shrink_to_fit();
                Some(ids)
            }
            Err((at, why)) => {
                let part = value.get(at).unwrap_or(value);
                let shown: String = part.chars().take(40).collect();
                self.refuse(part, Code::TraceHashIds, format!("`{key}`: `{shown}` {why}"), why);
                None
            }
        }
    }
}

/// Reads one object.
struct ObjectSeed<'r, 't, T> {
    reading: &'r mut Reading<'t>,
    found: T,
}

/// Reads one value where an object belongs.
pub(super) struct ValueSeed<'r, 't, T> {
    pub(super) reading: &'r mut Reading<'t>,
    pub(super) found: T,
}

/// Reads an array of objects.
pub(super) struct ArraySeed<'r, 't, T> {
    pub(super) reading: &'r mut Reading<'t>,
    pub(super) found: Vec<T>,
}

impl<'t, T: Object<'t>> DeserializeSeed<'t> for ObjectSeed<'_, 't, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'t, T: Object<'t>> Visitor<'t> for ObjectSeed<'_, 't, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(mut self, mut map: A) -> Result<T, A::Error> {
        let mut seen: BTreeSet<Cow<'t, str>> = BTreeSet::new();
        while let Some(key) = map.next_key_seed(KeySeed)? {
            let is_repeated = seen.contains(&key);
            let next = Next::new(&key, &mut map, self.reading);
            if self.found.take(next)? == Taken::Unknown {
                map.next_value::<IgnoredAny>()?;
                if !is_repeated {
                    add(&mut self.reading.unknown, &key);
                }
            }
            if is_repeated {
                let part = if let Cow::Borrowed(key) = key { key } else { self.reading.text() };
                let message = format!("`{key}` is stated twice");
                self.reading.refuse(part, Code::TraceField, message, "stated again here");
            } else {
                seen.insert(key);
            }
        }
        Ok(self.found)
    }
}

impl<'t, T: Object<'t>> DeserializeSeed<'t> for ValueSeed<'_, 't, T> {
    type Value = Option<Value<T>>;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t, T: Object<'t>> Visitor<'t> for ValueSeed<'_, 't, T> {
    type Value = Option<Value<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Some(Value::Other))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Some(Value::Other))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Some(Value::Other))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Some(Value::Other))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Some(Value::Other))
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Some(Value::Other))
    }

    fn visit_map<A: MapAccess<'t>>(self, map: A) -> Result<Self::Value, A::Error> {
        let seed = ObjectSeed { reading: self.reading, found: self.found };
        seed.visit_map(map).map(|found| Some(Value::Object(found)))
    }
}

impl<'t, T: Object<'t>> DeserializeSeed<'t> for ArraySeed<'_, 't, T> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<Vec<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t, T: Object<'t>> Visitor<'t> for ArraySeed<'_, 't, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_unit<E: Error>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'t>>(mut self, mut list: A) -> Result<Vec<T>, A::Error> {
        while let Some(found) =
            list.next_element_seed(ObjectSeed { reading: &mut *self.reading, found: T::default() })?
        {
            self.found.push(found);
        }
        Ok(self.found)
    }
}

/// Reads a key without copying it where the text has no escape.
struct KeySeed;

impl<'t> DeserializeSeed<'t> for KeySeed {
    type Value = Cow<'t, str>;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'t> Visitor<'t> for KeySeed {
    type Value = Cow<'t, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'t str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

/// Counts one more object with a key.
fn add(keys: &mut BTreeMap<String, u64>, key: &str) {
    match keys.get_mut(key) {
        Some(count) => *count += 1,
        None => drop(keys.insert(key.to_owned(), 1)),
    }
}
