//! Why two runs of a job differ: the first event that does, the state that decided it, and how far it spread.
//!
//! Events are what they are about — a request's step, a rank's n-th pass —, never a line number: an event that one side alone has
//! moves no other out of line. Knows two sides' transcripts, records and reports, and asks for state where it needs it; who runs
//! a job again, and from what, is the caller's.

mod align;
mod blast;
mod cause;
mod difference;
mod document;
mod event;
mod explanation;
mod link_history;
mod pair;
mod passes;
mod phrase;
mod question;
mod records;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use blast::{Blast, MovedFigure, MovedMetric};
pub use difference::{Change, Difference, FieldChange};
pub use document::explain_json;
pub use event::{Identity, Step};
pub use explanation::{
    Divergence, Evidence, Explanation, JobCase, JobVerdict, Level, Sides, Transcript, explain,
};
pub use pair::Who;
pub use question::InputChange;
pub use state::{Hand, Look, StateRow};
pub use text::{explain_markdown, explain_text};
