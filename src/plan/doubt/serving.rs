//! Requests of which it is known beforehand that they can never be served.

use crate::deployment::{Backend, ContextLength, Worker, WorkerRole};
use crate::workload::Source;

use super::case::Kind;
use super::{Case, Doubt};

/// The prompts of a workload, in tokens, where its source says them.
#[derive(Debug, Clone, Copy)]
struct Prompts {
    shortest: u64,
    longest: u64,
}

/// Returns what is known of the prompts of a source; a trace says nothing before it is read.
fn prompts(source: &Source) -> Option<Prompts> {
    match source {
        Source::Synthetic(shape) => {
            Some(Prompts { shortest: shape.input.get(), longest: shape.input.get() })
        }
        Source::SyntheticSession(shape) => {
            let (new, output) = (shape.new_input_per_turn.get(), shape.output_per_turn.get());
            let longest = u64::from(shape.turns) * (new + output) - output;
            Some(Prompts { shortest: new, longest })
        }
        Source::Trace { .. } | Source::Graph { .. } | Source::Requests(_) => None,
    }
}

/// Returns a limit of the context that refuses every request, or that the model does not have.
pub(super) fn beyond_context(case: &Case<'_>) -> Option<Doubt> {
    let ContextLength::Tokens(limit) = case.job.deployment.context_length else { return None };
    let (limit, of_model) = (limit.get(), case.model.context_limit().get());
    let doubt = |kind, message: String, help: String| {
        Some(Doubt { setting: "context-length".to_owned(), message, help, kind })
    };
    match prompts(&case.job.workload.source) {
        Some(prompts) if prompts.shortest >= limit => doubt(
            Kind::Unservable,
            format!(
                "no request can be served: the shortest prompt has {} tokens, and the context limit is {limit}",
                prompts.shortest
            ),
            format!("a prompt must be shorter than the limit: raise it above {}", prompts.longest),
        ),
        Some(_) | None if limit > of_model => doubt(
            Kind::Foreign,
            format!(
                "`context-length` is {limit}, and `{}` has {of_model} positions",
                case.model.name
            ),
            format!("longer sequences are simulated as if it had more; state at most {of_model}"),
        ),
        Some(_) | None => None,
    }
}

/// Returns why the workers of a role can never serve some request, or any.
pub(super) fn unservable(case: &Case<'_>, role: WorkerRole, worker: &Worker) -> Vec<Doubt> {
    let prompts = prompts(&case.job.workload.source);
    let mut found = Vec::new();
    if role != WorkerRole::Decode {
        found.extend(match case.job.deployment.backend {
            Backend::Sglang => chunk_beyond_pass(prompts, role, worker),
            Backend::Vllm | Backend::Trtllm => prompt_beyond_pass(case, prompts, role, worker),
        });
    }
    found.extend(prompts.and_then(|prompts| prompt_beyond_pool(case, prompts, role, worker)));
    found
}

/// Returns that a prompt which is not computed in parts exceeds a pass.
fn prompt_beyond_pass(
    case: &Case<'_>,
    prompts: Option<Prompts>,
    role: WorkerRole,
    worker: &Worker,
) -> Option<Doubt> {
    let (budget, longest) = (worker.scheduler.max_batched_tokens.get(), prompts?.longest);
    let in_parts = case.job.deployment.enable_chunked_prefill.unwrap_or(true);
    (!in_parts && longest > budget).then(|| Doubt {
        setting: format!("worker.{}.scheduler.max-batched-tokens", role.name()),
        message: format!("a prompt of {longest} tokens that is not computed in parts never fits a pass of {budget}: the run ends without it"),
        help: format!("raise `max-batched-tokens` to at least {longest}, or leave out `enable-chunked-prefill #false`"),
        kind: Kind::Unservable,
    })
}

/// Returns that a chunk of a prompt exceeds the prompt tokens of a pass. SGLang charges whole blocks.
fn chunk_beyond_pass(prompts: Option<Prompts>, role: WorkerRole, worker: &Worker) -> Option<Doubt> {
    let scheduler = &worker.scheduler.sglang;
    let block = u64::from(worker.kv_cache.block_size.get());
    let share = scheduler.chunked_prefill_size / u64::from(worker.parallelism.attention_data);
    let chunk = share / block * block;
    let longest = prompts.map_or(u64::MAX, |prompts| prompts.longest);
    let charged = chunk.min(longest.div_ceil(block).saturating_mul(block));
    let most = scheduler.max_prefill_tokens;
    (charged > most).then(|| Doubt {
        setting: format!("worker.{}.scheduler.max-prefill-tokens", role.name()),
        message: format!("a prompt of more than {most} tokens is charged up to {charged} for a chunk, and never fits a pass: the run ends without it"),
        help: format!("raise `max-prefill-tokens` to at least {charged}, or lower `chunked-prefill-size`"),
        kind: Kind::Unservable,
    })
}

/// Returns that even the shortest prompt exceeds the KV blocks of a rank.
fn prompt_beyond_pool(
    case: &Case<'_>,
    prompts: Prompts,
    role: WorkerRole,
    worker: &Worker,
) -> Option<Doubt> {
    let cache = &worker.kv_cache;
    let blocks = case.job.kv_blocks(role, cache).filter(|_| cache.groups.is_empty())?.get();
    let needed = prompts.shortest.div_ceil(u64::from(cache.block_size.get()));
    (needed > blocks).then(|| Doubt {
        setting: format!("worker.{}.kv-cache.capacity", role.name()),
        message: format!("no request can be served: the shortest prompt needs {needed} KV blocks, and a rank has {blocks}"),
        help: format!("give each rank at least {needed} blocks, or send shorter prompts"),
        kind: Kind::Unservable,
    })
}
