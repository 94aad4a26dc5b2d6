//! Whatever a file holds, decoding it ends with a prediction or with findings.

use proptest::prelude::*;

use super::{LEAST, decoded};

/// A value that may stand where another is expected.
fn value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&[
        "1",
        "0",
        "-1",
        "4.0",
        ".inf",
        "yes",
        "~",
        "''",
        "max",
        "auto",
        "[]",
        "[1, {}]",
        "{}",
        "{type: fixed}",
        "{type: trace}",
        "99999999999999999999999999999999999999999999",
        "2026-01-01",
        "&a [*a]",
        "!!int x",
        "{a: 1, a: 2}",
        "{1: 2}",
        "<<",
    ])
}

/// A path into the schema.
fn path() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&[
        "traffic",
        "traffic.source",
        "traffic.source.type",
        "traffic.source.paths",
        "traffic.load",
        "traffic.load.type",
        "traffic.load.concurrency",
        "traffic.stop",
        "traffic.stop.requests",
        "engine",
        "engine.mode",
        "engine.model",
        "engine.backend",
        "engine.context_length",
        "engine.workers",
        "engine.workers.aggregated",
        "engine.workers.aggregated.kv_cache",
        "engine.workers.aggregated.kv_cache.capacity",
        "engine.workers.aggregated.timing",
        "engine.workers.aggregated.timing.type",
        "engine.speculation",
        "engine.kv_transfer",
        "evaluation",
        "evaluation.sla",
        "execution.resources",
        "execution.resources.memory_limit_gb",
    ])
}

proptest! {
    #[test]
    fn any_values_in_any_places_are_decoded_or_refused(
        settings in prop::collection::vec((path(), value()), 0..6)
    ) {
        let overrides: Vec<String> =
            settings.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        if let Err(findings) = decoded(LEAST, &overrides) {
            prop_assert!(!findings.is_empty());
        }
    }

    #[test]
    fn any_text_is_decoded_or_refused(text in "[ -~é\n]{0,80}", at in 0..LEAST.len()) {
        let mangled = format!("{}{text}{}", &LEAST[..at], &LEAST[at..]);
        for text in [text, mangled] {
            if let Err(findings) = decoded(&text, &[]) {
                prop_assert!(!findings.is_empty());
            }
        }
    }
}
