use std::collections::BTreeSet;

use crate::digest::Sha256;
use crate::pin::{PinKind, Registry};

use super::{project, with_files};

fn text_of(kind: PinKind, name: &str) -> String {
    std::fs::read_to_string(project().join(kind.file(name))).expect("pinned")
}

fn digest(kind: PinKind, text: &str) -> Sha256 {
    let path = kind.file("p").replacen("pins/", "", 1);
    let (_folder, registry) = with_files(&[(&path, text.as_bytes())]);
    registry.pin(kind, "p").unwrap_or_else(|error| panic!("{text}: {error:?}")).digest()
}

/// Checks that each edit of a pin, which is renamed to `p`, gives another digest, and that no two agree.
fn assert_all_differ(kind: PinKind, name: &str, edits: &[(&str, &str)]) {
    let text = text_of(kind, name)
        .replace(&format!("{} \"{name}\"", kind.name()), &format!("{} \"p\"", kind.name()));
    let mut digests = BTreeSet::from([digest(kind, &text)]);
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        assert!(digests.insert(digest(kind, &text.replace(from, to))), "{from} -> {to}");
    }
}

#[test]
fn what_people_read_and_where_files_lie_stays_out_of_a_digest() {
    let registry = Registry::open(&project()).expect("the project");
    let pinned = registry.trace("mooncake-tiny").expect("pinned").digest();
    let text = text_of(PinKind::Trace, "mooncake-tiny");
    let moved = text.replace("mooncake-tiny", "p").replace("p.jsonl.gz", "elsewhere.jsonl.gz");
    assert_eq!(digest(PinKind::Trace, &moved), pinned);
    let lines = moved.lines().filter(|line| {
        !line.trim_start().starts_with("about") && !line.trim_start().starts_with("origin")
    });
    let bare = lines.fold(String::new(), |text, line| text + "// a comment\n" + line + "\n");
    assert_eq!(digest(PinKind::Trace, &bare), pinned);
    let defaults = bare.replace("trace \"p\"", "trace \"p\" sort=#false lenient=#false");
    assert_eq!(
        digest(
            PinKind::Trace,
            &defaults.replace("    requests", "    hashes \"ids\"\n    requests")
        ),
        pinned
    );
}

#[test]
fn every_field_of_a_trace_pin_that_can_change_a_number_changes_its_digest() {
    let edits = [
        ("block-size 512", "block-size 256"),
        ("unit=\"ms\"", "unit=\"s\""),
        ("bytes=794", "bytes=795"),
        ("requests 16", "requests 17"),
        ("{\n", " sort=#true {\n"),
        ("{\n", " lenient=#true {\n"),
        ("block-size 512", "hashes \"none\""),
        ("content-sha256=\"a", "content-sha256=\"b"),
        (
            " sha256=\"",
            " sha256=\"0000000000000000000000000000000000000000000000000000000000000000\" bytes=794 content-sha256=\"a3f74a57f7bfd98301eb0eb57f4b5ac04fc5eea400d901d77edd8c1fcb3b737b\"\n    shard \"b\" sha256=\"",
        ),
    ];
    assert_all_differ(PinKind::Trace, "mooncake-tiny", &edits);
}

#[test]
fn every_field_of_a_hardware_pin_changes_its_digest() {
    let edits = [
        ("bytes=151397597184", "bytes=151397597185"),
        ("gb-per-second=4800", "gb-per-second=4800.5"),
        ("\"bf16\" dense-tflops=989.5", "\"bf16\" dense-tflops=989.4"),
        ("\"bf16\"", "\"fp4\""),
        ("each-way=450", "each-way=451"),
        ("interconnect \"nvlink\"", "interconnect \"pcie\""),
    ];
    assert_all_differ(PinKind::Hardware, "h200_sxm", &edits);
}

#[test]
fn every_field_of_a_model_pin_changes_its_digest() {
    let edits = [
        ("repository \"deepseek-ai", "repository \"else"),
        ("layers 61", "layers 60"),
        ("heads=128", "heads=64"),
        ("kv-lora-rank=512", "kv-lora-rank=513"),
        ("q-lora-rank=1536", "q-lora-rank=1537"),
        ("rope-head-size=64", "rope-head-size=65"),
        ("nope-head-size=128", "nope-head-size=129"),
        ("value-head-size=128", "value-head-size=129"),
        ("hidden 7168", "hidden 7169"),
        ("intermediate=18432", "intermediate=18433"),
        ("count=256", "count=255"),
        ("active=8", "active=7"),
        ("intermediate=2048", "intermediate=2049"),
        ("shared=1", "shared=2"),
        ("dense-layers=3", "dense-layers=4"),
        ("vocabulary 129280", "vocabulary 129281"),
        ("weights=\"fp8\"", "weights=\"bf16\""),
        ("kv=\"bf16\"", "kv=\"fp8\""),
        ("context-limit 163840", "context-limit 163841"),
    ];
    assert_all_differ(PinKind::Model, "deepseek-v3", &edits);
    let grouped =
        [("kv-heads=8", "kv-heads=4"), ("head-size=128", "head-size=64"), ("heads=32", "heads=64")];
    assert_all_differ(PinKind::Model, "llama-3.1-8b", &grouped);
}

#[test]
fn version_checksum_and_reference_of_an_engine_change_its_digest() {
    let edits = [
        ("version \"1\"", "version \"2\""),
        ("version \"1\"", "version \"1\" checksum=\"ab\""),
        ("reference \"0.13.0-dev.87\"", "reference \"0.13.0\""),
    ];
    assert_all_differ(PinKind::Engine, "native", &edits);
}
