//! Rules between values, and the defaults that the reference has.

use super::*;
use crate::deployment::{Backend, Capacity, Router, Timing, Workers};
use crate::diag::{Bag, Problem, SourceFile};
use crate::scenario::syntax;
use crate::workload::{Load, Source, Stop, StopCount};

/// Decodes the first node of a text and returns what was found.
fn decoded<T>(
    text: &str,
    decode: impl Fn(&syntax::Node, &mut Bag) -> Option<T>,
) -> (Option<T>, Vec<Problem>) {
    let document = syntax::parse(&SourceFile::new("t.kdl", text)).expect("KDL");
    let mut bag = Bag::new();
    let value = decode(&document.nodes[0], &mut bag);
    (value, bag.into_sorted())
}

fn workload_of(block: &str) -> (Option<crate::workload::Workload>, Vec<String>) {
    let (value, problems) = decoded(&format!("workload \"w\" {{\n{block}\n}}"), workload);
    (
        value,
        problems
            .iter()
            .map(|problem| format!("{}: {}", problem.code().as_str(), problem.message()))
            .collect(),
    )
}

fn deployment_of(
    backend: &str,
    rest: &str,
    worker: &str,
) -> (Option<crate::deployment::Deployment>, Vec<String>) {
    let text = format!(
        "deployment \"d\" {{\n mode \"aggregated\"\n model \"m\"\n hardware \"h\"\n backend \"{backend}\"\n {rest}\n worker \"aggregated\" {{\n timing \"polynomial\"\n {worker}\n }}\n}}"
    );
    let (value, problems) = decoded(&text, deployment);
    (
        value,
        problems
            .iter()
            .map(|problem| format!("{}: {}", problem.code().as_str(), problem.message()))
            .collect(),
    )
}

#[test]
fn a_bare_workload_has_the_defaults_of_the_reference() {
    let (found, problems) = workload_of("synthetic\nload \"concurrency\"\nstop requests=100");
    assert_eq!(problems, [""; 0]);
    let found = found.expect("a workload");
    let Source::Synthetic(shape) = found.source else { panic!("synthetic") };
    assert_eq!((shape.input.get(), shape.output.get(), shape.cached_prefix.get()), (1024, 128, 0));
    assert_eq!(found.load, Load::Concurrency { concurrency: 10 });
    assert_eq!(found.stop, Stop { count: Some(StopCount::Requests(100)), virtual_time: None });
    assert_eq!(found.stream, "w");
}

#[test]
fn a_bare_deployment_has_the_defaults_of_its_backend() {
    for (backend, size, share) in
        [(Backend::Vllm, 64, 0.9), (Backend::Sglang, 1, 0.88), (Backend::Trtllm, 32, 0.9)]
    {
        let (found, problems) = deployment_of(backend.name(), "", "");
        assert_eq!(problems, [""; 0]);
        let found = found.expect("a deployment");
        let Workers::Aggregated(worker) = &found.workers else { panic!("aggregated") };
        assert_eq!(worker.kv_cache.block_size.get(), size);
        let expected = Capacity::Default { memory_fraction: share, cuda_graph_reserved_bytes: 0 };
        assert_eq!(worker.kv_cache.capacity, expected);
        assert_eq!(
            (worker.scheduler.max_batched_tokens.get(), worker.scheduler.max_sequences),
            (8192, 256)
        );
        assert_eq!((&worker.timing, &found.router), (&Timing::Polynomial, &Router::RoundRobin));
    }
}

#[test]
fn a_bare_node_and_an_absent_one_mean_the_same() {
    for backend in ["vllm", "sglang", "trtllm"] {
        let (absent, _) = deployment_of(backend, "", "");
        let (bare, problems) = deployment_of(backend, "", "parallelism\nscheduler\nkv-cache");
        assert_eq!(problems, [""; 0]);
        assert!(absent.is_some() && bare == absent, "{backend}");
    }
}

#[test]
fn prefill_workers_run_one_request_unless_they_say_otherwise() {
    let text = "deployment \"d\" {\n mode \"disaggregated\"\n model \"m\"\n hardware \"h\"\n backend \"vllm\"\n worker \"prefill\" { timing \"polynomial\"; }\n worker \"decode\" { timing \"polynomial\"; scheduler max-sequences=7; }\n}";
    let (found, problems) = decoded(text, deployment);
    assert!(problems.is_empty(), "{problems:?}");
    let Some(Workers::Disaggregated { prefill, decode }) = found.map(|found| found.workers) else {
        panic!("two pools")
    };
    assert_eq!((prefill.scheduler.max_sequences, decode.scheduler.max_sequences), (1, 7));
}

