//! Diagnostics: every code once, sources with names, and a bag that collects many and reports in file order.
//!
//! Owns what of a person's file nobody repeats. Owns no policy: who finds a problem builds it here, `cli` prints it.

mod advice;
mod bag;
mod code;
mod count;
mod declare;
mod encoding;
mod page;
mod problem;
mod secret;
mod source;

pub use advice::Advice;
pub use bag::Bag;
pub use code::Code;
pub use count::{agreed, counted};
pub use encoding::{not_utf8, utf8};
pub use page::page;
pub use problem::{Label, Problem, Severity};
pub use secret::is_secret_header;
pub use source::{SourceFile, Span};
