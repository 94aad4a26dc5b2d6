//! A workload and a deployment as the text of a scenario: the way back from data to KDL.
//!
//! Every default is written out, so that a scenario says all that the data says. Digests are left to `bench pin`'s rules: the caller
//! knows the pins.

use std::fmt::Write as _;

use crate::deployment::{
    Capacity, ContextLength, Deployment, HostOffload, KvCache, KvTransfer, Planner, Router,
    Speculation, StorageOffload, Timing, TransferTiming, Worker, WorkerRole, Workers,
};
use crate::digest::Sha256;
use crate::workload::{Load, Profile, RecordedLoad, Sla, Source, Stop, StopCount, Workload};

/// What a scenario is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    /// The scenario's name.
    pub(crate) name: &'a str,
    /// What it is, in a sentence.
    pub(crate) about: &'a str,
    /// The seed of random streams that nothing states.
    pub(crate) seed: u64,
    /// The model's pin.
    pub(crate) model: Pinned<'a>,
    /// The hardware's pin.
    pub(crate) hardware: Pinned<'a>,
    /// The trace's pin, where the workload has one.
    pub(crate) trace: Option<Pinned<'a>>,
    /// The pins of timing tables that `default` timing means.
    pub(crate) timings: &'a [(String, Sha256)],
    /// The reference behaviour of the engine.
    pub(crate) compat: &'a str,
    /// What is asked.
    pub(crate) workload: &'a Workload,
    /// What serves.
    pub(crate) deployment: &'a Deployment,
    /// What a good request is.
    pub(crate) sla: Option<&'a Sla>,
}

/// A pin and its digest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pinned<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its digest.
    pub(crate) digest: Sha256,
}

/// Something that data can say and the scenario language cannot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the scenario language cannot say {0}")]
pub(crate) struct Unsayable(&'static str);

/// A text of KDL with its depth.
#[derive(Debug, Default)]
struct Text {
    text: String,
    depth: usize,
}

/// Returns the scenario.
///
/// # Errors
/// [`Unsayable`] for a source or a setting that has no node.
pub(crate) fn scenario(parts: &Parts<'_>) -> Result<String, Unsayable> {
    let mut out = Text::default();
    let mut failed = None;
    out.block(&format!("scenario {}", quoted(parts.name)), |out| {
        out.line(&format!("about {}", quoted(parts.about)));
        out.line(&format!("seed {}", parts.seed));
        out.block("pins", |out| pins(parts, out));
        failed = body(parts, out).err();
        out.block("simulate \"predict\"", |out| {
            out.line("workload \"imported\"");
            out.line("deployment \"imported\"");
            out.line("engine \"native\"");
            if let Some(sla) = parts.sla {
                out.line(&sla_line(sla));
            }
        });
    });
    failed.map_or(Ok(out.text), Err)
}

fn body(parts: &Parts<'_>, out: &mut Text) -> Result<(), Unsayable> {
    let source = source(&parts.workload.source, parts.trace)?;
    let load = load(parts.workload);
    let deployment = deployment(parts)?;
    out.block("workload \"imported\"", |out| {
        out.line(&source);
        out.line(&load);
        if let Some(stop) = stop(&parts.workload.stop) {
            out.line(&stop);
        }
    });
    out.block("deployment \"imported\"", |out| out.lines(&deployment));
    Ok(())
}

fn pins(parts: &Parts<'_>, out: &mut Text) {
    let mut pin = |kind: &str, pin: Pinned<'_>| {
        out.line(&format!("{kind} {} sha256=\"{}\"", quoted(pin.name), pin.digest.hex()));
    };
    if let Some(trace) = parts.trace {
        pin("trace", trace);
    }
    pin("hardware", parts.hardware);
    pin("model", parts.model);
    for (name, digest) in parts.timings {
        pin("timing", Pinned { name, digest: *digest });
    }
    out.line(&format!("engine \"native\" version=\"1\" compat={}", quoted(parts.compat)));
}

fn source(source: &Source, trace: Option<Pinned<'_>>) -> Result<String, Unsayable> {
    match (source, trace) {
        (Source::Trace { .. }, Some(trace)) => Ok(format!("trace {}", quoted(trace.name))),
        (Source::Trace { .. }, None) => Err(Unsayable("a trace without a pin")),
        (Source::Synthetic(shape), _) => Ok(format!(
            "synthetic input-tokens={} output-tokens={} cached-prefix-tokens={}",
            shape.input, shape.output, shape.cached_prefix
        )),
        (Source::SyntheticSession(shape), _) => {
            let mut line = format!(
                "synthetic-session new-input-tokens-per-turn={} output-tokens-per-turn={} turns={} \
                 shared-prefix-ratio={} prefix-groups={} inter-turn-delay-ms={}",
                shape.new_input_per_turn,
                shape.output_per_turn,
                shape.turns,
                real(shape.shared_prefix_ratio),
                shape.prefix_groups,
                real(shape.inter_turn_delay_ms),
            );
            property(&mut line, "prefix-seed", shape.prefix_seed);
            Ok(line)
        }
        (Source::Graph { .. }, _) => Err(Unsayable("a graph without a pin")),
        (Source::Requests(_), _) => Err(Unsayable("requests that are stated one by one")),
    }
}

