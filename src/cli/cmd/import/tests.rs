//! A configuration and the scenario that is imported from it are one run, over every recorded case that runs.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use serde_json::Value;

use super::command::{Stated, scenario};
use super::pins;
use crate::cli::cmd::predict;
use crate::cli::{Arguments, Context};
use crate::diag::SourceFile;
use crate::pin::Registry;
use crate::plan::{Compat, JobKind, SimulationJob, load_plan};
use crate::scenario::dynosim;
use crate::sim::{self, Options};
use crate::trace::{ArrivalRule, Shard};
use crate::workload::{Corpus, Load, Source};

/// Returns the repository's root.
fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the recorded cases by name.
fn cases() -> Vec<(String, Value)> {
    let folder = repository().join("tests/fixtures/oracle/cases");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the fixtures are there")
        .map(|entry| entry.expect("the fixtures are readable").path())
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name().expect("a file").to_string_lossy().replace(".json.gz", "");
        let shard = Shard::load(path, "case.json.gz").expect("the fixture is readable");
        (name, serde_json::from_slice(&shard.unpack().expect("gzip")).expect("JSON"))
    };
    paths.iter().map(read).collect()
}

/// Returns a project with the repository's pins and room for traces.
fn project() -> tempfile::TempDir {
    let project = tempfile::TempDir::new().expect("a temporary folder can be made");
    let pins = project.path().join("pins");
    fs::create_dir_all(pins.join("traces")).expect("writable");
    for kind in ["engines", "hardware", "models", "timing"] {
        let from = repository().join("pins").join(kind);
        if from.is_dir() {
            copy(&from, &pins.join(kind));
        }
    }
    project
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable").path();
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            let _bytes = fs::copy(&entry, &target).expect("writable");
        }
    }
}

/// Returns what a run recorded, or how it failed.
fn outcome(job: &SimulationJob, corpus: Option<&Corpus>) -> String {
    match sim::run(job, corpus, &Options { keep_events: true, ..Options::default() }) {
        Ok(record) => format!("{record:?}"),
        Err(error) => error.to_string(),
    }
}

/// Returns the scenario's one job and its trace.
fn planned(file: &Path, root: &Path) -> (SimulationJob, Option<Corpus>) {
    let (plan, _) = load_plan(file, Some(root)).expect("an imported scenario is right");
    let [job] = &plan.jobs[..] else { panic!("one job") };
    let JobKind::Simulation(job) = &job.kind else { panic!("it simulates") };
    let corpus = match &job.workload.source {
        Source::Trace { pin } => {
            let arrivals = if matches!(job.workload.load, Load::TraceTimestamps { .. }) {
                ArrivalRule::Required
            } else {
                ArrivalRule::Ignored
            };
            let registry = Registry::open(root).expect("the project has pins");
            let pin = registry.trace(pin).expect("the trace was pinned");
            Some(pin.read(root, arrivals, None).expect("it is as pinned").0)
        }
        Source::Synthetic(_)
        | Source::SyntheticSession(_)
        | Source::Graph { .. }
        | Source::Requests(_) => None,
    };
    (job.as_ref().clone(), corpus)
}

#[test]
fn a_configuration_and_its_scenario_give_one_run_record() {
    let project = project();
    let root = project.path();
    let words = ["bench", "predict", "-c", "x", "--root"].map(str::to_owned);
    let words = words.into_iter().chain([root.display().to_string()]);
    let context = Context::new(&Arguments::parse_from(words));
    let mut compared = 0;
    for (name, case) in cases() {
        let text = case["config"].as_str().expect("a configuration");
        let mut overrides = Vec::new();
        if let Some(trace) = case["trace"].as_str() {
            let path = root.join(format!("{name}.jsonl"));
            fs::write(&path, trace).expect("writable");
            overrides.push(format!("traffic.source.paths=[{}]", path.display()));
        }
        let source = SourceFile::new("config.yaml", text);
        // A prediction calls requests of a Weka trace after the file, as the reference does, and cuts are drawn with these names; a pin's
        // digest holds no name of a file.
        if ["078", "079", "080"].iter().any(|weka| name.starts_with(weka)) {
            continue;
        }
        // What this build cannot read or run has no two ways to run it.
        let Ok(prediction) = dynosim::decode(&source, &overrides) else { continue };
        let job = predict::job_of(&prediction, root, &context, Compat::NEWEST);
        let Ok(job) = job else { continue };
        let corpus = prediction.trace.as_ref().map(|trace| {
            let shard = Shard::load(Path::new(&trace.path), &trace.path).expect("it was written");
            predict::read_trace(trace, &[shard], &job, &context).expect("the trace is right")
        });
        let registry = Registry::open(root).expect("the project has pins");
        // The cases name models that no pin has; what they state makes the model's own figures idle.
        let is_known = prediction.deployment.model.contains('/') && !name.starts_with("089");
        let tables = pins::tables(&job, &registry).expect("the pins are right");
        let model = (!is_known).then_some("llama-3.1-8b");
        let stated = Stated { model, hardware: None, tables: &tables };
        let file = root.join("scenarios").join(format!("{name}.kdl"));
        let text =
            scenario(&prediction, &registry, stated, (Compat::NEWEST, &file), &mut Vec::new())
                .unwrap_or_else(|bag| panic!("{name}: {:?}", bag.into_sorted()));
        fs::create_dir_all(root.join("scenarios")).expect("writable");
        fs::write(&file, text).expect("writable");
        let (planned, rows) = planned(&file, root);
        assert!(
            outcome(&job, corpus.as_ref()) == outcome(&planned, rows.as_ref()),
            "{name}: the two runs differ"
        );
        compared += 1;
    }
    assert!(compared > 60, "only {compared} cases ran");
}
