//! Expansion: how many jobs, in which order, under which names, with which values.

use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::deployment::{Router, Workers};
use crate::diag::{Bag, Problem};
use crate::workload::Load;

/// The pins of this repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns a scenario with this `simulate` block and whatever else; digests are filled in.
fn scenario(simulate: &str, more: &str) -> String {
    format!(
        "scenario \"x\" {{
    seed 7
    pins {{
        trace \"mooncake-tiny\"
        engine \"native\" version=\"1\"
        hardware \"h200_sxm\"
        model \"llama-3.1-8b\"
    }}
    workload \"loop\" {{
        synthetic
        load \"concurrency\" concurrency=4
        stop requests=10
    }}
    workload \"tiny\" {{
        trace \"mooncake-tiny\"
        load \"trace-timestamps\"
    }}
    deployment \"a\" {{
        mode \"aggregated\"
        model \"llama-3.1-8b\"
        hardware \"h200_sxm\"
        backend \"vllm\"
        worker \"aggregated\" {{
            timing \"polynomial\"
        }}
    }}
    simulate \"s\" {{
        workload \"loop\" \"tiny\"
        deployment \"a\"
        engine \"native\"
        {simulate}
    }}
    {more}
}}
"
    )
}

/// Fills in digests and plans.
fn planned(text: &str) -> Result<(Plan, Bag), Vec<Problem>> {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("x.kdl");
    std::fs::write(&file, text).expect("writable");
    let repinned = repin(&file, Some(root()), &[]).map_err(Bag::into_sorted)?;
    std::fs::write(&file, repinned.text).expect("writable");
    load_plan(&file, Some(root())).map_err(Bag::into_sorted)
}

fn ids(simulate: &str) -> Vec<String> {
    let (plan, _) = planned(&scenario(simulate, "")).expect("a plan");
    plan.jobs.iter().map(|job| job.id.to_string()).collect()
}

fn simulation(job: &Job) -> &SimulationJob {
    match &job.kind {
        JobKind::Simulation(job) => job,
        JobKind::Replay(_) => panic!("a simulation"),
    }
}

#[test]
fn jobs_stand_in_the_order_written_with_the_last_axis_fastest() {
    let found = ids(
        "vary \"router\" \"round-robin\" \"kv-router\"\nvary \"worker.aggregated.parallelism.replicas\" 1 2",
    );
    assert_eq!(
        found,
        [
            "s/loop/a/native/router=round-robin,replicas=1",
            "s/loop/a/native/router=round-robin,replicas=2",
            "s/loop/a/native/router=kv-router,replicas=1",
            "s/loop/a/native/router=kv-router,replicas=2",
            "s/tiny/a/native/router=round-robin,replicas=1",
            "s/tiny/a/native/router=round-robin,replicas=2",
            "s/tiny/a/native/router=kv-router,replicas=1",
            "s/tiny/a/native/router=kv-router,replicas=2",
        ]
    );
}

#[test]
fn axes_that_move_in_step_make_one_coordinate_and_excludes_drop_what_they_name() {
    let found = ids(
        "together {\nvary \"worker.aggregated.parallelism.replicas\" 1 2\nvary \"worker.aggregated.scheduler.max-sequences\" 64 32\n}\nexclude replicas=1 workload=\"tiny\"",
    );
    assert_eq!(
        found,
        [
            "s/loop/a/native/replicas=1,max-sequences=64",
            "s/loop/a/native/replicas=2,max-sequences=32",
            "s/tiny/a/native/replicas=2,max-sequences=32",
        ]
    );
}

#[test]
fn values_reach_the_place_that_their_path_names_even_where_nothing_stands_there() {
    let text = scenario(
        "vary \"router\" \"kv-router\"\nvary \"worker.aggregated.kv-cache.block-size\" 32\nvary \"context-length\" 4096 \"max\"",
        "",
    );
    let (plan, _) = planned(&text).expect("a plan");
    let job = simulation(&plan.jobs[0]);
    let Workers::Aggregated(worker) = &job.deployment.workers else { panic!("aggregated") };
    assert!(matches!(job.deployment.router, Router::Kv { .. }));
    assert_eq!(worker.kv_cache.block_size.get(), 32);
    assert_eq!(
        plan.jobs[1].id.to_string(),
        "s/loop/a/native/router=kv-router,block-size=32,context-length=max"
    );
    assert_ne!(plan.jobs[0].key(), plan.jobs[1].key());
}

