//! The KV cache of a worker and the tiers behind it.

use crate::digest::canonical::{Value, object};
use crate::units::BlockSize;

use super::Capacity;

/// The KV cache of a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct KvCache {
    /// Tokens a block.
    pub block_size: BlockSize,
    /// Whether equal prefixes share blocks.
    pub prefix_caching: bool,
    /// Bytes of one token's KV; the model's where absent.
    pub bytes_per_token: Option<u64>,
    /// How many blocks there are.
    pub capacity: Capacity,
    /// The host tier (G2).
    pub host_offload: Option<HostOffload>,
    /// The storage tier (G3).
    pub storage_offload: Option<StorageOffload>,
    /// State of recurrent layers.
    pub state_cache: Option<StateCache>,
    /// Tokens in which a prefix match is counted, where they differ from a block.
    pub prefix_match_unit: Option<u32>,
    /// Groups of layers that share the bytes of the capacity, where there are such; blocks and their bytes have no part then.
    pub groups: Vec<CacheGroup>,
    /// Which cached block gives way when memory lacks.
    pub eviction: Eviction,
}

/// Layers that keep the same tokens in pages of the same size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheGroup {
    /// Its name, another one for each group of a cache.
    pub name: String,
    /// Tokens a page.
    pub block_size: BlockSize,
    /// Bytes of a page: those of all its layers, with padding.
    pub page_bytes: u64,
    /// How many tokens are looked back on; all where absent.
    pub sliding_window: Option<u32>,
}

/// Which cached block gives way when memory lacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Eviction {
    /// The one released longest ago.
    #[default]
    Lru,
    /// The one whose next use in the order of the input lies farthest ahead.
    Belady,
}

/// The host tier. Bandwidths are decimal gigabytes a second; 0 is unlimited.
#[derive(Debug, Clone, PartialEq)]
pub struct HostOffload {
    /// Whether workers share it: `dp-rank-local` or `cluster-shared`.
    pub cluster_shared: bool,
    /// Its blocks.
    pub blocks: u64,
    /// Device to host.
    pub d2h_gb_per_second: f64,
    /// Host to device.
    pub h2d_gb_per_second: f64,
    /// Device to host over the shared pool link.
    pub shared_d2h_gb_per_second: f64,
    /// Host to device over the shared pool link.
    pub shared_h2d_gb_per_second: f64,
    /// Latency to the first byte in milliseconds.
    pub latency_to_first_byte_ms: f64,
}

/// The storage tier. Bandwidths are decimal gigabytes a second; 0 is unlimited.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageOffload {
    /// Whether workers share it: `worker-local` or `cluster-shared`.
    pub cluster_shared: bool,
    /// Its blocks.
    pub blocks: u64,
    /// Latency in milliseconds.
    pub latency_ms: f64,
    /// Reads.
    pub read_gb_per_second: f64,
    /// Writes.
    pub write_gb_per_second: f64,
    /// Reads over the shared link.
    pub shared_read_gb_per_second: f64,
    /// Writes over the shared link.
    pub shared_write_gb_per_second: f64,
}

/// State of recurrent layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateCache {
    /// Bytes of state a request.
    pub bytes_per_request: u64,
}

impl KvCache {
    /// Returns the blocks that the state of a request takes, where there are states; `bytes_per_token` is that of the KV.
    pub fn state_blocks(&self, bytes_per_token: u64) -> Option<u64> {
        let block_bytes = bytes_per_token.saturating_mul(u64::from(self.block_size.get())).max(1);
        self.state_cache.map(|state| state.bytes_per_request.div_ceil(block_bytes))
    }

    /// Returns the bytes that groups of layers share, where there are such.
    pub fn group_bytes(&self) -> Option<u64> {
        match self.capacity {
            Capacity::Bytes(bytes) if !self.groups.is_empty() => Some(bytes),
            Capacity::Bytes(_) | Capacity::Blocks(_) | Capacity::Default { .. } => None,
        }
    }

    /// Returns whether a request may be refused when it has run already: with its state it may outgrow the pool while it runs, and
    /// with groups of layers when it was preempted.
    pub fn refuses_running(&self) -> bool {
        self.state_cache.is_some() || !self.groups.is_empty()
    }

    /// Returns the canonical description.
    pub(super) fn canonical(&self) -> Value {
        let groups = self.groups.iter().map(CacheGroup::canonical).collect();
        object([
            ("block_size", Value::count(u64::from(self.block_size.get()))),
            ("bytes_per_token", self.bytes_per_token.map_or(Value::Null, Value::count)),
            ("capacity", self.capacity.canonical()),
            (
                "host_offload",
                self.host_offload.as_ref().map_or(Value::Null, HostOffload::canonical),
            ),
            ("prefix_caching", Value::Bool(self.prefix_caching)),
            (
                "prefix_match_unit",
                self.prefix_match_unit.map_or(Value::Null, |unit| Value::count(u64::from(unit))),
            ),
            (
                "state_cache",
                self.state_cache.map_or(Value::Null, |state| Value::count(state.bytes_per_request)),
            ),
            (
                "storage_offload",
                self.storage_offload.as_ref().map_or(Value::Null, StorageOffload::canonical),
            ),
        ])
        .with(
            "eviction",
            (self.eviction != Eviction::Lru).then(|| Value::text(self.eviction.name())),
        )
        .with("groups", (!self.groups.is_empty()).then_some(Value::List(groups)))
    }
}

impl CacheGroup {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        object([
            ("block_size", Value::count(u64::from(self.block_size.get()))),
            ("name", Value::text(&self.name)),
            ("page_bytes", Value::count(self.page_bytes)),
            (
                "sliding_window",
                self.sliding_window.map_or(Value::Null, |window| Value::count(u64::from(window))),
            ),
        ])
    }
}

impl Eviction {
    /// Returns what eviction takes for known of the input; nothing for the order of release.
    pub const fn assumption(self) -> Option<&'static str> {
        match self {
            Self::Lru => None,
            Self::Belady => Some("global_input_trace_order_v1"),
        }
    }

    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lru => "lru",
            Self::Belady => "belady",
        }
    }
}

impl HostOffload {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        object([
            ("blocks", Value::count(self.blocks)),
            ("cluster_shared", Value::Bool(self.cluster_shared)),
            ("d2h_gb_per_second", Value::real(self.d2h_gb_per_second)),
            ("h2d_gb_per_second", Value::real(self.h2d_gb_per_second)),
            ("latency_to_first_byte_ms", Value::real(self.latency_to_first_byte_ms)),
            ("shared_d2h_gb_per_second", Value::real(self.shared_d2h_gb_per_second)),
            ("shared_h2d_gb_per_second", Value::real(self.shared_h2d_gb_per_second)),
        ])
    }
}

impl StorageOffload {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        object([
            ("blocks", Value::count(self.blocks)),
            ("cluster_shared", Value::Bool(self.cluster_shared)),
            ("latency_ms", Value::real(self.latency_ms)),
            ("read_gb_per_second", Value::real(self.read_gb_per_second)),
            ("shared_read_gb_per_second", Value::real(self.shared_read_gb_per_second)),
            ("shared_write_gb_per_second", Value::real(self.shared_write_gb_per_second)),
            ("write_gb_per_second", Value::real(self.write_gb_per_second)),
        ])
    }
}
