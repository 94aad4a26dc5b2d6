//! Live metrics, computed by hand. Names of cases are those of cases/STREAMS.md and cases/LOAD.md.

use proptest::prelude::*;

use super::sample::{counted, event, failed, ms, request, run};
use super::{
    Calibration, ClientLimit, CountedBy, InFlight, LiveAbsence, LiveErrors, LiveFailure,
    LiveFamily, LiveLaw, LiveMetrics, chunk_gaps, e2e, effective_ttft, time_to_content, tpot, ttft,
    ttst,
};
use crate::measure::{Bounds, Distribution, Shape, Statistic};
use crate::record::{
    Channel, ClientHealth, Connection, Delivery, Exchange, ExchangeError, Handshake, LiveRequest,
    LiveRun, Phase, Protocol,
};
use crate::units::{Nanos, Ppm, Tokens};

/// Returns the figures of a run as text.
fn figure(run: &LiveRun, name: &str) -> Option<String> {
    let bounds = Bounds { ttft: Some(ms(60)), ..Bounds::default() };
    let metrics = LiveMetrics::of(run, Some(&bounds), CountedBy::Server);
    metrics.figure(name.parse().expect("a metric")).map(|figure| figure.to_string())
}

/// Returns why a metric is absent.
fn absence(run: &LiveRun, name: &str) -> Option<&'static str> {
    let metrics = LiveMetrics::of(run, None, CountedBy::Server);
    metrics.absent().find(|(of, _)| of.to_string() == name).map(|(_, why)| why.name())
}

fn refused(status: u16) -> ExchangeError {
    ExchangeError::Status { status, message: "no".to_owned(), retry_after: None }
}

#[test]
fn s12_reasoning_is_output_and_the_first_text_is_told_apart() {
    let mut thinking = request(0, 0, &[900]);
    thinking.exchange.events.insert(0, event(50, Channel::Reasoning, None));
    assert_eq!((ttft(&thinking), time_to_content(&thinking)), (Some(ms(50)), Some(ms(900))));
    let mut only = request(0, 0, &[]);
    only.exchange.events = vec![event(50, Channel::Reasoning, None)];
    assert_eq!((ttft(&only), time_to_content(&only)), (Some(ms(50)), None));
}

#[test]
fn s14_the_time_to_the_first_token_is_no_gap() {
    let request = request(0, 0, &[1000, 1010, 1020]);
    assert_eq!(ttft(&request), Some(ms(1000)));
    assert_eq!(chunk_gaps(&request).collect::<Vec<_>>(), [ms(10), ms(10)]);
    assert_eq!((ttst(&request), e2e(&request)), (Some(ms(10)), Some(ms(1020))));
}

#[test]
fn s15_gaps_between_messages_are_one_metric_and_time_per_token_another() {
    let mut bundled = counted(request(0, 0, &[100, 200, 300]), 9, 8, 0);
    for (event, tokens) in bundled.exchange.events.iter_mut().zip([3, 1, 4]) {
        event.tokens = Some(Tokens::new(tokens));
    }
    assert_eq!(chunk_gaps(&bundled).collect::<Vec<_>>(), [ms(100), ms(100)]);
    assert_eq!(tpot(&bundled, CountedBy::Server), Some(ms(40)), "200 / (8 - 3)");
    bundled.exchange.events[0].tokens = None;
    let untold = tpot(&bundled, CountedBy::Server);
    assert_eq!(untold, Some(Nanos::new(28_571_429)), "200 / (8 - 1)");
    assert_eq!(tpot(&bundled, CountedBy::Client), None, "the client did not count");
}

#[test]
fn s16_a_failure_has_its_own_time_and_enters_no_latency_of_successes() {
    let run = run(vec![request(0, 0, &[50, 60]), failed(1, 0, 7, refused(429))]);
    assert_eq!(figure(&run, "error_ns_mean").as_deref(), Some("7000000"));
    assert_eq!(figure(&run, "e2e_ns_count").as_deref(), Some("1"));
    assert_eq!(figure(&run, "requests_failed").as_deref(), Some("1"));
    assert_eq!(figure(&run, "errors_ppm").as_deref(), Some("500000"));
    let errors = LiveErrors::of(&run);
    let kinds: Vec<_> = errors.kinds().map(|(kind, error)| (kind, error.first)).collect();
    assert_eq!((kinds, errors.count()), (vec![("status-429", 1)], 1));
}

