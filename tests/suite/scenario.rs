//! The commands on scenario files: what they print, what they change, how they exit.

use std::fs;

use touchstone::diag::{Bag, Code, SourceFile};
use touchstone::pin::audit::Rules;
use touchstone::pin::{PinKind, Registry};
use touchstone::scenario::shape::Shape;
use touchstone::scenario::{cursor, syntax, table};

use crate::program::{Place, repository_root};

#[test]
fn fmt_names_what_it_changes_and_check_changes_nothing() {
    let place = Place::project();
    place.write("a.kdl", "a   1 // kept\n\n\n\nb {\n c; }\n");
    place.write("b.kdl", "a 1\n");
    let checked = place.bench(["fmt", "--check", "a.kdl", "b.kdl"]).exits(3);
    assert_eq!(checked.stdout, "a.kdl\n");
    assert!(place.read("a.kdl").starts_with("a   1"));
    let formatted = place.bench(["fmt", "a.kdl", "b.kdl"]).exits(0);
    assert_eq!(formatted.stdout, "a.kdl\n");
    assert_eq!(place.read("a.kdl"), "a 1 // kept\n\nb {\n    c\n}\n");
    place.bench(["fmt", "--check", "a.kdl", "b.kdl"]).exits(0);
}

#[test]
fn fmt_writes_no_file_where_one_is_wrong_and_refuses_what_it_cannot_prove() {
    let place = Place::project();
    place.write("good.kdl", "a   1\n");
    place.write("bad.kdl", "a {\n");
    place.bench(["fmt", "good.kdl", "bad.kdl"]).exits(2);
    assert_eq!(place.read("good.kdl"), "a   1\n");
    place.write("odd.kdl", "a {\n    b\n} /-{\n    c\n}\n");
    let refused = place.bench(["fmt", "odd.kdl"]).exits(2);
    assert!(refused.stderr.contains("kdl::unformattable"), "{refused}");
}

#[test]
fn plan_lists_ids_and_keys_and_the_whole_description_as_json() {
    let place = Place::repository();
    let table = place.bench(["plan", "scenarios/dynamo.kdl"]).exits(0);
    let first = table.stdout.lines().nth(1).expect("a job");
    assert!(first.starts_with("sizing/chat/cached/native/replicas=1"), "{table}");
    let json = place.bench(["plan", "scenarios/dynamo.kdl", "--format", "json"]).exits(0);
    let plan: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(plan["jobs"].as_array().map(Vec::len), Some(13));
    assert_eq!(plan["jobs"][11]["id"], "sizing/steady/uncached/native/replicas=4");
    assert_eq!(plan["jobs"][12]["id"], "wire/agents");
    assert_eq!(plan["jobs"][0]["description"]["seed"], "1234");
}

/// The whole language decodes, also what this build cannot run.
#[test]
fn a_scenario_with_every_node_of_the_language_is_read_without_a_finding() {
    let path = repository_root().join("tests/fixtures/scenarios/valid/every-node.kdl");
    let loaded = touchstone::scenario::load(&path);
    let found: Vec<String> = loaded
        .findings
        .into_sorted()
        .iter()
        .map(|problem| format!("{:?}: {problem}", problem.place()))
        .collect();
    assert_eq!(found, [""; 0]);
    assert!(loaded.scenario.is_some());
    let text = fs::read_to_string(&path).expect("UTF-8");
    let mut open: Vec<&'static Shape> = table::ROOT.all_children().collect();
    while let Some(shape) = open.pop() {
        let is_there =
            |name: &str| text.contains(&format!("{name} ")) || text.contains(&format!("{name}\n"));
        assert!(shape.name == "include" || is_there(shape.name), "{} is missing", shape.name);
        open.extend(shape.all_children());
    }
}

