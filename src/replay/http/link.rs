//! An open connection with HTTP on it, which whoever sends over it drives.
//!
//! No task of its own reads it: the exchange that uses it polls the protocol, one read a turn, and takes what that read brought. An
//! HTTP/2 connection carries one exchange at a time, so that no stream waits for the flow of another and no server's limit of
//! concurrent streams caps what is in flight.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use super::stamped::Stamps;
use super::turns::{Bytes as Wire, Turn, Turns};
use crate::record::Protocol;
use crate::units::Nanos;

/// Bytes that a stream of HTTP/2 may have in flight before this side says go on: 1 MiB.
const WINDOW: u32 = 1 << 20;

/// A future that HTTP needs polled.
type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An answer whose headers have not come.
pub(super) type Answer =
    Pin<Box<dyn Future<Output = Result<Response<Incoming>, hyper::Error>> + Send>>;

/// An open connection with HTTP on it.
pub(super) struct Link {
    sender: Sender,
    tasks: Tasks,
    turn: Arc<Turn>,
    stamps: Arc<Stamps>,
}

/// What takes requests.
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// The futures of a connection: the protocol itself and what it starts.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<Vec<Task>>>);

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, task: F) {
        self.add(Box::pin(task));
    }
}

impl Tasks {
    /// Takes a future.
    fn add(&self, task: Task) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    /// Polls each future once, those too that others start; returns whether any is left.
    fn poll(&self, cx: &mut Context<'_>) -> bool {
        let take = || std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut left = Vec::new();
        let mut fresh = take();
        while !fresh.is_empty() {
            left.extend(
                fresh
                    .into_iter()
                    .filter_map(|mut task| task.as_mut().poll(cx).is_pending().then_some(task)),
            );
            fresh = take();
        }
        let is_left = !left.is_empty();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = left;
        is_left
    }
}

impl Link {
    /// Speaks HTTP over a transport.
    ///
    /// # Errors
    /// Where the first words of the protocol fail.
    pub(super) async fn open(
        bytes: Wire,
        protocol: Protocol,
        stamps: Arc<Stamps>,
    ) -> Result<Self, hyper::Error> {
        let turn = Arc::new(Turn::default());
        let io = TokioIo::new(Turns::new(bytes, Arc::clone(&turn)));
        let tasks = Tasks::default();
        let sender = match protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(io).await?;
                tasks.add(Box::pin(async move {
                    // What breaks a connection reaches the exchange that uses it.
                    let _ = connection.await;
                }));
                Sender::Http1(sender)
            }
            Protocol::Http2 => {
                let mut builder = http2::Builder::new(tasks.clone());
                builder.initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
                let (sender, connection) = builder.handshake(io).await?;
                tasks.add(Box::pin(async move {
                    // As above.
                    let _ = connection.await;
                }));
                Sender::Http2(sender)
            }
        };
        Ok(Self { sender, tasks, turn, stamps })
    }

    /// Returns the version of HTTP.
    pub(super) const fn protocol(&self) -> Protocol {
        match self.sender {
            Sender::Http1(_) => Protocol::Http1,
            Sender::Http2(_) => Protocol::Http2,
        }
    }

    /// Gives the connection a request; nothing moves before it is driven.
    pub(super) fn send(&mut self, request: Request<Full<Bytes>>) -> Answer {
        match &mut self.sender {
            Sender::Http1(sender) => Box::pin(sender.send_request(request)),
            Sender::Http2(sender) => Box::pin(sender.send_request(request)),
        }
    }

    /// Drives the connection until `awaited` is ready.
    ///
    /// After each read `awaited` is polled: what is ready then came with that read, and [`Self::last_read`] is its stamp.
    pub(super) fn drive<T>(
        &self,
        cx: &mut Context<'_>,
        mut awaited: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        loop {
            if let Poll::Ready(ready) = awaited(cx) {
                return Poll::Ready(ready);
            }
            self.turn.open();
            let is_alive = self.tasks.poll(cx);
            if let Poll::Ready(ready) = awaited(cx) {
                return Poll::Ready(ready);
            }
            if !is_alive || !self.turn.is_starved() {
                return Poll::Pending;
            }
        }
    }

    /// Returns whether another request may go over it: the last answer is over and the server has not closed it.
    pub(super) fn is_reusable(&mut self) -> bool {
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        // An end that waits in the socket is read here, behind what TLS has left over.
        let settled: Poll<()> = self.drive(cx, |_| Poll::Pending);
        let ready = match &mut self.sender {
            Sender::Http1(sender) => sender.poll_ready(cx),
            Sender::Http2(sender) => sender.poll_ready(cx),
        };
        settled.is_pending() && matches!(ready, Poll::Ready(Ok(())))
    }

    /// Returns when bytes were last read.
    pub(super) fn last_read(&self) -> Nanos {
        self.stamps.last_read()
    }

    /// Returns when bytes were last written.
    pub(super) fn last_write(&self) -> Nanos {
        self.stamps.last_write()
    }

    /// Returns how many reads brought bytes.
    pub(super) fn reads(&self) -> u64 {
        self.turn.reads()
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("protocol", &self.protocol()).finish_non_exhaustive()
    }
}

/// Returns an error with its causes, in one line.
pub(super) fn worded(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let told = error.to_string();
        if !text.contains(&told) {
            text = format!("{text}: {told}");
        }
        cause = error.source();
    }
    text
}
