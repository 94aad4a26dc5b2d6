//! `bench store`: built, verified, and what is refused.

use crate::program::Place;

/// Returns a folder with one recording in two formats.
fn place() -> Place {
    let place = Place::empty();
    place.copy("tests/fixtures/graph", "graph");
    place
}

#[test]
fn a_store_is_built_once_and_verified_as_often_as_wanted() {
    let place = place();
    let words = ["store", "build", "graph/capture.jsonl.gz", "--out", "s", "--seed", "7"];
    let built = place.bench(words).exits(0);
    assert!(built.stdout.starts_with("digest "), "{built}");
    assert!(built.stdout.contains("residue_messages    0\n"), "{built}");
    let verified = place.bench(["store", "verify", "s"]).exits(0);
    assert_eq!(verified.stdout.lines().next(), built.stdout.lines().next());
    let again = place.bench(words).exits(2);
    assert!(again.stderr.contains("store::file"), "{again}");
    let json = place.bench(["store", "verify", "s", "--format", "json"]).exits(0);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((&value["trees"], &value["nodes"]), (&3.into(), &28.into()));
}

#[test]
fn sessions_that_somebody_wrote_are_stored_to_the_byte() {
    let place = place();
    let words = ["store", "build", "graph/dag.jsonl.gz", "--input", "dag-jsonl", "--out", "s"];
    let built = place.bench(words).exits(0);
    assert!(built.stdout.contains("synthesised_tokens  0\n"), "{built}");
    place.bench(["store", "verify", "s"]).exits(0);
}

#[test]
fn a_store_that_was_altered_or_is_none_is_refused() {
    let place = place();
    place.bench(["store", "build", "graph/weka.jsonl.gz", "--out", "s"]).exits(0);
    place.write("s/more", "");
    place.bench(["store", "verify", "s"]).exits(0);
    let path = place.path("s/store.json");
    let text = std::fs::read_to_string(&path).expect("a file");
    std::fs::remove_file(&path).expect("a file of ours");
    place.write("s/store.json", text.replacen("\"digest\":\"sha256:", "\"digest\":\"sha256:0", 1));
    let altered = place.bench(["store", "verify", "s"]).exits(2);
    assert!(altered.stderr.contains("store::damaged"), "{altered}");
    let none = place.bench(["store", "verify", "graph"]).exits(2);
    assert!(none.stderr.contains("store::file"), "{none}");
    place.write("t.json", "{}");
    let words = ["store", "build", "graph/weka.jsonl.gz", "--out", "t", "--tokenizer", "t.json"];
    let refused = place.bench(words).exits(2);
    assert!(refused.stderr.contains("graph::tokenizer"), "{refused}");
}
