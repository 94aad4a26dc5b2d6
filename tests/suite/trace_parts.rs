//! `bench trace head`, `split` and `sample`: parts of a trace that are traces of their own.

use std::fs;

use crate::program::{Place, Ran};

/// Returns rows of Mooncake: their sessions, and their places as their times in seconds.
fn rows(sessions: &[&str]) -> String {
    let row = |(at, session): (usize, &&str)| {
        format!(
            "{{\"timestamp\":{},\"input_length\":4,\"output_length\":1,\"hash_ids\":[{at}],\"session_id\":\"{session}\",\"new\" : {at}}}\n",
            at * 1000
        )
    };
    sessions.iter().enumerate().map(row).collect()
}

/// Two traces, of which one has a sub-agent.
const WEKA: &str = r#"{"id":"a","block_size":64,"hash_id_scope":"local","requests":[{"type":"n","t":0,"model":"m","in":64,"out":8,"hash_ids":[1]},{"type":"subagent","t":1,"agent_id":"x","subagent_type":"t","status":"completed","requests":[{"type":"n","t":1,"model":"m","in":64,"out":8,"hash_ids":[1]}]}]}
{"id":"b","block_size":64,"hash_id_scope":"local","requests":[{"type":"n","t":0,"model":"m","in":64,"out":8,"hash_ids":[1]}]}
"#;

/// Returns what a run printed: one list of counts a file.
fn files(ran: &Ran) -> Vec<serde_json::Value> {
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    value["files"].as_array().expect("a list").clone()
}

#[test]
fn the_head_of_a_trace_goes_to_stdout_as_its_files_write_it() {
    let place = Place::empty();
    let text = rows(&["a", "b", "a", "c"]);
    place.write("t.jsonl", &text);
    let head = |cut: [&str; 2]| place.bench(["trace", "head", "t.jsonl"].into_iter().chain(cut));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ran = head(["--rows", "3"]).exits(0);
    assert_eq!(ran.stdout, lines[..3].concat());
    assert!(ran.stderr.contains("3 records, 3 requests, 2 trees"), "{ran}");
    assert_eq!(head(["--trees", "1"]).exits(0).stdout, [lines[0], lines[2]].concat());
    assert_eq!(head(["--within", "1s"]).exits(0).stdout, [lines[0], lines[2]].concat());
    assert_eq!(head(["--within", "1500ms"]).exits(0).stdout, lines[..3].concat());
    for (option, wrong) in [
        ("--within", "0s"),
        ("--within", "5"),
        ("--within", "NaNs"),
        ("--within", "infs"),
        ("--within", "1d"),
        ("--rows", "0"),
        ("--trees", "0"),
    ] {
        let ran = head([option, wrong]).exits(2);
        assert!(ran.stdout.is_empty() && ran.stderr.contains(wrong), "{option} {wrong}: {ran}");
    }
    assert!(head(["--within", "0s"]).stderr.contains("a number above 0 and its unit"));
    assert_eq!(place.bench(["trace", "head", "t.jsonl"]).code, Some(2), "nothing says how much");
    let both = ["trace", "head", "t.jsonl", "--rows", "1", "--trees", "1"];
    assert_eq!(place.bench(both).code, Some(2));
    let ignored = ["trace", "head", "t.jsonl", "--rows", "1", "--format", "json"];
    assert_eq!(place.bench(ignored).code, Some(2), "nothing is printed that could be JSON");
}

#[test]
fn what_is_written_is_packed_by_its_name_and_told_with_its_digest() {
    let place = Place::empty();
    place.write("t.jsonl", rows(&["a", "b", "a", "c"]));
    let mut stats = Vec::new();
    for name in ["h.jsonl", "h.jsonl.gz", "h.jsonl.zst"] {
        let words = ["trace", "head", "t.jsonl", "--trees", "2", "--format", "json", "--output"];
        let ran = place.bench(words.into_iter().chain([name])).exits(0);
        let told = &files(&ran)[0];
        let bytes = fs::read(place.path(name)).expect("written");
        assert_eq!(told["bytes"], bytes.len());
        assert_eq!((&told["trees"], &told["records"]), (&2.into(), &3.into()));
        let ran = place.bench(["trace", "stats", name, "--block-size", "4"]).exits(0);
        stats.push(ran.stdout.split_whitespace().skip(2).collect::<Vec<_>>().join(" "));
        let again = place.bench(words.into_iter().chain([name])).exits(0);
        assert_eq!(files(&again)[0], *told, "the same bytes again");
    }
    assert!(stats.iter().all(|one| *one == stats[0]), "{stats:?}");
}

