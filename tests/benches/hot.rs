//! Statistics over the hot loops: `cargo bench`. Figures of a machine go to stdout, never into a report.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

use touchstone::digest::Sha256;
use touchstone::digest::canonical::{Value, object};
use touchstone::measure::Distribution;
use touchstone::pin::Bundle;
use touchstone::plan::{JobKind, load_plan};
use touchstone::record::Gaps;
use touchstone::sim::{self, DecodeWork, Options, PassTiming, PrefillWork, TableTiming};
use touchstone::trace::{ReadOptions, Shard, TraceFormat, read_corpus};
use touchstone::units::{BlockSize, Nanos};

/// Records a report of this many requests.
const REQUESTS: u64 = 12_031;

/// Returns a value like a large report: one object a request.
fn report() -> Value {
    let request = |index: u64| {
        object([
            ("index", Value::count(index)),
            ("input_tokens", Value::count(index * 37 % 8192)),
            ("outcome", Value::text("completed")),
            ("session", Value::text(format!("session-{index}"))),
            ("ttft_ns", Value::count(index * 1_000_003)),
        ])
    };
    Value::List((0..REQUESTS).map(request).collect())
}

/// Writes a report, and digests its bytes.
fn canonical(criterion: &mut Criterion) {
    let report = report();
    let bytes = report.to_document();
    let mut group = criterion.benchmark_group("canonical");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("write", |bencher| bencher.iter(|| black_box(&report).to_document()));
    group.bench_function("sha256", |bencher| bencher.iter(|| Sha256::of(black_box(&bytes))));
    group.finish();
}

/// Adds gaps as decode passes do, few distinct ones, and takes their distribution.
fn gaps(criterion: &mut Criterion) {
    let count = 1_000_000;
    let mut group = criterion.benchmark_group("gaps");
    group.throughput(Throughput::Elements(count));
    group.bench_function("add and sort", |bencher| {
        bencher.iter(|| {
            let mut gaps = Gaps::default();
            for index in 0..black_box(count) {
                gaps.add(Nanos::new(5_000_000 + index * 7919 % 1000).into(), 1);
            }
            Distribution::of_sorted(&gaps.into_sorted())
        });
    });
    group.finish();
}

/// Unpacks and reads the pinned conversation trace.
fn trace(criterion: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pins/traces/conversation.jsonl.gz");
    let shard = Shard::load(&path, "conversation.jsonl.gz").expect("the trace is pinned");
    let block_size = BlockSize::new(512).expect("512 is no zero");
    let options = ReadOptions::strict(TraceFormat::Mooncake, block_size);
    let mut group = criterion.benchmark_group("trace");
    group.sample_size(20);
    group.throughput(Throughput::Elements(REQUESTS));
    group.bench_function("read conversation", |bencher| {
        bencher.iter_batched(
            || vec![shard.clone()],
            |shards| read_corpus(&shards, &options).expect("the trace is sound"),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

/// Simulates the jobs of a pinned scenario that run in memory, and one job for each part of the simulator: drafts, prefill and decode
/// apart, tiers, the radix cache, eviction by the input.
fn simulator(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulate");
    for scenario in ["scenarios/smoke.kdl", "tests/benches/hot.kdl"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(scenario);
        let (plan, _) = load_plan(&path, None).expect("the scenario is sound");
        for job in &plan.jobs {
            let JobKind::Simulation(simulation) = &job.kind else { continue };
            if simulation.trace.is_some() {
                continue;
            }
            let run = || sim::run(simulation, None, &Options::default()).expect("the job runs");
            group.throughput(Throughput::Elements(run().requests.len() as u64));
            group.bench_function(job.id.as_str(), |bencher| bencher.iter(run));
        }
    }
    group.finish();
}

/// Prices passes by a pinned table as a run asks for them: lengths that grow by one, requests that change now and then.
fn pricing(criterion: &mut Criterion) {
    let pins = Bundle.timings().expect("the bundled pins are right");
    let pin = pins.iter().find(|pin| pin.name == "llama-3.1-8b.h200_sxm.vllm.tp1");
    let table = Bundle.table(pin.expect("the pin is bundled")).expect("a table");
    let timing = TableTiming::new(Arc::new(table));
    let mut group = criterion.benchmark_group("timing table");
    group.throughput(Throughput::Elements(1));
    let mut step = 0_u64;
    group.bench_function("decode pass", |bencher| {
        bencher.iter(|| {
            step += 1;
            let requests = 32 + step / 64 % 8;
            let context_tokens = requests * (1024 + step % 4096);
            let capacity_tokens = 1 << 20;
            timing.decode_ms(black_box(DecodeWork { requests, context_tokens, capacity_tokens }))
        });
    });
    group.bench_function("prefill pass", |bencher| {
        bencher.iter(|| {
            step += 1;
            let new_tokens = 512 + step % 2048;
            timing.prefill_ms(black_box(PrefillWork {
                requests: 2,
                new_tokens,
                prefix_tokens: 4096,
            }))
        });
    });
    group.finish();
}

criterion_group!(hot, canonical, gaps, trace, simulator, pricing);
criterion_main!(hot);
