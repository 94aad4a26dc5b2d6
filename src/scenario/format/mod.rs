//! The formatter: one layout for every KDL file, comments kept, nothing changed but white space and `;`.
//!
//! Works on tokens of the text, because the parser's own printer loses comments (after a closing brace, in a type annotation). Three
//! laws are checked on every file before it is given back: the text without white space and `;` is the same, the parsed document is
//! the same, and formatting again changes nothing. A file for which one fails is refused.

mod formatter;
mod layout;
mod token;

#[cfg(test)]
mod tests;

pub use formatter::format;