const WORKLOADS: &[(&str, &str)] = &[
    ("load \"concurrency\"", "scenario::source: the workload has no source of requests"),
    (
        "synthetic\ntrace \"t\"\nload \"concurrency\"\nstop requests=1",
        "scenario::source: a workload has one source, found `trace` beside `synthetic`",
    ),
    (
        "trace \"t\"\nload \"poisson\" requests-per-second=1.0",
        "scenario::load: a `trace` source cannot have `load \"poisson\"`",
    ),
    (
        "synthetic\nload \"trace-timestamps\"\nstop requests=1",
        "scenario::load: a `synthetic` source cannot have `load \"trace-timestamps\"`",
    ),
    (
        "synthetic\nload \"poisson\"\nstop requests=1",
        "kdl::missing_property: `load` lacks its property `requests-per-second`",
    ),
    (
        "synthetic\nload \"poisson\" sessions-per-second=1.0\nstop requests=1",
        "scenario::conflict: `sessions-per-second` does not fit the source",
    ),
    (
        "synthetic input-tokens=8 cached-prefix-tokens=9\nload \"concurrency\"\nstop requests=1",
        "scenario::conflict: `cached-prefix-tokens` is at most `input-tokens`, found 9 and 8",
    ),
    (
        "synthetic-session shared-prefix-ratio=0.5\nload \"concurrency\"\nstop sessions=1",
        "scenario::conflict: `shared-prefix-ratio` needs `prefix-groups`, which is 0",
    ),
    ("synthetic\nload \"concurrency\"", "kdl::missing_node: a synthetic workload has no `stop`"),
    (
        "synthetic\nload \"concurrency\"\nstop virtual-time=\"1s\"",
        "kdl::missing_property: `stop` of a synthetic workload needs a count",
    ),
    (
        "synthetic\nload \"concurrency\"\nstop requests=1 requests-per-load-unit=2.0",
        "scenario::conflict: `stop` has one count, found `requests` and `requests-per-load-unit`",
    ),
    (
        "synthetic\nload \"concurrency\"\nstop sessions=1",
        "scenario::conflict: `sessions` does not fit the source, which is counted in requests",
    ),
    (
        "trace \"t\"\nload \"trace-timestamps\"\nstop requests-per-load-unit=2.0",
        "scenario::conflict: `requests-per-load-unit` needs a load with a unit: a concurrency or a rate",
    ),
    (
        "trace \"t\"\nload \"trace-timestamps\"\nstop sessions=3",
        "scenario::conflict: `sessions` does not fit the source, which is counted in requests",
    ),
    (
        "trace \"t\"\nload \"concurrency\"\nstop sessions-per-load-unit=3.0",
        "scenario::conflict: `sessions-per-load-unit` does not fit the source, which is counted in requests",
    ),
    (
        "synthetic input-tokens=5000000000\nload \"concurrency\"\nstop requests=1",
        "kdl::out_of_range: `input-tokens` is at most 4294967295, found `5000000000`",
    ),
    (
        "synthetic input-tokens=4294967295\nload \"concurrency\"\nstop requests=1",
        "scenario::conflict: `input-tokens` makes a sequence of 4294967423 tokens, at most 4294967295",
    ),
    (
        "synthetic-session new-input-tokens-per-turn=2147483648 turns=4\nload \"concurrency\"\nstop sessions=1",
        "scenario::conflict: `turns` makes a sequence of 8589935104 tokens, at most 4294967295",
    ),
    (
        "synthetic\nload \"concurrency\" concurrency=4294967295\nstop requests=1",
        "kdl::out_of_range: `concurrency` is at most 16777216, found `4294967295`",
    ),
    (
        "synthetic\nload \"concurrency\"\nstop requests=1099511627777",
        "kdl::out_of_range: `requests` is at most 1099511627776, found `1099511627777`",
    ),
    (
        "synthetic\nload \"concurrency\"\nstop requests-per-load-unit=1e18",
        "scenario::conflict: `requests-per-load-unit` makes a run of 10000000000000000000 requests, at most 1099511627776",
    ),
    (
        "synthetic-session turns=1000\nload \"concurrency\"\nstop sessions=1099511627776",
        "scenario::conflict: `sessions` makes a run of 1099511627776000 requests, at most 1099511627776",
    ),
    (
        "synthetic\nload \"concurrency\"\nstop requests=1 virtual-time=\"999999999999h\"",
        "kdl::out_of_range: `virtual-time` is beyond what a clock can reach",
    ),
    (
        "trace \"t\"\nload \"recorded\" strict=#true",
        "scenario::conflict: `strict` needs `open-loop`",
    ),
    (
        "trace \"t\"\nload \"recorded\" profile=\"1h\"",
        "scenario::conflict: `profile` needs `agentic-lanes` and `snapshot-seed`",
    ),
    (
        "trace \"t\"\nload \"recorded\" snapshot-seed=1",
        "scenario::conflict: `snapshot-seed` needs `agentic-lanes`",
    ),
    (
        "trace \"t\"\nload \"recorded\" agentic-lanes=1 warmup=#true",
        "scenario::conflict: `warmup` needs `snapshot-seed`",
    ),
    (
        "trace \"t\"\nload \"recorded\" agentic-lanes=1 snapshot-seed=1 grace=\"1s\"",
        "scenario::conflict: `grace` needs `profile`",
    ),
    (
        "trace \"t\"\nload \"recorded\" agentic-lanes=1 snapshot-seed=1 profile=\"0s\"",
        "kdl::out_of_range: `profile` is above 0",
    ),
];

