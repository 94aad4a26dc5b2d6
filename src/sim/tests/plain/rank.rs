//! A rank: its requests, and its passes through time.

use crate::deployment::{Backend, Preemption};
use crate::plan::Compat;
use crate::record::Outcome;
use crate::sim::engine::acceptance::Acceptance;
use crate::sim::timing::{DecodeWork, FixedTiming, PrefillWork, pass_times};
use crate::units::SimTime;

use super::memory::{Memory, Token};

/// How a rank is set.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) backend: Backend,
    pub(super) compat: Compat,
    pub(super) block: u64,
    pub(super) blocks: u64,
    pub(super) budget: u64,
    pub(super) sequences: u64,
    pub(super) chunked: bool,
    pub(super) caching: bool,
    pub(super) preemption: Preemption,
    pub(super) context: Option<u64>,
    /// Drafts of a forward; 0 without.
    pub(super) drafts: u64,
    pub(super) times: (f64, f64),
}

/// A request and what became of it.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) arrival: SimTime,
    pub(super) prompt: u64,
    pub(super) asked: u64,
    /// Output tokens it will have.
    pub(super) output: u64,
    /// All its tokens, those to come included.
    pub(super) tokens: Vec<Token>,
    pub(super) generated: u64,
    pub(super) computed: u64,
    pub(super) blocks: Vec<usize>,
    pub(super) was_admitted: bool,
    pub(super) drafts_ready: bool,
    pub(super) admissions: Vec<(SimTime, u64)>,
    pub(super) emitted: Vec<SimTime>,
    pub(super) end: Option<(SimTime, Outcome)>,
}

/// A scheduled request of a pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) request: usize,
    /// What it takes of the budget.
    pub(super) charged: u64,
    pub(super) prompt: u64,
    pub(super) prefix: u64,
}

/// A pass in formation.
#[derive(Debug, Default)]
pub(super) struct Pass {
    pub(super) scheduled: Vec<Work>,
    pub(super) emitting: Vec<usize>,
    /// Tokens of each that emits.
    pub(super) bursts: Vec<u64>,
    pub(super) silent: Vec<usize>,
    pub(super) rejected: Vec<usize>,
    pub(super) preempted: u64,
    pub(super) admitted: u64,
    pub(super) decodes: Vec<u64>,
}

/// A rank.
#[derive(Debug)]
pub(super) struct Rank {
    pub(super) rules: Rules,
    pub(super) memory: Memory,
    pub(super) requests: Vec<Request>,
    pub(super) waiting: Vec<usize>,
    pub(super) running: Vec<usize>,
    pub(super) pass: Pass,
    pub(super) acceptance: Option<Acceptance>,
    pub(super) preemptions: u64,
    pub(super) computed_prefill: u64,
}

impl Request {
    /// Returns the known tokens.
    pub(super) fn length(&self) -> u64 {
        self.prompt + self.generated
    }
}

impl Rank {
    /// Returns an idle rank; `acceptance` is its stream of draws.
    pub(super) fn new(rules: Rules, acceptance: Option<Acceptance>) -> Self {
        Self {
            memory: Memory::new(rules.blocks),
            rules,
            requests: Vec::new(),
            waiting: Vec::new(),
            running: Vec::new(),
            pass: Pass::default(),
            acceptance,
            preemptions: 0,
            computed_prefill: 0,
        }
    }

    /// Adds a request that is to arrive, in order of arrival.
    pub(super) fn ask(&mut self, arrival: SimTime, prompt: &[u64], output: u64) {
        let (length, whole) = (prompt.len() as u64, self.rules.blocks * self.rules.block);
        let context = self.rules.context.unwrap_or(u64::MAX);
        let ends = match self.rules.backend {
            Backend::Trtllm if length < whole => context.min(whole),
            Backend::Trtllm | Backend::Vllm | Backend::Sglang => context,
        };
        let request = self.requests.len();
        let own = (0..output).map(|place| Token::Output { request, place });
        self.requests.push(Request {
            arrival,
            prompt: length,
            asked: output,
            output: output.min(ends.saturating_sub(length)),
            tokens: prompt.iter().map(|symbol| Token::Prompt(*symbol)).chain(own).collect(),
            generated: 0,
            computed: 0,
            blocks: Vec::new(),
            was_admitted: false,
            drafts_ready: false,
            admissions: Vec::new(),
            emitted: Vec::new(),
            end: None,
        });
    }

