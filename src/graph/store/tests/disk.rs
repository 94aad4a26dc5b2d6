//! Stores in folders: written, opened, verified, and what is refused.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::diag::Code;
use crate::digest::Sha256;
use crate::graph::content::tests::{builtin, four_letters, word_file};
use crate::graph::content::{Synthesis, Tokenizer};
use crate::graph::store::{Recording, Store, StoreFolder};
use crate::graph::tests::support::{dynamo, fixture, graphs, weka};
use crate::graph::{IdleGapCap, LowerOptions, NodeIndex};
use crate::trace::{RecordedOptions, RecordedSource, TraceInput};

use super::prompt;

/// Builds a store of the recorded fixture in a folder.
fn built(folder: &Path) -> Store {
    let graphs = graphs(&dynamo(&fixture("capture.jsonl.gz")), IdleGapCap::DEFAULT);
    Store::build(&graphs, &builtin(1234), folder).expect("a store")
}

#[test]
fn case_37_a_store_on_disk_is_the_store_in_memory_and_its_sidecar_holds_no_text() {
    let root = tempfile::tempdir().expect("a folder");
    let graphs = graphs(&dynamo(&fixture("capture.jsonl.gz")), IdleGapCap::DEFAULT);
    let memory = Store::of(&graphs, &builtin(1234));
    let disk = built(&root.path().join("one"));
    let again = built(&root.path().join("two"));
    assert_eq!((disk.digest(), again.digest()), (memory.digest(), memory.digest()));
    assert_eq!(disk.info(), memory.info());
    for tree in 0..memory.tree_count() {
        assert_eq!(disk.graph(tree), memory.graph(tree));
        for node in (0..memory.node_count(tree)).map(NodeIndex) {
            assert_eq!(disk.program(tree, node), memory.program(tree, node));
        }
    }
    let read =
        |store: &str, name: &str| fs::read(root.path().join(store).join(name)).expect("a file");
    let parts = ["segments.bin", "segments.idx", "programs.bin", "topology.bin", "trees.idx"];
    for name in ["store.json", "store.sha256"].into_iter().chain(parts) {
        assert_eq!(read("one", name), read("two", name), "{name}");
    }
    let text = prompt(&memory, 0, 0);
    let sidecar = read("one", "topology.bin");
    assert!(!sidecar.windows(20).any(|part| part == &text.as_bytes()[..20]));
    // What becomes of prompts after the store is made does not matter to it, and a store is never written over.
    let refused = Store::build(&graphs, &builtin(1), &root.path().join("one")).expect_err("there");
    assert_eq!(refused.code(), Code::StoreFile);
    let left: Vec<_> = fs::read_dir(root.path()).expect("a folder").collect();
    assert_eq!(left.len(), 2, "nothing is left beside");
}

/// Builds a store of a fixture in one pass, with so many threads.
fn in_one_pass(folder: &Path, name: &str, source: RecordedSource, threads: usize) -> Store {
    let synthesis = builtin(1234);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let lower = LowerOptions { idle_gap_cap: IdleGapCap::DEFAULT };
    let recording = Recording { source, options: RecordedOptions::strict(), lower };
    let input = [TraceInput::bytes("a.jsonl", fixture(name))];
    pool.install(|| {
        let mut store = StoreFolder::create(folder, &synthesis).expect("a folder");
        store.add_recording(&input, recording, &synthesis).expect("a right recording");
        store.finish().expect("a store");
    });
    Store::open(folder).expect("a store")
}

#[test]
fn case_37_one_pass_over_a_recording_is_the_same_store_with_one_thread_and_with_four() {
    let sources =
        [("capture.jsonl.gz", RecordedSource::Dynamo), ("weka.jsonl.gz", RecordedSource::Weka)];
    for (name, source) in sources {
        let root = tempfile::tempdir().expect("a folder");
        let trees = match source {
            RecordedSource::Dynamo => dynamo(&fixture(name)),
            RecordedSource::Weka => weka(&fixture(name)),
        };
        let eager = Store::of(&graphs(&trees, IdleGapCap::DEFAULT), &builtin(1234));
        for threads in [1, 4] {
            let folder = root.path().join(threads.to_string());
            let store = in_one_pass(&folder, name, source, threads);
            assert_eq!(store.digest(), eager.digest(), "{name} with {threads} threads");
        }
    }
}

