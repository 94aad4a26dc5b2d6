//! What happens when an answer has ended, or its client has gone.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::mock::stamps::{AnswerStamps, StampLog};
use crate::mock::timer::Timer;
use crate::units::Nanos;

/// Closes a connection some time after an answer on it.
#[derive(Debug, Clone)]
pub(crate) struct Closing {
    /// Tells the connection to close.
    pub(crate) close: Arc<Notify>,
    /// How long after the answer.
    pub(crate) after: Nanos,
}

/// Stamps an answer, and notes when it is over: dropped with it.
#[derive(Debug)]
pub(crate) struct Guard {
    log: Arc<StampLog>,
    timer: Timer,
    stamps: AnswerStamps,
    closing: Option<Closing>,
}

impl Guard {
    /// Returns the guard of an answer to the request of a number, which was there as a whole at `taken`.
    pub(crate) fn new(
        (log, timer): (Arc<StampLog>, Timer),
        number: u64,
        taken: Nanos,
        request_id: Option<String>,
    ) -> Self {
        let (outputs, end) = (Vec::new(), taken);
        let stamps = AnswerStamps { number, request_id, taken, outputs, end };
        Self { log, timer, stamps, closing: None }
    }

    /// Has the connection closed some time after the answer.
    pub(crate) fn close_after(&mut self, closing: Closing) {
        self.closing = Some(closing);
    }

    /// Returns when the request was there as a whole.
    pub(crate) fn taken(&self) -> Nanos {
        self.stamps.taken
    }

    /// Returns the timer.
    pub(crate) fn timer(&self) -> &Timer {
        &self.timer
    }

    /// Stamps so many messages of output.
    pub(crate) fn stamp(&mut self, outputs: u64) {
        let now = self.log.wall().now();
        let outputs = usize::try_from(outputs).unwrap_or(usize::MAX);
        self.stamps.outputs.extend(std::iter::repeat_n(now, outputs));
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let now = self.log.wall().now();
        self.stamps.end = now;
        let outputs = std::mem::take(&mut self.stamps.outputs);
        let request_id = self.stamps.request_id.take();
        self.log.end(AnswerStamps { request_id, outputs, ..self.stamps });
        let runtime = tokio::runtime::Handle::try_current();
        if let (Some(closing), Ok(runtime)) = (self.closing.take(), runtime) {
            let sleep =
                self.timer.sleep_until(Nanos::new(now.get().saturating_add(closing.after.get())));
            runtime.spawn(async move {
                sleep.await;
                closing.close.notify_one();
            });
        }
    }
}
