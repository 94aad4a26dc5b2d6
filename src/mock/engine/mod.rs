//! The simulated engine behind the API, in real time: requests arrive when they come, tokens leave when the engine says.

mod behind;
mod pace;
mod prompt;
mod speech;

pub(crate) use behind::Engine;
pub(crate) use pace::{Call, Told};
pub(crate) use prompt::Reader;
pub(crate) use speech::Speech;
