//! Two pins of one engine on the same questions: what changed, what did not, and whether that was declared.
//!
//! Owns `changes.kdl`, the classes of a job, and the verdict with its views. Runs nothing: answers come in, a verdict goes out.

mod answer;
mod changes;
mod class;
mod control;
mod judge;
mod question;
#[cfg(test)]
mod tests;
mod verdict;
mod view;

pub use answer::{Again, Answer, Answered, PinSide};
pub use changes::{Changes, changes_path};
pub use class::Class;
pub use control::{ControlVerdict, judge_control};
pub use judge::{Judged, PinDrift, judge};
pub use question::Question;
pub use verdict::{Idle, ScenarioVerdict, Verdict};
pub(crate) use view::first_difference;
pub use view::{verdict_json, verdict_junit, verdict_markdown, verdict_table};
