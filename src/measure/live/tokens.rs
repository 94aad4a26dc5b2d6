//! Tokens of live requests: as the server counts them, as the client does, as they were recorded.

use crate::record::{LiveOutcome, LiveRequest, LiveRun};
use crate::units::Tokens;

/// Whose count of output tokens is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedBy {
    /// The server's, in the `usage` of its answers.
    Server,
    /// The client's, of the text that came.
    Client,
}

/// Sums over completed requests; absent where no request says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TokenSums {
    pub(super) server_input: Option<u64>,
    pub(super) server_output: Option<u64>,
    pub(super) server_reasoning: Option<u64>,
    pub(super) server_cached: Option<u64>,
    /// Prompt tokens of the requests whose cached tokens the server tells.
    pub(super) server_input_of_cached: u64,
    pub(super) client_output: Option<u64>,
    pub(super) recorded_input: Option<u64>,
    pub(super) recorded_output: Option<u64>,
    pub(super) reusable: Option<u64>,
    /// Recorded prompt tokens of the calls of which it is known what is reusable.
    pub(super) recorded_input_of_reusable: u64,
    /// Requests whose output is known and was asked for in a certain length.
    pub(super) sized: u64,
    /// Those of them whose output has another length.
    pub(super) missized: u64,
}

/// Returns the output tokens of a request by one count; absent where that one does not say.
pub(super) fn output(request: &LiveRequest, by: CountedBy) -> Option<Tokens> {
    match by {
        CountedBy::Server => request.exchange.usage?.output,
        CountedBy::Client => request.counted,
    }
}

impl TokenSums {
    /// Returns the sums over the completed requests of a run.
    pub(super) fn of(run: &LiveRun, by: CountedBy) -> Self {
        let mut sums = Self::default();
        let completed =
            run.measured().filter(|request| request.outcome() == LiveOutcome::Completed);
        for request in completed {
            sums.add_served(request);
            sums.add_recorded(run, request);
            let asked = run.recorded(request).and_then(|call| call.requested_output);
            if let (Some(asked), Some(output)) = (asked, output(request, by)) {
                sums.sized += 1;
                sums.missized += u64::from(asked != output);
            }
        }
        sums
    }

    /// Adds what came.
    fn add_served(&mut self, request: &LiveRequest) {
        let usage = request.exchange.usage.unwrap_or_default();
        add(&mut self.server_input, usage.prompt);
        add(&mut self.server_output, usage.output);
        add(&mut self.server_reasoning, usage.reasoning);
        add(&mut self.server_cached, usage.cached);
        if let (Some(prompt), Some(_)) = (usage.prompt, usage.cached) {
            self.server_input_of_cached += prompt.get();
        }
        add(&mut self.client_output, request.counted);
    }

    /// Adds what was recorded of the same call.
    fn add_recorded(&mut self, run: &LiveRun, request: &LiveRequest) {
        let Some(call) = run.recorded(request) else { return };
        add(&mut self.recorded_input, call.input);
        add(&mut self.recorded_output, call.output);
        add(&mut self.reusable, call.reusable);
        if let (Some(input), Some(_)) = (call.input, call.reusable) {
            self.recorded_input_of_reusable += input.get();
        }
    }
}

/// Adds tokens to a sum, which is there from the first on.
fn add(sum: &mut Option<u64>, tokens: Option<Tokens>) {
    if let Some(tokens) = tokens {
        *sum = Some(sum.unwrap_or(0) + tokens.get());
    }
}
