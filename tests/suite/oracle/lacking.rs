//! Recorded cases that this build refuses by name. A case leaves its list when it runs; one that runs is judged all the same.

use crate::program::Ran;

/// Configurations.
pub(super) const CASES: &[&str] = &[
    "048-host-offload",
    "049-host-offload-slow",
    "050-host-offload-shared-r2",
    "051-g3-offload",
    "052-state-cache",
    "058-dis-vllm-1p1d",
    "059-dis-vllm-2p2d-full",
    "060-dis-vllm-bw-missing",
    "061-dis-vllm-burst-transfer",
    "063-dis-trtllm",
    "064-dis-vllm-default",
    "065-dis-mooncake",
    "066-dis-smallkv-decode",
    "087-ngram",
    "120-dis-partial-block-full",
    "121-dis-partial-block-missing",
];

/// Specifications.
pub(super) const SPECS: &[&str] = &[
    "004-pd-vllm-1x4-decode-null",
    "008-pd-vllm-3x1-decode-double",
    "014-pd-vllm-2x3-missing-poly",
    "016-pd-vllm-4x1-decode-null",
    "018-pd-vllm-1x3-batch8-poly",
    "020-pd-vllm-3x1-decode-small-pool",
    "022-pd-vllm-3x3-fast-short",
    "024-pd-vllm-3x2-chunked512",
    "026-pd-vllm-2x2-source-reuse",
    "030-pd-vllm-3x2-one-third",
    "032-pd-vllm-2x2-closed-loop",
    "034-pd-vllm-2x2-lone-decode-half",
    "036-g2-load-3v1",
    "038-g2-load-waves",
    "040-g2-load-unlimited-client",
    "042-g2-evict-reload",
    "044-g2-local-uneven-waves",
    "046-g2-local-evict-reload",
    "064-ctl-pd-2x1-double-fits",
    "066-ctl-pd-separate-links-uneven",
    "068-ctl-g2-cluster-symmetric",
    "070-large-pd-vllm-4x4-2000",
];

/// Returns whether a run was refused as a list allows.
pub(super) fn allows(list: &[&str], name: &str, ran: &Ran) -> bool {
    list.contains(&name) && ran.code == Some(2) && ran.stderr.contains("dynosim::unsupported")
}
