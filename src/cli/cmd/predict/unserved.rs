//! What `predict` tells of requests that were not served, and what to change.

use crate::cli::Context;
use crate::diag::{Advice, Bag, Code, Problem};
use crate::measure::Unserved;
use crate::record::RunRecord;

/// Warns of requests that were not served; a request that the end of the run cut is none.
pub(super) fn report_unserved(record: &RunRecord, context: &Context) {
    let unserved = Unserved::of(record);
    let count = |kind: &Unserved| if kind.is_cut() { 0 } else { kind.count };
    let all = record.requests.len() as u64;
    let is_all = unserved.iter().map(count).sum::<u64>() == all && all > 0;
    let code = if is_all { Code::PredictAllRejected } else { Code::PredictUnserved };
    let mut bag = Bag::new();
    for kind in unserved.iter().filter(|kind| !kind.is_cut()) {
        let problem = Problem::new(code, format!("of {all} requests {kind}"));
        bag.push(advised(problem, kind.advice()));
    }
    context.report(bag);
}

/// Adds what to change, in the words of the configuration.
pub(super) fn advised(problem: Problem, advice: Option<Advice>) -> Problem {
    let Some(Advice { setting, help }) = advice else { return problem };
    let field = match setting.strip_prefix("worker.") {
        Some(of_worker) => format!("engine.workers.{of_worker}"),
        None => setting,
    };
    problem.help(format!("{}: {}", yaml_words(&field), yaml_words(&help)))
}

/// Returns a text with the scenario language's names as the configuration spells them.
pub(super) fn yaml_words(text: &str) -> String {
    let is_name = |word: &str| word.contains('-') && !word.contains(' ');
    text.split_inclusive([' ', '`'])
        .map(|word| {
            if is_name(word.trim_end_matches([' ', '`'])) {
                word.replace('-', "_")
            } else {
                word.to_owned()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_in_the_words_of_the_configuration() {
        let advice = Advice::new(
            "worker.prefill.kv-cache.capacity",
            "raise `max-batched-tokens`, or write `enable-chunked-prefill #true`",
        );
        let problem = advised(Problem::new(Code::PredictRun, "m"), Some(advice));
        assert_eq!(
            problem.help_text(),
            Some(
                "engine.workers.prefill.kv_cache.capacity: raise `max_batched_tokens`, or write `enable_chunked_prefill #true`"
            )
        );
    }
}
