//! Every live metric once: its name, its shape, and which direction is better.

use crate::measure::declare::{FigureName, families};

/// The name of this set of definitions. Reports under different names are never compared.
pub const LIVE_DEFINITION: &str = "touchstone.live-metrics/1";

families! {
    /// A live metric, or a family that differs in its statistic. docs/metrics.md defines each.
    LiveFamily;

    Sent "requests_sent" "live-requests" Single Neutral "Requests that were given to the client.";
    Completed "requests_completed" "live-requests" Single HigherIsBetter "Requests with a whole answer.";
    Failed "requests_failed" "live-requests" Single LowerIsBetter "Requests that broke.";
    Overflowed "requests_overflowed" "live-requests" Single Neutral "Requests whose prompt was longer than the model takes.";
    Canceled "requests_canceled" "live-requests" Single Neutral "Requests that the end of the run gave up.";
    Missed "requests_missed" "live-requests" Single LowerIsBetter "Requests that were due before the end of the run and were not sent.";
    Retried "requests_retried" "live-requests" Single Neutral "Requests sent again, since a pooled connection had gone stale.";
    Errors "errors_ppm" "live-errors" Single LowerIsBetter "Share of ended requests that failed.";
    Duration "duration_ns" "live-duration" Single Neutral "From the start of the measured phase to its last end.";
    InFlightAsked "in_flight_max_asked" "live-in-flight" Single Neutral "The most requests at once that the client was given.";
    InFlightObserved "in_flight_max_observed" "live-in-flight" Single Neutral "The most requests at once on connections.";
    ServerInput "input_tokens_server" "live-tokens" Single Neutral "Prompt tokens as the server counts them.";
    RecordedInput "input_tokens_recorded" "live-tokens" Single Neutral "Prompt tokens of the same calls in the recording.";
    ServerOutput "output_tokens_server" "live-tokens" Single Neutral "Output tokens as the server counts them.";
    ClientOutput "output_tokens_client" "live-tokens" Single Neutral "Output tokens as the client counts them.";
    RecordedOutput "output_tokens_recorded" "live-tokens" Single Neutral "Output tokens of the same calls in the recording.";
    ServerReasoning "reasoning_tokens_server" "live-tokens" Single Neutral "Output tokens that are reasoning, as the server counts them.";
    Missized "output_mismatch_ppm" "live-tokens" Single LowerIsBetter "Share of completed requests whose output is not as long as was asked for.";
    RequestsPerSecond "requests_per_second" "live-throughput" Single HigherIsBetter "Completed requests a second.";
    OutputPerSecond "output_tokens_per_second" "live-throughput" Single HigherIsBetter "Output tokens of completed requests a second.";
    InputPerSecond "input_tokens_per_second" "live-throughput" Single HigherIsBetter "Prompt tokens of completed requests a second, as the server counts them.";
    Ttft "ttft_ns" "live-ttft" Distribution LowerIsBetter "Sent to first output, on any channel.";
    EffectiveTtft "ttft_effective_ns" "live-effective" Distribution LowerIsBetter "Intended start to first output.";
    RecordedTtft "ttft_recorded_ns" "live-recorded" Distribution Neutral "Time to the first token of the same calls in the recording.";
    TimeToContent "content_ns" "live-ttft" Distribution LowerIsBetter "Sent to first text of the answer.";
    Ttst "ttst_ns" "live-gaps" Distribution LowerIsBetter "First message with output to the second.";
    ChunkGap "inter_chunk_ns" "live-gaps" Distribution LowerIsBetter "Every gap between messages with output.";
    Tpot "tpot_ns" "live-tpot" Distribution LowerIsBetter "Time per output token of a request.";
    E2e "e2e_ns" "live-e2e" Distribution LowerIsBetter "Sent to last output.";
    EffectiveE2e "e2e_effective_ns" "live-effective" Distribution LowerIsBetter "Intended start to last output.";
    TimeToError "error_ns" "live-errors" Distribution Neutral "Taken up to known to have failed.";
    Connect "connect_ns" "live-connect" Distribution LowerIsBetter "Opening a connection, of requests that had to.";
    Lateness "schedule_lateness_ns" "live-lateness" Distribution LowerIsBetter "Intended start to taken up by the client.";
    GoodputRequests "goodput_requests" "live-goodput" Single HigherIsBetter "Completed requests inside the SLA.";
    GoodputShare "goodput_ppm" "live-goodput" Single HigherIsBetter "Share of sent requests inside the SLA.";
    GoodputRequestsPerSecond "goodput_requests_per_second" "live-goodput" Single HigherIsBetter "Requests inside the SLA a second.";
    PrefixHit "prefix_hit_ppm_server" "live-prefix" Single HigherIsBetter "Share of prompt tokens that the server took from its cache.";
    PrefixHitCeiling "prefix_hit_ppm_ceiling" "live-prefix" Single Neutral "Share of recorded prompt tokens that a cache which forgets nothing serves within a trace.";
    LoopLag "loop_lag_ns" "live-client" Distribution LowerIsBetter "A waking of the client's loop to the loop coming to it.";
    ClientBusy "client_busy_ppm" "live-client" Single LowerIsBetter "Share of time that the client's thread was on a processor.";
    ClientWaited "client_waited_ppm" "live-client" Single LowerIsBetter "Share of time that the client's thread was ready and had no processor.";
}

/// The name of one figure of a live run.
pub type LiveName = FigureName<LiveFamily>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Statistic;

    #[test]
    fn names_are_unique_and_read_back() {
        let names: Vec<String> = LiveName::all().map(|name| name.to_string()).collect();
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        let mean = LiveName::of(LiveFamily::Ttft, Statistic::Mean);
        assert_eq!("ttft_ns_mean".parse(), Ok(mean));
    }

    #[test]
    fn every_live_family_is_defined_in_the_documentation() {
        let page = include_str!("../../../docs/metrics.md");
        for family in LiveFamily::ALL {
            assert!(page.contains(&format!("`{}`", family.name())), "{}", family.name());
            let anchor = format!("<a id=\"{}\">", family.anchor());
            assert!(page.contains(&anchor), "{}", family.anchor());
        }
        assert!(page.contains(LIVE_DEFINITION));
    }
}
