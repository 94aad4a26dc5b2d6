//! Plans of recorded and authored graphs.

mod cases;
mod changes;
mod formats;
mod loading;
mod nvext;
mod observed;
mod refusals;
mod requests;
mod starts;
mod support;
