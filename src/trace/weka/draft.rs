//! What the keys of a Weka trace say, before anything is checked.

use serde::de::MapAccess;

use crate::trace::json::{Next, Object, Taken, Text};

/// A trace.
#[derive(Debug, Default)]
pub(super) struct TraceDraft<'t> {
    pub(super) id: Option<Text<'t>>,
    pub(super) models: Option<Text<'t>>,
    pub(super) block_size: Option<Text<'t>>,
    pub(super) hash_id_scope: Option<Text<'t>>,
    pub(super) tool_tokens: Option<Text<'t>>,
    pub(super) system_tokens: Option<Text<'t>>,
    pub(super) requests: Option<Vec<EntryDraft<'t>>>,
}

/// A request or the marker of a sub-agent.
#[derive(Debug, Default)]
pub(super) struct EntryDraft<'t> {
    pub(super) kind: Option<Text<'t>>,
    pub(super) t: Option<Text<'t>>,
    pub(super) model: Option<Text<'t>>,
    pub(super) input: Option<Text<'t>>,
    pub(super) output: Option<Text<'t>>,
    pub(super) hash_ids: Option<Text<'t>>,
    pub(super) input_types: Option<Text<'t>>,
    pub(super) output_types: Option<Text<'t>>,
    pub(super) stop: Option<Text<'t>>,
    pub(super) api_time: Option<Text<'t>>,
    pub(super) think_time: Option<Text<'t>>,
    pub(super) ttft: Option<Text<'t>>,
    pub(super) agent_id: Option<Text<'t>>,
    pub(super) subagent_type: Option<Text<'t>>,
    pub(super) duration_ms: Option<Text<'t>>,
    pub(super) status: Option<Text<'t>>,
    pub(super) requests: Option<Vec<Self>>,
    pub(super) models: Option<Text<'t>>,
    pub(super) total_tokens: Option<Text<'t>>,
    pub(super) tool_use_count: Option<Text<'t>>,
    pub(super) tool_tokens: Option<Text<'t>>,
    pub(super) system_tokens: Option<Text<'t>>,
}

impl<'t> Object<'t> for TraceDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        match next.key() {
            "requests" => next.array(self.requests.insert(Vec::new())),
            "totals" => next.without_effect(),
            "id" => next.text(&mut self.id),
            "models" => next.text(&mut self.models),
            "block_size" => next.text(&mut self.block_size),
            "hash_id_scope" => next.text(&mut self.hash_id_scope),
            "tool_tokens" => next.text(&mut self.tool_tokens),
            "system_tokens" => next.text(&mut self.system_tokens),
            _ => Ok(Taken::Unknown),
        }
    }
}

impl<'t> Object<'t> for EntryDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        match next.key() {
            "requests" => next.array(self.requests.insert(Vec::new())),
            "type" => next.text(&mut self.kind),
            "t" => next.text(&mut self.t),
            "model" => next.text(&mut self.model),
            "in" => next.text(&mut self.input),
            "out" => next.text(&mut self.output),
            "hash_ids" => next.text(&mut self.hash_ids),
            "input_types" => next.text(&mut self.input_types),
            "output_types" => next.text(&mut self.output_types),
            "stop" => next.text(&mut self.stop),
            "api_time" => next.text(&mut self.api_time),
            "think_time" => next.text(&mut self.think_time),
            "ttft" => next.text(&mut self.ttft),
            "agent_id" => next.text(&mut self.agent_id),
            "subagent_type" => next.text(&mut self.subagent_type),
            "duration_ms" => next.text(&mut self.duration_ms),
            "status" => next.text(&mut self.status),
            "models" => next.text(&mut self.models),
            "total_tokens" => next.text(&mut self.total_tokens),
            "tool_use_count" => next.text(&mut self.tool_use_count),
            "tool_tokens" => next.text(&mut self.tool_tokens),
            "system_tokens" => next.text(&mut self.system_tokens),
            _ => Ok(Taken::Unknown),
        }
    }
}
