//! `bench minimise`: the smallest job that two versions of an engine still answer differently, as files to be filed.

mod command;
mod start;
mod trial;
mod written;

pub(super) use command::run;