#[test]
fn parts_hold_whole_trees_and_are_found_by_the_start_of_their_names() {
    let place = Place::empty();
    let sessions: Vec<String> = (0..450).map(|at| format!("s{}", at % 225)).collect();
    let sessions: Vec<&str> = sessions.iter().map(String::as_str).collect();
    place.write("t.jsonl", rows(&sessions));
    place.write("p/notes.txt", "");
    let split = |rest: [&str; 4]| {
        let words = ["trace", "split", "t.jsonl", "--format", "json"];
        place.bench(words.into_iter().chain(rest))
    };
    let ran = split(["--trees", "1", "--output", "p/one.jsonl.gz"]).exits(0);
    let told = files(&ran);
    assert_eq!(told.len(), 225);
    assert_eq!(told[224]["file"], "p/one.000224.jsonl.gz");
    assert!(told.iter().all(|file| file["trees"] == 1 && file["records"] == 2), "{ran}");
    let ran = split(["--parts", "4", "--output", "p/four"]).exits(0);
    let trees: Vec<u64> = files(&ran).iter().filter_map(|file| file["trees"].as_u64()).collect();
    assert_eq!(trees, [57, 56, 56, 56]);
    for start in ["p/one", "p/one.jsonl.gz", "p/four"] {
        let words =
            ["trace", "validate", start, "--block-size", "4", "--format", "json", "--lenient"];
        let ran = place.bench(words).exits(0);
        let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(value["counts"]["requests"], 450, "{start}: {ran}");
        assert_eq!(value["counts"]["sessions"], 225, "{start}: {ran}");
    }
    let ran = split(["--parts", "2", "--output", "p/four"]).exits(2);
    assert!(ran.stderr.contains("`p/four.000000.jsonl` is there already"), "{ran}");
    let ran = split(["--parts", "226", "--output", "p/many"]).exits(2);
    assert!(ran.stderr.contains("225 trees do not make 226 parts"), "{ran}");
    let ran = split(["--parts", "2", "--output", "p/two.csv"]).exits(2);
    assert!(ran.stderr.contains("end in `.jsonl`"), "{ran}");
    let ran = split(["--parts", "2", "--output", "absent/two"]).exits(2);
    assert!(ran.stderr.contains("there is no folder `absent`"), "{ran}");
    assert_eq!(fs::read_dir(place.path("p")).expect("a folder").count(), 1 + 225 + 4);
}

#[cfg(unix)]
#[test]
fn a_link_that_is_named_as_a_part_is_kept_and_what_it_leads_to_too() {
    let place = Place::empty();
    let text = rows(&["a", "b"]);
    place.write("in.jsonl", &text);
    let split = ["trace", "split", "in.jsonl", "--parts", "2", "--output", "p.jsonl"];
    for (name, to) in [
        ("p.000000.jsonl", "in.jsonl"),
        ("p.000007.jsonl", "in.jsonl"),
        ("p.000001.jsonl", "gone.jsonl"),
    ] {
        std::os::unix::fs::symlink(place.path(to), place.path(name)).expect("a link");
        let ran = place.bench(split).exits(2);
        assert!(ran.stderr.contains(&format!("`{name}` is a link")), "{ran}");
        assert!(ran.stderr.contains("write to another place, or remove it"), "{ran}");
        let ran = place.bench(["trace", "stats", "p"]).exits(2);
        assert!(ran.stderr.contains("is a link"), "not looked for among pins: {ran}");
        fs::remove_file(place.path(name)).expect("a link");
        assert_eq!(place.read("in.jsonl"), text);
        assert_eq!(fs::read_dir(place.path(".")).expect("a folder").count(), 1, "{name}");
    }
    drop(place.bench(split).exits(0));
}

#[test]
fn a_sample_is_the_same_for_a_seed_and_another_for_another() {
    let place = Place::empty();
    let sessions: Vec<String> = (0..80).map(|at| format!("s{}", at % 40)).collect();
    let sessions: Vec<&str> = sessions.iter().map(String::as_str).collect();
    place.write("t.jsonl", rows(&sessions));
    let sample = |trees: &str, seed: &str| {
        let words = ["trace", "sample", "t.jsonl", "--trees", trees, "--seed", seed];
        place.bench(words).exits(0).stdout
    };
    let (ten, other) = (sample("10", "7"), sample("10", "8"));
    assert_eq!(ten, sample("10", "7"));
    assert_ne!(ten, other);
    assert_eq!((ten.lines().count(), other.lines().count()), (20, 20), "both rows of a session");
    let more = sample("11", "7");
    assert!(ten.lines().all(|line| more.lines().any(|other| other == line)), "{more}");
    assert_eq!(sample("40", "7"), place.read("t.jsonl"));
    let ran = place.bench(["trace", "sample", "t.jsonl", "--trees", "41"]).exits(2);
    assert!(ran.stderr.contains("more than the 40 that there are"), "{ran}");
}

