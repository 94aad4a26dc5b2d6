//! One answer while it is given: what is written when, and the body that writes it.

mod body;
mod guard;
mod steps;
mod whole;

pub(crate) use body::{AnswerBody, Broken, Source, Stalls, plus};
pub(crate) use guard::{Closing, Guard};
pub(crate) use steps::{Spoken, Step, Steps, Write};
pub(crate) use whole::whole;
