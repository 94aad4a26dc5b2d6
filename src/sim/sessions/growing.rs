//! Sessions of one shape whose prompts grow.

use crate::deployment::Workers;
use crate::digest::{Purpose, Seed, Stream};
use crate::plan::SimulationJob;
use crate::units::Blocks;
use crate::workload::{Origin, Run, SessionShape, Symbol};

use super::narrow::narrow;

/// Sessions of one shape whose prompts grow.
#[derive(Debug)]
pub(crate) struct Growing {
    pub(super) shape: SessionShape,
    pub(super) count: u64,
    /// Leading tokens of what each turn adds that come from the session's group.
    pub(super) shared: u32,
    /// The groups of the sessions that have started, and the draws of the rest.
    groups: Vec<u32>,
    draws: Stream,
}

impl Growing {
    /// Returns the sessions, none of which has started.
    ///
    /// A group's tokens fill whole blocks of the engine: the share of what a turn adds, rounded half away from zero.
    /// Source: spec/SIMULATION.md §9.2.
    pub(super) fn new(shape: SessionShape, count: u64, job: &SimulationJob) -> Self {
        let block = match &job.deployment.workers {
            Workers::Aggregated(worker) | Workers::Disaggregated { prefill: worker, .. } => {
                worker.kv_cache.block_size
            }
        };
        let added = shape.new_input_per_turn;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share from 0 to 1 of less than 2^32 blocks"
        )]
        let blocks =
            (added.blocks_ceil(block).get() as f64 * shape.shared_prefix_ratio).round() as u64;
        let shared = match shape.prefix_groups {
            0 => 0,
            _ => narrow(Blocks::new(blocks).tokens(block).min(added).get()),
        };
        let derived = || Seed::derive(job.seed, &job.workload.stream, Purpose::PrefixGroups);
        let seed = shape.prefix_seed.map_or_else(derived, Seed::stated);
        Self { shape, count, shared, groups: Vec::new(), draws: seed.stream() }
    }

    /// Returns what each turn of a session begins with.
    pub(super) fn shared_run(&mut self, session: u64) -> Run {
        if self.shared == 0 {
            return Run { symbol: Symbol::Unique(Origin::Prefix(0)), start: 0, length: 0 };
        }
        // Sessions draw in their order, whichever starts first.
        let place = usize::try_from(session).unwrap_or(usize::MAX);
        while self.groups.len() <= place {
            self.groups.push(self.draws.below(self.shape.prefix_groups));
        }
        let group = u64::from(self.groups[place]);
        Run { symbol: Symbol::Unique(Origin::Prefix(group)), start: 0, length: self.shared }
    }
}
