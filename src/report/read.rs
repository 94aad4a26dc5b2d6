//! A report read back: the bytes, their digest, and typed access.

use std::collections::BTreeMap;

use crate::diag::Advice;
use crate::digest::Sha256;
use crate::digest::canonical::Value;
use crate::measure::{Absence, Family, MetricName};
use crate::plan::SCHEMA;
use crate::units::{Nanos, Ppm};

use super::Section;
use super::json::{at, list_at, parse, text_at};

/// A report: canonical bytes, whose SHA-256 is its digest.
#[derive(Clone)]
pub struct Report {
    bytes: Vec<u8>,
    digest: Sha256,
    value: Value,
}

impl PartialEq for Report {
    /// Reports are the same when their files are.
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Report {}

impl std::fmt::Debug for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Report").field("digest", &self.digest).finish_non_exhaustive()
    }
}

/// Bytes that are no report of this program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// It is no JSON.
    #[error("the report is no JSON: {0}")]
    NotJson(String),
    /// It has another schema.
    #[error("the report has schema `{found}`, this program reads `{expected}`", expected = SCHEMA)]
    OtherSchema {
        /// What it says.
        found: String,
    },
    /// It is not in canonical form.
    #[error("the report is not in canonical form: it was edited or reformatted")]
    NotCanonical,
}

impl Report {
    /// Returns the report of a value that `build` made.
    pub(super) fn of(value: Value) -> Self {
        let bytes = value.to_document();
        Self { digest: Sha256::of(&bytes), bytes, value }
    }

    /// Reads a report.
    ///
    /// # Errors
    /// [`ReportError`] when the bytes are not the canonical form of a report of this schema.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, ReportError> {
        let value = parse(&bytes).map_err(ReportError::NotJson)?;
        let found = text_at(&value, &["schema"]).unwrap_or("").to_owned();
        if found != SCHEMA {
            return Err(ReportError::OtherSchema { found });
        }
        if value.to_document() != bytes {
            return Err(ReportError::NotCanonical);
        }
        Ok(Self { digest: Sha256::of(&bytes), bytes, value })
    }

    /// Returns the file's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the report digest: what `sha256sum report.json` prints.
    pub fn digest(&self) -> Sha256 {
        self.digest
    }

    /// Returns the whole value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the name of the metric definitions.
    pub fn definition(&self) -> &str {
        text_at(&self.value, &["definition"]).unwrap_or("")
    }

    /// Returns the job's key as the report states it.
    pub fn key(&self) -> Option<Sha256> {
        text_at(&self.value, &["inputs", "key"])?.parse().ok()
    }

    /// Returns the digest of a section.
    pub fn section(&self, section: Section) -> Option<Sha256> {
        text_at(&self.value, &["sections", section.name()])?.parse().ok()
    }

    /// Returns the digest of `requests.jsonl`.
    pub fn requests_digest(&self) -> Option<Sha256> {
        text_at(&self.value, &["requests", "digest"])?.parse().ok()
    }

    /// Returns the digest of `events.jsonl`.
    pub fn events_digest(&self) -> Option<Sha256> {
        text_at(&self.value, &["events", "digest"])?.parse().ok()
    }

    /// Returns why the job failed; empty where it did not.
    pub fn failures(&self) -> Vec<&str> {
        let failures = list_at(&self.value, &["validity", "failures"]);
        failures.iter().filter_map(|failure| text_at(failure, &["text"])).collect()
    }

    /// Returns what to change about each of [`Report::failures`], where its cause is known.
    pub fn advice(&self) -> Vec<Option<Advice>> {
        let failures = list_at(&self.value, &["validity", "failures"]);
        let advice = |failure| {
            let (setting, help) = (text_at(failure, &["setting"])?, text_at(failure, &["help"])?);
            Some(Advice::new(setting, help))
        };
        failures.iter().map(advice).collect()
    }

    /// Returns whether an engine cannot say a metric of this family: its absence is no finding about the run.
    pub fn is_untold(&self, family: Family) -> bool {
        text_at(&self.value, &["validity", "absent", family.name()])
            == Some(Absence::NotTold.name())
    }

    /// Returns whether a law is broken: a bug.
    pub fn has_broken_invariant(&self) -> bool {
        list_at(&self.value, &["validity", "failures"])
            .iter()
            .any(|failure| text_at(failure, &["reason"]) == Some("broken-invariant"))
    }

    /// Returns what people should know of the run: how many requests were refused or failed and why, and what the engine said.
    pub fn warnings(&self) -> Vec<&str> {
        list_at(&self.value, &["validity", "warnings"])
            .iter()
            .filter_map(|warning| text_at(warning, &[]))
            .collect()
    }

    /// Returns a figure as the report writes it, or `None` where it is absent.
    pub fn figure(&self, name: MetricName) -> Option<&Value> {
        at(&self.value, &["summary", &name.to_string()])
    }

    /// Returns a count.
    pub fn count(&self, name: MetricName) -> Option<u64> {
        self.figure(name)?.as_count()
    }

    /// Returns a time.
    pub fn time(&self, name: MetricName) -> Option<Nanos> {
        self.count(name).map(Nanos::new)
    }

    /// Returns a share.
    pub fn share(&self, name: MetricName) -> Option<Ppm> {
        Ppm::of(self.count(name)?, 1_000_000)
    }

    /// Returns a rate as its decimal text.
    pub fn rate(&self, name: MetricName) -> Option<&str> {
        text_at(&self.value, &["summary", &name.to_string()])
    }

    /// Returns every figure as text, by name in the order of docs/metrics.md.
    pub fn figures(&self) -> BTreeMap<MetricName, String> {
        MetricName::all()
            .filter_map(|name| Some((name, figure_text(self.figure(name)?)?)))
            .collect()
    }
}

/// Returns a figure as text.
fn figure_text(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.clone()),
        Value::Null | Value::Bool(_) | Value::Real(_) | Value::List(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_report_are_refused_by_reason() {
        let parse = |text: &str| Report::parse(text.as_bytes().to_vec());
        assert!(matches!(parse("{"), Err(ReportError::NotJson(_))));
        assert!(matches!(parse("{}\n"), Err(ReportError::OtherSchema { .. })));
        assert_eq!(
            parse("{\"schema\": \"touchstone.report/1\"}\n"),
            Err(ReportError::NotCanonical)
        );
    }
}
