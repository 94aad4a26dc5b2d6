//! Runs in parts: partitions and batches, merged, are the run of one process, byte for byte; whatever is none is refused and named.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Place, Ran};
use crate::runs::{files, scenario};

/// A project with the scenario of four jobs; its two jobs of `loop` come to nothing where `context` is short.
fn project(context: &str) -> Place {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", "gate {\n        golden \"pins/goldens/small.kdl\"\n    }");
    let text = text.replace("backend \"vllm\"", &format!("backend \"vllm\"\n        {context}"));
    place.write("scenarios/small.kdl", text);
    place
}

/// Asserts that two folders hold the same files; where not, says which differ.
#[track_caller]
fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>) {
    let names: std::collections::BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let text = |side: &BTreeMap<String, Vec<u8>>, name: &String| {
        side.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    for name in names {
        assert_eq!(text(found, name), text(expected, name), "{name}");
    }
}

/// Runs one partition.
fn part(place: &Place, partition: &str) -> Ran {
    place.bench(["run", "scenarios/small.kdl", "--partition", partition])
}

/// Returns the one folder below `runs/small/parts`.
fn parts(place: &Place) -> PathBuf {
    let mut plans = fs::read_dir(place.path("runs/small/parts")).expect("parts");
    plans.next().expect("a plan").expect("readable").path()
}

/// Merges everything below `runs/small/parts`.
fn merge(place: &Place, more: &[&str]) -> Ran {
    place.bench([&["merge", "runs/small/parts"], more].concat())
}

/// Returns what one process leaves.
fn whole(place: &Place, exit: i32) -> (Ran, BTreeMap<String, Vec<u8>>) {
    let ran = place.bench(["run", "scenarios/small.kdl", "--runs", "whole"]).exits(exit);
    (ran, files(&place.path("whole/small/latest")))
}

#[test]
fn merged_partitions_are_the_run_of_one_process_to_the_byte() {
    let place = project("");
    let (one, bytes) = whole(&place, 3); // no golden is accepted, which the gate says of both
    place.bench([Path::new("run"), &place.path("scenarios/small.kdl")]).exits(3);
    assert_same(&files(&place.path("runs/small/latest")), &bytes); // however it was typed
    assert!(bytes.contains_key("junit.xml") && bytes.contains_key("summary.md"));
    for deal in ["hash", "count"] {
        let total = if deal == "hash" { 5 } else { 3 };
        for index in 1..=total {
            part(&place, &format!("{deal}:{index}/{total}")).exits(0);
        }
        let merged = merge(&place, &[]).exits(3);
        assert_eq!(merged.stdout, one.stdout);
        assert_same(&files(&place.path("runs/small/latest")), &bytes);
        fs::remove_dir_all(place.path("runs")).expect("removed");
    }
}

#[test]
fn events_that_partitions_kept_are_in_the_merged_run() {
    let place = project("");
    for partition in ["count:1/2", "count:2/2"] {
        place.bench(["run", "scenarios/small.kdl", "--events", "--partition", partition]).exits(0);
    }
    merge(&place, &[]).exits(3);
    let merged = files(&place.path("runs/small/latest"));
    assert_eq!(merged.keys().filter(|name| name.ends_with("events.jsonl")).count(), 4);
}

#[test]
fn jobs_that_failed_in_a_partition_have_failed_in_the_run() {
    let place = project("context-length 128");
    let (one, bytes) = whole(&place, 1);
    let exits: Vec<_> =
        (1..=2).map(|index| part(&place, &format!("hash:{index}/2")).code).collect();
    assert!(exits.contains(&Some(1)), "{exits:?}");
    let merged = merge(&place, &[]).exits(1);
    assert_eq!(merged.stdout, one.stdout);
    assert_same(&files(&place.path("runs/small/latest")), &bytes);
}

#[test]
fn what_this_build_cannot_run_is_refused_in_every_partition() {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", "")
        .replace("backend \"vllm\"", "backend \"vllm\"\n        router \"kv-router\"");
    place.write("scenarios/small.kdl", text);
    for partition in ["count:1/9", "count:9/9"] {
        let ran = part(&place, partition).exits(2);
        assert!(ran.stderr.contains("plan::unsupported"), "{ran}");
    }
    let plan = place.bench(["plan", "scenarios/small.kdl", "--format", "nix-json"]).exits(2);
    assert!(plan.stderr.contains("plan::unsupported"), "{plan}");
}

#[test]
fn a_lost_partition_is_named_and_the_command_that_is_printed_completes_the_run() {
    let place = project("");
    let (_, bytes) = whole(&place, 3);
    for index in [1, 2, 4, 5] {
        part(&place, &format!("count:{index}/5")).exits(0);
    }
    let ran = merge(&place, &[]).exits(4);
    assert!(ran.stderr.contains("merge::gap"), "{ran}");
    assert!(ran.stderr.contains("partition count:3/5 is missing: 1 job"), "{ran}");
    assert!(ran.stderr.contains("small/recorded/agg/native/replicas=1"), "{ran}");
    assert!(!place.path("runs/small/latest").exists(), "nothing is written");
    let command = ran.stderr.split("bench run ").nth(1).and_then(|rest| rest.lines().next());
    let command: Vec<&str> = command.expect("a command").split_whitespace().collect();
    place.bench([&["run"], command.as_slice()].concat()).exits(0);
    merge(&place, &[]).exits(3);
    assert_same(&files(&place.path("runs/small/latest")), &bytes);
}

#[test]
fn the_command_for_a_lost_partition_says_where_the_others_are_kept() {
    let place = project("");
    let run = ["run", "scenarios/small.kdl", "--runs", "shared", "--partition", "hash:1/2"];
    place.bench(run).exits(0);
    let ran = place.bench(["merge", "shared"]).exits(4);
    let command = "bench run scenarios/small.kdl --partition hash:2/2 --runs shared";
    assert!(ran.stderr.contains(command), "{ran}");
}

#[test]
fn a_partition_that_was_cut_is_named_with_how_much_it_lacks() {
    let place = project("");
    part(&place, "count:1/1").exits(0);
    let file = parts(&place).join("count-1-of-1/partial.json");
    let text = fs::read_to_string(&file).expect("readable");
    fs::write(&file, text.replacen("\"completed\"", "\"interrupted\"", 1)).expect("writable");
    let ran = merge(&place, &[]).exits(4);
    assert!(ran.stderr.contains("partition count:1/1 is cut: 1 of its 4 jobs"), "{ran}");
}

#[test]
fn parts_that_hold_the_same_job_are_refused() {
    let place = project("");
    for partition in ["count:1/2", "count:2/2", "count:1/3"] {
        part(&place, partition).exits(0);
    }
    let ran = merge(&place, &[]).exits(2);
    assert!(ran.stderr.contains("merge::overlap"), "{ran}");
    assert!(ran.stderr.contains("count-1-of-2") && ran.stderr.contains("count-1-of-3"), "{ran}");
    // the same folder under two names is one part
    let folder = parts(&place);
    let (first, second) = (folder.join("count-1-of-2"), folder.join("count-2-of-2"));
    let again = folder.join("../").join(folder.file_name().expect("a name")).join("count-1-of-2");
    place.bench([Path::new("merge"), &first, &second, &again]).exits(3);
}

#[test]
fn parts_that_disagree_are_drift() {
    let place = project("");
    part(&place, "count:1/2").exits(0);
    part(&place, "count:1/1").exits(0);
    let file = parts(&place).join("count-1-of-2/partial.json");
    let mut value: serde_json::Value =
        serde_json::from_slice(&fs::read(&file).expect("readable")).expect("JSON");
    value["jobs"][0]["report"] = format!("sha256:{}", "0".repeat(64)).into();
    fs::write(&file, value.to_string()).expect("writable");
    let ran = merge(&place, &[]).exits(2); // the other job of the share overlaps, and 2 goes before 3
    assert!(ran.stderr.contains("merge::disagreement"), "{ran}");
    value["jobs"].as_array_mut().expect("jobs").truncate(1);
    fs::write(&file, value.to_string()).expect("writable");
    merge(&place, &[]).exits(3);
}

#[test]
fn a_part_whose_files_were_changed_is_refused() {
    let place = project("");
    part(&place, "count:1/1").exits(0);
    let job = parts(&place).join("count-1-of-1/jobs/small/loop/agg/native/replicas=1");
    let requests = fs::read_to_string(job.join("requests.jsonl")).expect("readable");
    fs::write(job.join("requests.jsonl"), requests.replacen('1', "2", 1)).expect("writable");
    let ran = merge(&place, &[]).exits(2);
    assert!(ran.stderr.contains("merge::damaged"), "{ran}");
    assert!(ran.stderr.contains("small/loop/agg/native/replicas=1"), "{ran}");
}

#[test]
fn a_part_of_another_plan_is_refused() {
    let place = project("");
    part(&place, "count:1/2").exits(0);
    let text = place.read("scenarios/small.kdl");
    place.write("scenarios/small.kdl", text.replace("decode-ms=3.3", "decode-ms=3.4"));
    let ran = merge(&place, &[]).exits(2);
    assert!(ran.stderr.contains("merge::other_plan"), "{ran}");
    // the same jobs with one more beside them are another plan as well
    place.write("scenarios/small.kdl", text.replace("replicas\" 1 2", "replicas\" 1 2 3"));
    let ran = merge(&place, &[]).exits(2);
    assert!(ran.stderr.contains("merge::other_plan"), "{ran}");
    part(&place, "count:2/2").exits(0);
    assert!(merge(&place, &[]).exits(2).stderr.contains("merge::other_plan"));
}

#[test]
fn parts_of_different_programs_are_merged_only_where_that_is_asked_for() {
    let place = project("");
    for partition in ["count:1/2", "count:2/2"] {
        part(&place, partition).exits(0);
    }
    let file = parts(&place).join("count-2-of-2/partial.json");
    let mut value: serde_json::Value =
        serde_json::from_slice(&fs::read(&file).expect("readable")).expect("JSON");
    value["program"] = format!("sha256:{}", "0".repeat(64)).into();
    fs::write(&file, value.to_string()).expect("writable");
    let ran = merge(&place, &[]).exits(2);
    assert!(ran.stderr.contains("merge::other_program"), "{ran}");
    merge(&place, &["--any-program"]).exits(3);
    let provenance = place.read("runs/small/latest/provenance.json");
    assert!(provenance.contains(&"0".repeat(64)), "{provenance}");
    assert!(provenance.contains("partition count:1/2"), "{provenance}");
}

#[test]
fn a_part_is_neither_compared_nor_checked_and_not_the_latest_run() {
    let place = project("");
    part(&place, "hash:1/1").exits(0);
    assert!(!place.path("runs/small/latest").exists());
    let folder = parts(&place).join("hash-1-of-1");
    let shown = folder.to_string_lossy().into_owned();
    for command in [vec!["diff", &shown, &shown], vec!["check", &shown], vec!["run", &shown]] {
        let ran = place.bench(command).exits(4);
        assert!(ran.stderr.contains("run::partial") && ran.stderr.contains("bench merge"), "{ran}");
    }
    let accept = place.bench(["accept", &shown, "--reason", "no"]).exits(4);
    assert!(accept.stderr.contains("run::partial"), "{accept}");
    merge(&place, &[]).exits(3);
    let whole = place.bench(["merge", "runs/small/latest"]).exits(2);
    assert!(whole.stderr.contains("merge::not_partial"), "{whole}");
    assert!(whole.stderr.contains("is a whole run"), "{whole}");
    assert!(whole.stderr.contains("help: give the folders that `bench run FILE"), "{whole}");
}

#[test]
fn a_share_that_is_none_is_refused_by_the_command_line() {
    let place = project("");
    for (partition, said) in [
        ("hash:0/5", "there is no share 0 of 5"),
        ("hash:6/5", "there is no share 6 of 5"),
        ("hash:x/y", "`x` is no whole number"),
        ("5", "a partition is `hash:M/N` or `count:M/N`"),
    ] {
        let ran = part(&place, partition).exits(2);
        assert!(ran.stderr.contains(said), "{ran}");
    }
}

#[test]
fn a_share_without_jobs_is_a_part_like_any_other() {
    let place = project("");
    for index in 1..=6 {
        part(&place, &format!("count:{index}/6")).exits(0);
    }
    merge(&place, &[]).exits(3);
}

/// A batch of a plan with its inputs in a folder of their own.
struct Batch {
    /// The batch as JSON.
    value: serde_json::Value,
    file: String,
    root: String,
}

/// Returns the plan for derivations.
fn nix_plan(place: &Place) -> serde_json::Value {
    let ran = place.bench(["plan", "scenarios/small.kdl", "--format", "nix-json"]).exits(0);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// Lays each batch of the plan out as a derivation would: the batch, and a folder with its inputs and nothing else.
fn batches(place: &Place) -> Vec<Batch> {
    let plan = nix_plan(place);
    let batches = plan["batches"].as_array().expect("batches");
    let lay_out = |(index, batch): (usize, &serde_json::Value)| {
        let (file, root) = (format!("batch-{index}.json"), format!("inputs-{index}"));
        place.write(&file, serde_json::to_string_pretty(batch).expect("JSON"));
        for input in batch["inputs"].as_array().expect("inputs") {
            let path = input["path"].as_str().expect("a path");
            let bytes = fs::read(place.path(path)).expect("readable");
            let digest = touchstone::digest::Sha256::of(&bytes).hex();
            assert_eq!(input["sha256"].as_str(), Some(digest.as_str()), "{path}");
            place.write(&format!("{root}/{path}"), bytes);
        }
        Batch { value: batch.clone(), file, root }
    };
    batches.iter().enumerate().map(lay_out).collect()
}

/// Runs a batch.
fn exec(place: &Place, batch: &Batch, out: &str) -> Ran {
    place.bench(["exec-batch", &batch.file, "--root", &batch.root, "--out", out])
}

#[test]
fn merged_batches_are_the_run_of_one_process_to_the_byte() {
    for (context, exit) in [("", 3), ("context-length 128", 1)] {
        let place = project(context);
        let text = place.read("scenarios/small.kdl");
        place.write(
            "scenarios/small.kdl",
            text.replace("sla ttft-ms", "batch 3\n        sla ttft-ms"),
        );
        let (one, bytes) = whole(&place, exit);
        let batches = batches(&place);
        assert_eq!(batches.len(), 2);
        let mut merge = vec!["merge", "--scenario", "scenarios/small.kdl", "--reproducible"];
        let outs: Vec<String> = (0..2).map(|index| format!("out-{index}")).collect();
        for (batch, out) in batches.iter().zip(&outs) {
            let ran = exec(&place, batch, out);
            assert!(matches!(ran.code, Some(0 | 1)), "{ran}");
            merge.push(out);
        }
        assert_eq!(place.bench(merge.clone()).exits(exit).stdout, one.stdout);
        assert_same(&files(&place.path("runs/small/latest")), &bytes);
        let provenance = place.read("runs/small/latest/provenance.json");
        place.bench(merge.clone()).exits(exit);
        assert_eq!(place.read("runs/small/latest/provenance.json"), provenance);
        merge.pop();
        let gap = place.bench(merge).exits(4);
        let name = batches[1].value["name"].as_str().expect("a name");
        assert!(gap.stderr.contains(&format!("batch `{name}` lacks 1 of 1 job")), "{gap}");
    }
}

#[test]
fn a_batch_leaves_the_same_bytes_whenever_it_runs() {
    let place = project("");
    let batch = &batches(&place)[0];
    exec(&place, batch, "first").exits(0);
    exec(&place, batch, "second").exits(0);
    assert_same(&files(&place.path("first")), &files(&place.path("second")));
    let again = exec(&place, batch, "second").exits(2);
    assert!(again.stderr.contains("is not empty"), "{again}");
}

#[test]
fn an_input_or_a_text_that_is_not_as_planned_is_refused() {
    let place = project("");
    let batch = batches(&place).pop().expect("a batch");
    let model = format!("{}/pins/models/llama-3.1-8b.kdl", batch.root);
    let text = place.read(&model);
    place.write(&model, format!("{text}// changed\n"));
    let ran = exec(&place, &batch, "out").exits(2);
    assert!(ran.stderr.contains("batch::input") && ran.stderr.contains("llama"), "{ran}");
    place.write(&model, text);
    let edited = place.read(&batch.file).replace("decode-ms=3.3", "decode-ms=3.4");
    place.write(&batch.file, &edited);
    let ran = exec(&place, &batch, "out").exits(2);
    assert!(ran.stderr.contains("batch::job"), "{ran}");
    for (wrong, said) in [
        ("{}".to_owned(), "missing field"),
        (edited.replace("touchstone.batch/1", "touchstone.batch/9"), "schema `touchstone.batch/9`"),
        (edited.replace("pins/models", "../models"), "lies outside of the project root"),
    ] {
        place.write(&batch.file, wrong);
        let ran = exec(&place, &batch, "out").exits(2);
        assert!(ran.stderr.contains("batch::wrong") && ran.stderr.contains(said), "{ran}");
    }
    assert!(!place.path("out").exists());
}

#[test]
fn batches_need_the_scenario_to_be_named() {
    let place = project("");
    exec(&place, &batches(&place)[0], "out").exits(0);
    let ran = place.bench(["merge", "out"]).exits(2);
    assert!(ran.stderr.contains("merge::no_scenario"), "{ran}");
}

#[test]
fn one_changed_axis_value_leaves_the_other_batches_as_they_are() {
    let place = project("");
    let before = nix_plan(&place);
    let text = place.read("scenarios/small.kdl");
    place.write("scenarios/small.kdl", text.replace("replicas\" 1 2", "replicas\" 1 4"));
    let after = nix_plan(&place);
    let known = before["batches"].as_array().expect("batches");
    let kept = after["batches"].as_array().expect("batches").iter();
    let kept = kept.filter(|batch| known.contains(batch)).count();
    assert_eq!((known.len(), kept), (4, 2));
    // a comment moves nothing at all
    place.write("scenarios/small.kdl", format!("// why\n{text}"));
    assert_eq!(nix_plan(&place), before);
}

#[test]
fn the_batches_and_the_assembly_of_every_scenario_need_no_file_but_those_they_name() {
    let place = Place::repository();
    for entry in fs::read_dir(place.path("scenarios")).expect("readable") {
        let name = entry.expect("readable").file_name().to_string_lossy().into_owned();
        let file = format!("scenarios/{name}");
        let ran = place.bench(["plan", &file, "--format", "nix-json"]);
        if ran.stderr.contains("plan::unsupported") {
            continue; // nothing runs it in one process either
        }
        let plan: serde_json::Value = serde_json::from_str(&ran.exits(0).stdout).expect("JSON");
        let assembly = Place::empty();
        for path in plan["assemble"]["paths"].as_array().expect("paths") {
            let path = path.as_str().expect("a path");
            assembly.write(path, fs::read(place.path(path)).expect("readable"));
        }
        let planned = |place: &Place| place.bench(["plan", &file, "--format", "json"]).exits(0);
        assert_eq!(planned(&assembly).stdout, planned(&place).stdout);
        for batch in plan["batches"].as_array().expect("batches") {
            let root = Place::empty();
            for input in batch["inputs"].as_array().expect("inputs") {
                let path = input["path"].as_str().expect("a path");
                root.write(path, fs::read(place.path(path)).expect("readable"));
            }
            let bytes = serde_json::to_vec(batch).expect("JSON");
            let batch = touchstone::plan::Batch::parse(&name, &bytes).expect("a batch");
            batch.verify(&root.path("")).expect("the inputs are there");
            batch.plans(&root.path("")).expect("each text plans the job of its key");
        }
    }
}
