//! From the bytes of a table's file to the table.

use serde::Deserialize;

use crate::diag::{Code, Problem};

use super::{Axis, Curve, DecodeTable, Measured, PassTable, PrefillTable, Surface};

/// The schema that files name.
const SCHEMA: &str = "aisim-forward-timing/1";

/// A file; what it says of its origin is for people.
#[derive(Deserialize)]
struct File {
    schema: String,
    units: String,
    prefill: PrefillPart,
    decode: DecodePart,
}

/// Its prompt work.
#[derive(Deserialize)]
struct PrefillPart {
    tokens_term: TokensCurve,
    batch_term: BatchCurve,
    attention: FullLengthSurface,
}

/// Its decode work.
#[derive(Deserialize)]
struct DecodePart {
    batch_term: BatchCurve,
    attention: ContextSurface,
}

/// Times along tokens.
#[derive(Deserialize)]
struct TokensCurve {
    tokens: Vec<f64>,
    ms: Vec<f64>,
}

/// Times along requests.
#[derive(Deserialize)]
struct BatchCurve {
    batch: Vec<f64>,
    ms: Vec<f64>,
}

/// Times along requests and the length reached.
#[derive(Deserialize)]
struct FullLengthSurface {
    batch: Vec<f64>,
    full_len: Vec<f64>,
    ms: Vec<Vec<f64>>,
}

/// Times along requests and mean context.
#[derive(Deserialize)]
struct ContextSurface {
    batch: Vec<f64>,
    context_len: Vec<f64>,
    ms: Vec<Vec<f64>>,
    measured: Option<MeasuredSurface>,
}

/// Times along the requests and lengths that were measured, each row as far as it goes.
#[derive(Deserialize)]
struct MeasuredSurface {
    batch: Vec<f64>,
    context_len: Vec<f64>,
    ms: Vec<Vec<Option<f64>>>,
}

impl PassTable {
    /// Reads the contents of a table's file; `name` is what messages call it.
    ///
    /// # Errors
    /// `pin::table` where it is no such file, or an axis or the times along it do not fit.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, Problem> {
        let wrong = |why: String| {
            Problem::new(Code::PinTable, format!("`{name}` is no table of pass times: {why}"))
                .help("make it anew with `bench pins timing export`")
        };
        let file: File = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if file.schema != SCHEMA || file.units != "ms" {
            let (schema, units) = (&file.schema, &file.units);
            return Err(wrong(format!(
                "its schema is `{schema}` in `{units}`, and `{SCHEMA}` in `ms` is known"
            )));
        }
        let fits = |part: &str| wrong(format!("an axis or the times of `{part}` do not fit"));
        Ok(Self {
            prefill: file.prefill.table().ok_or_else(|| fits("prefill"))?,
            decode: file.decode.table().ok_or_else(|| fits("decode"))?,
        })
    }
}

impl PrefillPart {
    fn table(self) -> Option<PrefillTable> {
        let attention = self.attention;
        Some(PrefillTable {
            tokens: Curve::new(Axis::new(self.tokens_term.tokens)?, self.tokens_term.ms)?,
            requests: self.batch_term.curve()?,
            attention: Surface::new(
                Axis::new(attention.batch)?,
                Axis::new(attention.full_len)?,
                &attention.ms,
            )?,
        })
    }
}

impl DecodePart {
    fn table(self) -> Option<DecodeTable> {
        let attention = self.attention;
        let measured = match attention.measured {
            None => None,
            Some(MeasuredSurface { batch, context_len, ms }) => {
                Some(Measured::new(batch, context_len, &ms)?)
            }
        };
        Some(DecodeTable {
            measured,
            requests: self.batch_term.curve()?,
            attention: Surface::new(
                Axis::new(attention.batch)?,
                Axis::new(attention.context_len)?,
                &attention.ms,
            )?,
        })
    }
}

impl BatchCurve {
    fn curve(self) -> Option<Curve> {
        Curve::new(Axis::new(self.batch)?, self.ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table whose parts are 1 ms a token, 10 ms a request, 100 ms a row of attention.
    const SMALL: &str = r#"{"schema":"aisim-forward-timing/1","units":"ms","name":"x",
      "prefill":{"tokens_term":{"tokens":[1,2],"ms":[1,2]},"batch_term":{"batch":[1,2],"ms":[10,20]},
                 "attention":{"batch":[1,2],"full_len":[1,2],"ms":[[100,200],[200,400]]}},
      "decode":{"batch_term":{"batch":[1,2],"ms":[1,2]},"attention":{"batch":[1,2],"context_len":[1,2],"ms":[[1,2],[2,4]]}}}"#;

    #[test]
    fn a_file_that_is_no_table_says_what_is_wrong_with_it() {
        assert!(PassTable::read("t", SMALL.as_bytes()).is_ok());
        for (from, to, why) in [
            ("timing/1", "timing/2", "`aisim-forward-timing/2` in `ms`"),
            ("\"tokens\":[1,2]", "\"tokens\":[2,1]", "the times of `prefill` do not fit"),
            ("[[1,2],[2,4]]", "[[1,2]]", "the times of `decode` do not fit"),
            ("\"decode\"", "\"encode\"", "missing field `decode`"),
        ] {
            let problem = PassTable::read("t", SMALL.replace(from, to).as_bytes()).expect_err(why);
            assert_eq!(problem.code(), Code::PinTable);
            assert!(problem.to_string().contains(why), "{problem}");
        }
    }
}
