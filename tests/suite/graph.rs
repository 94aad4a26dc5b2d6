//! `bench graph`: recordings drawn, and what is refused.

use crate::program::Place;

/// Returns a folder with one recording in two formats.
fn place() -> Place {
    let place = Place::empty();
    place.copy("tests/fixtures/graph", "graph");
    place
}

#[test]
fn a_recording_is_drawn_whichever_format_it_is_in() {
    let place = place();
    let dynamo = place.bench(["graph", "graph/capture.jsonl.gz", "--tree", "root-c"]).exits(0);
    let weka = place.bench(["graph", "graph/weka.jsonl.gz", "--tree", "root-c"]).exits(0);
    assert_eq!(dynamo.stdout, weka.stdout);
    assert!(dynamo.stdout.starts_with("digraph \"root-c\" {\n"), "{dynamo}");
    let mermaid =
        place.bench(["graph", "graph/weka.jsonl.gz", "--tree=root-c", "--format=mermaid"]).exits(0);
    assert!(mermaid.stdout.contains("n1 -.->|\"sent +200 ms\"| n2\n"), "{mermaid}");
    let all = place.bench(["graph", "graph/weka.jsonl.gz", "--format", "json"]).exits(0);
    let value: serde_json::Value = serde_json::from_str(&all.stdout).expect("JSON");
    let graphs = value["graphs"].as_array().expect("a list");
    let nodes: usize =
        graphs.iter().map(|graph| graph["nodes"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!((graphs.len(), nodes), (3, 28));
    assert_eq!(graphs[1]["nodes"][2]["arrival_ns"], 62_000_000_000_u64);
    let kept = place
        .bench([
            "graph",
            "graph/weka.jsonl.gz",
            "--tree=root-b",
            "--format=json",
            "--idle-gap-cap=none",
        ])
        .exits(0);
    assert!(kept.stdout.contains("\"arrival_ns\":202000000000"), "{kept}");
}

#[test]
fn sessions_with_forks_and_spawns_are_drawn() {
    let place = place();
    let words = ["graph", "graph/dag.jsonl.gz", "--input", "dag-jsonl", "--format", "mermaid"];
    let ran = place.bench(words).exits(0);
    assert!(ran.stdout.contains("n3[\"kid-a:1<br>up to 4\"]\n"), "{ran}");
    assert!(ran.stdout.contains("  n0 -->|\"\"| END\n"), "{ran}");
    place.write("bad.jsonl", "{\"session_id\":\"a\",\"turns\":[]}\n");
    let refused = place.bench(["graph", "bad.jsonl", "--input=dag-jsonl"]).exits(2);
    assert!(refused.stderr.contains("graph::input"), "{refused}");
}

#[test]
fn native_graphs_are_drawn_and_never_guessed() {
    let place = place();
    let text = "graph:\n  version: '2.0'\n  state: {t: {type: text}}\n  nodes:\n    a: {output: t}\n    b: {prompt: [{role: user, content: ['@t', '!']}], inputs: [{channel: t}]}\ntraces: [{id: one}, {id: two}]\n";
    place.write("g.yaml", text);
    let words = ["graph", "g.yaml", "--input=native", "--format=json", "--tree=two"];
    let ran = place.bench(words).exits(0);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(value["graphs"][0]["id"], "two");
    let message = &value["graphs"][0]["nodes"][1]["messages"][0];
    assert_eq!(*message, serde_json::json!({"answers_in": ["a"], "role": "user"}));
    let refused = place.bench(["graph", "g.yaml"]).exits(2);
    assert!(refused.stderr.contains("trace::"), "{refused}");
    place.write("bad.yaml", text.replace("output", "outptu"));
    let refused = place.bench(["graph", "bad.yaml", "--input=native"]).exits(2);
    assert!(refused.stderr.contains("bad.yaml:5:9"), "{refused}");
    assert!(refused.stderr.contains("did you mean `output`?"), "{refused}");
}

#[test]
fn the_ceiling_of_a_prefix_cache_is_shown_by_tree_and_over_the_corpus() {
    let place = place();
    let table = |file: &str| {
        let ran = place.bench(["graph", file, "--format", "table"]).exits(0);
        let cells = |line: &str| {
            line.split("  ")
                .filter(|cell| !cell.is_empty())
                .map(|cell| cell.trim().to_owned())
                .collect::<Vec<_>>()
        };
        ran.stdout.lines().map(cells).collect::<Vec<_>>()
    };
    let dynamo = table("graph/capture.jsonl.gz");
    let names: Vec<&str> = dynamo.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, ["graph", "root-a", "root-b", "root-c", "each alone", "one cache"]);
    let sum = |column: usize| {
        dynamo[1..4].iter().map(|row| row[column].parse::<u64>().expect("a number")).sum::<u64>()
    };
    let sums: Vec<String> = (1..6).map(|column| sum(column).to_string()).collect();
    assert_eq!(dynamo[4][1..6], sums);
    assert_eq!(dynamo[4][2], "28");
    // The names of blocks reach as far as the capture does, and no further than a Weka trace.
    let weka = table("graph/weka.jsonl.gz");
    assert_eq!(weka[1..5], dynamo[1..5]);
    assert_eq!(weka[5][1..], weka[4][4..]);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let place = place();
    let unknown = place.bench(["graph", "graph/weka.jsonl.gz", "--tree", "root-d"]).exits(2);
    assert!(unknown.stderr.contains("graph::tree"), "{unknown}");
    assert!(unknown.stderr.contains("did you mean `root-"), "{unknown}");
    place.write("rows.jsonl", "{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n");
    let neither = place.bench(["graph", "rows.jsonl"]).exits(2);
    assert!(neither.stderr.contains("trace::format"), "{neither}");
    place.bench(["graph", "absent.jsonl"]).exits(2);
    place.bench(["graph", "graph/weka.jsonl.gz", "--idle-gap-cap", "60"]).exits(2);
}
