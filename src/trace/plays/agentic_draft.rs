//! The texts of an `agentic-mooncake` line, before they are read.

use serde::de::MapAccess;

use crate::trace::json::{Next, Object, Taken, Text};

/// The header: all of it where it is one.
#[derive(Debug, Default)]
pub(super) struct HeaderDraft<'t> {
    pub(super) schema: Option<Text<'t>>,
    pub(super) version: Option<Text<'t>>,
    pub(super) block_size: Option<Text<'t>>,
    pub(super) hash_id_scope: Option<Text<'t>>,
    pub(super) source: Option<Text<'t>>,
}

/// A row of either version.
#[derive(Debug, Default)]
pub(super) struct RowDraft<'t> {
    pub(super) request_id: Option<Text<'t>>,
    pub(super) play_id: Option<Text<'t>>,
    pub(super) source_play_ordinal: Option<Text<'t>>,
    pub(super) session_id: Option<Text<'t>>,
    pub(super) model: Option<Text<'t>>,
    pub(super) input: Option<Text<'t>>,
    pub(super) output: Option<Text<'t>>,
    pub(super) output_token_ids: Option<Text<'t>>,
    pub(super) hash_ids: Option<Text<'t>>,
    pub(super) not_before_ms: Option<Text<'t>>,
    pub(super) recorded_api_time_ms: Option<Text<'t>>,
    pub(super) timestamp: Option<Text<'t>>,
    pub(super) delay: Option<Text<'t>>,
    pub(super) tool_wait_ms: Option<Text<'t>>,
    pub(super) wait_for: Option<Text<'t>>,
    pub(super) priority: Option<Text<'t>>,
    pub(super) strict_priority: Option<Text<'t>>,
    pub(super) policy_class: Option<Text<'t>>,
    pub(super) dependencies: Vec<WaitDraft<'t>>,
    /// Fields that are stated by both of their names.
    pub(super) twice: Option<&'static str>,
}

/// A dependency of version 2.
#[derive(Debug, Default)]
pub(super) struct WaitDraft<'t> {
    pub(super) request_id: Option<Text<'t>>,
    pub(super) trigger: Option<Text<'t>>,
    pub(super) delay_ms: Option<Text<'t>>,
    pub(super) relation: Option<Text<'t>>,
}

impl<'t> Object<'t> for HeaderDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        match next.key() {
            "schema" => next.text(&mut self.schema),
            "version" => next.text(&mut self.version),
            "block_size" => next.text(&mut self.block_size),
            "hash_id_scope" => next.text(&mut self.hash_id_scope),
            "source" => next.text(&mut self.source),
            _ => Ok(Taken::Unknown),
        }
    }
}

impl<'t> Object<'t> for WaitDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        match next.key() {
            "request_id" => next.text(&mut self.request_id),
            "trigger" => next.text(&mut self.trigger),
            "delay_ms" => next.text(&mut self.delay_ms),
            "relation" => next.text(&mut self.relation),
            _ => Ok(Taken::Unknown),
        }
    }
}

impl<'t> Object<'t> for RowDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        // A quantity that has two names may be stated under one of them.
        let (field, pair) = match next.key() {
            "dependencies" => return next.array(&mut self.dependencies),
            "request_id" => return next.text(&mut self.request_id),
            "play_id" => return next.text(&mut self.play_id),
            "source_play_ordinal" => return next.text(&mut self.source_play_ordinal),
            "session_id" => return next.text(&mut self.session_id),
            "model" => return next.text(&mut self.model),
            "output_token_ids" => return next.text(&mut self.output_token_ids),
            "hash_ids" => return next.text(&mut self.hash_ids),
            "not_before_ms" => return next.text(&mut self.not_before_ms),
            "recorded_api_time_ms" => return next.text(&mut self.recorded_api_time_ms),
            "tool_wait_ms" => return next.text(&mut self.tool_wait_ms),
            "wait_for" => return next.text(&mut self.wait_for),
            "priority" => return next.text(&mut self.priority),
            "strict_priority" => return next.text(&mut self.strict_priority),
            "policy_class" => return next.text(&mut self.policy_class),
            "input_length" | "input_tokens" => (&mut self.input, "input_length"),
            "output_length" | "output_tokens" => (&mut self.output, "output_length"),
            "timestamp" | "created_time" => (&mut self.timestamp, "timestamp"),
            "delay" | "delay_ms" => (&mut self.delay, "delay"),
            _ => return Ok(Taken::Unknown),
        };
        let mut value = None;
        let taken = next.text(&mut value)?;
        if field.is_some() && value.is_some() {
            self.twice = self.twice.or(Some(pair));
        }
        *field = value.or(*field);
        Ok(taken)
    }
}
