//! One layout, comments kept, nothing else changed.

use proptest::prelude::*;

use super::*;
use crate::diag::SourceFile;

fn formatted(text: &str) -> String {
    format(&SourceFile::new("t.kdl", text)).expect("formats")
}

#[test]
fn blanks_braces_and_semicolons_take_their_one_form_and_comments_stay() {
    let text = "// head\n\n\n\n// two\na 1   2 /* c */ x = 3 // tail\n\n\n  // before b\n\tb { // after brace\n\n    c; d\n    // last\n  } // closing\n/- gone {  x 1 ; }\ne {\n\n}\nf \\ // more\n1\n// end";
    assert_eq!(
        formatted(text),
        "// head\n\n// two\na 1 2 /* c */ x=3 // tail\n\n// before b\nb { // after brace\n\n    c\n    d\n    // last\n} // closing\n/-gone {\n    x 1\n}\ne {}\nf \\ // more\n    1\n// end\n"
    );
}

#[test]
fn strings_of_every_kind_are_left_alone() {
    let text = "a \"x  ;  // no { comment\" #\"raw \" ; \"# \"\"\"\n   two\n   lines ; {\n   \"\"\"   b=\"c\\\"d\"\n";
    assert_eq!(formatted(text), text.replace("\"\"\"   b", "\"\"\" b"));
}

#[test]
fn a_comment_that_the_parser_itself_would_lose_is_kept() {
    assert_eq!(formatted("a {\n b\n} // tail\nc\n"), "a {\n    b\n} // tail\nc\n");
}

#[test]
fn files_that_do_not_parse_are_not_touched() {
    assert!(format(&SourceFile::new("t.kdl", "a {")).is_err());
}

#[test]
fn scenarios_of_this_repository_are_formatted() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    for entry in std::fs::read_dir(folder).expect("scenarios/ exists") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        assert_eq!(formatted(&text), text, "run `bench fmt {}`", path.display());
    }
}

/// Pieces that make all kinds of documents when strung together, most of which parse.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        " ",
        "  ",
        "\n",
        "\n\n\n",
        ";",
        " { ",
        " }\n",
        "{}",
        " \"x\"",
        " 1",
        " b=2",
        " c = 3",
        " // x\n",
        " /* y */ ",
        " /- ",
        "\\\n",
        " #true",
        " \"\"\"\n x\n \"\"\"",
        " #\"z\"#",
        "\t",
        "\r\n",
        "é",
    ])
}

proptest! {
    #[test]
    fn whatever_parses_is_formatted_to_a_fixed_point_or_refused(pieces in prop::collection::vec(piece(), 0..24)) {
        let text: String = pieces.concat();
        if let Ok(once) = format(&SourceFile::new("t.kdl", &text)) {
            let twice = format(&SourceFile::new("t.kdl", &once)).expect("what was formatted formats again");
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn any_text_at_all_is_formatted_or_refused_without_panic(text in "\\PC{0,60}") {
        let _either = format(&SourceFile::new("t.kdl", &text));
    }
}
