//! JSON objects read field by field: each value with its place, unknown keys counted, every mistake kept.

mod decimal;
mod marks;
mod next;
mod object;
mod reading;

pub(super) use decimal::nanos;
pub(super) use next::Next;
pub(super) use object::{Object, Taken, Text, Value, whole};
pub(super) use reading::Reading;
