//! `bench lint` on a file for every mistake: which code, and exactly where.
//!
//! Each fixture says what it expects in comments: `// expects: CODE LINE:COLUMN`, one for each finding, in order. Placeholders such as
//! `@model@` stand for the digests of this repository's pins.

use std::fs;

use touchstone::diag::Code;
use touchstone::pin::{PinKind, Registry};

use crate::program::{Place, repository_root};

/// Codes of KDL files and scenarios that no scenario can provoke through `lint`; unit tests of `format`, `edit`, `load` and `plan` do.
const NOT_BY_LINT: &[Code] =
    &[Code::KdlUnformattable, Code::KdlWrite, Code::ScenarioRoot, Code::ScenarioIncludeOutside];

/// Returns the fixtures: the code that names each file, and its text.
fn fixtures() -> Vec<(String, String)> {
    let folder = repository_root().join("tests/fixtures/scenarios/invalid");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("the fixtures are a folder") {
        let path = entry.expect("readable").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("ASCII").to_owned();
        all.push((name, fs::read_to_string(&path).expect("UTF-8")));
    }
    all.sort();
    all
}

/// Returns a text with the digests of this repository's pins.
fn with_digests(text: &str) -> String {
    let registry = Registry::open(repository_root()).expect("the repository has pins");
    let digest = |kind, name| registry.pin(kind, name).expect("pinned").digest().hex();
    text.replace("@hardware@", &digest(PinKind::Hardware, "h200_sxm"))
        .replace("@trace@", &digest(PinKind::Trace, "mooncake-tiny"))
        .replace("@l40s@", &digest(PinKind::Hardware, "l40s"))
        .replace("@model@", &digest(PinKind::Model, "llama-3.1-8b"))
}

/// Returns what a fixture expects: lines `CODE LINE:COLUMN`.
fn expected(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("// expects: ")).map(str::to_owned).collect()
}

/// Returns what a plain rendering reports: lines `CODE LINE:COLUMN`.
fn found(stderr: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut code = None;
    for line in stderr.lines() {
        let head = line.strip_prefix("error[").or_else(|| line.strip_prefix("warning["));
        if let Some((named, _)) = head.and_then(|head| head.split_once(']')) {
            code = Some(named.to_owned());
        } else if let (Some(named), Some((_, place))) = (&code, line.split_once(",-[")) {
            let mut parts = place.trim_end_matches(']').rsplit(':');
            let column = parts.next().unwrap_or_default();
            all.push(format!("{named} {}:{column}", parts.next().unwrap_or_default()));
            code = None;
        }
    }
    all
}

#[test]
fn every_fixture_provokes_its_code_at_its_place() {
    let place = Place::repository();
    for (name, text) in fixtures() {
        let file = format!("fixtures/{name}.kdl");
        place.write(&file, with_digests(&text));
        let ran = place.bench(["lint", &file]);
        assert_eq!(found(&ran.stderr), expected(&text), "{name}\n{ran}");
        assert!(
            expected(&text).iter().any(|line| line.starts_with(&name.replace("__", "::"))),
            "{name}"
        );
        let is_warning = name
            .replace("__", "::")
            .parse::<Code>()
            .is_ok_and(|code| code.severity() == touchstone::diag::Severity::Warning);
        assert_eq!(ran.code, Some(if is_warning { 0 } else { 2 }), "{name}\n{ran}");
        assert_eq!(ran.stdout, "", "{name}: findings go to stderr");
    }
}

#[test]
fn every_code_of_a_scenario_has_a_fixture() {
    let names: Vec<String> =
        fixtures().into_iter().map(|(name, _)| name.replace("__", "::")).collect();
    for code in Code::ALL {
        let text = code.as_str();
        let is_ours = text.starts_with("kdl::") || text.starts_with("scenario::");
        assert!(
            !is_ours || NOT_BY_LINT.contains(code) || names.iter().any(|name| name == text),
            "{text}"
        );
    }
    for name in names {
        assert!(name.parse::<Code>().is_ok(), "`{name}` is no code");
    }
}

