//! What drafts add to a pass.

use super::rank::Rank;

impl Rank {
    /// Gives each request that samples its tokens and their blocks; `None` where a lone one can never find room.
    pub(super) fn speculate(&mut self) -> Option<()> {
        for request in self.pass.silent.clone() {
            self.running.retain(|other| *other != request);
            self.give_all_back(request);
        }
        if self.running.len() == 1 && self.pass.emitting.len() == 1 {
            let only = self.pass.emitting[0];
            let least = if self.verifies_always() {
                self.longest(only)
            } else {
                self.requests[only].length() + 1
            };
            (self.blocks_of(least) <= self.memory.count()).then_some(())?;
        }
        let mut ahead = self.look_ahead();
        while ahead > self.memory.available() {
            let victim = self.evict();
            self.pass.emitting.retain(|other| *other != victim);
            ahead = self.look_ahead();
        }
        let mut taken: Vec<usize> = (0..ahead).map(|_| self.memory.take()).collect();
        self.pass.decodes.clear();
        for request in self.pass.emitting.clone() {
            let work = self.pass.scheduled.iter().find(|work| work.request == request);
            if self.pays_decode(*work.expect("who samples was scheduled")) {
                self.pass.decodes.push(self.requests[request].length());
            }
            let drafts = self.drafts_of(request);
            let left = self.requests[request].output - self.requests[request].generated;
            let accepted = self.acceptance.as_mut().expect("it draws").accepted(drafts);
            let burst = (1 + accepted).min(left);
            self.pass.bursts.push(burst);
            self.settle(request, burst, &mut taken);
        }
        while let Some(block) = taken.pop() {
            self.memory.give_back(block);
        }
        Some(())
    }

    /// Returns the drafts that the pass verifies for a request.
    fn drafts_of(&self, request: usize) -> u64 {
        if self.verifies_always() {
            return self.rules.drafts;
        }
        let work = self.pass.scheduled.iter().find(|work| work.request == request);
        let charged = work.expect("who samples was scheduled").charged;
        // A draft is what it was charged beyond its known tokens: one, for a decode that drafts.
        if self.requests[request].drafts_ready { charged - 1 } else { 0 }
    }

    /// Returns the tokens of a request after the pass, were all drafts accepted.
    fn longest(&self, request: usize) -> u64 {
        let sequence = &self.requests[request];
        let left = sequence.output - sequence.generated;
        sequence.length() + (1 + self.drafts_of(request)).min(left)
    }

    /// Returns the blocks that all drafts could need.
    fn look_ahead(&self) -> u64 {
        let more = |request: &usize| {
            self.blocks_of(self.longest(*request))
                - self.blocks_of(self.requests[*request].length())
        };
        self.pass.emitting.iter().map(more).sum()
    }

    /// Gives a request the blocks of its tokens; all but the last of them are computed.
    fn settle(&mut self, request: usize, burst: u64, taken: &mut Vec<usize>) {
        let length = self.requests[request].length();
        while (self.requests[request].blocks.len() as u64) < self.blocks_of(length + burst) {
            let block = taken.pop().expect("drafts took what they could need");
            self.requests[request].blocks.push(block);
        }
        self.publish(request, length, length + burst - 1);
        self.requests[request].computed = length + burst - 1;
        self.requests[request].drafts_ready = true;
    }
}
