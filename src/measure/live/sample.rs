//! Live requests for tests. Instants are milliseconds.

use crate::record::{
    Channel, Delivery, Exchange, ExchangeError, LiveCall, LiveRequest, LiveRun, LiveTrace, Phase,
    Reply, StreamEvent, Usage,
};
use crate::units::{Nanos, Tokens};

/// Returns so many milliseconds.
pub(super) fn ms(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

/// Returns a message that came at an instant.
pub(super) fn event(at: u64, channel: Channel, tokens: Option<u64>) -> StreamEvent {
    StreamEvent { at: ms(at), channel, tokens: tokens.map(Tokens::new), bytes: 1 }
}

/// Returns a completed request: intended and sent at an instant, with content after so many milliseconds each.
pub(super) fn request(instance: u64, sent: u64, contents: &[u64]) -> LiveRequest {
    let events: Vec<_> =
        contents.iter().map(|after| event(sent + after, Channel::Content, None)).collect();
    let end = contents.last().copied().unwrap_or(1) + sent;
    let exchange = Exchange {
        begun: ms(sent),
        connection: None,
        sent: Some(ms(sent)),
        first_byte: events.first().map(|event| event.at),
        headers: events.first().map(|event| event.at),
        delivery: Delivery::Streamed,
        events,
        end: ms(end),
        status: Some(200),
        usage: None,
        finish_reason: Some("stop".to_owned()),
        reply: Reply::default(),
        outcome: Ok(()),
        is_retried: false,
        keepalives: 0,
    };
    LiveRequest {
        instance,
        trace: 0,
        call: 0,
        lane: 0,
        phase: Phase::Profile,
        intended: ms(sent),
        scheduled: ms(sent),
        exchange,
        counted: None,
    }
}

/// Returns a request with what the server counted.
pub(super) fn counted(request: LiveRequest, prompt: u64, output: u64, cached: u64) -> LiveRequest {
    let tokens = |count| Some(Tokens::new(count));
    let usage = Usage {
        prompt: tokens(prompt),
        output: tokens(output),
        cached: tokens(cached),
        ..Usage::default()
    };
    let exchange = Exchange { usage: Some(usage), ..request.exchange };
    LiveRequest { exchange, ..request }
}

/// Returns a request that failed so long after it was sent.
pub(super) fn failed(instance: u64, sent: u64, after: u64, error: ExchangeError) -> LiveRequest {
    let request = request(instance, sent, &[]);
    let exchange = Exchange { end: ms(sent + after), outcome: Err(error), ..request.exchange };
    LiveRequest { exchange, ..request }
}

/// Returns a run whose measured phase began at 0. The recording has 100 prompt tokens, 80 of them reusable, and 5 of output.
pub(super) fn run(requests: Vec<LiveRequest>) -> LiveRun {
    let tokens = |count| Some(Tokens::new(count));
    let call = LiveCall {
        id: "a:0".to_owned(),
        input: tokens(100),
        output: tokens(5),
        ttft: Some(ms(70)),
        reusable: tokens(80),
        requested_output: tokens(5),
    };
    LiveRun {
        traces: vec![LiveTrace { id: "a".to_owned(), calls: vec![call] }],
        requests,
        phases: vec![(Phase::Profile, Nanos::ZERO)],
        ..LiveRun::default()
    }
}