#[test]
fn s17_an_answer_in_one_piece_has_no_first_token_and_that_is_absent_not_zero() {
    let mut whole = counted(request(0, 0, &[400]), 9, 1000, 0);
    whole.exchange.delivery = Delivery::Whole;
    assert_eq!((ttft(&whole), tpot(&whole, CountedBy::Server)), (None, None));
    assert_eq!(e2e(&whole), Some(ms(400)));
    let run = run(vec![whole]);
    for name in ["ttft_ns", "tpot_ns", "inter_chunk_ns", "ttst_ns"] {
        assert_eq!(absence(&run, name), Some("no-samples"), "{name}");
    }
    let single = counted(request(0, 0, &[400]), 9, 1000, 0);
    assert_eq!(tpot(&single, CountedBy::Server), None, "one message has no time between tokens");
    let at_once = counted(request(0, 0, &[400, 400]), 9, 1000, 0);
    assert_eq!(tpot(&at_once, CountedBy::Server), None, "nor have two in one read");
    assert_eq!(chunk_gaps(&at_once).collect::<Vec<_>>(), [Nanos::ZERO], "but their gap is one");
}

#[test]
fn l4_latency_from_the_intended_start_shows_a_stall_that_latency_from_sending_hides() {
    let mut stalled = request(0, 2000, &[50]);
    stalled.intended = Nanos::ZERO;
    assert_eq!((ttft(&stalled), effective_ttft(&stalled)), (Some(ms(50)), Some(ms(2050))));
    let run = run(vec![stalled]);
    assert_eq!(figure(&run, "ttft_ns_max").as_deref(), Some("50000000"));
    assert_eq!(figure(&run, "ttft_effective_ns_max").as_deref(), Some("2050000000"));
    assert_eq!(figure(&run, "schedule_lateness_ns_max").as_deref(), Some("2000000000"));
}

#[test]
fn l6_requests_in_flight_are_counted_as_asked_and_as_the_wire_had_them() {
    let mut queued = request(1, 10, &[50]);
    queued.exchange.sent = Some(ms(100));
    queued.exchange.end = ms(150);
    let run = run(vec![request(0, 0, &[90]), queued, request(2, 150, &[50])]);
    assert_eq!(InFlight::of(&run), InFlight { asked: 2, observed: 1 });
}

