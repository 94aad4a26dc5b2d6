//! The API that is served: what a request asks for, and how an answer is spelt.

mod asked;
mod voice;

pub(crate) use asked::{Api, Asked};
pub(crate) use voice::{Counts, ErrorForm, Said, Voice, error_object, words};