#[test]
fn ranges_hold_both_ends_and_workloads_vary_too() {
    let simulate = "vary \"workload.load.concurrency\" from=2 to=8 step=3";
    let text = scenario(simulate, "").replace("workload \"loop\" \"tiny\"", "workload \"loop\"");
    let (plan, _) = planned(&text).expect("a plan");
    let found: Vec<Load> =
        plan.jobs.iter().map(|job| simulation(job).workload.load.clone()).collect();
    assert_eq!(found, [2, 5, 8].map(|concurrency| Load::Concurrency { concurrency }));
    let ids: Vec<&str> = plan.jobs.iter().map(|job| job.id.as_str()).collect();
    assert_eq!(ids[2], "s/loop/a/native/concurrency=8");
}

#[test]
fn comments_names_and_layout_change_no_key() {
    let one = scenario("", "");
    let other = one
        .replace("seed 7", "// a comment\n    seed   0x7")
        .replace("\"s\"", "\"t\"")
        .replace("\"a\"", "\"b\"");
    let keys = |text: &str| {
        let (plan, _) = planned(text).expect("a plan");
        plan.jobs.iter().map(Job::key).collect::<Vec<_>>()
    };
    assert_eq!(keys(&one), keys(&other));
    assert_ne!(keys(&one), keys(&one.replace("seed 7", "seed 8")));
}

#[test]
fn a_replay_plans_a_job_for_each_workload() {
    let text = scenario(
        "",
        "workload \"one\" {\n trace \"mooncake-tiny\"\n load \"recorded\"\n }\n workload \"two\" {\n trace \"mooncake-tiny\"\n load \"recorded\" speedup=2.0\n }\n replay \"wire\" {\n workload \"one\" \"two\"\n endpoint \"mock\" {\n header \"x\" \"y\"\n }\n lanes 8 ramp=\"2s\"\n }",
    );
    let (plan, _) = planned(&text).expect("a plan");
    let replays: Vec<&Job> =
        plan.jobs.iter().filter(|job| matches!(job.kind, JobKind::Replay(_))).collect();
    assert_eq!(
        replays.iter().map(|job| job.id.as_str()).collect::<Vec<_>>(),
        ["wire/one", "wire/two"]
    );
    assert_eq!(replays[1].index, 3);
    let described = String::from_utf8(replays[0].canonical().to_bytes()).expect("UTF-8");
    assert!(described.contains("\"lanes\":{\"count\":8,\"ramp_ns\":2000000000}"), "{described}");
    assert!(described.contains("\"headers\":[{\"name\":\"x\",\"value\":\"y\"}]"), "{described}");
}

/// Returns the messages of what is found in a scenario with this replay of a recorded workload.
fn replay_findings(load: &str, stop: &str, replay: &str) -> Vec<String> {
    let load = if load.starts_with('"') { load.to_owned() } else { format!("\"recorded\" {load}") };
    let more = format!(
        "workload \"agents\" {{\n trace \"mooncake-tiny\"\n load {load}\n {stop}\n }}\n replay \"wire\" {{\n workload \"agents\"\n endpoint \"mock\"\n {replay}\n }}"
    );
    let problems = match planned(&scenario("", &more)) {
        Ok((_, bag)) => bag.into_sorted(),
        Err(problems) => problems,
    };
    problems.iter().map(|problem| problem.message().to_owned()).collect()
}

#[test]
fn a_replay_and_its_workload_fit_each_other() {
    let stated = "snapshot to=0.5\n warmup \"prime\"\n lanes 2 ramp=\"1s\"";
    assert_eq!(replay_findings("", "", stated), [""; 0]);
    assert_eq!(replay_findings("open-loop=#true", "", "lanes 2"), [""; 0]);
    assert_eq!(replay_findings("open-loop=#true", "", stated).len(), 3);
    let load = replay_findings("\"concurrency\"", "", "");
    assert!(load[0].ends_with("has `load \"concurrency\"`"), "{load:?}");
    assert_eq!(
        replay_findings("", "stop requests=3", ""),
        ["`stop` of workload `agents` bounds simulations alone"]
    );
}

/// Copies a folder with all that is in it.
fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("writable");
    for entry in std::fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("writable");
        }
    }
}

