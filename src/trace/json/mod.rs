//! JSON objects read field by field: each value with its place, unknown keys counted, every mistake kept.

mod decimal;
mod object;
mod reading;

pub(super) use decimal::nanos;
pub(super) use object::{Object, Taken, Text, Value, array, number, object, whole};
pub(super) use reading::Reading;
