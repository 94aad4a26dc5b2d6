//! The tiers behind the GPUs of a job, and who shares them.

use std::cell::RefCell;
use std::rc::Rc;

use crate::deployment::{HostOffload, KvCache};
use crate::plan::Compat;
use crate::record::{HostUse, StorageUse};
use crate::workload::Vocabulary;

use super::engine::vllm::host::{RankHost, RankStorage};
use super::kv::host::{AfterStore, ClientLink, HostTier, PoolLink, TierConfig};
use super::kv::storage::{StorageConfig, StorageTier};
use super::link::Sharing;
use super::runtime::Pool;

/// How the tiers of a job are built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TiersConfig {
    block_size: u32,
    host: TierConfig,
    storage: Option<StorageConfig>,
}

/// The tiers of a job.
#[derive(Debug)]
pub(crate) struct Tiers {
    /// One for all ranks, or one a rank.
    hosts: Vec<Rc<RefCell<HostTier>>>,
    storage: Option<Rc<RefCell<StorageTier>>>,
}

impl TiersConfig {
    /// Returns the tiers that a worker states, `None` without a host tier.
    #[expect(clippy::cast_precision_loss, reason = "block bytes are far below 2^53")]
    pub(crate) fn of(kv_cache: &KvCache, bytes_per_token: u64, compat: Compat) -> Option<Self> {
        let offload: &HostOffload = kv_cache.host_offload.as_ref()?;
        let sharing = match compat {
            Compat::V0_13_0 => Sharing::EqualParts,
            Compat::Dev87 => Sharing::MaxMin,
        };
        let block_bytes = bytes_per_token as f64 * f64::from(kv_cache.block_size.get());
        let storage = kv_cache.storage_offload.as_ref();
        Some(Self {
            block_size: kv_cache.block_size.get(),
            host: TierConfig {
                capacity: usize::try_from(offload.blocks).unwrap_or(usize::MAX),
                block_bytes,
                client: ClientLink::of(offload),
                pool: PoolLink::of(offload, sharing),
                after_store: if storage.is_some() { AfterStore::Hold } else { AfterStore::Free },
            },
            storage: storage.map(|storage| StorageConfig::of(storage, block_bytes, sharing)),
        })
    }
}

impl TiersConfig {
    /// Returns the tokens of a block.
    pub(crate) fn block_size(&self) -> u32 {
        self.block_size
    }
}

impl Tiers {
    /// Builds the tiers and puts them behind the ranks of a pool.
    pub(crate) fn attach(
        config: &TiersConfig,
        pool: &mut Pool<'_>,
        vocabulary: Vocabulary,
    ) -> Self {
        let (ranks, vocabulary) = (pool.ranks().len(), Rc::new(vocabulary));
        let shared = |clients| Rc::new(RefCell::new(HostTier::new(config.host, clients)));
        let hosts: Vec<_> = match config.host.pool {
            Some(_) => vec![shared(ranks)],
            None => (0..ranks).map(|_| shared(1)).collect(),
        };
        let storage =
            config.storage.map(|storage| Rc::new(RefCell::new(StorageTier::new(storage, ranks))));
        for rank in 0..ranks {
            let (host, client) = match config.host.pool {
                Some(_) => (&hosts[0], rank),
                None => (&hosts[rank], 0),
            };
            let storage = storage.as_ref().map(|tier| RankStorage::new(Rc::clone(tier), rank));
            let host = RankHost::new(Rc::clone(host), client, Rc::clone(&vocabulary), storage);
            pool.rank(rank).attach_host(host);
        }
        Self { hosts, storage }
    }

    /// Returns what the host tier holds.
    pub(crate) fn host_use(&self) -> HostUse {
        let mut held = HostUse {
            is_shared: self.hosts.iter().any(|tier| tier.borrow().is_shared()),
            blocks: 0,
            blocks_resident: 0,
            blocks_used: 0,
        };
        for tier in &self.hosts {
            let (resident, used) = tier.borrow().occupancy();
            held.blocks = held.blocks.saturating_add(tier.borrow().capacity() as u64);
            held.blocks_resident += resident as u64;
            held.blocks_used += used as u64;
        }
        held
    }

    /// Finds blocks that a tier counts otherwise than its copies hold them, and links that carry more than they can.
    ///
    /// # Errors
    /// What was found.
    #[cfg(test)]
    pub(crate) fn audit(&self) -> Result<(), String> {
        self.hosts.iter().try_for_each(|tier| tier.borrow_mut().audit())?;
        self.storage.as_ref().map_or(Ok(()), |tier| tier.borrow_mut().audit())
    }

    /// Returns what the storage tier did, where there is one.
    pub(crate) fn storage_use(&self) -> Option<StorageUse> {
        self.storage.as_ref().map(|tier| tier.borrow().usage())
    }
}