#[test]
fn a_scenario_outside_of_any_project_says_how_to_name_the_root() {
    let place = Place::empty();
    place.write("x.kdl", "scenario \"x\" {\n    pins {\n    }\n}\n");
    let ran = place.bench(["lint", "x.kdl"]).exits(2);
    assert!(ran.stderr.contains("scenario::root") && ran.stderr.contains("--root DIR"), "{ran}");
}

#[test]
fn a_pinned_file_that_is_absent_cut_or_changed_is_found_without_a_run_and_beside_other_mistakes() {
    let place = Place::repository();
    let scenario = place.read("scenarios/smoke.kdl").replace("backend \"vllm\"", "backend \"vlm\"");
    place.write("scenarios/wrong.kdl", scenario);
    let file = place.path("pins/traces/mooncake-tiny.jsonl.gz");
    let bytes = fs::read(&file).expect("pinned");
    let mut changed = bytes.clone();
    changed[100] ^= 1;
    for (content, code) in [(&bytes[..700], "pin::size"), (&changed, "pin::digest")] {
        fs::write(&file, content).expect("written");
        let ran = place.bench(["lint", "scenarios/smoke.kdl"]).exits(2);
        assert!(ran.stderr.contains(code) && ran.stderr.contains("1 error"), "{ran}");
        assert!(ran.stderr.contains("[pins/traces/mooncake-tiny.kdl:"), "{ran}");
        let ran = place.bench(["lint", "scenarios/wrong.kdl"]).exits(2);
        assert!(ran.stderr.contains(code) && ran.stderr.contains("kdl::unknown_value"), "{ran}");
    }
    fs::remove_file(&file).expect("removed");
    let ran = place.bench(["lint", "scenarios/smoke.kdl"]).exits(2);
    assert!(ran.stderr.contains("pin::file") && ran.stderr.contains("restore the file"), "{ran}");
}

#[test]
fn a_digest_that_stands_as_an_argument_is_shown_as_the_property_it_is() {
    let place = Place::repository();
    let good = place.read("scenarios/smoke.kdl");
    for bare in ["sha256:", "\"sha256:"] {
        let text = good.replace("llama-3.1-8b\" sha256=\"", &format!("llama-3.1-8b\" {bare}"));
        let (before, after) = text.split_once(bare).expect("a pin");
        let after =
            if bare.starts_with('"') { after.to_owned() } else { after.replacen('"', "", 1) };
        place.write("scenarios/bare.kdl", format!("{before}{bare}{after}"));
        let ran = place.bench(["lint", "scenarios/bare.kdl"]).exits(2);
        let help = format!("help: write `sha256=\"{}\"`", &after[..64]);
        assert!(
            ran.stderr.contains("kdl::surplus_argument") && ran.stderr.contains(&help),
            "{ran}"
        );
    }
}

#[test]
fn a_node_of_the_scenario_itself_is_sent_there_from_an_included_file() {
    let place = Place::repository();
    let good = place.read("scenarios/smoke.kdl");
    place.write(
        "scenarios/in.kdl",
        good.replace("    seed 1\n", "    seed 1\n    include \"part.kdl\"\n"),
    );
    place.write("scenarios/part.kdl", "pins {\n}\nscenario \"y\" {\n}\npinz\n");
    let ran = place.bench(["lint", "scenarios/in.kdl"]).exits(2);
    let found: Vec<String> = found(&ran.stderr);
    assert_eq!(
        found,
        ["kdl::misplaced_node 1:1", "kdl::misplaced_node 3:1", "kdl::unknown_node 5:1"],
        "{ran}"
    );
    assert!(ran.stderr.contains("it belongs into the file that includes this one"), "{ran}");
}

#[test]
fn the_scenarios_of_this_repository_are_without_findings() {
    let place = Place::repository();
    for file in [
        "scenarios/smoke.kdl",
        "scenarios/dynamo.kdl",
        "scenarios/llama-h200.kdl",
        "scenarios/mooncake-conversation.kdl",
        "scenarios/prefill-decode.kdl",
        "scenarios/session-routing.kdl",
    ] {
        let ran = place.bench(["lint", file]).exits(0);
        assert!(!ran.stderr.contains("warning["), "{ran}");
    }
}
