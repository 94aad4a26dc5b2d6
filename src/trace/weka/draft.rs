//! What the keys of a Weka trace say, before anything is checked.

use serde::de::MapAccess;

use crate::trace::json::{Object, Reading, Taken, Text, array, number};

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
    fn take<A: MapAccess<'t>>(
        &mut self,
        key: &str,
        map: &mut A,
        reading: &mut Reading<'t>,
    ) -> Result<Taken, A::Error> {
        let field = match key {
            "requests" => {
                self.requests = Some(array(map, reading)?);
                return Ok(Taken::Known);
            }
            "totals" => {
                number(map)?;
                return Ok(Taken::Known);
            }
            "id" => &mut self.id,
            "models" => &mut self.models,
            "block_size" => &mut self.block_size,
            "hash_id_scope" => &mut self.hash_id_scope,
            "tool_tokens" => &mut self.tool_tokens,
            "system_tokens" => &mut self.system_tokens,
            _ => return Ok(Taken::Unknown),
        };
        *field = number(map)?;
        Ok(Taken::Known)
    }
}

impl<'t> Object<'t> for EntryDraft<'t> {
    fn take<A: MapAccess<'t>>(
        &mut self,
        key: &str,
        map: &mut A,
        reading: &mut Reading<'t>,
    ) -> Result<Taken, A::Error> {
        let field = match key {
            "requests" => {
                self.requests = Some(array(map, reading)?);
                return Ok(Taken::Known);
            }
            "type" => &mut self.kind,
            "t" => &mut self.t,
            "model" => &mut self.model,
            "in" => &mut self.input,
            "out" => &mut self.output,
            "hash_ids" => &mut self.hash_ids,
            "input_types" => &mut self.input_types,
            "output_types" => &mut self.output_types,
            "stop" => &mut self.stop,
            "api_time" => &mut self.api_time,
            "think_time" => &mut self.think_time,
            "ttft" => &mut self.ttft,
            "agent_id" => &mut self.agent_id,
            "subagent_type" => &mut self.subagent_type,
            "duration_ms" => &mut self.duration_ms,
            "status" => &mut self.status,
            "models" => &mut self.models,
            "total_tokens" => &mut self.total_tokens,
            "tool_use_count" => &mut self.tool_use_count,
            "tool_tokens" => &mut self.tool_tokens,
            "system_tokens" => &mut self.system_tokens,
            _ => return Ok(Taken::Unknown),
        };
        *field = number(map)?;
        Ok(Taken::Known)
    }
}