#[test]
fn explain_code_prints_an_entry_and_helps_with_a_slip() {
    let place = Place::empty();
    let entry = place.bench(["explain-code", "kdl::bare_version"]).exits(0);
    assert!(
        entry.stdout.starts_with("kdl::bare_version: A version is written as a number.\n"),
        "{entry}"
    );
    let slip = place.bench(["explain-code", "kdl::bare_versoin"]).exits(2);
    assert!(
        slip.stderr.contains("cli::unknown_code") && slip.stderr.contains("kdl::bare_version"),
        "{slip}"
    );
}

#[test]
fn generated_pages_are_as_the_program_would_write_them() {
    let place = Place::empty();
    let root = repository_root().to_str().expect("UTF-8");
    let ran = place.bench(["--root", root, "docs", "--check"]).exits(0);
    assert_eq!(ran.stdout, "");
}

#[test]
fn all_mistakes_of_a_file_come_in_one_report_in_file_order() {
    let place = Place::project();
    let text = "scenario \"x\" {
    sede 1
    pins
    workload \"w\" {
        synthetic input-tokens=1.5
        load \"poisson\" requests-per-second=1e400
        stop requests=1 requests=2
    }
}
";
    place.write("x.kdl", text);
    let ran = place.bench(["lint", "x.kdl"]).exits(2);
    let is_source = |line: &str| {
        line.contains("`----") || line.trim_start().starts_with(|c: char| c.is_ascii_digit())
    };
    let said: Vec<&str> =
        ran.stderr.lines().filter(|line| !line.trim().is_empty() && !is_source(line)).collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    error[scenario::empty_plan]
      x scenario `x` plans no job: it has no `simulate` and no `replay`
       ,-[x.kdl:1:1]
       : ^^^^^^|^^^^^
       :       `-- no job here
      help: a gate over nothing would always be green
    error[kdl::unknown_node]
      x `scenario` has no node `sede`
       ,-[x.kdl:2:5]
       :     ^^|^
       :       `-- unknown node
      help: did you mean `seed`?
    error[kdl::not_whole]
      x `input-tokens` is a whole number, found `1.5`
       ,-[x.kdl:5:32]
       :                                ^|^
       :                                 `-- this is a decimal
      help: write it without point and exponent
    error[kdl::not_finite]
      x `requests-per-second` is a finite number, but `1e400` would be read as infinity
       ,-[x.kdl:6:44]
       :                                            ^^|^^
       :                                              `-- beyond the range of a 64-bit float
      help: where nothing should be limited, leave it out
    error[kdl::duplicate_property]
      x property `requests` is given twice
       ,-[x.kdl:7:14]
       :              ^^^^|^^^   ^^^^|^^^
       :                  |          `-- given again
       :                  `-- first given here
      help: keep one; KDL itself would let the last one win in silence
    "#);
}

/// Returns the Markdown files of the project: README.md and everything in docs/.
fn pages() -> Vec<(String, String)> {
    let mut paths = vec![repository_root().join("README.md")];
    for entry in fs::read_dir(repository_root().join("docs")).expect("docs/ exists") {
        paths.push(entry.expect("readable").path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    let name = |path: &std::path::Path| path.display().to_string();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).expect("UTF-8"))).collect()
}

/// Returns the shape of this name anywhere in the language.
fn shape_of(name: &str) -> Option<&'static Shape> {
    let mut open: Vec<&'static Shape> = table::ROOT.all_children().collect();
    let mut seen = 0;
    while seen < open.len() {
        let shape = open[seen];
        if shape.name == name {
            return Some(shape);
        }
        open.extend(shape.all_children());
        seen += 1;
    }
    None
}

