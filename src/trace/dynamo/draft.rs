//! What the keys of an event say, before anything is checked.

use serde::de::MapAccess;

use crate::trace::json::{Object, Reading, Taken, Text, Value, array, number, object};

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
                key: &str,
                map: &mut A,
                _reading: &mut Reading<'t>,
            ) -> Result<Taken, A::Error> {
                match key {
                    $($key => self.$field = number(map)?,)*
                    _ => return Ok(Taken::Unknown),
                }
                Ok(Taken::Known)
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
    fn take<A: MapAccess<'t>>(
        &mut self,
        key: &str,
        map: &mut A,
        reading: &mut Reading<'t>,
    ) -> Result<Taken, A::Error> {
        match key {
            "trace_block_size" => self.trace_block_size = number(map)?,
            "input_length" => self.input_length = number(map)?,
            "input_sequence_hashes" => self.input_sequence_hashes = number(map)?,
            "dependencies" => self.dependencies = array(map, reading)?,
            _ => return Ok(Taken::Unknown),
        }
        Ok(Taken::Known)
    }
}

impl<'t> Object<'t> for RequestDraft<'t> {
    fn take<A: MapAccess<'t>>(
        &mut self,
        key: &str,
        map: &mut A,
        reading: &mut Reading<'t>,
    ) -> Result<Taken, A::Error> {
        match key {
            "request_id" => self.request_id = number(map)?,
            "model" => self.model = number(map)?,
            "input_tokens" => self.input_tokens = number(map)?,
            "output_tokens" => self.output_tokens = number(map)?,
            "cached_tokens" => self.cached_tokens = number(map)?,
            "request_received_ms" => self.request_received_ms = number(map)?,
            "total_time_ms" => self.total_time_ms = number(map)?,
            "ttft_ms" => self.ttft_ms = number(map)?,
            "x_request_id" => drop(number(map)?),
            "replay" => self.replay = object(map, reading)?,
            "worker" => self.worker = object(map, reading)?,
            _ => {
                let Some(known) = OTHER_NUMBERS.iter().find(|known| **known == key) else {
                    return Ok(Taken::Unknown);
                };
                self.other.extend(number(map)?.map(|value| (*known, value)));
            }
        }
        Ok(Taken::Known)
    }
}

impl<'t> Object<'t> for ToolDraft<'t> {
    fn take<A: MapAccess<'t>>(
        &mut self,
        key: &str,
        map: &mut A,
        reading: &mut Reading<'t>,
    ) -> Result<Taken, A::Error> {
        match key {
            "tool_call_id" => self.tool_call_id = number(map)?,
            "tool_class" => self.tool_class = number(map)?,
            "status" => self.status = number(map)?,
            "duration_ms" => self.duration_ms = number(map)?,
            "started_at_unix_ms" => self.started_at_unix_ms = number(map)?,
            "ended_at_unix_ms" => self.ended_at_unix_ms = number(map)?,
            "claude" => self.claude = object(map, reading)?,
            _ => return Ok(Taken::Unknown),
        }
        Ok(Taken::Known)
    }
}

impl<'t> Object<'t> for EventDraft<'t> {
    fn take<A: MapAccess<'t>>(
        &mut self,
        key: &str,
        map: &mut A,
        reading: &mut Reading<'t>,
    ) -> Result<Taken, A::Error> {
        match key {
            "schema" => self.schema = number(map)?,
            "event_type" => self.event_type = number(map)?,
            "event_time_unix_ms" => self.event_time_unix_ms = number(map)?,
            "event_source" => self.event_source = number(map)?,
            "agent_context" => self.agent_context = object(map, reading)?,
            "request" => self.request = object(map, reading)?,
            "tool" => self.tool = object(map, reading)?,
            "timestamp" => drop(number(map)?),
            "event" => {
                self.event = object(map, reading)?.and_then(Value::into_object).map(Box::new);
            }
            _ => return Ok(Taken::Unknown),
        }
        Ok(Taken::Known)
    }
}
