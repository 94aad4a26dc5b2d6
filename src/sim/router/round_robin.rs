//! Each worker in turn, in the order of release; within a worker, each rank in turn.

/// Each worker in turn, in the order of release; within a worker, each rank in turn. Source: spec/SIMULATION.md §7.
///
/// A request may ask for a rank of its worker: it takes the worker's turn.
#[derive(Debug)]
pub(crate) struct RoundRobin {
    workers: usize,
    ranks_per_worker: usize,
    turns: Turns,
}

/// Whose turn it is.
#[derive(Debug)]
enum Turns {
    /// A worker's, and within each worker a rank's.
    Workers { next: usize, next_rank: Vec<usize> },
    /// A rank's, whatever worker it belongs to.
    Ranks { next: usize },
}

impl RoundRobin {
    /// Returns a router over `workers` workers of `ranks_per_worker` ranks; at least one of each.
    pub(crate) fn new(workers: usize, ranks_per_worker: usize) -> Self {
        let workers = workers.max(1);
        let turns = Turns::Workers { next: 0, next_rank: vec![0; workers] };
        Self { workers, ranks_per_worker: ranks_per_worker.max(1), turns }
    }

    /// Returns a router over the ranks of all workers alike, as the pools of roles have it.
    pub(crate) fn over_ranks(workers: usize, ranks_per_worker: usize) -> Self {
        let (workers, ranks_per_worker) = (workers.max(1), ranks_per_worker.max(1));
        Self { workers, ranks_per_worker, turns: Turns::Ranks { next: 0 } }
    }

    /// Returns the rank of the next request, counted over all workers; `pinned` is counted within one.
    pub(crate) fn place(&mut self, pinned: Option<u32>) -> usize {
        let ranks = self.ranks_per_worker;
        let pinned = pinned.map(|rank| rank as usize);
        assert!(pinned < Some(ranks), "bug: decoders refuse rank {pinned:?} of {ranks}");
        match &mut self.turns {
            Turns::Workers { next, next_rank } => {
                let worker = *next;
                *next = (worker + 1) % self.workers;
                let rank = pinned.unwrap_or_else(|| {
                    let rank = next_rank[worker];
                    next_rank[worker] = (rank + 1) % ranks;
                    rank
                });
                worker * ranks + rank
            }
            Turns::Ranks { next } => {
                // The turn of a pinned request is a worker's; both kinds move the same counter.
                let of = if pinned.is_some() { self.workers } else { self.workers * ranks };
                let index = *next % of;
                *next = index + 1;
                pinned.map_or(index, |rank| index * ranks + rank)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row 35 of the reference's conformance table.
    #[test]
    fn four_requests_over_two_workers_alternate() {
        let mut router = RoundRobin::new(2, 1);
        assert_eq!([None; 4].map(|pin| router.place(pin)), [0, 1, 0, 1]);
    }

    /// Observed in the reference: two workers of two ranks, six requests.
    #[test]
    fn ranks_of_a_worker_take_turns_too() {
        let mut router = RoundRobin::new(2, 2);
        assert_eq!([None; 6].map(|pin| router.place(pin)), [0, 2, 1, 3, 0, 2]);
    }

    #[test]
    fn a_pinned_request_takes_its_workers_turn_and_not_its_ranks() {
        let mut router = RoundRobin::new(2, 2);
        let pins = [Some(1), None, None, Some(0), None];
        assert_eq!(pins.map(|pin| router.place(pin)), [1, 2, 0, 2, 1]);
    }

    #[test]
    fn the_ranks_of_a_role_take_turns_and_a_pinned_request_moves_on_by_workers() {
        let mut router = RoundRobin::over_ranks(2, 2);
        let pins = [None, None, None, Some(1), None, Some(0)];
        assert_eq!(pins.map(|pin| router.place(pin)), [0, 1, 2, 3, 2, 2]);
    }
}
