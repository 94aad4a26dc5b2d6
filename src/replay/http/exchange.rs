//! One request over one connection, driven to its end.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::{Request, Response};

use super::deadline::{Deadline, Stage};
use super::link::{Answer, Link, worded};
use crate::record::{ExchangeError, Protocol, Truncation};
use crate::replay::answer::{AnswerReader, refusal};
use crate::units::Nanos;

/// The most bytes of a refusal that are kept.
const REFUSAL_CAP: usize = 64 << 10;

/// What ends an exchange early: its limits, and the end of the run.
pub(super) struct Watch<'a> {
    /// Its limits.
    pub(super) deadline: &'a mut Deadline,
    /// The end of the run.
    pub(super) over: Pin<&'a mut (dyn Future<Output = ()> + Send)>,
}

/// What one connection saw of an exchange.
#[derive(Debug)]
pub(super) struct Seen {
    /// When the request was given to the connection.
    pub(super) sent: Nanos,
    /// The read that brought the first byte.
    pub(super) first_byte: Option<Nanos>,
    /// The read that completed the headers.
    pub(super) headers: Option<Nanos>,
    /// The status.
    pub(super) status: Option<u16>,
    /// The answer, where its status is one of success.
    pub(super) reader: AnswerReader,
    /// How it ended.
    pub(super) end: Result<Nanos, ExchangeError>,
}

impl Watch<'_> {
    /// Returns what ends the exchange early, once something does.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, stage: Stage) -> Poll<ExchangeError> {
        if self.over.as_mut().poll(cx).is_ready() {
            return Poll::Ready(ExchangeError::Cancelled);
        }
        self.deadline.poll(cx, stage).map(ExchangeError::Timeout)
    }
}

/// Sends a request and reads its answer; `first_output` is told the stamp of the first output.
pub(super) async fn run(
    link: &mut Link,
    request: Request<Full<Bytes>>,
    mut seen: Seen,
    watch: &mut Watch<'_>,
    first_output: impl FnOnce(Nanos),
) -> Seen {
    let reads = link.reads();
    let answer = link.send(request);
    let response = await_headers(link, answer, &mut seen, reads, watch).await;
    seen.end = match response {
        Err(error) => Err(error),
        Ok(response) => {
            let read = Reading { link, seen: &mut seen, watch };
            if response.status().is_success() {
                read.answer(response.into_body(), first_output).await
            } else {
                read.refusal(response).await
            }
        }
    };
    seen
}

/// Drives a connection until the headers of the answer are there.
async fn await_headers(
    link: &Link,
    mut answer: Answer,
    seen: &mut Seen,
    reads: u64,
    watch: &mut Watch<'_>,
) -> Result<Response<Incoming>, ExchangeError> {
    let response = poll_fn(|cx| {
        let driven = link.drive(cx, |cx| {
            // HTTP/2 reads settings of the connection before it reads an answer.
            let is_answer = link.reads() > reads && link.protocol() == Protocol::Http1;
            if is_answer && seen.first_byte.is_none() {
                seen.first_byte = Some(link.last_read());
            }
            answer.as_mut().poll(cx)
        });
        if let Poll::Ready(response) = driven {
            return Poll::Ready(response.map_err(|error| broken(&error)));
        }
        let stage = match seen.first_byte {
            Some(_) => Stage::Reading(link.last_read()),
            None => Stage::Waiting(link.last_write().max(seen.sent)),
        };
        watch.poll(cx, stage).map(Err)
    });
    let response = response.await?;
    let at = link.last_read();
    seen.first_byte.get_or_insert(at);
    seen.headers = Some(at);
    seen.status = Some(response.status().as_u16());
    Ok(response)
}

/// The body of an answer as it comes.
struct Reading<'a, 'b> {
    link: &'a Link,
    seen: &'a mut Seen,
    watch: &'a mut Watch<'b>,
}

impl Reading<'_, '_> {
    /// Reads a successful answer; returns the stamp of its end.
    async fn answer(
        mut self,
        mut body: Incoming,
        first_output: impl FnOnce(Nanos),
    ) -> Result<Nanos, ExchangeError> {
        let mut first_output = Some(first_output);
        while let Some(frame) = self.frame(&mut body).await? {
            let Ok(bytes) = frame.into_data() else { continue };
            let at = self.link.last_read();
            self.seen.reader.read(&bytes, at)?;
            if first_output.is_some()
                && let Some(at) = self.seen.reader.first_output()
                && let Some(tell) = first_output.take()
            {
                tell(at);
            }
        }
        Ok(self.link.last_read())
    }

    /// Reads what a server says instead of an answer.
    async fn refusal(mut self, response: Response<Incoming>) -> Result<Nanos, ExchangeError> {
        let status = response.status().as_u16();
        let retry_after = response.headers().get(hyper::header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut body = response.into_body();
        let mut kept = Vec::new();
        // A body that breaks off or takes too long changes nothing about the status.
        while let Ok(Some(frame)) = self.frame(&mut body).await {
            let Ok(bytes) = frame.into_data() else { continue };
            kept.extend_from_slice(&bytes[..bytes.len().min(REFUSAL_CAP - kept.len())]);
        }
        Err(refusal(status, retry_after, &kept))
    }

    /// Returns the next part of the body, `None` at its end.
    async fn frame(&mut self, body: &mut Incoming) -> Result<Option<Frame<Bytes>>, ExchangeError> {
        poll_fn(|cx| {
            let driven = self.link.drive(cx, |cx| Pin::new(&mut *body).poll_frame(cx));
            if let Poll::Ready(frame) = driven {
                return Poll::Ready(frame.transpose().map_err(|error| broken(&error)));
            }
            self.watch.poll(cx, Stage::Reading(self.link.last_read())).map(Err)
        })
        .await
    }
}

/// Returns the error of a connection that broke.
fn broken(error: &hyper::Error) -> ExchangeError {
    if error.is_incomplete_message() {
        return ExchangeError::Truncated(Truncation::PartialBody);
    }
    let text = worded(error);
    // hyper tells of a body that ends early as an unexpected end of the file.
    if text.contains("unexpected EOF") || text.contains("end of file before message length") {
        return ExchangeError::Truncated(Truncation::PartialBody);
    }
    ExchangeError::Lost(text)
}
