//! The engine does what the plain scheduler does.

use proptest::prelude::*;
use proptest::sample::select;

use crate::deployment::{Backend, ContextLength, Preemption, Speculation};
use crate::plan::{Compat, EngineIdentity};
use crate::record::RequestRecord;
use crate::sim::engine::Advance;
use crate::sim::engine::acceptance::{Acceptance, DraftRule, Drafts};
use crate::units::{BlockSize, SimTime, Tokens};

use super::super::support::Small;
use super::rank::{Rank, Request, Rules};

/// What is drawn: rows of (gap in tenths of a millisecond, shared blocks of 4 tokens, own blocks, tokens that are lacking, output), the
/// rules, replicas, and rates of drafts in tenths.
#[derive(Debug, Clone)]
struct Case {
    rows: Vec<(u16, u8, u8, u8, u8)>,
    rules: Rules,
    replicas: u32,
    tenths: Vec<u8>,
}

fn rules() -> impl Strategy<Value = Rules> {
    let engine = (
        select(vec![Backend::Vllm, Backend::Vllm, Backend::Trtllm]),
        select(vec![Compat::V0_13_0, Compat::Dev87]),
    );
    let limits = (select(vec![2_u64, 3, 4, 8]), 3_u64..40, 1_u64..8);
    let switches = (proptest::bool::weighted(0.8), proptest::bool::weighted(0.7), any::<bool>());
    let context = proptest::option::weighted(0.2, 4_u64..60);
    let times = select(vec![(7.3, 1.1), (10.0, 2.0), (0.0, 1.0)]);
    (engine, limits, switches, context, times).prop_map(
        |(
            (backend, compat),
            (block, budget, sequences),
            (chunked, caching, fifo),
            context,
            times,
        )| Rules {
            backend,
            compat,
            block,
            blocks: 0,
            budget,
            sequences,
            chunked,
            caching,
            preemption: if fifo { Preemption::Fifo } else { Preemption::Lifo },
            context,
            drafts: 0,
            times,
        },
    )
}

fn cases() -> impl Strategy<Value = Case> {
    let row = (0_u16..200, 0_u8..5, 1_u8..4, 0_u8..4, 0_u8..24);
    let tenths = prop_oneof![Just(Vec::new()), proptest::collection::vec(0_u8..11, 1..6)];
    (proptest::collection::vec(row, 1..20), rules(), 0_u64..16, 1_u32..4, tenths).prop_map(
        |(rows, mut rules, spare, replicas, tenths)| {
            let largest = rows.iter().map(|(_, shared, own, _, output)| {
                4 * u64::from(shared + own) + u64::from(*output)
            });
            let largest = largest.max().unwrap_or(1);
            rules.blocks = (largest + 5).div_ceil(rules.block) + spare;
            rules.drafts = tenths.len() as u64;
            if !rules.chunked {
                rules.budget = rules.budget.max(largest);
            }
            Case { rows, rules, replicas, tenths }
        },
    )
}

impl Case {
    /// Returns the names of the blocks of a row, and its tokens.
    fn prompt(&self, index: usize) -> (Vec<u64>, usize) {
        let (_, shared, own, short, _) = self.rows[index];
        let own = (0..u64::from(own)).map(|block| 1000 * (index as u64 + 1) + block);
        let ids: Vec<u64> = (1..=u64::from(shared)).chain(own).collect();
        let tokens = 4 * ids.len() - usize::from(short);
        (ids, tokens)
    }

    /// Returns the rates of its drafts.
    fn rates(&self) -> Vec<f64> {
        self.tenths.iter().map(|tenth| f64::from(*tenth) / 10.0).collect()
    }

