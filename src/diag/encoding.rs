//! Bytes that ought to be UTF-8, and where they are not.

use super::{Code, Problem, SourceFile, Span};

/// Returns the text of a file's bytes; `name` is what messages call the file.
///
/// # Errors
/// `code` at the line and column of the first byte that is no UTF-8.
pub fn utf8(code: Code, name: &str, bytes: Vec<u8>) -> Result<String, Problem> {
    String::from_utf8(bytes)
        .map_err(|error| not_utf8(code, name, error.as_bytes(), error.utf8_error().valid_up_to()))
}

/// Returns the problem of the byte after the first `valid` ones, which is no UTF-8. The label stands after the text before it.
pub fn not_utf8(code: Code, name: &str, bytes: &[u8], valid: usize) -> Problem {
    let before = &bytes[..valid];
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = before.split(|byte| *byte == b'\n').count();
    let shown = String::from_utf8_lossy(&before[start..]);
    let source = SourceFile::excerpt(name, &shown, line);
    let found = bytes.get(valid).copied().unwrap_or_default();
    Problem::new(code, format!("byte {found:#04x} is no UTF-8"))
        .label(&source, Span::new(shown.len(), 0), "after this")
        .help("save the file as UTF-8 text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_no_utf8_is_named_at_its_line_and_column() {
        let bytes = b"scenario \"x\" {\n  about \"d\xc3\xa9j\xe0 vu\"\n}\n".to_vec();
        let problem = utf8(Code::ScenarioFile, "x.kdl", bytes).expect_err("refused");
        assert_eq!(problem.place().as_deref(), Some("x.kdl:2:13"));
        assert_eq!(problem.message(), "byte 0xe0 is no UTF-8");
        assert_eq!(
            utf8(Code::ScenarioFile, "x.kdl", b"\xc3\xa9".to_vec()).expect("UTF-8"),
            "\u{e9}"
        );
    }
}
