//! The value that comes next in an object, and the ways to read it.

use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::Reading;
use super::object::{ArraySeed, Object, Taken, Text, Value, ValueSeed};

/// A key, and its value, which is still to be read.
pub(in super::super) struct Next<'n, 't, A> {
    key: &'n str,
    map: &'n mut A,
    reading: &'n mut Reading<'t>,
}

impl<'n, 't, A: MapAccess<'t>> Next<'n, 't, A> {
    /// Returns the value of a key.
    pub(super) const fn new(key: &'n str, map: &'n mut A, reading: &'n mut Reading<'t>) -> Self {
        Self { key, map, reading }
    }

    /// Returns the key.
    pub(in super::super) const fn key(&self) -> &'n str {
        self.key
    }

    /// Reads the JSON text of any value; `null` counts as absent.
    ///
    /// # Errors
    /// Where the text is no JSON.
    pub(in super::super) fn text(self, field: &mut Option<Text<'t>>) -> Result<Taken, A::Error> {
        let value = self.map.next_value::<&'t RawValue>()?.get();
        *field = Some(value).filter(|text| *text != "null");
        Ok(Taken::Known)
    }

    /// Reads a value where an object belongs; `null` counts as absent.
    ///
    /// # Errors
    /// Where the text is no JSON.
    pub(in super::super) fn object<T: Object<'t>>(
        self,
        field: &mut Option<Value<T>>,
    ) -> Result<Taken, A::Error> {
        let seed = ValueSeed { reading: self.reading, found: T::default() };
        *field = self.map.next_value_seed(seed)?;
        Ok(Taken::Known)
    }

    /// Reads an array of objects; `null` counts as an empty one.
    ///
    /// # Errors
    /// Where it is another thing.
    pub(in super::super) fn array<T: Object<'t>>(
        self,
        field: &mut Vec<T>,
    ) -> Result<Taken, A::Error> {
        let seed = ArraySeed { reading: self.reading, found: Vec::new() };
        *field = self.map.next_value_seed(seed)?;
        Ok(Taken::Known)
    }

    /// Counts a value that is known and changes nothing here; `null` counts as absent.
    ///
    /// # Errors
    /// Where the text is no JSON.
    pub(in super::super) fn without_effect(self) -> Result<Taken, A::Error> {
        if self.map.next_value::<&'t RawValue>()?.get() != "null" {
            *self.reading.unused.entry(self.key.to_owned()).or_default() += 1;
        }
        Ok(Taken::Known)
    }

    /// Passes over the value of a key that is known and means nothing here.
    ///
    /// # Errors
    /// Where the text is no JSON.
    pub(in super::super) fn pass_over(self) -> Result<Taken, A::Error> {
        self.text(&mut None)
    }
}
