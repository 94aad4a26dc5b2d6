//! A run in which requests arrive as it goes on is the whole run of the same arrivals.

use proptest::prelude::*;

use super::support::{Row, Small};
use crate::record::RequestRecord;
use crate::sim::live::{Arriving, live};
use crate::units::SimTime;
use crate::workload::{Run, Symbol};

/// Lets the rows of a small job arrive one by one; returns the records by number, and when each token was told of.
fn go(small: &Small) -> (Vec<RequestRecord>, Vec<Vec<f64>>) {
    let rows = small.rows();
    live(&small.job, |live| {
        let mut records = Vec::new();
        let mut told = vec![Vec::new(); rows.len()];
        let mut rest = rows.iter().peekable();
        loop {
            let next = live.next_at();
            let due = rest.peek().map(|row| SimTime::from_ms(row.at_ms).expect("a time"));
            if let Some(at) = due
                && next.is_none_or(|next| at <= next)
            {
                let row = rest.next().expect("peeked");
                live.arrive(at, arriving(row));
                continue;
            }
            if next.is_none() {
                break;
            }
            let end = live.go_on().expect("it goes on");
            for tokens in end.tokens {
                let request = usize::try_from(tokens.request).expect("small");
                told[request].extend((0..tokens.tokens).map(|_| end.at.as_ms()));
            }
            records.extend(end.ended);
        }
        records.sort_by_key(|record| record.index);
        (records, told)
    })
    .expect("supported")
}

/// Returns a row as it arrives: its blocks are of 4 tokens.
fn arriving(row: &Row) -> Arriving {
    let mut left = u32::try_from(row.input).expect("small");
    let mut prompt = Vec::new();
    for id in &row.ids {
        let length = left.min(4);
        left -= length;
        prompt.push(Run { symbol: Symbol::Repeated(*id), start: 0, length });
    }
    Arriving { prompt, output: Vec::new(), tokens: row.output, affinity: None }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn arrivals_one_by_one_give_the_records_of_the_whole_run(
        rows in prop::collection::vec((0_u32..40, 1_u64..20, 1_u64..8, 0_u64..3), 1..12),
    ) {
        let mut small = Small::new(3.0, 1.0);
        let mut at = 0.0;
        for (place, (gap, blocks, output, prefix)) in rows.into_iter().enumerate() {
            // Recorded times count from the first.
            at += if place == 0 { 0.0 } else { f64::from(gap) / 2.0 };
            let ids: Vec<u64> = (0..blocks.min(8)).map(|block| prefix * 100 + block).collect();
            small = small.prompt(at, &ids, output);
        }
        let whole = small.run();
        let (records, told) = go(&small);
        prop_assert_eq!(records.len(), whole.record.requests.len());
        for (live, whole) in records.iter().zip(whole.record.requests.iter()) {
            let of = |record: &RequestRecord| {
                let ms = |time: Option<SimTime>| time.map(SimTime::as_ms);
                (
                    record.arrival.as_ms(), record.output, record.outcome,
                    ms(record.first_token), ms(record.last_token), ms(record.terminal),
                    record.admissions.iter().map(|one| (one.at.as_ms(), one.reused)).collect::<Vec<_>>(),
                )
            };
            prop_assert_eq!(of(live), of(&whole));
            let told = &told[usize::try_from(live.index).expect("small")];
            prop_assert_eq!(told.len() as u64, live.output.get());
            prop_assert_eq!(told.first().copied(), live.first_token.map(SimTime::as_ms));
            prop_assert_eq!(told.last().copied(), live.last_token.map(SimTime::as_ms));
        }
    }
}

#[test]
fn requests_of_one_affinity_stay_on_the_rank_of_the_first() {
    let small = Small::new(3.0, 1.0).worker(|worker| worker.parallelism.replicas = 3);
    let ranks = live(&small.job, |live| {
        let mut ranks = Vec::new();
        for (at, affinity) in [(0.0, Some(7)), (1.0, None), (2.0, Some(7)), (3.0, Some(7))] {
            let run = Run { symbol: Symbol::Repeated(1), start: 0, length: 4 };
            let at = SimTime::from_ms(at).expect("a time");
            live.arrive(at, Arriving { prompt: vec![run], output: vec![], tokens: 1, affinity });
        }
        while live.next_at().is_some() {
            ranks.extend(live.go_on().expect("it goes on").ended);
        }
        ranks.sort_by_key(|record| record.index);
        ranks.into_iter().map(|record| record.rank).collect::<Vec<_>>()
    });
    assert_eq!(ranks.expect("supported"), [Some(0), Some(1), Some(0), Some(0)]);
}
