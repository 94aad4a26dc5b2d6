//! Probes: they see what decided an event, and change nothing.

use crate::deployment::{Backend, Capacity, TransferTiming};
use crate::plan::Compat;
use crate::sim::{LinkSharing, Moment, Options, Probe, Seen};
use crate::units::{BlockSize, Blocks, Nanos, Tokens};

use super::support::Small;

/// Two prompts of 128 tokens on prefill ranks of their own, which move 1 MB a token at 1 GB/s into one decode rank.
fn into_one(compat: Compat) -> Small {
    Small::new(2.0, 1.0)
        .apart((2, 1), (2.0, 1.0))
        .pools(|_, worker| {
            worker.kv_cache.block_size = BlockSize::new(64).expect("positive");
            worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(64));
            worker.scheduler.max_batched_tokens = Tokens::new(8192);
        })
        .transfer(|transfer| {
            transfer.bytes_per_token = Some(1_000_000);
            transfer.bandwidth_gb_per_second = Some(1.0);
            transfer.decode_bandwidth_gb_per_second = Some(1.0);
            transfer.timing_mode = TransferTiming::FullPrompt;
        })
        .job(|job| job.engine.compat = compat)
        .request(0.0, 128, 2)
        .request(10.0, 128, 2)
}

fn seen(small: &Small, probe: &Probe) -> Seen {
    let asked = Options { probe: Some(probe), ..Options::default() };
    let digest = |options| small.run_with(&options).expect("it ends").record.transcript.digest;
    assert_eq!(digest(asked), digest(Options::default()), "a probe changes nothing");
    probe.seen()
}

fn ms(ms: u64) -> Nanos {
    Nanos::new(ms * 1_000_000)
}

/// A request, the share of its prefill rank's link, and bytes a second.
type Rate = (u64, u64, Option<u64>);

#[test]
fn a_probe_sees_how_transfers_share_links_and_changes_nothing() {
    let links = |compat| seen(&into_one(compat), &Probe::default().of_links(ms(0), ms(300))).links;
    let rates = |compat| -> Vec<(Nanos, Vec<Rate>)> {
        let one = |moving: &crate::sim::Moving| {
            (moving.request, moving.share.get(), moving.bytes_per_second)
        };
        let states = links(compat).into_iter();
        states.map(|state| (state.at, state.transfers.iter().map(one).collect())).collect()
    };
    let (half, whole) = ((500_000, Some(500_000_000)), (1_000_000, Some(1_000_000_000)));
    let of = |request, (share, bytes)| (request, share, bytes);
    assert_eq!(links(Compat::Dev87)[0].sharing, LinkSharing::MaxMin);
    assert_eq!(
        rates(Compat::Dev87),
        [
            (ms(2), vec![of(0, whole)]),
            (ms(12), vec![of(0, half), of(1, half)]),
            (ms(248), vec![of(1, whole)]),
            (ms(258), vec![]),
        ]
    );
    assert_eq!(links(Compat::V0_13_0)[0].sharing, LinkSharing::Alone);
    assert_eq!(
        rates(Compat::V0_13_0)[..2],
        [(ms(2), vec![of(0, whole)]), (ms(12), vec![of(0, whole), of(1, whole)])]
    );
}

#[test]
fn a_probe_sees_a_rank_before_its_pass_and_later_as_the_instant_leaves_it() {
    for backend in [Backend::Vllm, Backend::Sglang] {
        let small = Small::new(2.0, 1.0)
            .job(|job| job.deployment.backend = backend)
            .request(0.0, 8, 4)
            .request(1.0, 8, 4)
            .request(1.0, 8, 4);
        let at = |at| seen(&small, &Probe::default().of_rank(0, ms(at))).rank.expect("a rank");
        let first = at(0);
        assert_eq!((first.moment, first.waiting, first.running), (Moment::BeforePass, 1, 0));
        assert_eq!((first.line, first.blocks_held, first.blocks_available), (vec![0], 0, 16));
        let computing = at(1);
        assert_eq!((computing.moment, computing.waiting), (Moment::Settled, 2), "{backend:?}");
        assert_eq!(computing.busy_until, Some(ms(2)));
        assert_eq!(computing.line, [1, 2]);
        assert_eq!(at(2).moment, Moment::BeforePass);
    }
    let unknown = seen(&into_one(Compat::Dev87), &Probe::default().of_rank(7, ms(1)));
    assert_eq!(unknown, Seen::default());
}
