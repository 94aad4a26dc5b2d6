//! From what was drawn to a job that every part of the simulator can run.

use crate::deployment::{
    Backend, CacheGroup, Capacity, ContextLength, Eviction, HostOffload, KvTransfer, Preemption,
    SchedulePolicy, Speculation, StateCache, StorageOffload, TransferTiming, Worker, WorkerRole,
};
use crate::measure::{Limits, Offered};
use crate::plan::{Compat, EngineIdentity};
use crate::units::{BlockSize, Blocks, SimTime, Tokens};
use crate::workload::{Load, Rate, SessionShape, Source, Stop, StopCount};

use super::super::support::Small;
use super::plant::{Arrivals, Asked, Feature, Fleet, Plant};

/// Tokens of a block of the rows.
const ROW_BLOCK: u64 = 4;
/// What a turn of a drawn session adds and produces.
const TURN: (u64, u64) = (9, 5);

impl Asked {
    /// Returns the prompt's tokens.
    pub(super) fn input(&self) -> u64 {
        ROW_BLOCK * u64::from(self.shared + self.own) - u64::from(self.short)
    }

    /// Returns the names of the prompt's blocks.
    fn ids(&self, row: u64) -> Vec<u64> {
        let shared =
            (0..u64::from(self.shared)).map(|block| 100 * u64::from(self.family) + block + 1);
        shared.chain((0..u64::from(self.own)).map(|block| 1000 * (row + 1) + block)).collect()
    }
}

impl Plant {
    /// Returns the feature that engine and mode really have.
    pub(super) fn feature(&self) -> Feature {
        let on_vllm = self.backend == Backend::Vllm && self.apart.is_none();
        let has_turns = self.rows.iter().any(|row| row.follows);
        let has = match &self.feature {
            Feature::Plain | Feature::Drafts { .. } => true,
            Feature::Tiers { .. } | Feature::States { .. } | Feature::Groups { .. } => on_vllm,
            Feature::Foresight => {
                let is_open =
                    !matches!(self.arrivals, Arrivals::Closed(_) | Arrivals::Sessions { .. });
                on_vllm && is_open && !has_turns && self.fleet.ranks == 1
            }
        };
        if has { self.feature.clone() } else { Feature::Plain }
    }

    /// Returns how many requests it asks for.
    pub(super) fn offered(&self) -> u64 {
        match self.arrivals {
            Arrivals::Sessions { count, turns, .. } => u64::from(count) * u64::from(turns),
            Arrivals::Recorded
            | Arrivals::Closed(_)
            | Arrivals::Constant(_)
            | Arrivals::Poisson(_) => self.rows.len() as u64,
        }
    }

    /// Returns the tokens of the largest prompt, and of the largest request.
    fn largest(&self) -> (u64, u64) {
        if let Arrivals::Sessions { turns, .. } = self.arrivals {
            let turns = u64::from(turns);
            return (turns * TURN.0 + (turns - 1) * TURN.1, turns * (TURN.0 + TURN.1));
        }
        let prompts = self.rows.iter().map(Asked::input);
        let wholes = self.rows.iter().map(|row| row.input() + u64::from(row.output));
        (prompts.max().unwrap_or(1), wholes.max().unwrap_or(1))
    }

    /// Returns the context limit.
    fn context(&self) -> Option<u64> {
        self.context.map(u64::from)
    }

    /// Returns what its run may look like.
    pub(super) fn limits(&self) -> Limits {
        let pool = |fleet: &Fleet| self.blocks(fleet) * self.block_size(fleet);
        let trt = (self.backend == Backend::Trtllm).then(|| {
            // The decode rank's pool is the one that ends an output.
            pool(self.apart.as_ref().map_or(&self.fleet, |apart| &apart.decode))
        });
        let context = [self.context(), trt].into_iter().flatten().min();
        let offered = self.offered();
        Limits {
            context_length: context.map(Tokens::new),
            offered: Some(if self.cut.is_some() {
                Offered::AtMost(offered)
            } else {
                Offered::All(offered)
            }),
            rejects_running: matches!(
                self.feature(),
                Feature::States { .. } | Feature::Groups { .. }
            ),
        }
    }

    /// Returns the tokens of a block of a pool.
    pub(super) fn block_size(&self, fleet: &Fleet) -> u64 {
        let least = if self.backend == Backend::Sglang { 1 } else { 2 };
        u64::from(fleet.block_size).max(least)
    }

    /// Returns the KV blocks of a rank.
    pub(super) fn blocks(&self, fleet: &Fleet) -> u64 {
        let needed = (self.largest().1 + 1).div_ceil(self.block_size(fleet));
        match fleet.tenths {
            Some(tenths) => (needed * u64::from(tenths) / 10).max(1),
            None => needed + u64::from(fleet.spare_blocks),
        }
    }