/// Says what is wrong with a block: a scenario is checked whole, a piece of one by the shape of its name.
fn mistakes(page: &str, text: &str) -> Vec<String> {
    let document = match syntax::parse(&SourceFile::new(page, text)) {
        Ok(document) => document,
        Err(bag) => return bag.into_sorted().iter().map(ToString::to_string).collect(),
    };
    let mut bag = Bag::new();
    let mut unknown = Vec::new();
    let pin = document.nodes.first().and_then(|node| Some((pin_kind(node)?, node.first_text()?)));
    if document.nodes.iter().any(|node| node.name.text == "scenario") {
        cursor::check(&document, &table::ROOT, &mut bag);
    } else if let Some((kind, name)) = pin {
        return mistakes_of_pin(kind, name, text);
    } else if document.nodes.iter().any(|node| node.name.text == "audit") {
        let Err(bag) = Rules::parse(&SourceFile::new(page, text)) else { return Vec::new() };
        return bag.into_sorted().iter().map(ToString::to_string).collect();
    } else {
        for node in &document.nodes {
            match shape_of(&node.name.text) {
                Some(shape) => drop(cursor::check_node(node, shape, &table::ROOT, &mut bag)),
                None => unknown.push(format!("`{}` is no node of the language", node.name.text)),
            }
        }
    }
    unknown.into_iter().chain(bag.into_sorted().iter().map(ToString::to_string)).collect()
}

/// Returns the kind of pin that a block describes: a node of that name which has a block of its own.
fn pin_kind(node: &syntax::Node) -> Option<PinKind> {
    let named = |kind: &&PinKind| kind.name() == node.name.text;
    PinKind::ALL.iter().find(named).copied().filter(|_| !node.children.is_empty())
}

/// Says what is wrong with a pin's file, but for what `bench pin` fills in.
fn mistakes_of_pin(kind: PinKind, name: &str, text: &str) -> Vec<String> {
    let place = Place::project();
    place.write(&kind.file(name), text);
    let registry = Registry::open(&place.path("")).expect("a root");
    let Err(error) = registry.pin(kind, name) else { return Vec::new() };
    let found = Bag::from(error).into_sorted();
    let real = found.iter().filter(|problem| problem.code() != Code::PinIncomplete);
    real.map(ToString::to_string).collect()
}

#[test]
fn every_kdl_block_of_the_documentation_holds_and_those_that_must_fail_do() {
    let mut blocks = 0;
    for (page, text) in pages() {
        let mut rest = text.as_str();
        while let Some(at) = rest.find("```kdl") {
            let (head, body) = rest[at + 3..].split_once('\n').expect("a block has lines");
            let (block, after) = body.split_once("```").expect("a block ends");
            rest = after;
            blocks += 1;
            let found = mistakes(&page, block);
            assert_eq!(!found.is_empty(), head == "kdl,must-fail", "{page}\n{block}\n{found:?}");
        }
    }
    assert!(blocks > 3, "the documentation shows the language");
}

#[test]
fn a_block_with_a_mistake_is_seen_whether_scenario_piece_or_pin() {
    assert_eq!(mistakes("x.md", "nod 1\n"), ["`nod` is no node of the language"]);
    assert_eq!(mistakes("x.md", "stop request=1\n").len(), 1);
    let pin = "trace \"mine\" {\n    format \"mooncake\"\n    shard \"m.jsonl\"\n    UNIT\n    block-size 9\n}\n";
    assert_eq!(mistakes("x.md", &pin.replace("UNIT", "timestamps unit=\"ms\"")), [""; 0]);
    assert_eq!(mistakes("x.md", &pin.replace("UNIT", "")).len(), 1);
}

#[test]
fn a_scenario_and_a_golden_that_are_no_text_say_where() {
    let place = Place::repository();
    fs::write(place.path("x.kdl"), b"scenario \"x\" {\n  \xff\n}\n").expect("writable");
    for command in [["lint", "x.kdl"], ["fmt", "x.kdl"], ["predict", "-c=x.kdl"]] {
        let ran = place.bench(command).exits(2);
        assert!(ran.stderr.contains("byte 0xff is no UTF-8"), "{ran}");
        assert!(ran.stderr.contains("x.kdl:2:3"), "{ran}");
    }
    fs::write(place.path("pins/goldens/smoke.kdl"), b"golden \xfe\n").expect("writable");
    let ran = place.bench(["check", "scenarios/smoke.kdl"]).exits(2);
    assert!(ran.stderr.contains("pins/goldens/smoke.kdl:1:8"), "{ran}");
}
