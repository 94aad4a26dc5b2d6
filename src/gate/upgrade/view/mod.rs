//! The verdict for people and programs. The same verdict gives the same bytes.

mod json;
mod junit;
mod line;
mod markdown;
mod table;

pub use json::verdict_json;
pub use junit::verdict_junit;
pub(crate) use line::first_difference;
pub use markdown::verdict_markdown;
pub use table::verdict_table;