    /// Returns the job.
    pub(super) fn small(&self) -> Small {
        let mut small = Small::new(self.fleet.prefill_ms, self.fleet.decode_ms);
        small = small.worker(|worker| self.set(worker, &self.fleet, WorkerRole::Aggregated));
        small = small.worker(|worker| self.feature().set(worker, self));
        if let Some(apart) = &self.apart {
            let replicas = (self.fleet.replicas, apart.decode.replicas);
            small = small.apart(replicas, (apart.decode.prefill_ms, apart.decode.decode_ms));
            small = small.pools(|role, worker| match role {
                WorkerRole::Decode => self.set(worker, &apart.decode, role),
                WorkerRole::Prefill | WorkerRole::Aggregated => self.set(worker, &self.fleet, role),
            });
            small = small.transfer(|transfer| self.transfer(transfer));
        }
        let small = self.traffic(self.requests(small));
        small.job(|job| {
            job.engine = EngineIdentity::native(self.compat);
            job.deployment.backend = self.backend;
            let may_split = self.chunked || self.backend == Backend::Sglang;
            job.deployment.enable_chunked_prefill = Some(may_split);
            if let Some(limit) = self.context() {
                job.deployment.context_length = ContextLength::Tokens(Tokens::new(limit));
            }
            if let Feature::Drafts { tenths, seed } = self.feature() {
                let rates: Vec<f64> = tenths.iter().map(|tenth| f64::from(*tenth) / 10.0).collect();
                let count = u32::try_from(rates.len()).expect("few");
                job.deployment.speculation = Some(Speculation::mtp(count, &rates, seed));
            }
            job.workload.stop.virtual_time = self.cut.map(|ms| time(f64::from(ms)));
        })
    }

    /// Adds the rows.
    fn requests(&self, small: Small) -> Small {
        let mut at_ms = 0.0;
        (0_u64..).zip(&self.rows).fold(small, |small, (index, row)| {
            at_ms += f64::from(row.gap) * 0.1;
            let small = small.prompt(at_ms, &row.ids(index), u64::from(row.output));
            let small = small.short(u64::from(row.short)).thinking(f64::from(row.think));
            if row.follows && index > 0 { small.turn() } else { small }
        })
    }

    /// Sets how requests come.
    fn traffic(&self, small: Small) -> Small {
        let rate = |per_second: u16| Rate::new(f64::from(per_second)).expect("above 0");
        small.job(|job| match self.arrivals {
            Arrivals::Recorded => {}
            Arrivals::Closed(concurrency) => job.workload.load = Load::Concurrency { concurrency },
            Arrivals::Constant(per_second) => {
                job.workload.load = Load::ConstantRate { rate: rate(per_second) };
            }
            Arrivals::Poisson(per_second) => {
                job.workload.load = Load::Poisson { rate: rate(per_second), seed: Some(7) };
            }
            Arrivals::Sessions { count, turns, at_a_time, shared_tenths, groups, think } => {
                job.workload.source = Source::SyntheticSession(SessionShape {
                    new_input_per_turn: Tokens::new(TURN.0),
                    output_per_turn: Tokens::new(TURN.1),
                    turns: u32::from(turns),
                    shared_prefix_ratio: if groups > 0 {
                        f64::from(shared_tenths) / 10.0
                    } else {
                        0.0
                    },
                    prefix_groups: u32::from(groups),
                    prefix_seed: None,
                    inter_turn_delay_ms: f64::from(think),
                });
                job.workload.load = Load::Concurrency { concurrency: at_a_time };
                job.workload.stop =
                    Stop { count: Some(StopCount::Sessions(u64::from(count))), ..Stop::default() };
            }
        })
    }