/// Plans a scenario that includes `path`, in the folder `project` with pins of its own.
fn planned_with_include(project: &Path, path: &str) -> Result<Plan, Vec<Problem>> {
    copy_folder(&root().join("pins"), &project.join("pins"));
    let text = scenario("", "")
        .replace("workload \"loop\" \"tiny\"", "workload \"shared\" \"loop\" \"tiny\"");
    let text = text.replace("    seed 7", &format!("    seed 7\n    include \"{path}\""));
    let file = project.join("scenarios/x.kdl");
    std::fs::create_dir_all(project.join("scenarios")).expect("writable");
    std::fs::write(&file, &text).expect("writable");
    let repinned = repin(&file, None, &[]).expect("pinned");
    std::fs::write(&file, repinned.text).expect("writable");
    // Typed in a roundabout way: what a run leaves must not show it.
    let typed = project.join("scenarios/../scenarios/x.kdl");
    load_plan(&typed, None).map(|(plan, _)| plan).map_err(Bag::into_sorted)
}

const SHARED: &str =
    "workload \"shared\" {\n synthetic\n load \"concurrency\"\n stop requests=3\n}\n";

#[test]
fn included_declarations_are_spliced_and_files_are_named_below_the_root() {
    let folder = TempDir::new().expect("a folder");
    std::fs::create_dir(folder.path().join("parts")).expect("writable");
    std::fs::write(folder.path().join("parts/shared.kdl"), SHARED).expect("writable");
    let plan = planned_with_include(folder.path(), "../parts/shared.kdl").expect("a plan");
    assert_eq!(plan.jobs[0].id.as_str(), "s/shared/a/native");
    let digest = crate::digest::Sha256::of(SHARED.as_bytes());
    assert_eq!(plan.includes, [("parts/shared.kdl".to_owned(), digest)]);
    assert_eq!(plan.file, "scenarios/x.kdl");
}

#[test]
fn an_included_file_outside_of_the_root_is_refused_where_it_is_named() {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("shared.kdl"), SHARED).expect("writable");
    let found = planned_with_include(&folder.path().join("project"), "../../shared.kdl");
    let found = found.expect_err("refused");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code(), crate::diag::Code::ScenarioIncludeOutside);
    assert!(found[0].place().is_some_and(|place| place.ends_with("x.kdl:3:13")), "{found:?}");
}

#[test]
fn a_refused_value_is_an_error_at_the_value_and_names_what_it_clashes_with() {
    let found = planned(&scenario("vary \"backend\" \"vllm\" \"sglang\"\nvary \"worker.aggregated.scheduler.preemption\" \"fifo\"", "")).expect_err("refused");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code(), crate::diag::Code::ScenarioVaryValue);
    assert_eq!(
        found[0].message(),
        "`preemption` cannot be `fifo`: backend \"sglang\" has no `preemption`"
    );
}

#[test]
fn a_trace_shorter_than_its_stop_is_refused_where_the_count_stands() {
    let fixed = scenario("", "").replace(
        "load \"trace-timestamps\"",
        "load \"trace-timestamps\"\n        stop requests=17",
    );
    let found = planned(&fixed).expect_err("refused");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code(), crate::diag::Code::ScenarioTraceTooShort);
    assert!(found[0].place().is_some_and(|place| place.ends_with(":17:23")), "{found:?}");
    assert!(planned(&fixed.replace("requests=17", "requests=16")).is_ok());
    let varied = fixed.replace("requests=17", "requests=16").replace(
        "workload \"loop\" \"tiny\"",
        "vary \"workload.stop.requests\" 16 100\n        workload \"tiny\"",
    );
    let found = planned(&varied).expect_err("refused");
    let told = "100 requests are asked of trace `mooncake-tiny`, which has 16";
    assert!(found.iter().any(|problem| problem.message() == told), "{found:?}");
}

#[test]
fn a_range_longer_than_the_limit_is_refused_before_its_values_are_made() {
    let axis = "vary \"worker.aggregated.scheduler.max-sequences\" from=1 to=1000000";
    let found = planned(&scenario(axis, "")).expect_err("refused");
    let messages: Vec<&str> = found.iter().map(Problem::message).collect();
    assert_eq!(messages, ["the axis has 1000000 values, the limit is 100000 jobs"]);
}

#[test]
fn an_axis_of_many_listed_values_is_read_in_time_and_a_value_given_twice_is_found() {
    let values: Vec<String> = (1..=60_000).map(|value: u32| value.to_string()).collect();
    let listed = format!(" {}", values.join(" "));
    let axis =
        format!("vary \"worker.aggregated.scheduler.max-sequences\"{listed} 7 0x1F\nlimit 1");
    let found = planned(&scenario(&axis, "")).expect_err("refused");
    let twice = found.iter().filter(|problem| problem.message().ends_with("twice")).count();
    assert_eq!(twice, 2, "{:?}", found.len());
}

