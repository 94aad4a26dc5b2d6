//! Every metric once: its name, its shape, and which direction is better.

use super::declare::{FigureName, families};

/// The name of this set of definitions. Reports under different names are never compared.
pub const DEFINITION: &str = "touchstone.metrics/1";

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Less is better.
    LowerIsBetter,
    /// More is better.
    HigherIsBetter,
    /// Neither: a fact about the run.
    Neutral,
}

/// Whether a metric is one figure or what is said of a set of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One figure.
    Single,
    /// One figure for each [`Statistic`](super::Statistic).
    Distribution,
}

families! {
    /// A metric, or a family of metrics that differ in their statistic. docs/metrics.md defines each.
    Family;

    RequestsOffered "requests_offered" "requests" Single Neutral "Requests that were released.";
    RequestsCompleted "requests_completed" "requests" Single HigherIsBetter "Requests whose output was produced.";
    RequestsRejected "requests_rejected" "requests" Single LowerIsBetter "Requests that the engine refused.";
    RequestsFailed "requests_failed" "requests" Single LowerIsBetter "Requests that broke.";
    RequestsCanceled "requests_canceled" "requests" Single LowerIsBetter "Requests that the client gave up.";
    RequestsUnfinished "requests_unfinished" "requests" Single LowerIsBetter "Requests cut by the time limit.";
    Duration "duration_ns" "duration" Single LowerIsBetter "From the start of the clock to the last terminal.";
    InputTokens "input_tokens" "tokens" Single Neutral "Prompt tokens of completed requests.";
    OutputTokens "output_tokens" "tokens" Single Neutral "Output tokens of completed requests.";
    CommittedPrefillTokens "committed_prefill_tokens" "tokens" Single LowerIsBetter "Prompt tokens actually computed, recomputation included.";
    RequestsPerSecond "requests_per_second" "throughput" Single HigherIsBetter "Completed requests a second.";
    InputTokensPerSecond "input_tokens_per_second" "throughput" Single HigherIsBetter "Prompt tokens of completed requests a second.";
    OutputTokensPerSecond "output_tokens_per_second" "throughput" Single HigherIsBetter "Output tokens of completed requests a second.";
    TotalTokensPerSecond "total_tokens_per_second" "throughput" Single HigherIsBetter "Prompt and output tokens of completed requests a second.";
    OutputTokensPerGpuSecond "output_tokens_per_gpu_second" "throughput" Single HigherIsBetter "Output tokens of completed requests a second and GPU.";
    Ttft "ttft_ns" "ttft" Distribution LowerIsBetter "Time to first token.";
    Ttst "ttst_ns" "ttst" Distribution LowerIsBetter "First token to second token.";
    Itl "itl_ns" "itl" Distribution LowerIsBetter "Every gap between consecutive output tokens.";
    Tpot "tpot_ns" "tpot" Distribution LowerIsBetter "Mean gap of a request.";
    E2e "e2e_ns" "e2e" Distribution LowerIsBetter "Arrival to last token.";
    Queue "queue_ns" "queue" Distribution LowerIsBetter "Arrival to first admission.";
    Handoff "handoff_ns" "handoff" Distribution LowerIsBetter "Prompt held to taken up by the decode rank.";
    Transfer "transfer_ns" "handoff" Distribution LowerIsBetter "Transfer of a prompt's KV.";
    GoodputRequests "goodput_requests" "goodput" Single HigherIsBetter "Completed requests inside the SLA.";
    GoodputShare "goodput_ppm" "goodput" Single HigherIsBetter "Share of offered requests inside the SLA.";
    GoodputRequestsPerSecond "goodput_requests_per_second" "goodput" Single HigherIsBetter "Requests inside the SLA a second.";
    GoodputOutputTokensPerSecond "goodput_output_tokens_per_second" "goodput" Single HigherIsBetter "Output tokens of requests inside the SLA a second.";
    PrefixHitFirst "prefix_hit_ppm_first" "prefix-hit" Single HigherIsBetter "Share of prompt tokens served from cache at first admission.";
    PrefixHitMax "prefix_hit_ppm_max" "prefix-hit" Single HigherIsBetter "The same at the admission that reused most.";
    PrefixHitCeiling "prefix_hit_ppm_ceiling" "prefix-hit" Single Neutral "The same with an infinite cache.";
    PrefixHitHost "prefix_hit_ppm_host" "prefix-hit" Single Neutral "Share of prompt tokens that the host tier gave back at first admission.";
    Passes "passes" "engine" Single Neutral "Engine passes.";
    Preemptions "preemptions" "engine" Single LowerIsBetter "Running requests that were evicted.";
}

/// The name of one figure of a simulation.
pub type MetricName = FigureName<Family>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Percentile;

    #[test]
    fn names_are_unique_and_read_back() {
        let names: Vec<String> = MetricName::all().map(|name| name.to_string()).collect();
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert_eq!("ttft_ns_p99".parse(), Ok(MetricName::at(Family::Ttft, Percentile::P99)));
        assert_eq!("p99_ttft".parse::<MetricName>(), Err(()));
    }

    #[test]
    fn every_family_is_defined_in_the_documentation() {
        let page = include_str!("../../docs/metrics.md");
        for family in Family::ALL {
            assert!(page.contains(&format!("`{}`", family.name())), "{}", family.name());
            assert!(
                page.contains(&format!("<a id=\"{}\">", family.anchor())),
                "{}",
                family.anchor()
            );
        }
        assert!(page.contains(DEFINITION));
    }
}