    /// Sets the workers of a pool.
    fn set(&self, worker: &mut Worker, fleet: &Fleet, role: WorkerRole) {
        let block_size = self.block_size(fleet);
        worker.parallelism.replicas = fleet.replicas;
        worker.parallelism.attention_data = fleet.ranks;
        worker.kv_cache.block_size = BlockSize::new(narrow(block_size)).expect("positive");
        worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(self.blocks(fleet)));
        worker.kv_cache.prefix_caching = fleet.caching;
        let scheduler = &mut worker.scheduler;
        scheduler.max_sequences = fleet.sequences;
        // Without chunks a prompt must fit into a pass.
        let least = if self.chunked { 1 } else { self.largest().1 };
        scheduler.max_batched_tokens = Tokens::new(fleet.budget.max(least));
        scheduler.preemption = if self.fifo { Preemption::Fifo } else { Preemption::Lifo };
        if self.backend == Backend::Vllm && fleet.ranks > 1 {
            scheduler.prefill_schedule_interval = fleet.interval;
        }
        if self.backend == Backend::Sglang {
            scheduler.prefill_decode_interval = fleet.interval - 1;
            let pages = u64::from(self.knobs.chunk_pages) * u64::from(fleet.ranks);
            scheduler.sglang.chunked_prefill_size = block_size * pages;
            scheduler.sglang.conservativeness =
                f64::from(self.knobs.conservativeness_tenths) / 10.0;
            scheduler.sglang.clip_max_new_tokens = u64::from(self.knobs.clip);
            scheduler.sglang.max_prefill_tokens =
                u64::from(self.knobs.prefill_tokens).max(block_size);
            if self.knobs.longest_prefix {
                scheduler.sglang.policy = SchedulePolicy::Lpm;
            }
            let has_loop = self.knobs.host_loop
                && self.compat == Compat::Dev87
                && role != WorkerRole::Decode
                && matches!(self.feature(), Feature::Plain);
            scheduler.sglang.host_loop = has_loop;
        }
    }

    /// Sets what a hand-off takes.
    fn transfer(&self, transfer: &mut KvTransfer) {
        let Some(apart) = &self.apart else { return };
        transfer.bytes_per_token = Some(100_000);
        transfer.bandwidth_gb_per_second = (apart.sending > 0).then(|| tenths(apart.sending));
        transfer.decode_bandwidth_gb_per_second = apart.receiving.map(tenths);
        transfer.fallback_latency_ms = tenths(apart.constant);
        if apart.missing_only {
            transfer.timing_mode = TransferTiming::DestinationMissing;
        }
    }
}

impl Feature {
    /// Sets the feature on an aggregated worker.
    fn set(&self, worker: &mut Worker, plant: &Plant) {
        let cache = &mut worker.kv_cache;
        let block_size = cache.block_size;
        match self {
            Self::Plain | Self::Drafts { .. } => {}
            Self::Tiers { host, storage, shared, tenths: rates, latency } => {
                cache.prefix_caching = true;
                cache.bytes_per_token = Some(100_000);
                let [d2h, h2d, to_pool, from_pool] = rates.map(tenths);
                cache.host_offload = Some(HostOffload {
                    cluster_shared: shared.0,
                    blocks: u64::from(*host),
                    d2h_gb_per_second: d2h,
                    h2d_gb_per_second: h2d,
                    shared_d2h_gb_per_second: to_pool,
                    shared_h2d_gb_per_second: from_pool,
                    latency_to_first_byte_ms: tenths(latency / 4),
                });
                let has_storage = *storage > 0 && plant.fleet.ranks == 1;
                cache.storage_offload = has_storage.then(|| StorageOffload {
                    cluster_shared: shared.1,
                    blocks: u64::from(*storage),
                    latency_ms: tenths(*latency),
                    read_gb_per_second: h2d,
                    write_gb_per_second: d2h,
                    shared_read_gb_per_second: from_pool,
                    shared_write_gb_per_second: to_pool,
                });
            }
            Self::States { blocks, unit } => {
                let size = u64::from(block_size.get());
                cache.bytes_per_token = Some(1);
                cache.state_cache =
                    Some(StateCache { bytes_per_request: size * u64::from(*blocks) });
                cache.prefix_match_unit =
                    (*unit && size.is_multiple_of(2)).then_some(narrow(size / 2));
                let Capacity::Blocks(whole) = cache.capacity else { return };
                cache.capacity =
                    Capacity::Blocks(Blocks::new(whole.get() + 3 * u64::from(*blocks)));
            }
            Self::Groups { window, bytes } => {
                cache.prefix_caching = false;
                let needed = (plant.largest().1 + 1).div_ceil(u64::from(block_size.get()));
                cache.capacity = Capacity::Bytes(2 * needed + 2 + u64::from(*bytes));
                cache.groups = [None, Some(u32::from(*window))]
                    .map(|sliding_window| CacheGroup {
                        name: format!("{sliding_window:?}"),
                        block_size,
                        page_bytes: 1,
                        sliding_window,
                    })
                    .to_vec();
            }
            Self::Foresight => {
                cache.prefix_caching = true;
                cache.eviction = Eviction::Belady;
            }
        }
    }
}

fn tenths(count: u8) -> f64 {
    f64::from(count) / 10.0
}

fn time(ms: f64) -> SimTime {
    SimTime::from_ms(ms).expect("a time")
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("small")
}
