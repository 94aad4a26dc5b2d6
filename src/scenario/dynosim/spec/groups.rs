//! `kv_cache_groups`: groups of layers that share bytes.

use crate::deployment::{Backend, CacheGroup, Capacity};
use crate::units::BlockSize;

use super::super::decoder::{Fields, Report, Whole};
use super::super::field::{Field, nullable, value};
use super::document::refuse;
use super::engine::Part;
use super::rank::Rank;
use crate::scenario::written::Node;

/// Fields of a group.
const GROUP: &[Field] = &[
    value("name"),
    value("kind"),
    value("num_layers"),
    value("block_size_tokens"),
    value("page_size_bytes"),
    nullable("sliding_window"),
];
/// What the reference counts bytes up to.
const BYTES: Whole = Whole::between(1, 1 << 53);

/// The kinds of layers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Attention,
    Convolution,
}

/// Decodes the groups of a rank whose cache is known, and what they exclude.
pub(super) fn decode(rank: &Fields<'_>, part: Part, decoded: &mut Rank, report: &mut Report) {
    let items = rank.states("kv_cache_groups").then(|| rank.items("kv_cache_groups", report));
    let items = items.flatten().unwrap_or_default();
    if items.is_empty() {
        rank.conflict("kv_cache_capacity_bytes", "needs `kv_cache_groups`", report);
        return;
    }
    let path = rank.at("kv_cache_groups");
    let each = items.iter().enumerate();
    let groups: Vec<CacheGroup> =
        each.filter_map(|(at, item)| group(item, format!("{path}[{at}]"), report)).collect();
    let has_twin = |(at, group): (usize, &CacheGroup)| {
        groups[..at].iter().any(|other| other.name == group.name)
    };
    if groups.iter().enumerate().any(has_twin) {
        rank.conflict("kv_cache_groups", "names two groups alike", report);
    }
    check(rank, part, decoded, report);
    if !rank.states("kv_cache_capacity_bytes") {
        rank.missing("kv_cache_capacity_bytes", "`kv_cache_groups` share it", report);
    }
    if let Some(bytes) = rank.whole("kv_cache_capacity_bytes", BYTES, report) {
        decoded.kv_cache.capacity = Capacity::Bytes(bytes);
        decoded.kv_cache.groups = groups;
    }
}

/// Decodes one group.
fn group(node: &Node, path: String, report: &mut Report) -> Option<CacheGroup> {
    let fields = Fields::open(node, GROUP, path, node.place.clone(), report)?;
    for name in ["name", "kind", "num_layers", "block_size_tokens", "page_size_bytes"] {
        if !fields.states(name) {
            fields.missing(name, "it has no default", report);
        }
    }
    let name = fields.text("name", report);
    if name.is_some_and(|name| name.trim().is_empty()) {
        refuse(&fields, "name", "is empty", report);
    }
    let kinds = [("attention", Kind::Attention), ("convolution", Kind::Convolution)];
    let kind = fields.word("kind", &kinds, report);
    if kind == Some(Kind::Convolution) && !fields.states("sliding_window") {
        fields.missing("sliding_window", "convolutions have one", report);
    }
    // The bytes of a page are those of all layers.
    let _layers = fields.whole_32("num_layers", Whole::POSITIVE_32, report);
    let block_size = fields.whole_32("block_size_tokens", Whole::BLOCK_SIZE, report);
    let page_bytes = fields.whole("page_size_bytes", BYTES, report);
    let sliding_window = fields.whole_32("sliding_window", Whole::POSITIVE_32, report);
    Some(CacheGroup {
        name: name?.to_owned(),
        block_size: BlockSize::new(block_size?)?,
        page_bytes: page_bytes?,
        sliding_window,
    })
}

/// Reports what groups exclude.
fn check(rank: &Fields<'_>, part: Part, decoded: &Rank, report: &mut Report) {
    if decoded.backend != Backend::Vllm || part != Part::Aggregated {
        let why = "needs the backend `vllm` and an aggregated topology";
        rank.conflict("kv_cache_groups", why, report);
    }
    if decoded.kv_cache.prefix_caching {
        let why = "needs `enable_prefix_caching` to be false";
        rank.conflict("kv_cache_groups", why, report);
    }
    for name in ["emit_kv_events", "emit_kv_token_ids"] {
        if rank.flag(name, report) == Some(true) {
            rank.conflict(name, "excludes `kv_cache_groups`", report);
        }
    }
    for name in [
        "native_host_offload",
        "g3_offload",
        "aic_nextn",
        "state_cache",
        "kv_cache_bytes_per_token",
        "kv_transfer_bytes_per_token",
        "kv_bytes_per_token",
        "kv_transfer_bandwidth",
    ] {
        rank.conflict(name, "excludes `kv_cache_groups`", report);
    }
}
