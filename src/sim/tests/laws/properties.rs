//! The laws hold in every run, whoever looks on and however decodes are advanced.

use std::cell::{Cell, RefCell};

use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed, TestError, TestRunner};

use crate::deployment::Backend;
use crate::record::{Outcome, RunRecord};
use crate::sim::engine::Advance;
use crate::sim::runtime::Watcher;
use crate::sim::{Options, SimError};

use super::super::support::Ran;
use super::auditor::Auditor;
use super::outcome;
use super::plant::{Plant, crowds, plants, restores};

/// Cases of one property where nobody asks for another number.
const CASES: u32 = 96;

/// What the cases of a property came to: a law that never had anything to judge was not tested.
#[derive(Debug, Default)]
struct Seen {
    preemptions: Cell<u64>,
    rejections: Cell<u64>,
    failures: Cell<u64>,
    reuse: Cell<u64>,
    from_host: Cell<u64>,
    from_storage: Cell<u64>,
    shared_links: Cell<u64>,
    cut: Cell<u64>,
    dead_ends: Cell<u64>,
}

impl Seen {
    /// Notes a run.
    fn note(&self, record: &RunRecord, auditor: &Auditor) {
        let add = |count: &Cell<u64>, more: u64| count.set(count.get() + more);
        add(&self.preemptions, record.pools.iter().map(|pool| pool.preemptions).sum());
        for request in &record.requests {
            add(&self.rejections, u64::from(request.outcome == Some(Outcome::Rejected)));
            add(&self.failures, u64::from(request.outcome == Some(Outcome::Failed)));
            add(&self.cut, u64::from(request.outcome.is_none()));
            add(&self.reuse, request.reused_max().get());
            add(&self.from_host, request.reused_from_host().get());
        }
        add(&self.from_storage, record.storage.map_or(0, |storage| storage.read.completed_jobs));
        add(&self.shared_links, u64::from(auditor.most_moving > 1));
    }
}

/// Runs a job under the eyes of an auditor.
fn audited(plant: &Plant, advance: Advance) -> Result<(Result<Ran, SimError>, Auditor), String> {
    let auditor = RefCell::new(Auditor::default());
    let watcher: &RefCell<dyn Watcher> = &auditor;
    let options = Options { keep_events: true, watcher: Some(watcher), ..Options::default() };
    let ran = plant.small().run_as(advance, &options);
    let mut auditor = auditor.into_inner();
    match auditor.broken.take() {
        Some(broken) => Err(broken),
        None => Ok((ran, auditor)),
    }
}

/// Returns all of a record that a caller could see.
fn shown(ran: &Ran) -> String {
    let record = &ran.record;
    let lines = record.transcript.lines.as_ref().map(|lines| lines.to_vec().expect("readable"));
    format!(
        "{}\n{:?}\n{:?} {:?} {} {:?}\n{:?} {:?}\n{:?}\n{:?} {:?}",
        String::from_utf8_lossy(&lines.unwrap_or_default()),
        record.requests.iter().collect::<Vec<_>>(),
        record.duration,
        record.committed_prefill,
        record.passes,
        record.pools,
        record.host,
        record.storage,
        record.gaps.clone().into_sorted(),
        ran.prefills,
        ran.decodes,
    )
}

/// Checks every law of one job.
fn lawful(plant: &Plant, seen: &Seen) -> Result<(), String> {
    let (grouped, auditor) = audited(plant, Advance::Grouped)?;
    let (each, _) =
        audited(plant, Advance::Each).map_err(|found| format!("one by one: {found}"))?;
    let again = plant.small().try_run(Advance::Grouped);
    match (grouped, each, again) {
        (Ok(grouped), Ok(each), Ok(again)) => {
            outcome::check(plant, &grouped.record)?;
            seen.note(&grouped.record, &auditor);
            let first = shown(&grouped);
            if first != shown(&again) {
                return Err(format!("a second run differs:\n{first}\n{}", shown(&again)));
            }
            if first != shown(&each) {
                return Err(format!("one by one differs:\n{first}\n{}", shown(&each)));
            }
            Ok(())
        }
        (Err(grouped), Err(each), Err(again)) => {
            let may_end =
                matches!(grouped, SimError::DeadEnd { .. } | SimError::ForwardExceedsCache { .. });
            seen.dead_ends.set(seen.dead_ends.get() + 1);
            if may_end && grouped == each && grouped == again {
                return Ok(());
            }
            Err(format!("{grouped:?}, one by one {each:?}, again {again:?}"))
        }
        (grouped, each, again) => Err(format!(
            "{:?}, one by one {:?}, again {:?}",
            grouped.err(),
            each.err(),
            again.err()
        )),
    }
}

/// Draws jobs and checks each.
fn hold_for(plants: impl Strategy<Value = Plant>) -> Seen {
    let stated = ProptestConfig::default();
    let rng_seed = match stated.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0x7075_7461),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    let cases = if stated.cases == 256 { CASES } else { stated.cases };
    let persistence = FileFailurePersistence::WithSource("regressions");
    let mut runner = TestRunner::new(ProptestConfig {
        cases,
        max_shrink_iters: 2000,
        rng_seed,
        source_file: Some(file!()),
        failure_persistence: Some(Box::new(persistence)),
        ..stated
    });
    let seen = Seen::default();
    let result = runner.run(&plants, |plant| lawful(&plant, &seen).map_err(TestCaseError::fail));
    match result {
        Ok(()) => seen,
        Err(TestError::Fail(reason, plant)) => panic!("{reason}\nin {plant:?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

#[test]
fn every_law_holds_on_vllm() {
    let seen = hold_for(plants(vec![Backend::Vllm]));
    let counts = [&seen.preemptions, &seen.rejections, &seen.reuse, &seen.from_host];
    let more = [&seen.shared_links, &seen.cut, &seen.dead_ends];
    assert!(counts.iter().chain(&more).all(|count| count.get() > 0), "{seen:?}");
}

#[test]
fn every_law_holds_on_sglang() {
    let seen = hold_for(plants(vec![Backend::Sglang]));
    let counts = [&seen.preemptions, &seen.rejections, &seen.reuse, &seen.shared_links, &seen.cut];
    assert!(counts.iter().all(|count| count.get() > 0), "{seen:?}");
}

#[test]
fn every_law_holds_on_tensorrt_llm() {
    let seen = hold_for(plants(vec![Backend::Trtllm]));
    let counts = [&seen.rejections, &seen.failures, &seen.reuse, &seen.shared_links, &seen.cut];
    assert!(counts.iter().all(|count| count.get() > 0), "{seen:?}");
    assert_eq!(seen.preemptions.get(), 0, "nobody is ever preempted");
}

#[test]
fn every_law_holds_between_many_ranks() {
    let seen = hold_for(crowds());
    assert!(seen.shared_links.get() > 20, "{seen:?}");
}

#[test]
fn every_law_holds_where_prompts_come_back_from_small_tiers() {
    let seen = hold_for(restores());
    let counts = [&seen.from_host, &seen.from_storage];
    assert!(counts.iter().all(|count| count.get() > 20), "{seen:?}");
}
