//! An estimator of known formulas: the table that is made of its answers gives them back.

use super::*;
use crate::pin::PassTable;

/// Answers by formula: a kinked line of tokens, a head of requests, attention of squares, decodes as means over five lengths.
struct Formulas {
    asked: usize,
}

fn raw(requests: f64, length: f64) -> f64 {
    // straight between powers of two of both
    let knee = |x: f64| x + (x - 64.0).max(0.0) * 0.5 + (x - 4096.0).max(0.0);
    1e-4 * requests * knee(length) + 0.1
}

impl Estimator for Formulas {
    fn answer(&mut self, passes: &[Pass]) -> Result<Vec<PassAnswer>, ExportError> {
        self.asked += passes.len();
        Ok(passes.iter().map(|pass| answer(*pass)).collect())
    }
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn answer(pass: Pass) -> PassAnswer {
    match pass {
        Pass::Prefill { requests, length, prefix } => {
            let (n, l, p) = (requests as f64, length as f64, prefix as f64);
            let tokens = n * (l - p);
            let rest = 2.0 + 0.02 * tokens + 0.01 * (tokens - 512.0).max(0.0);
            let attention = 0.4 + 0.01 * n + 1e-6 * n * l * l * (1.0 - (p / l) * (p / l));
            let head = 0.1 + 0.001 * n;
            PassAnswer { total: rest + attention + head, attention, head }
        }
        Pass::Decode { requests, context } => {
            let lengths = crate::pin::average_lengths(context).map(|length| length as f64);
            let sum: f64 = lengths.iter().map(|length| raw(requests as f64, *length)).sum();
            let (attention, head) = (sum / 5.0, 0.2);
            PassAnswer { total: 3.0 + 0.01 * requests as f64 + attention + head, attention, head }
        }
    }
}

fn subject() -> ExportSubject {
    ExportSubject {
        protocol: PROTOCOL,
        models: vec!["acme/small".to_owned()],
        hardware: "h200_sxm".to_owned(),
        backend: "vllm".to_owned(),
        backend_version: None,
        tensor: 1,
        pipeline: 1,
        attention_data: 1,
        moe_tensor: 1,
        moe_expert: 1,
    }
}

fn announced() -> Announced {
    serde_json::from_value(serde_json::json!({
        "protocol": PROTOCOL, "package": "fake", "package_version": "1", "model": "acme/small",
        "backend_version": "0.24.0", "decode_average": "five-samples",
        "quantization": {"weights": "bfloat16", "experts": "bfloat16", "activations": "bfloat16", "kv": "bfloat16"},
    }))
    .expect("announced")
}

#[test]
fn a_table_of_known_formulas_gives_them_back_between_its_points() {
    let mut formulas = Formulas { asked: 0 };
    let sampled = sample(&mut formulas, true).expect("answered");
    let measured = sampled.measured.as_ref().expect("it averages");
    let at = |row: usize, column: usize| measured.ms[row][column].expect("measured");
    assert_eq!((measured.rows[3], measured.columns[6]), (8, 1024));
    assert!((at(3, 6) - raw(8.0, 1024.0)).abs() < 1e-9, "the mean is taken back");
    let bytes = document("small", &subject(), &announced(), &sampled);
    let table = PassTable::read("small", &bytes).expect("a table");
    let errors = check(&mut formulas, table).expect("close");
    for error in errors {
        assert!(error.median < 0.01 && error.p99 < 0.2, "{errors:?}");
    }
    assert!(formulas.asked < 100_000, "{}", formulas.asked);
}

#[test]
fn a_table_that_differs_from_its_estimator_is_refused() {
    /// Attention is five times as slow for what was not asked when the table was made.
    struct Changing(bool);
    impl Estimator for Changing {
        fn answer(&mut self, passes: &[Pass]) -> Result<Vec<PassAnswer>, ExportError> {
            let factor = if self.0 { 5.0 } else { 1.0 };
            let slower = |pass: &Pass| {
                let one = answer(*pass);
                PassAnswer { total: one.total * factor, ..one }
            };
            Ok(passes.iter().map(slower).collect())
        }
    }
    let mut changing = Changing(false);
    let sampled = sample(&mut changing, false).expect("answered");
    let bytes = document("small", &subject(), &announced(), &sampled);
    let table = PassTable::read("small", &bytes).expect("a table");
    changing.0 = true;
    let refused = check(&mut changing, table).expect_err("five times as slow");
    assert!(matches!(refused, ExportError::Inaccurate { phase: "prefill", .. }), "{refused}");
}