#[test]
fn values_that_read_as_one_are_refused_where_both_stand() {
    let axis = "vary \"workload.stop.virtual-time\" \"1s\" \"2s\" \"1000ms\"";
    let found = planned(&scenario(axis, "")).expect_err("refused");
    let messages: Vec<&str> = found.iter().map(Problem::message).collect();
    assert_eq!(messages, ["`\"1s\"` and `\"1000ms\"` are the same"]);
    assert_eq!(found[0].labels().len(), 2);
    let axis = axis.replace("1000ms", "1500ms");
    assert!(planned(&scenario(&axis, "")).is_ok());
}

#[test]
fn an_engine_imitates_what_its_pin_says_where_the_scenario_says_nothing() {
    let folder = TempDir::new().expect("a folder");
    let pin = folder.path().join("pins/engines/native/pin.kdl");
    std::fs::create_dir_all(pin.parent().expect("a folder")).expect("writable");
    for name in ["models/llama-3.1-8b.kdl", "hardware/h200_sxm.kdl"] {
        let to = folder.path().join("pins").join(name);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("writable");
        std::fs::copy(root().join("pins").join(name), to).expect("copied");
    }
    let text = scenario("", "")
        .replace("trace \"mooncake-tiny\"\n        engine", "engine")
        .replace("workload \"loop\" \"tiny\"", "workload \"loop\"");
    let text = text.split("    workload \"tiny\"").collect::<Vec<_>>();
    let (_, rest) = text[1].split_once("    }\n").expect("a block");
    let file = folder.path().join("x.kdl");
    std::fs::write(&file, format!("{}{rest}", text[0])).expect("writable");
    let compat = |reference: &str| {
        let text =
            format!("engine \"native\" {{\n    version \"1\"\n    reference \"{reference}\"\n}}\n");
        std::fs::write(&pin, text).expect("writable");
        let repinned = repin(&file, None, &[]).expect("pinned");
        std::fs::write(&file, repinned.text).expect("writable");
        load_plan(&file, None)
            .map(|(plan, _)| simulation(&plan.jobs[0]).engine.compat)
            .map_err(|bag| bag.into_sorted().remove(0))
    };
    assert_eq!(compat("0.13.0").expect("known"), Compat::V0_13_0);
    assert_eq!(compat("0.13.0-dev.87").expect("known"), Compat::Dev87);
    assert_eq!(compat("0.12.0").expect_err("unknown").code(), crate::diag::Code::PinField);
}

#[test]
fn filling_in_digests_leaves_every_other_byte_alone() {
    let text = scenario("", "").replace(
        "trace \"mooncake-tiny\"\n        engine",
        "trace   \"mooncake-tiny\"  // odd \u{e9}\r\n        engine",
    );
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("x.kdl");
    std::fs::write(&file, &text).expect("writable");
    let repinned = repin(&file, Some(root()), &[]).expect("pinned");
    assert_eq!(repinned.changes.len(), 3);
    let mut without = repinned.text.clone();
    while let Some(at) = without.find(" sha256=\"") {
        without.replace_range(at..at + " sha256=\"\"".len() + 64, "");
    }
    assert_eq!(without, text);
    std::fs::write(&file, &repinned.text).expect("writable");
    assert_eq!(repin(&file, Some(root()), &[]).expect("pinned").text, repinned.text);
    let mut stale = repinned.text.clone();
    let at = stale.find("sha256=\"").expect("filled in") + "sha256=\"".len();
    stale.replace_range(at..at + 64, &"ab".repeat(32));
    std::fs::write(&file, &stale).expect("writable");
    assert!(repin(&file, Some(root()), &[]).is_err(), "a digest that differs is not moved unasked");
    let accepted = repin(&file, Some(root()), &["mooncake-tiny".to_owned()]).expect("moved");
    assert_eq!(accepted.text, repinned.text);
}

