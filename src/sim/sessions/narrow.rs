//! Counts that decoders hold below 2^32.

/// Returns a token or row count as 32 bits; decoders refuse larger ones.
pub(super) fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("decoders refuse prompts and traces of 2^32 and more")
}
