//! What the keys of an event say, before anything is checked.

use serde::de::MapAccess;

use crate::trace::json::{Next, Object, Taken, Text, Value};

/// Declares what an object is read into: each key with its field, a JSON text.
macro_rules! draft {
    ($(#[$docs:meta])* $name:ident { $($key:literal => $field:ident,)* } $($rest:tt)*) => {
        $(#[$docs])*
        #[derive(Debug, Default, Clone, Copy)]
        pub(super) struct $name<'t> {
            $(pub(super) $field: Option<Text<'t>>,)*
        }

        impl<'t> Object<'t> for $name<'t> {
            fn take<A: MapAccess<'t>>(
                &mut self,
                next: Next<'_, 't, A>,
            ) -> Result<Taken, A::Error> {
                match next.key() {
                    $($key => next.text(&mut self.$field),)*
                    _ => Ok(Taken::Unknown),
                }
            }
        }
    };
}

draft! {
    /// Which session an event is of.
    #[expect(clippy::struct_field_names, reason = "as the keys are called")]
    ContextDraft {
        "session_id" => session_id,
        "trajectory_id" => trajectory_id,
        "session_type_id" => session_type_id,
        "parent_trajectory_id" => parent_trajectory_id,
        "parent_session_id" => parent_session_id,
    }
}

draft! {
    /// Which worker served a request.
    WorkerDraft {
        "prefill_worker_id" => prefill_worker_id,
        "prefill_dp_rank" => prefill_dp_rank,
        "decode_worker_id" => decode_worker_id,
        "decode_dp_rank" => decode_dp_rank,
    }
}

draft! {
    /// A request that another one waited for.
    EdgeDraft {
        "request_id" => request_id,
        "relation" => relation,
        "trigger" => trigger,
    }
}

draft! {
    /// What joins a tool with requests and sessions.
    ClaudeDraft {
        "source_request_id" => source_request_id,
        "consumer_request_id" => consumer_request_id,
        "child_session_id" => child_session_id,
        "execution_mode" => execution_mode,
    }
}

/// The blocks of a prompt.
#[derive(Debug, Default)]
pub(super) struct ReplayDraft<'t> {
    pub(super) trace_block_size: Option<Text<'t>>,
    pub(super) input_length: Option<Text<'t>>,
    pub(super) input_sequence_hashes: Option<Text<'t>>,
    pub(super) dependencies: Vec<EdgeDraft<'t>>,
}

/// A request.
#[derive(Debug, Default)]
pub(super) struct RequestDraft<'t> {
    pub(super) request_id: Option<Text<'t>>,
    pub(super) model: Option<Text<'t>>,
    pub(super) input_tokens: Option<Text<'t>>,
    pub(super) output_tokens: Option<Text<'t>>,
    pub(super) cached_tokens: Option<Text<'t>>,
    pub(super) request_received_ms: Option<Text<'t>>,
    pub(super) total_time_ms: Option<Text<'t>>,
    pub(super) ttft_ms: Option<Text<'t>>,
    /// What is checked and means nothing here.
    pub(super) other: Vec<(&'static str, Text<'t>)>,
    pub(super) replay: Option<Value<ReplayDraft<'t>>>,
    pub(super) worker: Option<Value<WorkerDraft<'t>>>,
}

/// A tool.
#[derive(Debug, Default)]
pub(super) struct ToolDraft<'t> {
    pub(super) tool_call_id: Option<Text<'t>>,
    pub(super) tool_class: Option<Text<'t>>,
    pub(super) status: Option<Text<'t>>,
    pub(super) duration_ms: Option<Text<'t>>,
    pub(super) started_at_unix_ms: Option<Text<'t>>,
    pub(super) ended_at_unix_ms: Option<Text<'t>>,
    pub(super) claude: Option<Value<ClaudeDraft<'t>>>,
}

/// An event, or the envelope of one.
#[derive(Debug, Default)]
pub(super) struct EventDraft<'t> {
    pub(super) schema: Option<Text<'t>>,
    pub(super) event_type: Option<Text<'t>>,
    pub(super) event_time_unix_ms: Option<Text<'t>>,
    pub(super) event_source: Option<Text<'t>>,
    pub(super) agent_context: Option<Value<ContextDraft<'t>>>,
    pub(super) request: Option<Value<RequestDraft<'t>>>,
    pub(super) tool: Option<Value<ToolDraft<'t>>>,
    /// The event of an envelope.
    pub(super) event: Option<Box<Self>>,
}

/// Numbers that a request may state and that mean nothing here.
const OTHER_NUMBERS: [&str; 6] = [
    "queue_depth",
    "prefill_wait_time_ms",
    "prefill_time_ms",
    "kv_hit_rate",
    "avg_itl_ms",
    "kv_transfer_estimated_latency_ms",
];

impl<'t> Object<'t> for ReplayDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        match next.key() {
            "trace_block_size" => next.text(&mut self.trace_block_size),
            "input_length" => next.text(&mut self.input_length),
            "input_sequence_hashes" => next.text(&mut self.input_sequence_hashes),
            "dependencies" => next.array(&mut self.dependencies),
            _ => Ok(Taken::Unknown),
        }
    }
}

impl<'t> Object<'t> for RequestDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        match next.key() {
            "request_id" => next.text(&mut self.request_id),
            "model" => next.text(&mut self.model),
            "input_tokens" => next.text(&mut self.input_tokens),
            "output_tokens" => next.text(&mut self.output_tokens),
            "cached_tokens" => next.text(&mut self.cached_tokens),
            "request_received_ms" => next.text(&mut self.request_received_ms),
            "total_time_ms" => next.text(&mut self.total_time_ms),
            "ttft_ms" => next.text(&mut self.ttft_ms),
            "x_request_id" => next.pass_over(),
            "replay" => next.object(&mut self.replay),
            "worker" => next.object(&mut self.worker),
            key => {
                let Some(known) = OTHER_NUMBERS.iter().find(|known| **known == key) else {
                    return Ok(Taken::Unknown);
                };
                let mut value = None;
                let taken = next.text(&mut value)?;
                self.other.extend(value.map(|value| (*known, value)));
                Ok(taken)
            }
        }
    }
}

impl<'t> Object<'t> for ToolDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        match next.key() {
            "tool_call_id" => next.text(&mut self.tool_call_id),
            "tool_class" => next.text(&mut self.tool_class),
            "status" => next.text(&mut self.status),
            "duration_ms" => next.text(&mut self.duration_ms),
            "started_at_unix_ms" => next.text(&mut self.started_at_unix_ms),
            "ended_at_unix_ms" => next.text(&mut self.ended_at_unix_ms),
            "claude" => next.object(&mut self.claude),
            _ => Ok(Taken::Unknown),
        }
    }
}

impl<'t> Object<'t> for EventDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        match next.key() {
            "schema" => next.text(&mut self.schema),
            "event_type" => next.text(&mut self.event_type),
            "event_time_unix_ms" => next.text(&mut self.event_time_unix_ms),
            "event_source" => next.text(&mut self.event_source),
            "agent_context" => next.object(&mut self.agent_context),
            "request" => next.object(&mut self.request),
            "tool" => next.object(&mut self.tool),
            "timestamp" => next.pass_over(),
            "event" => {
                let mut inner = None;
                let taken = next.object(&mut inner)?;
                self.event = inner.and_then(Value::into_object).map(Box::new);
                Ok(taken)
            }
            _ => Ok(Taken::Unknown),
        }
    }
}
