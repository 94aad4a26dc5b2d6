//! What the server does with a request.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::Notify;

use crate::mock::answer::{
    AnswerBody, Broken, Closing, Guard, Source, Spoken, Stalls, Steps, plus, whole,
};
use crate::mock::api::{Api, Asked, Voice, error_object};
use crate::mock::engine::Engine;
use crate::mock::script::{Answer, Refused, Script};
use crate::mock::stamps::{StampLog, Stamps};
use crate::mock::timer::Timer;
use crate::units::Nanos;

use super::simulated::{Answered, serve, session};

/// Bytes of text that are taken for a token where nothing counts them better.
const BYTES_PER_TOKEN: u64 = 4;

/// Answers requests.
#[derive(Debug)]
pub(super) struct Service {
    script: Script,
    fallback: Answer,
    timer: Timer,
    log: Arc<StampLog>,
    /// What answers instead of the script, where there is one.
    engine: Option<Arc<Engine>>,
}

/// The script leaves a request without an answer: its connection is closed.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the script leaves this request without an answer")]
pub(super) struct Unanswered;

/// The body of any answer.
#[derive(Debug)]
pub(super) enum Reply {
    /// One piece; the guard is dropped with it.
    Whole(Full<Bytes>, Option<Box<Guard>>),
    /// A stream.
    Streamed(Box<AnswerBody>),
}

/// A request that was counted.
struct Arrived {
    number: u64,
    first: Nanos,
    headers: HeaderMap,
}

impl Service {
    /// Returns what answers by a script.
    pub(super) fn new(script: Script, timer: Timer, log: Arc<StampLog>) -> Self {
        Self { script, fallback: Answer::default(), timer, log, engine: None }
    }

    /// Returns it with an engine that answers what the script does not refuse.
    pub(super) fn with(self, engine: Option<Engine>) -> Self {
        Self { engine: engine.map(Arc::new), ..self }
    }

    /// Returns the log of what was written.
    pub(super) fn log(&self) -> &StampLog {
        &self.log
    }

    /// Returns the timer.
    pub(super) fn timer(&self) -> &Timer {
        &self.timer
    }

    /// Returns how long a handshake waits.
    pub(super) fn handshake(&self) -> Nanos {
        self.script.handshake
    }

    /// Answers a request; `close` closes its connection.
    ///
    /// # Errors
    /// [`Unanswered`] where the script says so, or the client has gone.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        close: Arc<Notify>,
    ) -> Result<Response<Reply>, Unanswered> {
        let (head, body) = request.into_parts();
        let path = head.uri.path().trim_end_matches('/');
        match (&head.method, Api::of_path(path)) {
            (&Method::POST, Some(api)) => {
                let (number, first) = self.log.arrive(self.timer.wall().now());
                let arrived = Arrived { number, first, headers: head.headers };
                self.call(api, arrived, body, close).await
            }
            (&Method::GET, None) if path.ends_with("/models") => Ok(json(StatusCode::OK, MODELS)),
            (&Method::GET, None) if path.ends_with("/stamps") => {
                Ok(json(StatusCode::OK, self.log.take().to_json()))
            }
            (&Method::GET, None) if path.ends_with("/health") => Ok(json(StatusCode::OK, "{}")),
            (_, Some(_)) => Ok(error(405, "this endpoint takes POST")),
            (_, None) => Ok(error(
                404,
                "the mock server serves chat/completions, completions, responses, models, health and stamps",
            )),
        }
    }

    /// Answers a call of the model.
    async fn call(
        &self,
        api: Api,
        arrived: Arrived,
        body: Incoming,
        close: Arc<Notify>,
    ) -> Result<Response<Reply>, Unanswered> {
        let collected = body.collect().await;
        let id = arrived.headers.get("x-request-id").and_then(|id| id.to_str().ok());
        let taken = self.timer.wall().now();
        let shared = (Arc::clone(&self.log), self.timer.clone());
        let mut guard = Guard::new(shared, arrived.number, taken, id.map(str::to_owned));
        let bytes = collected.map_err(|_| Unanswered)?.to_bytes();
        let header = |name: &str| arrived.headers.get(name).map(HeaderValue::as_bytes);
        let answer = self.script.answer(arrived.number, header).unwrap_or(&self.fallback).clone();
        if let Some(after) = answer.close_after {
            guard.close_after(Closing { close, after });
        }
        let stalls = self.stalls(arrived.first);
        self.wait(taken, answer.headers, &stalls).await;
        if answer.closes_unanswered {
            return Err(Unanswered);
        }
        if let Some(refused) = &answer.refused {
            return Ok(refusal(refused, guard));
        }
        let asked = match Asked::read(api, &bytes) {
            Ok(asked) => asked,
            Err(bad) => return Ok(error(400, &bad.to_string())),
        };
        if let Some(engine) = &self.engine {
            let session = session(&arrived.headers, &asked);
            let answer = Answered { number: arrived.number, answer, guard, stalls };
            return Ok(serve(Arc::clone(engine), session, asked, answer).await);
        }
        let tokens = asked.prompt.len() as u64 / BYTES_PER_TOKEN;
        let voice = Voice::new(&asked, arrived.number, answer.line_end, answer.has_space);
        let spoken = Spoken::new(answer, &asked, tokens);
        if asked.is_streamed {
            let source = Source::Scripted(Box::new(Steps::new(spoken, voice)));
            return Ok(stream(AnswerBody::new(source, guard, stalls)));
        }
        let (at, body) = whole(&spoken, &voice);
        self.wait(taken, at, &stalls).await;
        guard.stamp(1);
        let body = body.ok_or(Unanswered)?;
        let mut answer = json(StatusCode::OK, body);
        answer.body_mut().keep(guard);
        Ok(answer)
    }

    /// Waits until something planned for `at`, from `taken` on, happens.
    async fn wait(&self, taken: Nanos, at: Nanos, stalls: &Stalls) {
        let at = stalls.after(plus(taken, at));
        if at > taken {
            self.timer.sleep_until(at).await;
        }
    }

    /// Returns when the server stands still, `first` being when the first request came.
    fn stalls(&self, first: Nanos) -> Stalls {
        let window = |stall: &crate::mock::script::Stall| {
            (plus(first, stall.from), plus(first, stall.until))
        };
        Stalls { windows: self.script.stalls.iter().map(window).collect() }
    }
}

