//! `group` of `kv-cache`: layers that share the bytes of a cache with others.

use crate::deployment::{Backend, CacheGroup, Capacity, KvCache};
use crate::diag::{Bag, Code};
use crate::scenario::bounds;
use crate::scenario::cursor::View;
use crate::units::BlockSize;

/// Decodes the groups of a cache; `None` where the bag says why.
pub(super) fn decode(cache: &View<'_>) -> Option<Vec<CacheGroup>> {
    cache.all("group").map(group).collect()
}

/// Decodes one group.
fn group(view: &View<'_>) -> Option<CacheGroup> {
    Some(CacheGroup {
        name: view.text("NAME")?.to_owned(),
        block_size: view.count32("block-size").and_then(BlockSize::new)?,
        page_bytes: view.count("page-bytes")?,
        sliding_window: view.count32("sliding-window"),
    })
}

/// Refuses groups beside what knows blocks only, and names of nothing.
pub(super) fn check(view: &View<'_>, cache: &KvCache, backend: Backend, bag: &mut Bag) {
    let Some(first) = view.child("group") else { return };
    if backend != Backend::Vllm {
        let message = format!("backend \"{}\" has no `group`", backend.name());
        bag.push(first.head().problem(Code::ScenarioBackend, message, "vLLM only"));
    }
    let shares_bytes = matches!(cache.capacity, Capacity::Bytes(bytes) if bytes <= bounds::EXACT);
    let has_blocks = cache.prefix_caching
        || cache.bytes_per_token.is_some()
        || cache.host_offload.is_some()
        || cache.state_cache.is_some();
    if !shares_bytes || has_blocks {
        let message = "`group` needs `capacity \"fixed\" bytes=`, `prefix-caching=#false`, and neither \
                       `bytes-per-token` nor `host-offload` nor `state-cache`";
        bag.push(first.head().problem(Code::ScenarioConflict, message, "does not fit this cache"));
    }
    for group in view.all("group") {
        if group.text("NAME").is_some_and(|name| name.trim().is_empty()) {
            let message = "a `group` needs a name";
            bag.push(group.problem(Code::ScenarioConflict, "NAME", message, "is empty"));
        }
    }
}
