//! `prediction.json`: the summary of a run under DynoSim's names.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::plan::SimulationJob;
use crate::record::{PoolUse, RequestRecord, RunRecord, StorageIo, StorageUse};
use crate::units::{SimTime, Tokens};
use crate::workload::{Corpus, Sla};

use super::distribution::Distribution;
use super::latency::{e2e_ms, is_measured, tpot_ms, ttft_ms, ttst_ms};
use super::{Rows, gaps, goodput, instances, pools, trajectories};

/// What the run took on this machine; nothing else in a summary is host time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host {
    /// The wall time of the simulation.
    pub(crate) wall: Duration,
}

/// The summary of a run.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    fields: Map<String, Value>,
}

/// The object of `prediction.json`, its rows made as they are written.
struct Document<'a> {
    fields: &'a Map<String, Value>,
    rows: Option<&'a Rows>,
}

/// The name of the rows in the object.
const PER_REQUEST: &str = "per_request";

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let before = |(name, _): &(&String, &Value)| name.as_str() < PER_REQUEST;
        for (name, value) in self.fields.iter().filter(before) {
            map.serialize_entry(name, value)?;
        }
        if let Some(rows) = self.rows {
            map.serialize_entry(PER_REQUEST, rows)?;
        }
        for (name, value) in self.fields.iter().filter(|entry| !before(entry)) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// How many requests are measured, and their tokens.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    count: u64,
    input: Tokens,
    output: Tokens,
    reused_first: Tokens,
    reused_max: Tokens,
}

impl Summary {
    /// Returns the summary of a run.
    pub(crate) fn new(record: &RunRecord, sla: Option<&Sla>, host: Host) -> Self {
        let totals = Totals::of(record, |_| true);
        let mut fields = Map::new();
        write_counts(record, totals, &mut fields);
        write_rates(record, totals, &mut fields);
        write_latencies(record, &mut fields);
        write_pools(record, &mut fields);
        write_tiers(record, &mut fields);
        write_host(totals, host, &mut fields);
        if let Some(sla) = sla {
            write_goodput(record, sla, &mut fields);
        }
        Self { fields }
    }

    /// Adds what DynoSim says where its estimators priced passes or sized KV pools.
    pub(crate) fn describe_pools(&mut self, job: &SimulationJob) {
        pools::write_power(job, &mut self.fields);
        pools::write_kv_precision(job, &mut self.fields);
        pools::write_state_cache(job, &mut self.fields);
        pools::write_eviction(job, &mut self.fields);
    }

    /// Adds what DynoSim says of recorded plays.
    pub(crate) fn describe_plays(
        &mut self,
        record: &RunRecord,
        corpus: &Corpus,
        job: &SimulationJob,
    ) {
        if let Some(plays) = corpus.plays() {
            trajectories::write(record, plays, job, &mut self.fields);
        }
        if let Some(run) = &record.instances {
            instances::write(record, run, (corpus, job), &mut self.fields);
        }
    }

    /// Writes `prediction.json`; `rows` are its copy of `requests.jsonl` where they were captured.
    ///
    /// Two spaces of indent, sorted keys, one newline at the end. Source: spec/PREDICT.md §5.
    ///
    /// # Errors
    /// What the writer answers.
    pub(crate) fn write(&self, rows: Option<&Rows>, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &Document { fields: &self.fields, rows })?;
        out.write_all(b"\n")
    }

    /// Returns a number of the summary; 0 where there is none of this name.
    pub(super) fn number(&self, name: &str) -> f64 {
        self.fields.get(name).and_then(Value::as_f64).unwrap_or(0.0)
    }

    /// Returns whether the summary has a field.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }
}

impl Totals {
    /// Returns those of the measured requests that `take` accepts.
    fn of(record: &RunRecord, take: impl Fn(&RequestRecord) -> bool) -> Self {
        let measured = measured(record).filter(|request| take(request));
        measured.fold(Self::default(), |totals, request| Self {
            count: totals.count + 1,
            input: totals.input + request.input,
            output: totals.output + request.output,
            reused_first: totals.reused_first + request.reused_first(),
            reused_max: totals.reused_max + request.reused_max(),
        })
    }
}

