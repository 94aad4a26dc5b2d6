//! Every class of a job, what is planted, and what a declaration may say.

use super::changes::Changes;
use super::*;
use crate::deployment::{Capacity, Preemption, Timing, Workers};
use crate::diag::{Bag, Code, SourceFile};
use crate::exec::{Executor, Native, Perturbation, Planted};
use crate::plan::{
    Compat, EngineIdentity, JobId, JobKind, Plan, PlannedBlock, SimulationJob, retarget,
};
use crate::record::{RunRecord, Spool};
use crate::report::sample::{self, Fake, Fault, Setup};
use crate::sim::Options;
use crate::units::Blocks;

/// Returns what an executor answers to the sample job of two requests.
fn answer(executor: &dyn Executor) -> Answer {
    let requests = std::sync::Mutex::new(None::<Spool>);
    let keep = |_: &crate::plan::Job, artifacts: &crate::report::Artifacts| {
        *requests.lock().expect("one thread") = Some(artifacts.requests.clone());
        Ok(())
    };
    let setup = Setup { executor, ..Setup::default() };
    let result = sample::run(&sample::plan(1), setup, &keep).remove(0);
    Answer::of(&result, requests.into_inner().expect("one thread"))
}

/// Returns a side that says the same twice.
fn side(fault: Option<Fault>) -> PinSide {
    let answer = answer(&Fake { fault: fault.map(|fault| (2, fault)) });
    let again = match &answer {
        Answer::Reported(answered) => Again::Digest(answered.digest),
        Answer::Failed(why) => Again::Failed(why.clone()),
        Answer::Broken(_) | Answer::Refused(_) | Answer::Interrupted => Again::Unasked,
    };
    PinSide { answer, again }
}

fn question() -> Question {
    Question {
        scenario: "small".to_owned(),
        id: JobId::new("s/w/d/block-size=16"),
        workload: "w".to_owned(),
        deployment: "d".to_owned(),
        backend: "vllm",
        topology: "aggregated",
        axes: vec![("block-size".to_owned(), "16".to_owned())],
    }
}

/// Returns the file that declares one change with this block.
fn declaring(block: &str) -> Result<Option<Changes>, Bag> {
    let text = format!(
        "changes \"2.0.0\" {{\n from \"1.0.0\"\n change \"c\" {{\n reason \"r\"\n link \"l\"\n {block}\n }}\n}}\n"
    );
    Changes::parse(&SourceFile::new("changes.kdl", &text), "2.0.0")
}

fn declared(block: &str) -> Changes {
    declaring(block).expect("it is right").expect("it speaks of that version")
}

/// Returns the class of the drift of a nanosecond under a declaration.
fn late(block: &str) -> Judged {
    let (older, newer) = (side(None), side(Some(Fault::OneNanosecond)));
    judge(&question(), (&older, &newer), Some(&declared(block)))
}

/// What a nanosecond in one request moves.
const MOVED: &str = "metric \"ttft_ns\" direction=\"up\"\n metric \"e2e_ns\" direction=\"up\"\n";

#[test]
fn equal_answers_are_identical_and_different_ones_are_drift_that_names_request_and_figures() {
    let same = judge(&question(), (&side(None), &side(None)), None);
    assert_eq!((same.class, same.drift), (Class::Identical, None));
    let judged = judge(&question(), (&side(None), &side(Some(Fault::OneNanosecond))), None);
    assert_eq!(judged.class, Class::Undeclared);
    let drift = judged.drift.expect("they differ");
    let request = drift.request.expect("a request differs");
    assert_eq!((request.index, request.differing), (0, 1));
    assert!(drift.rows.iter().any(|row| row.metric == "ttft_ns_p99"), "{:?}", drift.rows);
    assert!(!drift.sections.is_empty());
}

#[test]
fn drift_is_declared_when_every_figure_that_moves_is_named_and_goes_its_way() {
    let judged = late(MOVED);
    assert_eq!((judged.class, judged.changes.len()), (Class::Declared, 1), "{:?}", judged.reasons);
    let judged = late("metric \"ttft_ns\" direction=\"up\"");
    assert_eq!(judged.class, Class::Undeclared);
    assert!(judged.reasons[0].contains("which no change declares"), "{:?}", judged.reasons);
    let judged = late(&MOVED.replacen("up", "down", 1));
    assert_eq!(judged.class, Class::Undeclared);
    assert!(judged.reasons[0].ends_with("declared down"), "{:?}", judged.reasons);
    let exact = |to: &str| {
        late(&format!(
            "{MOVED} metric \"ttft_ns_max\" direction=\"up\" from=\"5000000\" to=\"{to}\""
        ))
    };
    assert_eq!(exact("5000001").class, Class::Declared);
}

