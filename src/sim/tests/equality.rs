//! The grouped path gives, event by event, what the one-by-one path gives.

use proptest::prelude::*;

use crate::deployment::{Backend, Capacity, Eviction, Preemption};
use crate::sim::engine::Advance;

use crate::record::Spool;
use crate::units::{BlockSize, Blocks};

use super::support::Small;

/// What is generated: rows of (gap in ms, blocks of prompt shared with others, own tokens, output), and the worker.
type Shape = (Vec<(u8, u8, u8, u8)>, (u8, u8, u8, u8), bool);

fn small((rows, (blocks, budget, sequences, replicas), caching): &Shape) -> Small {
    let mut at_ms = 0.0;
    let mut small = Small::new(7.3, 1.1).blocks(u64::from(*blocks)).budget(u64::from(*budget));
    small = small.worker(|worker| {
        worker.scheduler.max_sequences = u64::from(*sequences);
        worker.parallelism.replicas = u32::from(*replicas);
        worker.kv_cache.prefix_caching = *caching;
        worker.scheduler.preemption =
            if blocks % 5 == 0 { Preemption::Fifo } else { Preemption::Lifo };
    });
    for (index, (gap, shared, own, output)) in rows.iter().enumerate() {
        at_ms += f64::from(*gap) * 0.7;
        let shared = (0..u64::from(*shared)).map(|block| block + 1);
        let own = (0..u64::from(*own)).map(|block| 1000 * (index as u64 + 1) + block);
        let ids: Vec<u64> = shared.chain(own).collect();
        small = small.prompt(at_ms, &ids, u64::from(*output));
    }
    small
}

/// SGLang's settings: page, chunk, conservativeness in tenths, interval and attention data parallelism.
type Knobs = (u8, u8, u8, u8, u8);

fn knobs() -> impl Strategy<Value = Knobs> {
    (1_u8..6, 1_u8..9, 0_u8..20, 0_u8..3, 1_u8..3)
}

fn on_sglang(small: Small, (page, chunk, tenths, interval, ranks): Knobs) -> Small {
    let page = u32::from(page);
    let small = small.job(|job| job.deployment.backend = Backend::Sglang);
    small.worker(|worker| {
        worker.kv_cache.block_size = BlockSize::new(page).expect("positive");
        let chunk = u64::from(page) * u64::from(chunk) * u64::from(ranks);
        worker.scheduler.sglang.chunked_prefill_size = chunk;
        worker.scheduler.sglang.conservativeness = f64::from(tenths) / 10.0;
        worker.scheduler.prefill_decode_interval = u32::from(interval);
        worker.parallelism.attention_data = u32::from(ranks);
        if let Capacity::Blocks(blocks) = &mut worker.kv_cache.capacity {
            *blocks = Blocks::new(blocks.get() * u64::from(8 / page + 1));
        }
    })
}

fn shapes() -> impl Strategy<Value = Shape> {
    let row = (0_u8..30, 0_u8..5, 1_u8..4, 0_u8..24);
    let worker = (6_u8..24, 3_u8..40, 1_u8..8, 1_u8..4);
    (proptest::collection::vec(row, 1..24), worker, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn grouped_and_one_by_one_agree_to_the_last_event(shape in shapes()) {
        agree(&small(&shape))?;
    }

    #[test]
    fn grouped_and_one_by_one_agree_where_blocks_are_evicted_by_the_input(shape in shapes()) {
        agree(&small(&shape).worker(|worker| {
            worker.kv_cache.prefix_caching = true;
            worker.kv_cache.eviction = Eviction::Belady;
        }))?;
    }

    #[test]
    fn grouped_and_one_by_one_agree_on_sglang(shape in shapes(), knobs in knobs()) {
        agree(&on_sglang(small(&shape), knobs))?;
    }
}

/// Compares the two ways of advancing decodes.
fn agree(small: &Small) -> Result<(), TestCaseError> {
    match (small.try_run(Advance::Grouped), small.try_run(Advance::Each)) {
        (Ok(grouped), Ok(each)) => {
            prop_assert_eq!(&grouped.prefills, &each.prefills);
            prop_assert_eq!(&grouped.decodes, &each.decodes);
            for (a, b) in grouped.record.requests.iter().zip(&each.record.requests) {
                prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
            }
            let text = |lines: &Option<Spool>| {
                let bytes = lines.as_ref().map(|lines| lines.to_vec().expect("readable"));
                String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
            };
            let (a, b) = (&grouped.record.transcript, &each.record.transcript);
            prop_assert_eq!(text(&a.lines), text(&b.lines));
            prop_assert_eq!((a.count, a.digest), (b.count, b.digest));
            prop_assert_eq!(grouped.record.gaps.into_sorted(), each.record.gaps.into_sorted());
            prop_assert_eq!(grouped.record.committed_prefill, each.record.committed_prefill);
            prop_assert_eq!(grouped.record.pools[0].blocks_held_at_end.get(), 0);
        }
        (Err(grouped), Err(each)) => prop_assert_eq!(grouped, each),
        (grouped, each) => prop_assert!(false, "{:?} against {:?}", grouped.err(), each.err()),
    }
    Ok(())
}