#[test]
fn a_store_is_verified_to_the_token_and_only_with_its_own_tokenizer() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("store");
    let store = built(&folder);
    let verified = store.verify(&folder, Some(&builtin(1234))).expect("as it was written");
    let encoded = verified.encoded.expect("with the tokenizer");
    assert_eq!((encoded.residue_messages, encoded.nodes), (0, store.info().counts.nodes));
    assert!(encoded.messages > 20, "{encoded:?}");
    assert_eq!(verified.segments, store.info().segments);
    assert_eq!(store.verify(&folder, None).expect("without").encoded, None);
    let file = word_file(&four_letters(700));
    let file = Tokenizer::from_json("t.json", &file).expect("a tokenizer");
    let other = Synthesis::new(1234, Arc::new(file)).expect("words");
    let refused = store.verify(&folder, Some(&other)).expect_err("another tokenizer");
    assert_eq!(refused.code(), Code::StoreDamaged);
    // Under a tokenizer of a file every message is encoded as it is when the store is made.
    let graphs = graphs(&dynamo(&fixture("capture.jsonl.gz")), IdleGapCap::DEFAULT);
    let store = Store::of(&graphs, &other);
    assert_eq!(store.info().counts.residue_messages, 0);
    assert_ne!(store.digest(), Store::of(&graphs, &builtin(1234)).digest());
}

/// Returns what opening a store says after `change` was done to one of its files.
fn after(name: &str, change: impl Fn(&mut Vec<u8>)) -> String {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("store");
    built(&folder);
    let path = folder.join(name);
    let mut bytes = fs::read(&path).expect("a file");
    change(&mut bytes);
    fs::remove_file(&path).expect("a file of ours");
    fs::write(&path, bytes).expect("a file");
    let problem = Store::open(&folder).expect_err("damaged");
    assert_eq!(problem.code(), Code::StoreDamaged, "{name}: {problem}");
    problem.message().to_owned()
}

#[test]
fn a_store_that_was_cut_or_altered_is_not_opened() {
    for name in ["segments.bin", "segments.idx", "programs.bin", "topology.bin", "trees.idx"] {
        let cut = after(name, |bytes| bytes.truncate(bytes.len() - 1));
        assert!(cut.contains(name) && cut.contains("bytes, not"), "{cut}");
        let altered = after(name, |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        });
        assert!(altered.contains(name) && altered.contains("sha256:"), "{altered}");
    }
    for name in ["store.json", "store.sha256"] {
        for place in [0, 10, 40] {
            after(name, |bytes| bytes.truncate(place));
            after(name, |bytes| bytes[place] ^= 1);
        }
    }
    // A count changes no form, and a program that believed it would say another residue than was proven.
    let other = |from: &'static str, to: &'static str| {
        move |bytes: &mut Vec<u8>| {
            let text = String::from_utf8_lossy(bytes);
            assert!(text.contains(from), "{text}");
            *bytes = text.replace(from, to).into_bytes();
        }
    };
    let residue = other("\"residue_messages\":0", "\"residue_messages\":1");
    assert!(after("store.json", residue).contains("store.sha256"));
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("store");
    built(&folder);
    fs::remove_file(folder.join("programs.bin")).expect("a file of ours");
    assert_eq!(Store::open(&folder).expect_err("gone").code(), Code::StoreDamaged);
    assert_eq!(Store::open(root.path()).expect_err("no store").code(), Code::StoreFile);
}

#[test]
fn a_manifest_that_was_written_anew_is_held_against_the_files() {
    let anew = |from: &str, to: &str| {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("store");
        built(&folder);
        let text = fs::read_to_string(folder.join("store.json")).expect("a file");
        assert!(text.contains(from), "{text}");
        let text = text.replacen(from, to, 1);
        let sum = super::super::manifest::sum(text.as_bytes());
        for (name, text) in [("store.json", &text), ("store.sha256", &sum)] {
            fs::remove_file(folder.join(name)).expect("a file of ours");
            fs::write(folder.join(name), text).expect("a file");
        }
        let problem = Store::open(&folder).expect_err("damaged");
        assert_eq!(problem.code(), Code::StoreDamaged, "{problem}");
        problem.message().to_owned()
    };
    assert!(anew("store/1", "store/2").contains("touchstone.store/2"));
    assert!(anew("\"trees\":3", "\"trees\":4").contains("trees"));
    assert!(anew("\"segments\":", "\"segments\":1").contains("segments"));
    assert!(anew("\"schema\":", "\"scheme\":").contains("scheme"));
    assert!(anew("segments.idx", "segments.bin").contains("segments.idx"));
}

#[test]
fn the_digest_of_a_store_is_that_of_its_manifest() {
    let root = tempfile::tempdir().expect("a folder");
    let store = built(&root.path().join("store"));
    let manifest = fs::read(root.path().join("store/store.json")).expect("a file");
    assert_eq!(store.digest(), Sha256::of(&manifest));
}