#[test]
fn a_size_that_is_stated_must_be_that_size() {
    let block =
        "metric \"e2e_ns\" direction=\"either\"\n metric \"ttft_ns_mean\" direction=\"up\"\n";
    let moved = late("");
    let drift = moved.drift.expect("they differ");
    let others = drift
        .rows
        .iter()
        .filter(|row| !row.metric.starts_with("e2e_ns") && row.metric != "ttft_ns_mean");
    let exact =
        |row: &crate::gate::DiffRow| format!("metric \"{}\" direction=\"up\" to=\"1\"", row.metric);
    let others = others.map(exact).collect::<Vec<_>>().join("\n");
    let judged = late(&format!("{block}{others}"));
    assert_eq!(judged.class, Class::Undeclared);
    assert!(judged.reasons.iter().all(|why| why.ends_with("declared up to 1")), "{judged:?}");
}

#[test]
fn a_declared_change_that_does_not_happen_is_absent_wholly_or_in_a_figure() {
    let judged = judge(&question(), (&side(None), &side(None)), Some(&declared(MOVED)));
    assert_eq!(judged.class, Class::Absent);
    let judged = late(&format!("{MOVED} metric \"passes\" direction=\"up\""));
    assert_eq!(judged.class, Class::Absent);
    assert!(judged.reasons[0].contains("passes"), "{:?}", judged.reasons);
}

#[test]
fn a_side_without_a_sound_answer_is_not_compared() {
    let refused = PinSide { answer: Answer::Refused("no".to_owned()), again: Again::Unasked };
    let cut = PinSide { answer: Answer::Interrupted, again: Again::Unasked };
    let other = Again::Digest(crate::digest::Sha256::of(b"other"));
    let unstable = PinSide { again: other, ..side(None) };
    let broken = PinSide { again: Again::Failed("broke".to_owned()), ..side(None) };
    for (newer, class) in [
        (refused.clone(), Class::Incomparable),
        (side(Some(Fault::AllRejected)), Class::Failed),
        (side(Some(Fault::Panic)), Class::Failed),
        (unstable, Class::Failed),
        (broken, Class::Failed),
        (cut, Class::Interrupted),
    ] {
        let judged = judge(&question(), (&side(None), &newer), Some(&declared(MOVED)));
        assert_eq!(judged.class, class, "{:?}", judged.reasons);
        assert!(judged.drift.is_none() && !judged.reasons.is_empty());
        let failed = judge(&question(), (&refused, &newer), None);
        let expected = if class == Class::Incomparable { Class::Incomparable } else { class };
        assert_eq!(failed.class, expected);
    }
}

#[test]
fn selectors_of_one_kind_are_alternatives_and_all_kinds_must_match() {
    for (block, expected) in [
        ("", true),
        ("job \"x\" \"s/*\"", true),
        ("job \"s/*\"\n except \"*=16\"", false),
        ("workload \"w\"\n deployment \"e\"", false),
        ("backend \"sglang\" \"vllm\"\n topology \"aggregated\"", true),
        ("topology \"disaggregated\"", false),
        ("axis \"block-size\" \"32\" \"16\"", true),
        ("axis \"block-size\" \"32\"", false),
        ("axis \"tensor\" \"16\"", false),
        ("scenario \"other\"", false),
    ] {
        let applies = declared(block).applying(&question()).count() == 1;
        assert_eq!(applies, expected, "{block}");
    }
}

#[test]
fn a_change_that_names_a_scenario_is_owed_to_it() {
    let idle = |block: &str| Idle::all(Some(&declared(block)), &[question()]);
    assert!(idle("job \"s/*\"").is_empty());
    assert_eq!(idle("job \"x\"")[0].owed_to, None);
    assert_eq!(idle("scenario \"other\"")[0].owed_to, None);
    assert_eq!(idle("scenario \"small\"\n job \"x\"")[0].owed_to.as_deref(), Some("small"));
}

