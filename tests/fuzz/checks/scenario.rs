//! Scenarios and scripts of the mock server, in KDL: refused at a place that is there, or read; what parses can be laid out, once.

use touchstone::diag::{Bag, Code, Problem, SourceFile};
use touchstone::mock::Script;
use touchstone::scenario::format::format;
use touchstone::scenario::load_text;

/// Checks a text.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = SourceFile::new("input.kdl", text);
    let loaded = load_text(&source);
    let has_errors = loaded.findings.has_errors();
    assert!(loaded.scenario.is_some() || has_errors, "a refusal says why");
    let codes = told(loaded.findings);
    if let Err(bag) = Script::read(&source) {
        assert!(bag.has_errors(), "a refusal says why");
        told(bag);
    }
    if let Ok(laid_out) = format(&source) {
        let again = SourceFile::new("input.kdl", &laid_out);
        assert_eq!(format(&again).ok().as_deref(), Some(laid_out.as_str()), "one layout");
        assert_eq!(told(load_text(&again).findings), codes, "layout changes no meaning");
    }
}

/// Checks that findings say something and point into their text; returns their codes, in order.
fn told(bag: Bag) -> Vec<Code> {
    let problems = bag.into_sorted();
    for problem in &problems {
        assert!(!problem.message().is_empty());
        let Some(source) = problem.source_file() else { continue };
        for label in problem.labels() {
            let end = label.span.offset() + label.span.length();
            assert!(source.text().get(label.span.offset()..end).is_some(), "{problem:?}");
        }
    }
    let mut codes: Vec<Code> = problems.iter().map(Problem::code).collect();
    codes.sort_unstable_by_key(|code| code.as_str());
    codes
}
