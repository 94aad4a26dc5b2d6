//! Plans of recorded and authored graphs.

mod refusals;
mod requests;
mod support;