#[test]
fn nothing_unknown_is_declared() {
    for (block, code) in [
        ("metric \"ttft\" direction=\"up\"", Code::UpgradeChanges),
        ("metric \"ttft_ns\" direction=\"sideways\"", Code::KdlUnknownValue),
        ("jobs \"x\"", Code::KdlUnknownNode),
        ("backend \"vlm\"", Code::KdlUnknownValue),
        ("job", Code::KdlMissingArgument),
    ] {
        let found = declaring(block).expect_err(block).into_sorted();
        assert_eq!(found[0].code(), code, "{block}");
    }
    let other = "changes \"3.0.0\" {\n from \"1.0.0\"\n change \"c\" {\n reason \"r\"\n link \"l\"\n }\n}\n";
    let read = Changes::parse(&SourceFile::new("changes.kdl", other), "2.0.0");
    assert!(read.expect("it is right").is_none(), "it speaks of another version");
}

/// Answers as the sample does, as an engine that tells its requests alone.
struct Untelling;

impl Executor for Untelling {
    fn unsupported(&self, job: &SimulationJob) -> Vec<crate::sim::Unsupported> {
        Fake::default().unsupported(job)
    }

    fn run(
        &self,
        job: &SimulationJob,
        corpus: Option<&crate::workload::Corpus>,
        options: &Options<'_>,
    ) -> Result<RunRecord, crate::exec::JobError> {
        let mut record = Fake::default().run(job, corpus, options)?;
        record.witness = crate::record::Witness::Requests { unended: 0, counts_prefill: false };
        Ok(record)
    }
}

#[test]
fn a_version_that_tells_a_figure_less_answers_nothing_otherwise() {
    let answer = answer(&Untelling);
    let Answer::Reported(answered) = &answer else { panic!("it answers: {answer:?}") };
    let silent = PinSide { again: Again::Digest(answered.digest), answer: answer.clone() };
    assert_eq!(judge(&question(), (&side(None), &silent), None).class, Class::Identical);
    let late = side(Some(Fault::OneNanosecond));
    let judged = judge(&question(), (&silent, &late), Some(&declared(MOVED)));
    assert_eq!(judged.class, Class::Declared, "{:?}", judged.reasons);
}

fn verdict(judged: Vec<Judged>) -> Verdict {
    Verdict {
        is_interrupted: false,
        engine: "native".to_owned(),
        from: "1.0.0".to_owned(),
        to: "2.0.0".to_owned(),
        changes: Some(declared(MOVED)),
        scenarios: vec![ScenarioVerdict {
            scenario: "small".to_owned(),
            file: "scenarios/small.kdl".to_owned(),
            jobs: judged,
        }],
        idle: Vec::new(),
        controls: Vec::new(),
    }
}

#[test]
fn every_view_tells_what_is_red_and_only_that() {
    let green = verdict(vec![late(MOVED)]);
    let red = verdict(vec![late("metric \"e2e_ns\" direction=\"up\"")]);
    assert!(green.is_green() && !red.is_green());
    assert!(verdict_junit(&green).contains("failures=\"0\" errors=\"0\""));
    assert!(verdict_junit(&red).contains("failures=\"1\" errors=\"0\""));
    assert!(verdict_markdown(&red).contains("UNDECLARED DRIFT"));
    assert!(
        verdict_table(&green)
            .ends_with("1 declared drift\nnothing changed that was not declared\n")
    );
    let json = crate::report::parse_json(&verdict_json(&red)).expect("JSON");
    let text = String::from_utf8(json.to_bytes()).expect("UTF-8");
    assert!(
        text.contains("\"class\":\"undeclared\"") && text.contains("\"green\":false"),
        "{text}"
    );
    let cut = judge(&question(), (&side(None), &cut_again()), None);
    let cut = Verdict { is_interrupted: true, ..verdict(vec![cut, late(MOVED)]) };
    let table = verdict_table(&cut);
    assert!(!cut.is_green() && table.contains("declared drift, 1 INTERRUPTED\n"), "{table}");
    assert_eq!(
        table.matches("INTERRUPTED").count(),
        1,
        "a job without an answer has no row: {table}"
    );
    assert!(table.ends_with("interrupted: no verdict on the whole\n"), "{table}");
    let nothing = verdict(Vec::new());
    assert!(!nothing.is_green());
    assert!(verdict_table(&nothing).contains("no verdict"));
}

/// Returns a version that had answered once when someone asked to stop.
fn cut_again() -> PinSide {
    PinSide { again: Again::Interrupted, ..side(None) }
}