fn write_counts(record: &RunRecord, totals: Totals, fields: &mut Map<String, Value>) {
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("num_requests", record.requests.len().into());
    put("completed_requests", totals.count.into());
    put("total_input_tokens", totals.input.get().into());
    put("total_output_tokens", totals.output.get().into());
    put("processed_tokens", (totals.input + totals.output).get().into());
    put("committed_prefill_tokens", record.committed_prefill.get().into());
    put("duration_ms", duration_ms(record).into());
    put("kv_eviction_policy", "lru".into());
    let share = |part: Tokens| Value::from(ratio(real(part), real(totals.input)));
    put("prefix_cache_reused_ratio", share(totals.reused_max));
    put("first_admission_prefix_cache_reused_ratio", share(totals.reused_first));
}

fn write_rates(record: &RunRecord, totals: Totals, fields: &mut Map<String, Value>) {
    let seconds = interval_seconds(record);
    let mut put = |name: &str, count: f64| {
        fields.insert(name.to_owned(), Value::from(count / seconds));
    };
    put("request_throughput_rps", count_of(totals.count));
    put("input_throughput_tok_s", real(totals.input));
    put("output_throughput_tok_s", real(totals.output));
    put("total_throughput_tok_s", real(totals.input + totals.output));
}

fn write_latencies(record: &RunRecord, fields: &mut Map<String, Value>) {
    let of = |latency: fn(&RequestRecord) -> Option<f64>| {
        Distribution::of(measured(record).filter_map(|request| latency(&request)))
    };
    let (ttft, tpot, e2e) = (of(ttft_ms), of(tpot_ms), of(e2e_ms));
    for (name, count) in [
        ("num_ttft_samples", ttft.count()),
        ("num_tpot_samples", tpot.count()),
        ("num_e2e_latency_samples", e2e.count()),
    ] {
        fields.insert(name.to_owned(), count.into());
    }
    ttft.write("ttft_ms", fields);
    of(ttst_ms).write("ttst_ms", fields);
    tpot.write("tpot_ms", fields);
    gaps::latencies(&record.gaps).write("itl_ms", fields);
    e2e.write("e2e_latency_ms", fields);
    gaps::throughputs(&record.gaps).write("output_token_throughput_per_user", fields);
}

/// Writes what the tiers behind the GPU held and did. A private host tier has no domain.
fn write_tiers(record: &RunRecord, fields: &mut Map<String, Value>) {
    if let Some(host) = record.host.filter(|host| host.is_shared) {
        let domain = json!({
            "capacity_blocks": host.blocks,
            "resident_blocks": host.blocks_resident,
            "used_blocks": host.blocks_used,
        });
        fields.insert("g2_domains".to_owned(), Value::Array(vec![domain]));
    }
    if let Some(storage) = record.storage {
        fields.insert("g3_offload".to_owned(), storage_object(&storage));
    }
}

/// Returns what the storage tier did.
fn storage_object(storage: &StorageUse) -> Value {
    let io = |io: StorageIo| {
        json!({
            "cancelled_jobs": 0,
            "completed_bytes": io.completed_bytes,
            "completed_jobs": io.completed_jobs,
            "submitted_jobs": io.submitted_jobs,
            "transfer_ms": io.transfer_ms,
        })
    };
    let mut object = json!({
        "cross_worker_read_blocks": storage.cross_worker_read_blocks,
        "evictions": storage.evictions,
        "lookup_hits": storage.lookup_hits,
        "lookup_pending": storage.lookup_pending,
        "lookup_probes": storage.lookup_probes,
        "pending_blocks": storage.pending_blocks,
        "read": io(storage.read),
        "resident_blocks": storage.resident_blocks,
        "write": io(storage.write),
    });
    if storage.bypassed_restores > 0 {
        object["bypassed_restores"] = storage.bypassed_restores.into();
    }
    object
}