#[test]
fn workloads_that_contradict_themselves_are_refused() {
    let synthetic = "synthetic\n";
    for (block, expected) in WORKLOADS {
        assert_eq!(workload_of(block).1, [*expected], "{block}");
    }
    assert_eq!(
        workload_of(&format!(
            "{synthetic}load \"concurrency\"\nstop requests=1 virtual-time=\"5s\""
        ))
        .1,
        [""; 0]
    );
}

const GROUP_CONFLICT: &str = "scenario::conflict: `group` needs `capacity \"fixed\" bytes=`, `prefix-caching=#false`, and neither `bytes-per-token` nor `host-offload` nor `state-cache`";

const DEPLOYMENTS: &[(&str, &str, &str, &str)] = &[
    (
        "vllm",
        "",
        "kv-cache block-size=1",
        "scenario::backend: `block-size` of backend \"vllm\" is at least 2, found 1",
    ),
    (
        "sglang",
        "",
        "scheduler prefill-schedule-interval=2",
        "scenario::backend: backend \"sglang\" has no `prefill-schedule-interval`",
    ),
    (
        "vllm",
        "",
        "kv-cache { capacity \"fixed\"; }",
        "kdl::missing_property: a fixed capacity states `blocks` or `bytes`, found neither",
    ),
    (
        "vllm",
        "",
        "kv-cache { capacity \"fixed\" blocks=1 bytes=2; }",
        "scenario::conflict: a fixed capacity states `blocks` or `bytes`, found both",
    ),
    (
        "vllm",
        "",
        "kv-cache { capacity \"fixed\" bytes=2; }",
        "scenario::conflict: a capacity in bytes needs `block-size` and `bytes-per-token` on `kv-cache`",
    ),
    (
        "vllm",
        "",
        "kv-cache { capacity \"default\" blocks=5; }",
        "kdl::unknown_property: `capacity \"default\"` has no property `blocks`",
    ),
    (
        "vllm",
        "",
        "kv-cache { storage-offload num-g3-blocks=5; }",
        "scenario::conflict: `storage-offload` needs `host-offload`",
    ),
    (
        "vllm",
        "",
        "kv-cache prefix-caching=#false { host-offload num-host-blocks=5; }",
        "scenario::conflict: `host-offload` needs prefix caching",
    ),
    (
        "sglang",
        "",
        "kv-cache { host-offload num-host-blocks=5; }",
        "scenario::backend: backend \"sglang\" has no `host-offload`",
    ),
    (
        "vllm",
        "",
        "kv-cache { state-cache bytes-per-request=5; }",
        "scenario::conflict: `state-cache` needs `capacity \"fixed\"` and no further tier",
    ),
    (
        "vllm",
        "",
        "kv-cache prefix-caching=#false { capacity \"fixed\" bytes=64; group \"full\" block-size=4 page-bytes=8; group \"near\" block-size=4 page-bytes=8 sliding-window=9; }",
        "",
    ),
    (
        "vllm",
        "",
        "kv-cache { capacity \"fixed\" bytes=64; group \"full\" block-size=4 page-bytes=8; }",
        GROUP_CONFLICT,
    ),
    (
        "vllm",
        "",
        "kv-cache prefix-caching=#false { capacity \"fixed\" blocks=64; group \"full\" block-size=4 page-bytes=8; }",
        GROUP_CONFLICT,
    ),
    (
        "trtllm",
        "",
        "kv-cache prefix-caching=#false { capacity \"fixed\" bytes=64; group \"full\" block-size=4 page-bytes=8; }",
        "scenario::backend: backend \"trtllm\" has no `group`",
    ),
    (
        "vllm",
        "",
        "kv-cache prefix-caching=#false { capacity \"fixed\" bytes=64; group \" \" block-size=4 page-bytes=8; }",
        "scenario::conflict: a `group` needs a name",
    ),
    (
        "vllm",
        "",
        "kv-cache block-size=4294967295",
        "kdl::out_of_range: `block-size` is at most 1048576, found `4294967295`",
    ),
    (
        "vllm",
        "",
        "parallelism replicas=4294967295",
        "kdl::out_of_range: `replicas` is at most 65536, found `4294967295`",
    ),
    (
        "vllm",
        "",
        "parallelism replicas=65536 attention-data=2",
        "scenario::conflict: `replicas` makes 131072 ranks, at most 65536",
    ),
    (
        "vllm",
        "",
        "kv-cache block-size=1048576 { capacity \"fixed\" blocks=9007199254740991; }",
        "scenario::conflict: `blocks` makes a pool of 9444732965739289378816 tokens, at most 9007199254740991",
    ),
    (
        "vllm",
        "",
        "kv-cache block-size=1048576 bytes-per-token=9007199254740991 { capacity \"fixed\" bytes=9; }",
        "scenario::conflict: `bytes-per-token` makes a block of 9444732965739289378816 bytes, at most 9007199254740991",
    ),
    (
        "vllm",
        "",
        "kv-cache block-size=16 bytes-per-token=1000 { capacity \"fixed\" bytes=15999; }",
        "scenario::conflict: `bytes` is less than one block",
    ),
    ("vllm", "kv-transfer", "", "scenario::conflict: mode \"aggregated\" has no `kv-transfer`"),
    (
        "sglang",
        "speculation \"ngram\" tokens=1 acceptance-rates=0.5",
        "",
        "scenario::backend: backend \"sglang\" has no `speculation \"ngram\"`",
    ),
    (
        "vllm",
        "speculation \"ngram\" tokens=2 acceptance-rates=0.5",
        "",
        "scenario::conflict: `acceptance-rates` has one rate for each of 2 drafts, found 1",
    ),
    (
        "vllm",
        "planner \"enabled\" enable-throughput-scaling=#true",
        "",
        "scenario::conflict: `enable-throughput-scaling` needs `target=\"sla\"`",
    ),
    (
        "vllm",
        "worker \"decode\" { timing \"polynomial\"; }",
        "",
        "scenario::worker_role: mode \"aggregated\" has no worker \"decode\"",
    ),
];

#[test]
fn deployments_that_contradict_themselves_are_refused() {
    for (backend, rest, worker, expected) in DEPLOYMENTS {
        assert_eq!(
            deployment_of(backend, rest, worker).1,
            if expected.is_empty() { vec![] } else { vec![*expected] },
            "{backend} {rest} {worker}"
        );
    }
}

#[test]
fn polynomial_timing_takes_no_fixed_values_and_fixed_timing_needs_both() {
    let of = |timing: &str| {
        let text = format!(
            "deployment \"d\" {{\n mode \"aggregated\"\n model \"m\"\n hardware \"h\"\n backend \"vllm\"\n worker \"aggregated\" {{\n timing {timing}\n }}\n}}"
        );
        decoded(&text, deployment)
            .1
            .iter()
            .map(|problem| problem.message().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("\"polynomial\" prefill-ms=1.0"),
        ["`timing \"polynomial\"` has no property `prefill-ms`"]
    );
    assert_eq!(of("\"fixed\" prefill-ms=1.0"), ["`timing` lacks its property `decode-ms`"]);
    assert_eq!(of("\"fixed\" prefill-ms=1.0 decode-ms=0"), [""; 0]);
}