    /// Returns the job of the engine.
    fn small(&self) -> Small {
        let rules = &self.rules;
        let mut small =
            Small::new(rules.times.0, rules.times.1).blocks(rules.blocks).budget(rules.budget);
        small = small.worker(|worker| {
            worker.kv_cache.block_size =
                BlockSize::new(u32::try_from(rules.block).expect("small")).expect("positive");
            worker.kv_cache.prefix_caching = rules.caching;
            worker.scheduler.max_sequences = rules.sequences;
            worker.scheduler.preemption = rules.preemption;
            worker.parallelism.replicas = self.replicas;
        });
        let mut at_ms = 0.0;
        for (index, (gap, _, _, short, output)) in self.rows.iter().enumerate() {
            at_ms += f64::from(*gap) * 0.1;
            let ids = self.prompt(index).0;
            small = small.prompt(at_ms, &ids, u64::from(*output)).short(u64::from(*short));
        }
        small.job(|job| {
            job.engine = EngineIdentity::native(rules.compat);
            job.deployment.backend = rules.backend;
            job.deployment.enable_chunked_prefill = Some(rules.chunked);
            if let Some(limit) = rules.context {
                job.deployment.context_length = ContextLength::Tokens(Tokens::new(limit));
            }
            let count = u32::try_from(self.tenths.len()).expect("few");
            let drafts = || Speculation::mtp(count, &self.rates(), 42);
            job.deployment.speculation = (count > 0).then(drafts);
        })
    }

    /// Serves the requests plainly, those of each rank by themselves; `None` where one cannot go on.
    fn plainly(&self, arrivals: &[SimTime]) -> Option<(Vec<Request>, u64, u64)> {
        let replicas = self.replicas as usize;
        let mut served: Vec<Option<Request>> = vec![None; self.rows.len()];
        let (mut preemptions, mut computed) = (0, 0);
        for number in 0..replicas {
            let drafts = || Drafts::new(&self.rates(), 42, DraftRule::EveryForward);
            let acceptance =
                (!self.tenths.is_empty()).then(|| Acceptance::new(drafts(), number as u64));
            let mut rank = Rank::new(self.rules.clone(), acceptance);
            let own: Vec<usize> = (number..self.rows.len()).step_by(replicas).collect();
            for index in &own {
                let (ids, tokens) = self.prompt(*index);
                let symbols: Vec<u64> = (0..tokens).map(|token| ids[token / 4]).collect();
                rank.ask(arrivals[*index], &symbols, u64::from(self.rows[*index].4));
            }
            rank.serve()?;
            (preemptions, computed) =
                (preemptions + rank.preemptions, computed + rank.computed_prefill);
            for (index, request) in own.into_iter().zip(rank.requests) {
                served[index] = Some(request);
            }
        }
        Some((served.into_iter().flatten().collect(), preemptions, computed))
    }
}

/// Finds a difference between a request here and there.
fn same(found: &RequestRecord, expected: &Request) -> Result<(), TestCaseError> {
    let admissions: Vec<(SimTime, u64)> =
        found.admissions.iter().map(|admission| (admission.at, admission.reused.get())).collect();
    prop_assert_eq!(&admissions, &expected.admissions, "admissions of {}", found.index);
    let tokens = (found.first_token, found.second_token, found.last_token, found.output.get());
    let emitted = &expected.emitted;
    let plain = (
        emitted.first().copied(),
        emitted.get(1).copied(),
        emitted.last().copied(),
        emitted.len() as u64,
    );
    prop_assert_eq!(tokens, plain, "tokens of {}", found.index);
    prop_assert_eq!(found.terminal.zip(found.outcome), expected.end, "end of {}", found.index);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        rng_seed: proptest::test_runner::RngSeed::Fixed(0x706c_6169),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_engine_agrees_with_the_plain_scheduler(case in cases()) {
        let Ok(ran) = case.small().try_run(Advance::Grouped) else {
            prop_assert!(case.plainly(&case.recorded()).is_none(), "only the engine does not end");
            return Ok(());
        };
        let arrivals: Vec<SimTime> = ran.record.requests.iter().map(|request| request.arrival).collect();
        let Some((expected, preemptions, computed)) = case.plainly(&arrivals) else {
            return Err(TestCaseError::fail("the plain scheduler does not end"));
        };
        for (found, expected) in ran.record.requests.iter().zip(&expected) {
            same(&found, expected)?;
        }
        prop_assert_eq!(ran.record.pools[0].preemptions, preemptions);
        prop_assert_eq!(ran.record.committed_prefill.get(), computed);
    }
}

impl Case {
    /// Returns the arrivals as the rows say.
    fn recorded(&self) -> Vec<SimTime> {
        let first = f64::from(self.rows[0].0) * 0.1;
        let mut at_ms = 0.0;
        let arrival = |row: &(u16, u8, u8, u8, u8)| {
            at_ms += f64::from(row.0) * 0.1;
            SimTime::from_ms(at_ms - first).expect("a time")
        };
        self.rows.iter().map(arrival).collect()
    }
}