/// Writes provisioned time: a static pool's workers are there from the start to the last event.
fn write_pools(record: &RunRecord, fields: &mut Map<String, Value>) {
    let seconds = record.ended_at.as_ms() / 1000.0;
    let pool = |wanted: fn(&str) -> bool| -> (f64, u64) {
        let pools: Vec<&PoolUse> = record.pools.iter().filter(|pool| wanted(pool.pool)).collect();
        let gpus = pools.first().map_or(0, |pool| pool.gpus_per_worker);
        #[expect(clippy::cast_precision_loss, reason = "a pool has less than 2^53 workers")]
        (pools.iter().map(|pool| seconds * pool.workers as f64).sum(), gpus)
    };
    // Aggregated workers report as decode workers.
    let (prefill, prefill_gpus) = pool(|name| name == "prefill");
    let (decode, decode_gpus) = pool(|name| name != "prefill");
    #[expect(clippy::cast_precision_loss, reason = "a worker has less than 2^53 GPUs")]
    let gpu_hours = (prefill * prefill_gpus as f64 + decode * decode_gpus as f64) / 3600.0;
    for (name, value) in [
        ("prefill_worker_seconds", Value::from(prefill)),
        ("decode_worker_seconds", Value::from(decode)),
        ("prefill_gpus_per_worker", Value::from(prefill_gpus)),
        ("decode_gpus_per_worker", Value::from(decode_gpus)),
        ("gpu_hours", Value::from(gpu_hours)),
    ] {
        fields.insert(name.to_owned(), value);
    }
}

fn write_host(totals: Totals, host: Host, fields: &mut Map<String, Value>) {
    let seconds = host.wall.as_secs_f64();
    let mut put = |name: &str, value: f64| fields.insert(name.to_owned(), Value::from(value));
    put("wall_time_ms", seconds * 1000.0);
    put("processed_tokens_per_s", ratio(real(totals.input + totals.output), seconds));
    put("processed_output_tokens_per_s", ratio(real(totals.output), seconds));
}

fn write_goodput(record: &RunRecord, sla: &Sla, fields: &mut Map<String, Value>) {
    let good = Totals::of(record, |request| goodput::is_good(request, sla));
    let seconds = interval_seconds(record);
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("goodput_completed_requests", good.count.into());
    put("goodput_request_throughput_rps", (count_of(good.count) / seconds).into());
    put("goodput_output_throughput_tok_s", (real(good.output) / seconds).into());
}

/// Returns the end of the last completed request: requests that end otherwise do not prolong a run.
///
/// A measured window lasts from the first arrival of those requests. Source: spec/SIMULATION.md §9.8.
pub(super) fn duration_ms(record: &RunRecord) -> f64 {
    let completed = || record.requests.iter().filter(|request| request.is_completed());
    let Some(end) = completed().filter_map(|request| request.terminal).max() else { return 0.0 };
    let has_window = record.instances.as_ref().is_some_and(|run| run.profile.is_some());
    let first = completed().map(|request| request.arrival).min().filter(|_| has_window);
    end.ms_since(first.unwrap_or(SimTime::ZERO))
}

/// Returns the seconds that rates divide by: the duration, and at least 1e-9.
fn interval_seconds(record: &RunRecord) -> f64 {
    (duration_ms(record) / 1000.0).max(1e-9)
}

/// Returns how many, as DynoSim's f64.
#[expect(clippy::cast_precision_loss, reason = "a run has less than 2^53 requests")]
fn count_of(requests: u64) -> f64 {
    requests as f64
}

/// Returns the requests that enter the summary.
fn measured(record: &RunRecord) -> impl Iterator<Item = Cow<'_, RequestRecord>> {
    record.requests.iter().filter(|request| is_measured(request))
}

/// Returns tokens as DynoSim's f64.
#[expect(clippy::cast_precision_loss, reason = "a run has less than 2^53 tokens")]
fn real(tokens: Tokens) -> f64 {
    tokens.get() as f64
}

/// Returns `part / whole`, or 0 for an empty whole, as DynoSim does.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
