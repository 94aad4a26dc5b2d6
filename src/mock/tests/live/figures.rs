//! What is measured of a run, beside what was recorded.

use super::support::{Call, call, captured, ms};
use crate::graph::content::Tokenizer;
use crate::measure::live::{
    CountedBy, LiveAbsence, LiveFamily, LiveMetrics, LiveName, effective_ttft, lateness, ttft,
};
use crate::measure::{Figure, Statistic};
use crate::units::{Nanos, Tokens};

#[test]
fn recorded_and_measured_stand_side_by_side() {
    let turns: Vec<Call> = (0..3).map(|turn| call("a", 2 * turn)).collect();
    let mut job = captured(&turns);
    job.settings.endpoint.request.usage = true;
    let run = job.run("answer { usage \"asked\" cached=20 }");
    let metrics = LiveMetrics::of(&run, None, CountedBy::Server);
    let single = |family| metrics.figure(LiveName::single(family));
    let recorded = [LiveFamily::RecordedInput, LiveFamily::RecordedOutput];
    assert_eq!(recorded.map(single), [Some(Figure::Count(192)), Some(Figure::Count(12))]);
    assert_eq!(single(LiveFamily::ServerOutput), Some(Figure::Count(12)));
    let recorded_ttft = metrics.figure(LiveName::of(LiveFamily::RecordedTtft, Statistic::Mean));
    assert_eq!(recorded_ttft, Some(Figure::Time(ms(1))));
    assert!(metrics.figure(LiveName::of(LiveFamily::Ttft, Statistic::Mean)).is_some());
    // Prompts of 32, 64 and 96 tokens, each the beginning of the next: 96 of 192 tokens were there before.
    let Some(Figure::Share(ceiling)) = single(LiveFamily::PrefixHitCeiling) else {
        panic!("no ceiling");
    };
    assert_eq!(ceiling.get(), 500_000);
    assert!(matches!(single(LiveFamily::PrefixHit), Some(Figure::Share(share)) if share.get() > 0));
}

#[test]
fn the_client_counts_the_text_that_came_also_where_the_server_counts_nothing() {
    let run = captured(&[call("a", 0), call("a", 2)]).run("answer { usage \"never\" }");
    let tokenizer = Tokenizer::builtin();
    for request in &run.requests {
        let text = &request.exchange.reply.text;
        assert!(!text.is_empty());
        assert_eq!(request.counted, Some(tokenizer.count(text)));
    }
    let metrics = LiveMetrics::of(&run, None, CountedBy::Client);
    let single = |family| metrics.figure(LiveName::single(family));
    let sum: u64 = run.requests.iter().filter_map(|it| it.counted).map(Tokens::get).sum();
    assert_eq!(single(LiveFamily::ClientOutput), Some(Figure::Count(sum)));
    let absent: Vec<_> = metrics.absent().collect();
    let name = LiveName::single(LiveFamily::ServerOutput);
    assert!(absent.contains(&(name, LiveAbsence::NotTold)));
}

#[test]
fn what_a_request_waits_for_a_lane_is_in_its_lateness_and_in_effective_latency() {
    let mut job = captured(&[call("a", 0), call("b", 1)]).with_lanes(1, ms(0));
    job.load.open_loop = true;
    let run = job.run("answer { tokens 1; first-token \"30ms\"; }");
    let (first, second) = (&run.requests[0], &run.requests[1]);
    let waited = first.exchange.end.since(second.intended).expect("the lane was held");
    assert!(lateness(second) >= Some(waited) && waited > Nanos::ZERO);
    let (real, effective) = (ttft(second), effective_ttft(second));
    assert!(effective >= real.map(|it| Nanos::new(it.get() + waited.get())), "{effective:?}");
}