#[test]
fn a_control_that_no_request_sees_is_blind() {
    let (sound, late) = (answer(&Fake::default()), side(Some(Fault::OneNanosecond)).answer);
    assert!(judge_control(&sound, &late));
    assert!(!judge_control(&sound, &sound));
    assert!(judge_control(&sound, &side(Some(Fault::DroppedRequest)).answer), "a law sees it");
    assert!(!judge_control(&sound, &Answer::Interrupted));
    let blind = ControlVerdict {
        scenario: "small".to_owned(),
        perturbation: Perturbation::BlockLess,
        planted: 3,
        caught_by: Vec::new(),
    };
    let red = Verdict { controls: vec![blind], ..verdict(vec![late_declared()]) };
    assert!(!red.is_green());
    assert!(verdict_table(&red).contains("BLIND"));
    assert!(verdict_junit(&red).contains("control block-less"));
}

fn late_declared() -> Judged {
    late(MOVED)
}

fn simulation() -> SimulationJob {
    match sample::job(3).kind {
        JobKind::Simulation(simulation) => *simulation,
        JobKind::Replay(_) => panic!("the sample job simulates"),
    }
}

fn run(executor: &dyn Executor, job: &SimulationJob) -> RunRecord {
    executor.run(job, None, &Options::default()).expect("the sample job runs")
}

#[test]
fn a_nanosecond_more_moves_the_end_by_the_number_of_parts() {
    let job = simulation();
    let planted = Planted { engine: &Native, perturbation: Perturbation::NanosecondMore };
    let late = run(&planted, &job).duration.as_ms() - run(&Native, &job).duration.as_ms();
    // Five requests one after the other: a pass that prefills, two that decode, each.
    assert!((late - 15.0e-6).abs() < 1e-9, "{late}");
}

#[test]
fn a_block_less_and_a_lost_request_are_exactly_that() {
    let job = simulation();
    let planted = |perturbation| run(&Planted { engine: &Native, perturbation }, &job);
    let less = planted(Perturbation::BlockLess).pools[0].blocks_per_rank;
    assert_eq!(less.get() + 1, run(&Native, &job).pools[0].blocks_per_rank.get());
    assert_eq!(planted(Perturbation::RequestDropped).requests.len(), 4);
}

#[test]
fn what_cannot_be_planted_is_not_said_to_be() {
    let mut job = simulation();
    assert!(Perturbation::ALL.iter().all(|perturbation| perturbation.touches(&job)));
    if let Workers::Aggregated(worker) = &mut job.deployment.workers {
        worker.timing = Timing::Polynomial;
        worker.scheduler.preemption = Preemption::Fifo;
        worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(1));
    }
    let touched = Perturbation::ALL.iter().filter(|perturbation| perturbation.touches(&job));
    assert_eq!(touched.copied().collect::<Vec<_>>(), [Perturbation::RequestDropped]);
}

/// Returns a plan of one `simulate` with a job for each engine.
fn planned(names: &[&str]) -> Plan {
    let mut plan = sample::plan(names.len() as u64);
    for (job, name) in plan.jobs.iter_mut().zip(names) {
        job.id = JobId::new(format!("s/w/d/{name}/router=a/b"));
        if let JobKind::Simulation(simulation) = &mut job.kind {
            (*name).clone_into(&mut simulation.engine.name);
        }
    }
    let jobs = 0..names.len();
    plan.blocks = vec![PlannedBlock { name: "s".to_owned(), jobs, batch: 1 }];
    plan
}

#[test]
fn the_jobs_of_the_named_engine_are_taken_or_those_of_the_first() {
    let old = EngineIdentity::native(Compat::V0_13_0);
    let kept = retarget(&planned(&["other", "native"]), &old);
    assert_eq!(kept.jobs.len(), 1);
    assert_eq!(kept.jobs[0].id.as_str(), "s/w/d/router=a/b");
    let other = EngineIdentity { name: "upstream".to_owned(), ..old };
    let kept = retarget(&planned(&["native", "third"]), &other);
    assert_eq!((kept.jobs.len(), kept.jobs[0].index), (1, 0));
    let JobKind::Simulation(simulation) = &kept.jobs[0].kind else { panic!("it simulates") };
    assert_eq!(simulation.engine.name, "upstream");
    assert!(kept.golden.is_none());
}
