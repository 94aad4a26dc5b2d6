//! Statistics over the hot loops: `cargo bench`. Figures of a machine go to stdout, never into a report.

use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

use touchstone::digest::Sha256;
use touchstone::digest::canonical::{Value, object};
use touchstone::measure::Distribution;
use touchstone::plan::{JobKind, load_plan};
use touchstone::record::Gaps;
use touchstone::sim::{self, Options};
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
                gaps.add(Nanos::new(5_000_000 + index * 7919 % 1000), 1);
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

/// Simulates the first job of a pinned scenario that runs in memory.
fn simulator(criterion: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/smoke.kdl");
    let (plan, _) = load_plan(&path, None).expect("the scenario is sound");
    let mut group = criterion.benchmark_group("simulate");
    for job in &plan.jobs {
        let JobKind::Simulation(simulation) = &job.kind else { continue };
        if simulation.trace.is_some() {
            continue;
        }
        let run = || sim::run(simulation, None, &Options::default()).expect("the job runs");
        group.throughput(Throughput::Elements(run().requests.len() as u64));
        group.bench_function(job.id.as_str(), |bencher| bencher.iter(run));
    }
    group.finish();
}

criterion_group!(hot, canonical, gaps, trace, simulator);
criterion_main!(hot);