#[test]
fn a_digest_version_or_checksum_that_cannot_be_read_is_replaced_only_where_it_is_asked_for() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("x.kdl");
    let repin = |text: &str, update: &[String]| {
        std::fs::write(&file, text).expect("writable");
        repin(&file, Some(root()), update)
    };
    let good = repin(&scenario("", ""), &[]).expect("pinned").text;
    let at = good.find("sha256=\"").expect("filled in") + "sha256=\"".len();
    let cut = [&good[..at], &good[at + 1..]].concat();
    let wrong = [
        ("mooncake-tiny", cut.clone(), "kdl::digest"),
        ("mooncake-tiny", cut.replacen(&good[at + 1..at + 64], "deadbeef", 1), "kdl::digest"),
        ("native", good.replace("version=\"1\"", "version=1"), "kdl::bare_version"),
    ];
    for (name, text, code) in wrong {
        let refused = repin(&text, &[]).expect_err(name).into_sorted();
        assert_eq!(refused[0].code().as_str(), code);
        let help = refused[0].help_text().expect("help");
        assert!(help.ends_with(&format!("--update {name}")), "{help}");
        assert_eq!(repin(&text, &[name.to_owned()]).expect("moved").text, good);
    }
    let without = good.replace(" version=\"1\"", "");
    assert_eq!(repin(&without, &[]).expect("filled in").text, good);
}

#[test]
fn a_wrong_axis_is_one_error_that_says_what_to_do() {
    let cases = [
        ("from=\"1\" to=2", "scenario::axis", Some("remove the quotes: `from=1`")),
        (
            "from=1 to=#inf",
            "kdl::not_finite",
            Some("where nothing should be limited, leave it out"),
        ),
        ("1 2 1.0", "scenario::axis", None),
        ("1\nvary \"worker.aggregated.parallelism.replicas\" 2", "kdl::duplicate_name", None),
    ];
    for (values, code, help) in cases {
        let axis = format!("vary \"worker.aggregated.parallelism.replicas\" {values}");
        let found = planned(&scenario(&axis, "")).expect_err(values);
        let said: Vec<_> = found.iter().map(|one| (one.code().as_str(), one.help_text())).collect();
        assert_eq!(said, [(code, help)], "{values}");
    }
}

#[test]
fn an_exclude_names_values_by_type_and_in_any_spelling_of_a_number() {
    let axis = "vary \"worker.aggregated.parallelism.replicas\" 1 2\n";
    assert_eq!(ids(&format!("{axis}exclude replicas=2.0 workload=\"tiny\"")).len(), 3);
    for (pair, help) in
        [("replicas=\"2\"", "write `replicas=2`"), ("engine=\"natif\"", "it has `\"native\"`")]
    {
        let found = planned(&scenario(&format!("{axis}exclude {pair}"), "")).expect_err("refused");
        assert_eq!(found[0].code(), crate::diag::Code::ScenarioExclude, "{found:?}");
        assert_eq!(found[0].help_text(), Some(help));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The law of expansion: the product of all sizes, every id its own, every index its place.
    #[test]
    fn a_plan_has_as_many_jobs_as_the_product_of_its_axes(
        sizes in prop::collection::vec(1_u64..5, 0..4),
    ) {
        let axes: Vec<String> = sizes
            .iter()
            .zip(["parallelism.replicas", "scheduler.max-sequences", "parallelism.pipeline"])
            .map(|(size, path)| format!("vary \"worker.aggregated.{path}\" from=1 to={size}\n"))
            .collect();
        let axes = axes.concat();
        let (plan, _) = planned(&scenario(&axes, "")).expect("a plan");
        let product: u64 = sizes.iter().take(3).product();
        prop_assert_eq!(plan.jobs.len() as u64, 2 * product);
        let mut ids: Vec<&str> = plan.jobs.iter().map(|job| job.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), plan.jobs.len());
        prop_assert!(plan.jobs.iter().enumerate().all(|(index, job)| job.index == index));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Words of a good scenario, dropped, doubled and swapped, are planned or refused, never a panic.
    #[test]
    fn a_mangled_scenario_is_refused_without_panic(
        mangles in prop::collection::vec((0_usize..200, 0_usize..200, 0_u8..4), 1..6),
    ) {
        let axis = "vary \"worker.aggregated.parallelism.replicas\" 1 2";
        let rest = "sla ttft-ms=5.0\nexclude replicas=1";
        let gate = "gate {\n golden \"pins/goldens/g.kdl\"\n}";
        let text = scenario(&format!("{axis}\n{rest}"), gate);
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n', '=']).collect();
        for (a, b, how) in mangles {
            let (a, b) = (a % words.len(), b % words.len());
            match how {
                0 => drop(words.remove(a)),
                1 => words.insert(a, words[b]),
                2 => words.swap(a, b),
                _ => words[a] = ["1e400 ", "4294967295 ", "9007199254740991 ", "-1 "][b % 4],
            }
        }
        let _either = planned(&words.concat());
    }
}
