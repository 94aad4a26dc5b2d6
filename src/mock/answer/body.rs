//! The body that writes a stream, step by step, each at its instant.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};

use crate::mock::engine::Speech;
use crate::mock::script::Pieces;
use crate::mock::timer::Sleep;
use crate::units::Nanos;

use super::{Guard, Step, Steps, Write};

/// The stream breaks off: the connection is closed without an end of the body.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the script cuts this stream")]
pub(crate) struct Broken;

/// The body of a streamed answer.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    source: Source,
    guard: Guard,
    /// When the whole server has stood still: added to every instant that falls in there.
    stalls: Stalls,
    due: Option<Step>,
    sleep: Option<Pin<Box<Sleep>>>,
    /// Pieces of the step that is being written, the last first.
    pieces: VecDeque<Bytes>,
    piece_at: Nanos,
    /// Whether what was handed out must leave before more is: the connection writes when it finds nothing.
    must_flush: bool,
    last_write: Nanos,
}

/// Where the steps come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// A script.
    Scripted(Box<Steps>),
    /// An engine that says them as it goes.
    Live(Box<Speech>),
}

/// When the whole server stands still, from the epoch of its clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stalls {
    pub(crate) windows: Vec<(Nanos, Nanos)>,
}

impl Stalls {
    /// Returns when something planned for `at` happens.
    pub(crate) fn after(&self, at: Nanos) -> Nanos {
        let held = self.windows.iter().filter(|(from, until)| *from <= at && at < *until);
        held.map(|(_, until)| *until).max().unwrap_or(at)
    }
}

impl AnswerBody {
    /// Returns the body of an answer.
    pub(crate) fn new(source: Source, guard: Guard, stalls: Stalls) -> Self {
        Self {
            last_write: guard.taken(),
            source,
            guard,
            stalls,
            due: None,
            sleep: None,
            pieces: VecDeque::new(),
            piece_at: Nanos::ZERO,
            must_flush: false,
        }
    }

    /// Waits for the next step's instant and returns what it does; `None` at the end.
    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Option<Write>> {
        if self.due.is_none() {
            match &mut self.source {
                Source::Live(speech) => return speech.poll_next(context),
                Source::Scripted(steps) => self.due = steps.next(),
            }
        }
        let Some(step) = &self.due else { return Poll::Ready(None) };
        if step.at > Nanos::ZERO || !self.stalls.windows.is_empty() {
            let at = self.stalls.after(plus(self.guard.taken(), step.at));
            if let Some(comment) = std::task::ready!(self.poll_comment(context, at)) {
                return Poll::Ready(Some(comment));
            }
        }
        Poll::Ready(self.due.take().map(|step| step.write))
    }

    /// Waits for `at`; says a comment where one is due before.
    fn poll_comment(&mut self, context: &mut Context<'_>, at: Nanos) -> Poll<Option<Write>> {
        let Source::Scripted(steps) = &self.source else { return Poll::Ready(None) };
        let comment = steps.keep_alive().filter(|(every, _)| plus(self.last_write, *every) < at);
        let Some((every, text)) = comment else {
            return self.poll_sleep(context, at).map(|()| None);
        };
        let mut bytes = Vec::new();
        steps.comment(&mut bytes, text);
        let due = self.stalls.after(plus(self.last_write, every));
        std::task::ready!(self.poll_sleep(context, due));
        Poll::Ready(Some(Write::Bytes { bytes, outputs: 0 }))
    }

    /// Waits for `at`.
    fn poll_sleep(&mut self, context: &mut Context<'_>, at: Nanos) -> Poll<()> {
        let timer = self.guard.timer();
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(timer.sleep_until(at)));
        std::task::ready!(sleep.as_mut().poll(context));
        self.sleep = None;
        Poll::Ready(())
    }

    /// Takes up bytes to write, in one piece or many.
    fn take_up(&mut self, bytes: Vec<u8>, outputs: u64) {
        let now = self.guard.timer().wall().now();
        self.last_write = now;
        if outputs > 0 {
            self.guard.stamp(outputs);
        }
        let bytes = Bytes::from(bytes);
        let size = match &self.source {
            Source::Scripted(steps) => match steps.pieces() {
                Pieces::Events(_) => bytes.len(),
                Pieces::Bytes { size, .. } => size,
            },
            Source::Live(_) => bytes.len(),
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            self.pieces.push_back(rest.split_to(size.max(1).min(rest.len())));
        }
        self.piece_at = now;
    }

    /// Returns the gap between two pieces of a step; `None` where steps are written whole.
    fn piece_gap(&self) -> Option<Nanos> {
        match &self.source {
            Source::Scripted(steps) => match steps.pieces() {
                Pieces::Events(_) => None,
                Pieces::Bytes { gap, .. } => Some(gap),
            },
            Source::Live(_) => None,
        }
    }

    /// Returns whether what was handed out is on its way; has the connection write it where it is not.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.must_flush {
            self.must_flush = false;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        loop {
            if !self.pieces.is_empty() {
                if let Some(gap) = self.piece_gap() {
                    std::task::ready!(self.poll_flush(context));
                    let at = self.piece_at;
                    std::task::ready!(self.poll_sleep(context, at));
                    self.piece_at = plus(at, gap);
                    self.must_flush = true;
                }
                let piece = self.pieces.pop_front();
                return Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))));
            }
            match std::task::ready!(self.poll_step(context)) {
                None => return Poll::Ready(None),
                Some(Write::Bytes { bytes, outputs }) => self.take_up(bytes, outputs),
                Some(Write::Cut) => {
                    // What was said before the cut must reach the client.
                    let step = Step { at: Nanos::ZERO, write: Write::Cut };
                    self.due = Some(step);
                    if self.last_write > self.guard.taken() {
                        self.last_write = self.guard.taken();
                        self.must_flush = true;
                    }
                    std::task::ready!(self.poll_flush(context));
                    return Poll::Ready(Some(Err(Broken)));
                }
            }
        }
    }
}

/// Returns an instant so much later; the last of all where there is no such.
pub(crate) fn plus(at: Nanos, by: Nanos) -> Nanos {
    Nanos::new(at.get().saturating_add(by.get()))
}
