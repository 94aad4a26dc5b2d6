//! Each worker in turn, in the order of release; within a worker, each rank in turn.

/// Each worker in turn, in the order of release; within a worker, each rank in turn. Source: spec/SIMULATION.md §7.
#[derive(Debug)]
pub(crate) struct RoundRobin {
    ranks_per_worker: usize,
    next_worker: usize,
    next_rank: Vec<usize>,
}

impl RoundRobin {
    /// Returns a router over `workers` workers of `ranks_per_worker` ranks; at least one of each.
    pub(crate) fn new(workers: usize, ranks_per_worker: usize) -> Self {
        Self {
            ranks_per_worker: ranks_per_worker.max(1),
            next_worker: 0,
            next_rank: vec![0; workers.max(1)],
        }
    }

    /// Returns the rank of the next request, counted over all workers.
    pub(crate) fn place(&mut self) -> usize {
        let worker = self.next_worker;
        self.next_worker = (worker + 1) % self.next_rank.len();
        let rank = self.next_rank[worker];
        self.next_rank[worker] = (rank + 1) % self.ranks_per_worker;
        worker * self.ranks_per_worker + rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row 35 of the reference's conformance table.
    #[test]
    fn four_requests_over_two_workers_alternate() {
        let mut router = RoundRobin::new(2, 1);
        assert_eq!([0; 4].map(|_: i32| router.place()), [0, 1, 0, 1]);
    }

    /// Observed in the reference: two workers of two ranks, six requests.
    #[test]
    fn ranks_of_a_worker_take_turns_too() {
        let mut router = RoundRobin::new(2, 2);
        assert_eq!([0; 6].map(|_: i32| router.place()), [0, 2, 1, 3, 0, 2]);
    }
}