fn load(workload: &Workload) -> String {
    let unit = match workload.source {
        Source::SyntheticSession(_) => "sessions-per-second",
        Source::Synthetic(_)
        | Source::Trace { .. }
        | Source::Graph { .. }
        | Source::Requests(_) => "requests-per-second",
    };
    match &workload.load {
        Load::Concurrency { concurrency } => {
            format!("load \"concurrency\" concurrency={concurrency}")
        }
        Load::ConstantRate { rate } => {
            format!("load \"constant-rate\" {unit}={}", real(rate.per_second()))
        }
        Load::Poisson { rate, seed } => {
            let mut line = format!("load \"poisson\" {unit}={}", real(rate.per_second()));
            property(&mut line, "seed", *seed);
            line
        }
        Load::TraceTimestamps { speedup } => {
            format!("load \"trace-timestamps\" speedup={}", real(*speedup))
        }
        Load::Recorded(load) => recorded(load),
    }
}

fn recorded(load: &RecordedLoad) -> String {
    let mut line = format!("load \"recorded\" speedup={}", real(load.speedup));
    let mut add = |text: String| {
        line.push(' ');
        line.push_str(&text);
    };
    if let Some(cap) = load.idle_gap_cap_ms {
        add(format!("idle-gap-cap={}", quoted(&format!("{cap}ms"))));
    }
    if load.idle_gap_scope != "trace" {
        add(format!("idle-gap-scope={}", quoted(&load.idle_gap_scope)));
    }
    for (name, is_set) in
        [("open-loop", load.open_loop), ("strict", load.strict), ("warmup", load.warmup)]
    {
        if is_set {
            add(format!("{name}=#true"));
        }
    }
    if let Some(lanes) = load.agentic_lanes {
        add(format!("agentic-lanes={lanes}"));
    }
    if let Some(seed) = load.snapshot_seed {
        add(format!("snapshot-seed={seed}"));
    }
    if let Some(profile) = &load.profile {
        let plain = Profile::default();
        add(format!("profile={}", quoted(&format!("{}ms", profile.duration_ms))));
        for (name, ms, usual) in [
            ("grace", profile.grace_ms, plain.grace_ms),
            ("cancel-drain", profile.cancel_drain_ms, plain.cancel_drain_ms),
            ("tree-idle-cap", profile.tree_idle_cap_ms, plain.tree_idle_cap_ms),
            ("global-idle-cap", profile.global_idle_cap_ms, plain.global_idle_cap_ms),
        ] {
            if ms.total_cmp(&usual).is_ne() {
                add(format!("{name}={}", quoted(&format!("{ms}ms"))));
            }
        }
    }
    line
}

fn stop(stop: &Stop) -> Option<String> {
    let mut line = "stop".to_owned();
    match stop.count {
        None => {}
        Some(StopCount::Requests(count)) => property(&mut line, "requests", Some(count)),
        Some(StopCount::Sessions(count)) => property(&mut line, "sessions", Some(count)),
        Some(StopCount::RequestsPerLoadUnit(each)) => {
            property(&mut line, "requests-per-load-unit", Some(real(each)));
        }
        Some(StopCount::SessionsPerLoadUnit(each)) => {
            property(&mut line, "sessions-per-load-unit", Some(real(each)));
        }
    }
    let cut = stop.virtual_time.map(|time| format!("\"{}ms\"", time.as_ms()));
    property(&mut line, "virtual-time", cut);
    (line != "stop").then_some(line)
}

fn sla_line(sla: &Sla) -> String {
    let mut line = "sla".to_owned();
    property(&mut line, "ttft-ms", sla.ttft_ms.map(real));
    property(&mut line, "tpot-ms", sla.tpot_ms.map(real));
    property(&mut line, "e2e-ms", sla.e2e_ms.map(real));
    line
}