#[test]
fn figures_of_a_run_are_those_computed_by_hand() {
    let run = run(vec![
        counted(request(0, 0, &[50, 60, 70]), 100, 5, 40),
        counted(request(1, 100, &[70, 90]), 100, 3, 60),
        failed(2, 0, 10, ExchangeError::NoOutput),
        failed(3, 150, 50, ExchangeError::Cancelled),
    ]);
    for (name, expected) in [
        ("requests_sent", "4"),
        ("requests_completed", "2"),
        ("requests_canceled", "1"),
        ("duration_ns", "200000000"),
        ("input_tokens_server", "200"),
        ("input_tokens_recorded", "200"),
        ("output_tokens_server", "8"),
        ("output_tokens_recorded", "10"),
        ("output_mismatch_ppm", "500000"),
        ("requests_per_second", "10.000000"),
        ("output_tokens_per_second", "40.000000"),
        ("ttft_ns_mean", "60000000"),
        ("ttft_recorded_ns_mean", "70000000"),
        ("inter_chunk_ns_count", "3"),
        ("goodput_requests", "1"),
        ("goodput_ppm", "250000"),
        ("prefix_hit_ppm_server", "500000"),
        ("prefix_hit_ppm_ceiling", "800000"),
        ("errors_ppm", "333333"),
    ] {
        assert_eq!(figure(&run, name).as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn goodput_holds_what_came_at_once_and_is_absent_where_nobody_counted() {
    let good = |requests: Vec<LiveRequest>| {
        let bounds = Bounds { tpot: Some(ms(10)), ..Bounds::default() };
        let metrics = LiveMetrics::of(&run(requests), Some(&bounds), CountedBy::Server);
        let figure = metrics.figure("goodput_requests".parse().expect("a metric"));
        let name = |name: &str| name.starts_with("goodput");
        let absent = metrics.absent().filter(|(of, _)| name(&of.to_string()));
        (figure.map(|it| it.to_string()), absent.map(|(_, why)| why.name()).collect::<Vec<_>>())
    };
    let one = || Some("1".to_owned());
    assert_eq!(good(vec![counted(request(0, 0, &[50, 50, 50]), 9, 3, 0)]), (one(), vec![]));
    assert_eq!(good(vec![request(0, 0, &[50, 50])]), (one(), vec![]), "whatever they were");
    assert_eq!(good(vec![request(0, 0, &[50])]), (one(), vec![]));
    let slow = counted(request(1, 0, &[50, 100]), 9, 3, 0);
    assert_eq!(good(vec![counted(request(0, 0, &[50, 70]), 9, 3, 0), slow]), (one(), vec![]));
    let untold = || request(2, 0, &[50, 70]);
    assert_eq!(good(vec![untold()]), (None, vec!["not-told"; 3]));
    let lost = failed(3, 0, 1, ExchangeError::NoOutput);
    assert_eq!(good(vec![lost]).0.as_deref(), Some("0"), "no count would make it good");
}

#[test]
fn what_connecting_cost_is_of_completed_requests() {
    let handshake = Handshake { connect: ms(3), ..Handshake::default() };
    let over = |request: LiveRequest| {
        let connection = Some(Connection { protocol: Protocol::Http1, handshake: Some(handshake) });
        LiveRequest { exchange: Exchange { connection, ..request.exchange }, ..request }
    };
    let run = run(vec![over(request(0, 0, &[50])), over(failed(1, 0, 9, ExchangeError::NoOutput))]);
    assert_eq!(figure(&run, "connect_ns_count").as_deref(), Some("1"));
    assert_eq!(figure(&run, "schedule_lateness_ns_count").as_deref(), Some("2"), "of all");
}

#[test]
fn warm_up_requests_are_measured_nowhere() {
    let warm = LiveRequest { phase: Phase::Warmup, ..request(0, 0, &[1]) };
    let run = run(vec![warm, request(0, 10, &[50])]);
    assert_eq!(figure(&run, "requests_sent").as_deref(), Some("1"));
    assert_eq!(figure(&run, "ttft_ns_max").as_deref(), Some("50000000"));
}

#[test]
fn a_percentile_below_its_floor_is_absent_with_that_reason_and_stated_from_it_on() {
    let requests = |count| (0..count).map(|number| request(number, 0, &[50])).collect();
    for (name, least) in [("ttft_ns_p90", 64), ("ttft_ns_p95", 130), ("ttft_ns_p99", 662)] {
        let below = run(requests(least - 1));
        assert_eq!((figure(&below, name), absence(&below, name)), (None, Some("sample-floor")));
        let enough = run(requests(least));
        assert_eq!(figure(&enough, name).as_deref(), Some("50000000"));
    }
    assert!(figure(&run(requests(1)), "ttft_ns_p50").is_some());
}

#[test]
fn what_nobody_tells_is_absent_with_a_reason_and_each_family_is_there_or_not() {
    let one = run(vec![request(0, 0, &[50, 60])]);
    assert_eq!(absence(&one, "output_tokens_server"), Some("not-told"));
    assert_eq!(absence(&one, "tpot_ns"), Some("not-told"));
    assert_eq!(absence(&one, "output_tokens_client"), Some("not-counted"));
    assert_eq!(absence(&one, "client_busy_ppm"), Some("not-observed"));
    assert_eq!(absence(&one, "goodput_requests"), Some(LiveAbsence::NoSla.name()));
    for run in [run(vec![]), one] {
        let metrics = LiveMetrics::of(&run, None, CountedBy::Server);
        let has = |family: LiveFamily| metrics.figures().any(|(name, _)| name.family() == family);
        for family in LiveFamily::ALL {
            let is_absent = metrics
                .absent()
                .any(|(name, _)| name.family() == *family && name.statistic().is_none());
            assert_ne!(has(*family), is_absent, "{family:?}");
            assert!(!matches!(family.shape(), Shape::Single) || !family.line().is_empty());
        }
    }
}

#[test]
fn a_run_in_which_nothing_succeeded_has_failed_and_names_every_kind() {
    let error = ExchangeError::Lost("reset".to_owned());
    let run = run(vec![failed(0, 0, 1, refused(503)), failed(1, 0, 1, error)]);
    let failures = LiveFailure::of(&run);
    assert_eq!(
        failures.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "none of 2 requests completed: 1 lost, the first: connection lost: reset; 1 status-503, the first: status 503: no"
        ]
    );
}

#[test]
fn a_warm_up_that_failed_is_why_nothing_was_measured() {
    let warm = LiveRequest { phase: Phase::Primer, ..failed(0, 0, 1, refused(500)) };
    let run = LiveRun { aborted: Some(0), ..run(vec![warm]) };
    let told: Vec<String> = LiveFailure::of(&run).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["the warm-up failed, so nothing was measured: `a a:0`: status 500: no"]);
}

#[test]
fn l3_a_client_that_is_late_or_never_idle_says_so() {
    let healthy = run(vec![request(0, 0, &[50])]);
    assert_eq!(ClientLimit::of(&healthy, false), []);
    let client = ClientHealth {
        loop_lags: vec![ms(9)],
        observed: ms(1000),
        busy: Some(ms(950)),
        waited: Some(ms(200)),
    };
    let mut late = request(0, 20, &[50]);
    late.intended = Nanos::ZERO;
    let limited = LiveRun { client, ..run(vec![late]) };
    let found = ClientLimit::of(&limited, false);
    let shares = [Ppm::of(95, 100), Ppm::of(20, 100)].map(|share| share.expect("a share"));
    assert_eq!(
        found,
        [
            ClientLimit::LoopLag(ms(9)),
            ClientLimit::Lateness(ms(20)),
            ClientLimit::Busy(shares[0]),
            ClientLimit::Starved(shares[1]),
        ]
    );
    assert_eq!(found[1].to_string(), "requests were taken up 20 ms late (p99)");
    assert_eq!(
        ClientLimit::of(&limited, true).len(),
        3,
        "lanes that hold back make no client late"
    );
}

#[test]
fn laws_find_what_cannot_be() {
    let law = |request: LiveRequest| {
        let broken = LiveLaw::violations(&run(vec![request]));
        broken.into_iter().map(|violation| violation.law).collect::<Vec<_>>()
    };
    assert_eq!(law(request(0, 0, &[50])), []);
    let early = LiveRequest { intended: ms(11), ..request(0, 10, &[50]) };
    assert_eq!(law(early), [LiveLaw::NeverEarly]);
    let mut disordered = request(0, 0, &[50]);
    disordered.exchange.first_byte = Some(ms(60));
    assert_eq!(law(disordered), [LiveLaw::InOrder]);
    let empty = request(0, 0, &[]);
    assert_eq!(law(counted(empty.clone(), 8, 1, 0)), [], "the end of the text was all");
    assert_eq!(law(empty), [LiveLaw::CompletedHasOutput]);
    let twice = run(vec![request(0, 0, &[1]), request(0, 5, &[1])]);
    let found = LiveLaw::violations(&twice);
    assert_eq!((found[0].law, found[0].request), (LiveLaw::SentOnce, 1));
}

#[test]
fn a_simulation_is_set_beside_the_live_run_figure_by_figure() {
    let live = run(vec![request(0, 0, &[4, 6, 8])]);
    let simulated = run(vec![request(0, 0, &[5, 7, 9]), request(1, 20, &[5, 7, 9])]);
    let calibration = Calibration::of(&live, &simulated);
    let means: Vec<_> = calibration
        .rows()
        .iter()
        .filter(|row| row.statistic == Statistic::Mean)
        .map(|row| (row.metric, row.live, row.simulated, row.error().map(Ppm::get)))
        .collect();
    assert_eq!(
        means,
        [
            ("ttft", ms(4), ms(5), Some(250_000)),
            ("itl", ms(2), ms(2), Some(0)),
            ("e2e", ms(8), ms(9), Some(125_000)),
        ]
    );
    assert_eq!(calibration.rows().len(), 9);
}

proptest! {
    #[test]
    fn gaps_and_first_token_add_up_whatever_came(
        steps in prop::collection::vec((0_u64..50, 0_u8..4), 1..40),
        sent in 0_u64..1000,
    ) {
        let mut at = sent;
        let mut one = request(0, sent, &[]);
        let events = steps.iter().map(|(step, channel)| {
            at += step;
            let channels = [Channel::Content, Channel::Reasoning, Channel::ToolCall, Channel::Role];
            event(at, channels[usize::from(*channel)], None)
        });
        let events: Vec<_> = events.collect();
        let outputs: Vec<Nanos> =
            events.iter().filter(|event| event.channel.is_output()).map(|event| event.at).collect();
        one.exchange = Exchange { end: ms(at), events, ..one.exchange };
        let gaps: Vec<Nanos> = chunk_gaps(&one).collect();
        prop_assert_eq!(gaps.len(), outputs.len().saturating_sub(1));
        if let (Some(ttft), Some(last)) = (ttft(&one), outputs.last()) {
            let sum: u64 = gaps.iter().map(|gap| gap.get()).sum();
            prop_assert_eq!(ttft.get() + sum, last.get() - ms(sent).get());
        }
    }

    #[test]
    fn no_request_vanishes(kinds in prop::collection::vec(0_u8..4, 1..60)) {
        let requests: Vec<_> = kinds.iter().zip(0..).map(|(kind, number)| match kind {
            0 => request(number, 0, &[5]),
            1 => failed(number, 0, 1, ExchangeError::NoOutput),
            2 => failed(number, 0, 1, ExchangeError::Cancelled),
            _ => failed(number, 0, 1, ExchangeError::Status {
                status: 400,
                message: "maximum context length".to_owned(),
                retry_after: None,
            }),
        }).collect();
        let run = run(requests);
        let count = |name: &str| figure(&run, name).expect("a count").parse::<usize>().expect("one");
        let parts = ["completed", "failed", "canceled", "overflowed"];
        let sum: usize = parts.iter().map(|part| count(&format!("requests_{part}"))).sum();
        prop_assert_eq!(sum, kinds.len());
        prop_assert_eq!(sum, count("requests_sent"));
        let of_successes = Distribution::of(run.measured().filter_map(e2e)).map_or(0, |it| it.count());
        prop_assert_eq!(usize::try_from(of_successes).expect("few"), count("requests_completed"));
    }
}