    /// Serves everything; `None` where nothing can go on.
    pub(super) fn serve(&mut self) -> Option<()> {
        let (mut now, mut arrived) = (SimTime::ZERO, 0);
        for _ in 0..100_000 {
            while arrived < self.requests.len() && self.requests[arrived].arrival <= now {
                self.waiting.push(arrived);
                arrived += 1;
            }
            let next = self.requests.get(arrived).map(|request| request.arrival);
            if self.waiting.is_empty() && self.running.is_empty() {
                match next {
                    Some(at) => now = at,
                    None => return Some(()),
                }
                continue;
            }
            let end = self.form(now)?;
            let changes = self.pass.admitted > 0
                || self.pass.preempted > 0
                || !self.pass.scheduled.is_empty()
                || !self.pass.rejected.is_empty();
            if end == now && !changes {
                now = next?;
                continue;
            }
            self.complete(end);
            now = end;
        }
        None
    }

    /// Forms a pass and returns when it ends; `None` where a draft can never find room.
    fn form(&mut self, now: SimTime) -> Option<SimTime> {
        self.pass = Pass::default();
        let mut budget = self.rules.budget;
        self.run_on(&mut budget);
        self.admit(now, &mut budget);
        for work in self.pass.scheduled.clone() {
            let request = &self.requests[work.request];
            if request.computed < request.length() {
                continue;
            }
            if request.generated >= request.output {
                self.pass.silent.push(work.request);
            } else {
                self.pass.emitting.push(work.request);
                if self.pays_decode(work) {
                    self.pass.decodes.push(request.length());
                }
            }
        }
        if self.rules.drafts > 0 && !self.pass.emitting.is_empty() {
            self.speculate()?;
        } else {
            self.pass.bursts = vec![1; self.pass.emitting.len()];
        }
        Some(self.price(now))
    }

    /// Returns whether the token that follows this work costs a decode.
    pub(super) fn pays_decode(&self, work: Work) -> bool {
        let verifies = self.rules.drafts > 0 && self.verifies_always();
        work.prompt == 0 || self.requests[work.request].generated > 0 || verifies
    }

    /// Returns whether every forward verifies all drafts, the first of a request included.
    pub(super) fn verifies_always(&self) -> bool {
        self.rules.backend == Backend::Trtllm || self.rules.compat == Compat::V0_13_0
    }

    /// Returns when a pass that starts at `now` ends.
    fn price(&self, now: SimTime) -> SimTime {
        let mut prefill = PrefillWork::default();
        for work in self.pass.scheduled.iter().filter(|work| work.prompt > 0) {
            prefill.requests += 1;
            prefill.new_tokens += work.prompt;
            prefill.prefix_tokens += work.prefix;
        }
        let decode = DecodeWork {
            requests: self.pass.decodes.len() as u64,
            context_tokens: self.pass.decodes.iter().sum(),
            capacity_tokens: self.rules.blocks * self.rules.block,
        };
        let (prefill_ms, decode_ms) = self.rules.times;
        let timing = FixedTiming { prefill_ms, decode_ms };
        let (prefill, decode) = pass_times(&timing, prefill, decode).expect("times are times");
        now + prefill + decode
    }

    /// Lets a pass take effect.
    fn complete(&mut self, end: SimTime) {
        let pass = std::mem::take(&mut self.pass);
        let prompts = pass.scheduled.iter().filter(|work| work.prompt > 0);
        self.computed_prefill += prompts.map(|work| work.charged).sum::<u64>();
        for (request, burst) in pass.emitting.iter().zip(&pass.bursts) {
            let request = &mut self.requests[*request];
            request.generated += burst;
            request.emitted.extend((0..*burst).map(|_| end));
        }
        let is_done = |request: &&usize| {
            self.requests[**request].generated >= self.requests[**request].output
        };
        let done: Vec<usize> = pass.emitting.iter().filter(is_done).copied().collect();
        for request in pass.silent.into_iter().chain(done) {
            self.leave(request, end, Outcome::Completed);
        }
        for request in pass.rejected {
            self.leave(request, end, Outcome::Rejected);
        }
    }

    /// Takes a request out.
    fn leave(&mut self, request: usize, end: SimTime, outcome: Outcome) {
        self.running.retain(|other| *other != request);
        self.give_all_back(request);
        self.requests[request].end = Some((end, outcome));
    }

    /// Takes a request's blocks, last first.
    pub(super) fn give_all_back(&mut self, request: usize) {
        while let Some(block) = self.requests[request].blocks.pop() {
            self.memory.give_back(block);
        }
    }
}
