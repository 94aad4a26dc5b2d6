//! Where a converted trace goes, line by line.

use std::io::{self, Write};

use serde::Serialize;

/// Takes lines as they are made. The first error of a write is kept until the end, and nothing is written behind it.
pub(super) struct Sink<'w> {
    out: &'w mut dyn Write,
    /// The line in the making.
    line: Vec<u8>,
    failure: Option<io::Error>,
}

impl<'w> Sink<'w> {
    /// Returns a sink that nothing was written to.
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        Self { out, line: Vec::new(), failure: None }
    }

    /// Writes a line.
    pub(super) fn line(&mut self, text: &str) {
        self.line.extend_from_slice(text.as_bytes());
        self.end_line();
    }

    /// Writes a value as a line.
    pub(super) fn json(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut self.line, value)
            .expect("a Vec takes every write, and keys are texts");
        self.end_line();
    }

    fn end_line(&mut self) {
        self.line.push(b'\n');
        if self.failure.is_none() {
            self.failure = self.out.write_all(&self.line).err();
        }
        self.line.clear();
    }

    /// Says that there are no more lines.
    ///
    /// # Errors
    /// The first one of a write.
    pub(super) fn finish(self) -> io::Result<()> {
        self.failure.map_or(Ok(()), Err)
    }
}