/// Returns the lines of the deployment's block.
fn deployment(parts: &Parts<'_>) -> Result<String, Unsayable> {
    let deployment = parts.deployment;
    let mut out = Text::default();
    out.line(&format!("mode {}", quoted(deployment.mode().name())));
    out.line(&format!("model {}", quoted(parts.model.name)));
    out.line(&format!("hardware {}", quoted(parts.hardware.name)));
    let mut backend = format!("backend {}", quoted(deployment.backend.name()));
    property(&mut backend, "version", deployment.backend_version.as_deref().map(quoted));
    out.line(&backend);
    match deployment.context_length {
        ContextLength::Max => out.line("context-length \"max\""),
        ContextLength::Tokens(tokens) => out.line(&format!("context-length {tokens}")),
        ContextLength::Unlimited => return Err(Unsayable("a context without a limit")),
    }
    if let Some(chunked) = deployment.enable_chunked_prefill {
        out.line(&format!("enable-chunked-prefill {}", flag(chunked)));
    }
    if let Some(speculation) = &deployment.speculation {
        out.line(&speculation_line(speculation));
    }
    match &deployment.workers {
        Workers::Aggregated(one) => worker(WorkerRole::Aggregated, one, &mut out)?,
        Workers::Disaggregated { prefill, decode } => {
            worker(WorkerRole::Prefill, prefill, &mut out)?;
            worker(WorkerRole::Decode, decode, &mut out)?;
        }
    }
    if let Some(transfer) = &deployment.kv_transfer {
        out.line(&transfer_line(transfer)?);
    }
    match (&deployment.router, &deployment.planner) {
        (Router::RoundRobin, Planner::Disabled) => {
            out.line("router \"round-robin\"");
            out.line("planner \"disabled\"");
            Ok(out.text)
        }
        (Router::Kv { .. }, _) | (_, Planner::Enabled(_)) => {
            Err(Unsayable("a router or planner of another stack"))
        }
    }
}

fn speculation_line(speculation: &Speculation) -> String {
    let rates: Vec<String> = speculation.acceptance_rates.iter().copied().map(real).collect();
    format!(
        "speculation {} tokens={} acceptance-rates={} seed={}",
        quoted(speculation.drafter.name()),
        speculation.tokens,
        quoted(&rates.join(" ")),
        speculation.seed
    )
}

fn transfer_line(transfer: &KvTransfer) -> Result<String, Unsayable> {
    if transfer.decode_bandwidth_gb_per_second != transfer.bandwidth_gb_per_second
        || transfer.fallback_latency_ms > 0.0
    {
        return Err(Unsayable("a receiver with a bandwidth of its own, or a latency of handoffs"));
    }
    let mut line = "kv-transfer".to_owned();
    property(&mut line, "bytes-per-token", transfer.bytes_per_token);
    let bandwidth = transfer.bandwidth_gb_per_second.map(real);
    property(&mut line, "bandwidth-gb-per-second", bandwidth);
    let mode = match transfer.timing_mode {
        TransferTiming::DestinationMissing => "\"destination-missing\"",
        TransferTiming::FullPrompt => "\"full-prompt\"",
    };
    property(&mut line, "timing-mode", Some(mode));
    Ok(line)
}

fn worker(role: WorkerRole, worker: &Worker, out: &mut Text) -> Result<(), Unsayable> {
    if worker.hardware.is_some() {
        return Err(Unsayable("a role on hardware of its own"));
    }
    let (ranks, scheduler) = (&worker.parallelism, &worker.scheduler);
    out.block(&format!("worker {}", quoted(role.name())), |out| {
        out.line(&format!(
            "parallelism replicas={} tensor={} pipeline={} attention-data={} moe-tensor={} moe-expert={}",
            ranks.replicas,
            ranks.tensor,
            ranks.pipeline,
            ranks.attention_data,
            ranks.moe_tensor,
            ranks.moe_expert
        ));
        let mut line = format!(
            "scheduler max-batched-tokens={} max-sequences={}",
            scheduler.max_batched_tokens, scheduler.max_sequences
        );
        // What belongs to one backend is refused beside another, its default included.
        let beyond = |count: u32, default: u32| (count != default).then_some(count);
        let interval = beyond(scheduler.prefill_schedule_interval, 1);
        property(&mut line, "prefill-schedule-interval", interval);
        let interval = beyond(scheduler.prefill_decode_interval, 0);
        property(&mut line, "prefill-decode-interval", interval);
        let fifo = (scheduler.preemption.name() != "lifo").then_some("\"fifo\"");
        property(&mut line, "preemption", fifo);
        out.line(&line);
        kv_cache(&worker.kv_cache, out);
        out.line(&timing_line(&worker.timing));
        out.line(&format!(
            "speedup ratio={} decode-ratio={}",
            real(worker.speedup.all),
            real(worker.speedup.decode)
        ));
        out.line(&format!("startup-seconds {}", real(worker.startup_seconds)));
    });
    Ok(())
}