#[test]
fn parts_of_recordings_are_recordings() {
    let place = Place::empty();
    place.write("w/one.jsonl", WEKA);
    let ran = place.bench(["trace", "head", "w", "--rows", "1"]).exits(2);
    assert!(ran.stderr.contains("each of its records is a tree"), "{ran}");
    let ran = place.bench(["trace", "head", "w", "--within", "1s"]).exits(2);
    assert!(ran.stderr.contains("have no clock in common"), "{ran}");
    let head = ["trace", "head", "w", "--trees", "1", "--output"];
    let ran = place.bench(head.into_iter().chain(["h.json"])).exits(2);
    assert!(ran.stderr.contains("let its name end in `.jsonl`"), "{ran}");
    let ran = place.bench(head.into_iter().chain(["w/../w/one.jsonl"])).exits(2);
    assert!(ran.stderr.contains("is the input"), "{ran}");
    assert_eq!(place.read("w/one.jsonl"), WEKA);
    let ran = place.bench(head.into_iter().chain(["h.jsonl"])).exits(0);
    assert!(ran.stdout.starts_with("file     trees  requests  records  bytes  sha256"), "{ran}");
    assert_eq!(place.read("h.jsonl"), WEKA.lines().next().expect("a line").to_owned() + "\n");
    drop(
        place
            .bench(["trace", "convert", "w", "--to", "agentic-mooncake", "--output", "p.jsonl"])
            .exits(0),
    );
    let words =
        ["trace", "sample", "p.jsonl", "--trees", "1", "--seed", "3", "--output", "s.jsonl.zst"];
    drop(place.bench(words).exits(0));
    let ran = place.bench(["trace", "validate", "s.jsonl.zst"]).exits(0);
    assert!(ran.stdout.starts_with("format    agentic-mooncake\n"), "{ran}");
}

#[test]
fn a_part_that_reads_its_nested_times_otherwise_than_the_whole_is_warned_of() {
    let place = Place::empty();
    let late = WEKA.replace("\"a\"", "\"c\"").replace("\"t\":1,\"agent", "\"t\":9,\"agent");
    let late = late.lines().next().expect("a line").to_owned() + "\n";
    place.write("t.jsonl", WEKA.to_owned() + &late);
    let split = ["trace", "split", "t.jsonl", "--parts", "3", "--output", "p"];
    let ran = place.bench(split).exits(0);
    assert!(
        ran.stderr.contains("trace::basis") && ran.stderr.contains("`p.000000.jsonl`"),
        "{ran}"
    );
    assert!(ran.stderr.contains("nested-timestamp-basis \"relative\""), "{ran}");
    let ran = place.bench(["trace", "head", "t.jsonl", "--trees", "3"]).exits(0);
    assert!(!ran.stderr.contains("trace::basis"), "{ran}");
    let ran = place.bench(["trace", "head", "t.jsonl", "--trees", "2"]).exits(0);
    assert!(ran.stderr.contains("`-`: times below sub-agents"), "{ran}");
}

#[test]
fn tables_keep_their_header_in_every_part() {
    let place = Place::empty();
    place.write("t.csv", "t,i,o\n0.5,8,4\n1.25,9,5\n2,9,5\n");
    let named = [
        "--trace-format",
        "csv",
        "--column",
        "input=i",
        "--column",
        "output=o",
        "--column",
        "timestamp=t",
    ];
    let head = ["trace", "head", "t.csv", "--within", "1s"].into_iter().chain(named);
    assert_eq!(place.bench(head).exits(0).stdout, "t,i,o\n0.5,8,4\n1.25,9,5\n");
    let split =
        ["trace", "split", "t.csv", "--parts", "3", "--output", "p"].into_iter().chain(named);
    drop(place.bench(split).exits(0));
    assert_eq!(place.read("p.000001.csv"), "t,i,o\n1.25,9,5\n");
}
