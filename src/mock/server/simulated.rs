//! Requests that an engine answers.

use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc::unbounded_channel;

use crate::mock::answer::{AnswerBody, Guard, Source, Spoken, Stalls, whole};
use crate::mock::api::{Asked, Voice};
use crate::mock::engine::{Call, Engine, Speech, Told};
use crate::mock::script::Answer;

use super::service::{Reply, error, json, stream};

/// A request that is to be answered.
pub(super) struct Answered {
    /// Its number.
    pub(super) number: u64,
    /// How the answer is spelt.
    pub(super) answer: Answer,
    /// Its guard.
    pub(super) guard: Guard,
    /// When the server stands still.
    pub(super) stalls: Stalls,
}

/// Returns the session that a request says it belongs to, as a number.
pub(super) fn session(headers: &HeaderMap, asked: &Asked) -> Option<u64> {
    asked.affinity(|name| headers.get(name).map(HeaderValue::as_bytes))
}

/// Has an engine answer a request.
///
/// The prompt is turned into tokens first, as servers do; the engine sees the request when that is done. Headers come with the first
/// token.
pub(super) async fn serve(
    engine: Arc<Engine>,
    affinity: Option<u64>,
    asked: Asked,
    answered: Answered,
) -> Response<Reply> {
    let Answered { number, answer, mut guard, stalls } = answered;
    let voice = Voice::new(&asked, number, answer.line_end, answer.has_space);
    let mut spoken = Spoken::new(answer, &asked, 0);
    let tokens = spoken.tokens;
    let reader = Arc::clone(&engine);
    let prompt = asked.prompt.clone();
    let read = tokio::task::spawn_blocking(move || reader.reader().read(&prompt, tokens));
    let request = match read.await {
        Ok(Ok(request)) => request,
        Ok(Err(why)) => return error(400, why),
        Err(_) => return error(500, "the prompt cannot be read"),
    };
    spoken.prompt.0 = request.tokens();
    let (told, mut hears) = unbounded_channel();
    engine.call(Call { request, tokens, affinity, told });
    let first = match hears.recv().await {
        Some(Told::Refused(why)) => return error(400, &why),
        Some(Told::Stopped(why)) => return error(503, &why),
        None => return error(503, "the engine has stopped"),
        Some(first) => first,
    };
    if asked.is_streamed {
        let speech = Speech::new((first, hears), voice, spoken);
        return stream(AnswerBody::new(Source::Live(Box::new(speech)), guard, stalls));
    }
    let mut last = Some(first);
    loop {
        match last {
            Some(Told::Tokens(_)) => last = hears.recv().await,
            Some(Told::Ended { output, cached }) => {
                spoken.served(output, cached);
                break;
            }
            Some(Told::Refused(why) | Told::Stopped(why)) => return error(503, &why),
            None => return error(503, "the engine has stopped"),
        }
    }
    guard.stamp(1);
    let (_, body) = whole(&spoken, &voice);
    let mut reply = json(StatusCode::OK, body.unwrap_or_default());
    reply.body_mut().keep(guard);
    reply
}
