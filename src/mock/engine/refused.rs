//! What a server says where its engine gives a request up.

use crate::record::{RequestRecord, Rule};

/// Returns what a server says to a request that its engine did not serve: the words of the simulator, and where the context is too
/// short those that clients know it by.
pub(crate) fn refused(record: &RequestRecord) -> String {
    let Some(refusal) = record.refusal.as_deref() else {
        return "the engine gave the request up".to_owned();
    };
    match refusal.rule {
        // Source: vLLM's words, on which clients match.
        Rule::ContextLimit { limit, .. } => format!(
            "this model's maximum context length is {} tokens: the request {refusal}",
            limit.get()
        ),
        Rule::KvBlocks { .. } | Rule::KvBytes { .. } => format!("the request {refusal}"),
    }
}
