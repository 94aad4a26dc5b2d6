//! The simulated engine behind the API, in real time: requests arrive when they come, tokens leave when the engine says.

mod behind;
mod pace;
mod prompt;
mod refused;
mod speech;

pub(crate) use behind::Engine;
pub(crate) use pace::{Call, Told};
pub(crate) use prompt::{ReadRequest, Reader};
pub(crate) use refused::refused;
pub(crate) use speech::Speech;