/// The list of models.
const MODELS: &str = r#"{"object":"list","data":[{"id":"mock","object":"model","created":0,"owned_by":"touchstone"}]}"#;

impl Reply {
    /// Keeps a guard until the body is gone.
    pub(super) fn keep(&mut self, guard: Guard) {
        if let Self::Whole(_, kept) = self {
            *kept = Some(Box::new(guard));
        }
    }
}

/// Returns a stream of events.
pub(super) fn stream(body: AnswerBody) -> Response<Reply> {
    let mut answer = Response::new(Reply::Streamed(Box::new(body)));
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// Returns a whole answer in JSON.
pub(super) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Reply> {
    let mut answer = Response::new(Reply::Whole(Full::new(body.into()), None));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// Returns an error of the API.
pub(super) fn error(status: u16, message: &str) -> Response<Reply> {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    json(code, error_object(message, status))
}

/// Returns a refusal of the script.
fn refusal(refused: &Refused, guard: Guard) -> Response<Reply> {
    let status = StatusCode::from_u16(refused.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let told = || error_object("the script refuses this request", refused.status);
    let mut answer = json(status, refused.body.clone().unwrap_or_else(told));
    if let Some(seconds) = refused.retry_after {
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer.body_mut().keep(guard);
    answer
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Self::Whole(body, _) => Pin::new(body)
                .poll_frame(context)
                .map(|frame| frame.map(|frame| frame.map_err(|never| match never {}))),
            Self::Streamed(body) => Pin::new(body.as_mut()).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body, _) => body.is_end_stream(),
            Self::Streamed(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body, _) => body.size_hint(),
            Self::Streamed(_) => SizeHint::default(),
        }
    }
}

impl Stamps {
    /// Returns them as JSON; instants are nanoseconds of the machine's monotonic clock less `epoch_ns`.
    fn to_json(&self) -> String {
        let answers: Vec<serde_json::Value> = self
            .answers
            .iter()
            .map(|answer| {
                let outputs: Vec<u64> = answer.outputs.iter().map(|at| at.get()).collect();
                serde_json::json!({
                    "number": answer.number, "request_id": answer.request_id,
                    "taken_ns": answer.taken.get(), "outputs_ns": outputs,
                    "end_ns": answer.end.get(),
                })
            })
            .collect();
        serde_json::json!({
            "epoch_ns": self.wall.epoch().get(), "answers": answers, "dropped": self.dropped,
            "connections": self.connections, "requests": self.requests,
            "most_in_flight": self.most_in_flight,
        })
        .to_string()
    }
}
