//! What `bench accept` refuses, what it shows, and whose name it writes.

use crate::program::{Place, Ran};
use crate::runs::scenario;

const GATE: &str = "gate { golden \"pins/goldens/small.kdl\" }";
const GOLDEN: &str = "pins/goldens/small.kdl";
const FILE: &str = "scenarios/small.kdl";

/// Returns a project of two short jobs with an accepted golden.
fn accepted() -> Place {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", GATE).replace("\"loop\" \"recorded\"", "\"loop\"");
    let text = text.replace("workload \"recorded\" {", "/- workload \"recorded\" {");
    let text = text
        .replace("        trace \"mooncake-tiny\" sha", "        /- trace \"mooncake-tiny\" sha");
    place.write(FILE, text);
    accept(&place, &["--reason", "first"]).exits(0);
    place
}

fn accept(place: &Place, more: &[&str]) -> Ran {
    place.bench([&["accept", FILE], more].concat())
}

/// Changes a text of the golden, once.
fn edit(place: &Place, from: &str, to: &str) {
    let text = place.read(GOLDEN);
    assert!(text.contains(from), "{from}: {text}");
    place.write(GOLDEN, text.replacen(from, to, 1));
}

/// Returns the golden's first line that starts with a word, without its indentation.
fn line(place: &Place, word: &str) -> String {
    let text = place.read(GOLDEN);
    let line = text.lines().map(str::trim).find(|line| line.starts_with(word));
    line.expect("goldens have the line").to_owned()
}

#[test]
fn the_golden_of_another_scenario_is_never_written_over() {
    let place = accepted();
    let text = place.read(FILE).replace("scenario \"small\"", "scenario \"other\"");
    place.write("scenarios/other.kdl", text);
    let before = place.read(GOLDEN);
    let refused = place.bench(["accept", "scenarios/other.kdl", "--reason", "mine"]).exits(3);
    assert!(refused.stderr.contains("gate::golden_wrong"), "{refused}");
    assert!(refused.stderr.contains("a golden of its own"), "{refused}");
    assert_eq!(place.read(GOLDEN), before);
}

#[test]
fn a_blank_reason_or_name_is_refused() {
    let place = accepted();
    let before = place.read(GOLDEN);
    for blank in [["--reason", "", "--by", "ada"], ["--reason", " \t", "--by", "ada"]] {
        let refused = accept(&place, &blank).exits(2);
        assert!(refused.stderr.contains("blank"), "{refused}");
    }
    accept(&place, &["--reason", "because", "--by", " "]).exits(2);
    assert_eq!(place.read(GOLDEN), before);
}

#[test]
fn the_golden_names_who_accepts_as_stated_else_the_login_name_before_git() {
    let place = accepted();
    let by = |more: &[&str], name: &str| {
        edit(&place, &line(&place, "key "), &format!("key \"{}\"", "0".repeat(64)));
        let mut command = place.command([&["accept", FILE, "--reason", "who"], more].concat());
        for (variable, value) in [("LOGNAME", "ada"), ("USER", "ada"), ("GIT_AUTHOR_NAME", "bot")] {
            command.env(variable, value);
        }
        Ran::of(&mut command).exits(0);
        let line = line(&place, "accepted ");
        assert!(line.contains(&format!("by=\"{name}\"")), "{line}");
    };
    by(&[], "ada");
    by(&["--by", "Ada Lovelace"], "Ada Lovelace");
}

#[test]
fn accepting_shows_what_changes_even_where_the_report_is_the_same() {
    for (word, what) in [("key ", "key"), ("section \"events\"", "sections"), ("report ", "report")]
    {
        let place = accepted();
        let whole = place.read(GOLDEN);
        let old = line(&place, word);
        let digest = old.split('"').nth_back(1).expect("a digest").to_owned();
        edit(&place, &old, &old.replace(&digest, &"0".repeat(64)));
        let shown = accept(&place, &["--reason", "repaired"]).exits(0);
        assert!(shown.stdout.contains(&format!("  {what} ")), "{word}: {shown}");
        assert!(!shown.stdout.contains("equal"), "{word}: {shown}");
        if what != "sections" {
            assert!(!shown.stdout.contains("sections"), "{word}: {shown}");
        }
        let after = place.read(GOLDEN);
        assert_eq!(after.replace("repaired", "first"), whole, "{word}");
    }
}

#[test]
fn accepting_shows_other_figures_and_other_definitions() {
    let place = accepted();
    edit(&place, "\"requests_offered\" \"40\"", "\"requests_offered\" \"41\"");
    edit(
        &place,
        "figure \"duration_ns\"",
        "figure \"made_up\" \"1\"\n        figure \"duration_ns\"",
    );
    let shown = accept(&place, &["--reason", "repaired"]).exits(0);
    assert!(
        shown.stdout.contains("requests_offered") && shown.stdout.contains("made_up"),
        "{shown}"
    );

    edit(&place, "touchstone.metrics/1", "touchstone.metrics/0");
    let text = place.read(GOLDEN).replace("replicas=1\"", "replicas=9\"");
    place.write(GOLDEN, text);
    let shown = accept(&place, &["--reason", "repaired"]).exits(0);
    assert!(shown.stdout.contains("touchstone.metrics/0"), "{shown}");
    assert!(shown.stderr.contains("removed 1"), "a lost job is told: {shown}");
}

#[test]
fn a_golden_that_cannot_be_read_says_how_to_get_rid_of_it() {
    let place = accepted();
    for broken in ["golden \"small\" {", "golden \"small\" {\n}\n"] {
        place.write(GOLDEN, broken);
        let refused = accept(&place, &["--reason", "again"]).exits(2);
        assert!(refused.stderr.contains("delete `pins/goldens/small.kdl`"), "{refused}");
        assert_eq!(place.read(GOLDEN), broken);
    }
}
