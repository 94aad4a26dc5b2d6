//! Each worker in turn, in the order of release.

/// Each worker in turn, in the order of release. Source: spec/SIMULATION.md §7.
#[derive(Debug)]
pub(crate) struct RoundRobin {
    workers: usize,
    next: usize,
}

impl RoundRobin {
    /// Returns a router over `workers` workers; at least one.
    pub(crate) fn new(workers: usize) -> Self {
        Self { workers: workers.max(1), next: 0 }
    }

    /// Returns the worker of the next request.
    pub(crate) fn place(&mut self) -> usize {
        let worker = self.next;
        self.next = (self.next + 1) % self.workers;
        worker
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row 35 of the reference's conformance table.
    #[test]
    fn four_requests_over_two_workers_alternate() {
        let mut router = RoundRobin::new(2);
        assert_eq!([0; 4].map(|_: i32| router.place()), [0, 1, 0, 1]);
    }
}