fn kv_cache(cache: &KvCache, out: &mut Text) {
    let mut head = format!(
        "kv-cache block-size={} prefix-caching={}",
        cache.block_size.get(),
        flag(cache.prefix_caching)
    );
    property(&mut head, "bytes-per-token", cache.bytes_per_token);
    property(&mut head, "prefix-match-unit", cache.prefix_match_unit);
    let eviction =
        (cache.eviction.name() != "lru").then(|| format!("\"{}\"", cache.eviction.name()));
    property(&mut head, "eviction", eviction);
    out.block(&head, |out| {
        out.line(&match cache.capacity {
            Capacity::Default { memory_fraction, cuda_graph_reserved_bytes } => format!(
                "capacity \"default\" memory-fraction={} cuda-graph-reserved-bytes={cuda_graph_reserved_bytes}",
                real(memory_fraction)
            ),
            Capacity::Blocks(blocks) => format!("capacity \"fixed\" blocks={blocks}"),
            Capacity::Bytes(bytes) => format!("capacity \"fixed\" bytes={bytes}"),
        });
        if let Some(host) = &cache.host_offload {
            out.line(&host_line(host));
        }
        if let Some(storage) = &cache.storage_offload {
            out.line(&storage_line(storage));
        }
        if let Some(state) = cache.state_cache {
            out.line(&format!("state-cache bytes-per-request={}", state.bytes_per_request));
        }
        for group in &cache.groups {
            let mut line = format!("group {}", quoted(&group.name));
            property(&mut line, "block-size", Some(group.block_size.get()));
            property(&mut line, "page-bytes", Some(group.page_bytes));
            property(&mut line, "sliding-window", group.sliding_window);
            out.line(&line);
        }
    });
}

fn host_line(host: &HostOffload) -> String {
    format!(
        "host-offload scope={} num-host-blocks={} d2h-bandwidth-gbps={} h2d-bandwidth-gbps={} \
         shared-d2h-bandwidth-gbps={} shared-h2d-bandwidth-gbps={} latency-to-first-byte-ms={}",
        if host.cluster_shared { "\"cluster-shared\"" } else { "\"dp-rank-local\"" },
        host.blocks,
        real(host.d2h_gb_per_second),
        real(host.h2d_gb_per_second),
        real(host.shared_d2h_gb_per_second),
        real(host.shared_h2d_gb_per_second),
        real(host.latency_to_first_byte_ms),
    )
}

fn storage_line(storage: &StorageOffload) -> String {
    format!(
        "storage-offload scope={} num-g3-blocks={} latency-ms={} read-bandwidth-gbps={} \
         write-bandwidth-gbps={} shared-read-bandwidth-gbps={} shared-write-bandwidth-gbps={}",
        if storage.cluster_shared { "\"cluster-shared\"" } else { "\"worker-local\"" },
        storage.blocks,
        real(storage.latency_ms),
        real(storage.read_gb_per_second),
        real(storage.write_gb_per_second),
        real(storage.shared_read_gb_per_second),
        real(storage.shared_write_gb_per_second),
    )
}

fn timing_line(timing: &Timing) -> String {
    match timing {
        Timing::Fixed { prefill_ms, decode_ms } => format!(
            "timing \"fixed\" prefill-ms={} decode-ms={}",
            real(*prefill_ms),
            real(*decode_ms)
        ),
        Timing::Table { pin } => format!("timing \"table\" {}", quoted(pin)),
        Timing::Default | Timing::Polynomial => format!("timing {}", quoted(timing.kind())),
        Timing::Roofline(share) => format!(
            "timing \"roofline\" compute-efficiency={} memory-efficiency={} link-efficiency={} overhead-ms={}",
            real(share.compute),
            real(share.memory),
            real(share.link),
            real(share.overhead_ms)
        ),
    }
}

impl Text {
    /// Adds a line at the depth of the block.
    fn line(&mut self, line: &str) {
        let indent = self.depth * 4;
        writeln!(self.text, "{:indent$}{line}", "").expect("a String takes every write");
    }

    /// Adds lines at the depth of the block.
    fn lines(&mut self, lines: &str) {
        lines.lines().for_each(|line| self.line(line));
    }

    /// Adds a node with a block.
    fn block(&mut self, head: &str, write: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        write(self);
        self.depth -= 1;
        self.line("}");
    }
}

/// Adds a property where there is a value.
fn property(line: &mut String, name: &str, value: Option<impl std::fmt::Display>) {
    if let Some(value) = value {
        write!(line, " {name}={value}").expect("a String takes every write");
    }
}

/// Returns a text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                write!(quoted, "\\u{{{:x}}}", u32::from(c)).expect("a String takes every write");
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a number as KDL reads it back to the same bits.
fn real(number: f64) -> String {
    format!("{number:?}")
}

/// Returns a truth value.
const fn flag(flag: bool) -> &'static str {
    if flag { "#true" } else { "#false" }
}
