//! `live.json` read back: typed access to what was measured.

use std::collections::BTreeMap;

use crate::digest::Sha256;
use crate::digest::canonical::Value;
use crate::measure::live::{LIVE_DEFINITION, LiveName};
use crate::record::Spool;
use crate::report::json::{at, list_at, parse, text_at};
use crate::units::{Nanos, Ppm};

/// The schema of `live.json`.
pub(super) const SCHEMA: &str = "touchstone.live/1";

/// What was measured of a replay job: canonical bytes that no golden holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    bytes: Vec<u8>,
    digest: Sha256,
    value: Value,
}

/// What a live run leaves beside the report of its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveFiles {
    /// `live.json`.
    pub measured: Measured,
    /// `live.jsonl`: a line a request that was sent, in the order of sending.
    pub requests: Spool,
}

impl Measured {
    /// Returns what `build` made.
    pub(super) fn of(value: Value) -> Self {
        let bytes = value.to_document();
        Self { digest: Sha256::of(&bytes), bytes, value }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong with it: its schema, or its definitions.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let value = parse(&bytes)?;
        for (field, expected) in [("schema", SCHEMA), ("definition", LIVE_DEFINITION)] {
            let found = text_at(&value, &[field]).unwrap_or("none");
            if found != expected {
                return Err(format!("{field} `{found}`, this program reads `{expected}`"));
            }
        }
        if value.to_document() != bytes {
            return Err("it is not in canonical form: it was edited or reformatted".to_owned());
        }
        Ok(Self { digest: Sha256::of(&bytes), bytes, value })
    }

    /// Returns the file's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns SHA-256 of the file.
    pub fn digest(&self) -> Sha256 {
        self.digest
    }

    /// Returns the whole value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the digest of the report of the plan that was sent.
    pub fn report(&self) -> Option<Sha256> {
        text_at(&self.value, &["report"])?.parse().ok()
    }

    /// Returns the digest of `live.jsonl`.
    pub fn requests_digest(&self) -> Option<Sha256> {
        text_at(&self.value, &["requests", "digest"])?.parse().ok()
    }

    /// Returns whether a signal ended the run: what had been measured by then is here.
    pub fn is_partial(&self) -> bool {
        at(&self.value, &["is_partial"]) == Some(&Value::Bool(true))
    }

    /// Returns why the job has failed; empty where it has not.
    pub fn failures(&self) -> Vec<&str> {
        let failures = list_at(&self.value, &["validity", "failures"]);
        failures.iter().filter_map(|failure| text_at(failure, &["text"])).collect()
    }

    /// Returns whether a law of live runs is broken: a bug.
    pub fn has_broken_law(&self) -> bool {
        let failures = list_at(&self.value, &["validity", "failures"]);
        failures.iter().any(|it| text_at(it, &["reason"]) == Some("broken-invariant"))
    }

    /// Returns what people should know of the run.
    pub fn warnings(&self) -> Vec<&str> {
        texts(list_at(&self.value, &["validity", "warnings"]))
    }

    /// Returns the signs that the client, not the server, decided what was measured; none means that its times can be trusted.
    pub fn client_limits(&self) -> Vec<&str> {
        texts(list_at(&self.value, &["client", "limits"]))
    }

    /// Returns each figure of the calibration: metric, statistic, measured, simulated, and the error as a share of what was measured.
    pub fn calibration(&self) -> Vec<(&str, &str, Nanos, Nanos, Option<Ppm>)> {
        let row = |row| {
            let time = |name| at(row, &[name]).and_then(Value::as_count).map(Nanos::new);
            let error = at(row, &["error_ppm"]).and_then(Value::as_count);
            Some((
                text_at(row, &["metric"])?,
                text_at(row, &["statistic"])?,
                time("live_ns")?,
                time("simulated_ns")?,
                error.and_then(|ppm| Ppm::of(ppm, 1_000_000)),
            ))
        };
        list_at(&self.value, &["calibration"]).iter().filter_map(row).collect()
    }

    /// Returns a figure; `None` where it is absent.
    pub fn figure(&self, name: LiveName) -> Option<&Value> {
        at(&self.value, &["summary", &name.to_string()])
    }

    /// Returns a count.
    pub fn count(&self, name: LiveName) -> Option<u64> {
        self.figure(name)?.as_count()
    }

    /// Returns a time.
    pub fn time(&self, name: LiveName) -> Option<Nanos> {
        self.count(name).map(Nanos::new)
    }

    /// Returns a share.
    pub fn share(&self, name: LiveName) -> Option<Ppm> {
        Ppm::of(self.count(name)?, 1_000_000)
    }

    /// Returns a rate as its decimal text.
    pub fn rate(&self, name: LiveName) -> Option<&str> {
        self.figure(name)?.as_text()
    }

    /// Returns why a figure is absent: that of its own, else that of its family.
    pub fn absent(&self, name: LiveName) -> Option<&str> {
        let family = LiveName::single(name.family()).to_string();
        let of = |name: &str| text_at(&self.value, &["validity", "absent", name]);
        of(&name.to_string()).or_else(|| of(&family))
    }

    /// Returns every figure as text, in the order of docs/metrics.md.
    pub fn figures(&self) -> BTreeMap<LiveName, String> {
        let text = |name: LiveName| match self.figure(name)? {
            Value::Integer(number) => Some(number.to_string()),
            Value::Text(text) => Some(text.clone()),
            Value::Null | Value::Bool(_) | Value::Real(_) | Value::List(_) | Value::Object(_) => {
                None
            }
        };
        LiveName::all().filter_map(|name| Some((name, text(name)?))).collect()
    }
}

/// Returns the texts of a list.
fn texts(list: &[Value]) -> Vec<&str> {
    list.iter().filter_map(Value::as_text).collect()
}
