//! How large sizes may be: one home for the scenario's decoder, `DynoSim`'s YAML and the pins.
//!
//! Each bound is far above what serves a model today and low enough that no product of bounded sizes leaves 64 bits. Rules between
//! sizes return what is too much in words, to which a decoder adds the field and its place.

use crate::units::{BlockSize, Blocks};
use crate::workload::{Load, SessionShape, Source, StopCount, SyntheticShape};

/// Tokens of a prompt, an output, or all turns of a session together: lengths have 32 bits.
pub(crate) const TOKENS: u64 = u32::MAX as u64;
/// Tokens of a KV block.
pub(crate) const BLOCK_SIZE: u64 = 1 << 20;
/// Ranks of all workers together, and each factor of parallelism.
pub(crate) const RANKS: u64 = 1 << 16;
/// Requests (or sessions) in flight.
pub(crate) const CONCURRENCY: u64 = 1 << 24;
/// Requests of a run, each turn of a session counted.
pub(crate) const REQUESTS: u64 = 1 << 40;
/// Turns of a session.
pub(crate) const TURNS: u64 = 1 << 16;
/// Layers, heads and numbers of a head of a model.
pub(crate) const PER_LAYER: u64 = 1 << 16;
/// Widths of a model, its vocabulary and its experts.
pub(crate) const WIDTH: u64 = 1 << 24;
/// Whatever else is counted: what JSON numbers hold exactly, 2^53 - 1.
pub(crate) const EXACT: u64 = u64::MAX >> 11;

/// Says whether prompt and output of a request are too long together.
pub(crate) fn request_excess(shape: &SyntheticShape) -> Option<String> {
    sequence_excess(u128::from(shape.input.get()) + u128::from(shape.output.get()))
}

/// Says whether the turns of a session are too long together.
pub(crate) fn session_excess(shape: &SessionShape) -> Option<String> {
    let turn = u128::from(shape.new_input_per_turn.get()) + u128::from(shape.output_per_turn.get());
    sequence_excess(turn * u128::from(shape.turns))
}

/// Says whether a sequence is too long.
fn sequence_excess(tokens: u128) -> Option<String> {
    (tokens > u128::from(TOKENS))
        .then(|| format!("makes a sequence of {tokens} tokens, at most {TOKENS}"))
}

/// Says whether a synthetic source makes too many requests; a trace has as many as it has.
pub(crate) fn requests_excess(
    source: &Source,
    load: &Load,
    count: Option<StopCount>,
) -> Option<String> {
    let turns = match source {
        Source::Synthetic(_) => 1,
        Source::SyntheticSession(shape) => shape.turns,
        Source::Trace { .. } | Source::Graph { .. } | Source::Requests(_) => return None,
    };
    let requests = u128::from(count?.resolve(load)?) * u128::from(turns);
    (requests > u128::from(REQUESTS))
        .then(|| format!("makes a run of {requests} requests, at most {REQUESTS}"))
}

/// Says whether replicas of several ranks each are too many ranks together.
pub(crate) fn rank_excess(replicas: u32, ranks: u32) -> Option<String> {
    let all = u64::from(replicas) * u64::from(ranks);
    (all > RANKS).then(|| format!("makes {all} ranks, at most {RANKS}"))
}

/// Says whether SGLang's prompt chunks are no whole blocks, or nothing is left of them for each rank of a worker.
pub(crate) fn chunk_excess(chunk: u64, size: BlockSize, ranks: u32) -> Option<String> {
    let size = u64::from(size.get());
    if !chunk.is_multiple_of(size) {
        return Some(format!(
            "makes chunks of {chunk} tokens, which are no whole blocks of {size}: a multiple of {size} is needed"
        ));
    }
    (chunk < u64::from(ranks)).then(|| format!("leaves each of {ranks} ranks less than a token"))
}

/// Says whether the share of a chunk that each rank of a worker gets is less than a block: no prompt is ever computed then.
pub(crate) fn chunk_shortage(chunk: u64, size: BlockSize, ranks: u32) -> Option<String> {
    let (share, block) = (chunk / u64::from(ranks.max(1)), size.get());
    (share < u64::from(block)).then(|| {
        let least = u64::from(block) * u64::from(ranks);
        format!("leaves each of {ranks} ranks {share} tokens, less than a block of {block}: at least {least} are needed")
    })
}

/// Says whether blocks hold too many tokens together.
pub(crate) fn pool_excess(blocks: Blocks, size: BlockSize) -> Option<String> {
    let tokens = u128::from(blocks.get()) * u128::from(size.get());
    (tokens > u128::from(EXACT))
        .then(|| format!("makes a pool of {tokens} tokens, at most {EXACT}"))
}

/// Says whether the bytes of one block are too many.
pub(crate) fn block_excess(size: BlockSize, bytes_per_token: u64) -> Option<String> {
    let bytes = u128::from(bytes_per_token) * u128::from(size.get());
    (bytes > u128::from(EXACT)).then(|| format!("makes a block of {bytes} bytes, at most {EXACT}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Tokens;

    #[test]
    fn sizes_at_their_bounds_are_allowed_and_one_more_is_not() {
        let request = |input| SyntheticShape {
            input: Tokens::new(input),
            output: Tokens::new(1),
            cached_prefix: Tokens::ZERO,
        };
        assert_eq!(request_excess(&request(TOKENS - 1)), None);
        assert!(request_excess(&request(TOKENS)).is_some());
        let size = BlockSize::new(1 << 20).expect("above 0");
        assert_eq!(pool_excess(Blocks::new(EXACT >> 20), size), None);
        assert!(pool_excess(Blocks::new((EXACT >> 20) + 1), size).is_some());
        assert_eq!(block_excess(size, EXACT >> 20), None);
        assert!(block_excess(size, EXACT).is_some());
        assert_eq!(rank_excess(256, 256), None);
        assert!(rank_excess(256, 257).is_some());
        let page = |tokens| BlockSize::new(tokens).expect("above 0");
        assert_eq!(chunk_excess(8192, page(64), 8192), None);
        assert!(chunk_excess(8192, page(48), 1).is_some());
        assert!(chunk_excess(8192, page(1), 8193).is_some());
        let load = Load::Concurrency { concurrency: 1 };
        let source = Source::Synthetic(request(1));
        let excess = |count| requests_excess(&source, &load, Some(count));
        assert_eq!(excess(StopCount::Requests(REQUESTS)), None);
        assert!(excess(StopCount::Requests(REQUESTS + 1)).is_some());
        assert!(excess(StopCount::RequestsPerLoadUnit(1e300)).is_some());
    }
}
