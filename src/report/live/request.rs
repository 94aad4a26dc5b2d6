//! `live.jsonl`: one canonical record a request that was sent.

use std::collections::BTreeMap;

use crate::digest::canonical::{Value, object};
use crate::measure::live::{
    CountedBy, e2e, effective_e2e, effective_ttft, lateness, time_to_content, tpot, ttft, ttst,
};
use crate::record::{
    Connection, Exchange, ExchangeError, LiveCall, LiveRequest, LiveRun, StreamEvent, Usage,
};
use crate::units::Nanos;

/// Returns the record of one request; what never happened, and what nobody tells, is left out. It holds no text of prompts and answers.
pub(super) fn record(
    run: &LiveRun,
    (index, request): (usize, &LiveRequest),
    by: CountedBy,
) -> Value {
    let exchange = &request.exchange;
    let mut fields: BTreeMap<String, Value> = BTreeMap::new();
    let mut put = |key: &str, value: Option<Value>| {
        fields.extend(value.map(|value| (key.to_owned(), value)));
    };
    put("index", Some(count(index)));
    put("instance", Some(Value::count(request.instance)));
    put("trace", run.traces.get(request.trace).map(|trace| Value::text(&trace.id)));
    put("call", run.recorded(request).map(|call| Value::text(&call.id)));
    put("ordinal", Some(count(request.call)));
    put("lane", Some(count(request.lane)));
    put("phase", Some(Value::text(request.phase.name())));
    put("outcome", Some(Value::text(request.outcome().name())));
    put("recorded", run.recorded(request).map(recorded));
    put("output_tokens_client", request.counted.map(Value::from));
    for (key, time) in instants(request) {
        put(key, time.map(Value::from));
    }
    for (key, time) in latencies(request, by) {
        put(key, time.map(Value::from));
    }
    put("connection", exchange.connection.map(connection));
    put("status", exchange.status.map(|status| Value::count(u64::from(status))));
    put("delivery", Some(Value::text(exchange.delivery.name())));
    put("finish_reason", exchange.finish_reason.as_ref().map(Value::text));
    put("usage", exchange.usage.map(usage));
    put("error", exchange.outcome.as_ref().err().map(error));
    put("events", Some(Value::List(exchange.events.iter().map(event).collect())));
    put("is_retried", exchange.is_retried.then_some(Value::Bool(true)));
    put("keepalives", (exchange.keepalives > 0).then(|| Value::count(exchange.keepalives)));
    Value::Object(fields)
}

/// Returns the instants of a request, from the epoch of the run.
fn instants(request: &LiveRequest) -> [(&'static str, Option<Nanos>); 8] {
    let Exchange { sent, headers, first_byte, end, .. } = &request.exchange;
    let outputs = || request.exchange.outputs().map(|event| event.at);
    [
        ("intended_ns", Some(request.intended)),
        ("scheduled_ns", Some(request.scheduled)),
        ("sent_ns", *sent),
        ("headers_ns", *headers),
        ("first_byte_ns", *first_byte),
        ("first_output_ns", outputs().next()),
        ("last_output_ns", outputs().last()),
        ("end_ns", Some(*end)),
    ]
}

/// Returns the latencies of a request, as docs/metrics.md defines them.
fn latencies(request: &LiveRequest, by: CountedBy) -> [(&'static str, Option<Nanos>); 8] {
    [
        ("schedule_lateness_ns", lateness(request)),
        ("ttft_ns", ttft(request)),
        ("ttft_effective_ns", effective_ttft(request)),
        ("content_ns", time_to_content(request)),
        ("ttst_ns", ttst(request)),
        ("tpot_ns", tpot(request, by)),
        ("e2e_ns", e2e(request)),
        ("e2e_effective_ns", effective_e2e(request)),
    ]
}

/// Returns what was recorded of the same call.
fn recorded(call: &LiveCall) -> Value {
    object([])
        .with("input_tokens", call.input.map(Value::from))
        .with("output_tokens", call.output.map(Value::from))
        .with("requested_output_tokens", call.requested_output.map(Value::from))
        .with("reusable_tokens", call.reusable.map(Value::from))
        .with("ttft_ns", call.ttft.map(Value::from))
}

/// Returns the connection that carried a request, and what was spent on a fresh one.
fn connection(connection: Connection) -> Value {
    let part = |of: fn(&crate::record::Handshake) -> Option<Nanos>| {
        connection.handshake.as_ref().and_then(of).map(Value::from)
    };
    object([
        ("is_fresh", Value::Bool(connection.handshake.is_some())),
        ("protocol", Value::text(connection.protocol.name())),
    ])
    .with("connect_ns", part(|it| Some(it.connect)))
    .with("resolve_ns", part(|it| Some(it.resolve)))
    .with("tls_ns", part(|it| it.tls))
    .with("tunnel_ns", part(|it| it.tunnel))
}

/// Returns tokens as the server counts them.
fn usage(usage: Usage) -> Value {
    object([])
        .with("cached_tokens", usage.cached.map(Value::from))
        .with("output_tokens", usage.output.map(Value::from))
        .with("prompt_tokens", usage.prompt.map(Value::from))
        .with("reasoning_tokens", usage.reasoning.map(Value::from))
}

/// Returns how a request failed. No error holds a header of the request or a key.
fn error(error: &ExchangeError) -> Value {
    let retry_after = if let ExchangeError::Status { retry_after, .. } = error {
        retry_after.as_ref()
    } else {
        None
    };
    object([("kind", Value::text(error.kind())), ("message", Value::text(error.to_string()))])
        .with("retry_after", retry_after.map(Value::text))
}

/// Returns a message: `[instant, channel, bytes of text]`, and tokens where the server says.
fn event(event: &StreamEvent) -> Value {
    let mut parts = vec![
        event.at.into(),
        Value::text(event.channel.name()),
        Value::count(u64::from(event.bytes)),
    ];
    parts.extend(event.tokens.map(Value::from));
    Value::List(parts)
}

fn count(count: usize) -> Value {
    Value::count(u64::try_from(count).expect("a count of things in memory fits"))
}
