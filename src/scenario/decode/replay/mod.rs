//! `replay`: where live traffic goes, what its requests say, and when it ends.

mod connection;
mod endpoint;
mod header;
mod request;
mod settings;
#[cfg(test)]
mod tests;

pub(super) use settings::replay;
