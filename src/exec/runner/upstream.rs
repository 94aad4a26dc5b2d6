//! An upstream engine: its pin, its runner, and a job asked of it.

use std::path::PathBuf;

use crate::digest::Sha256;
use crate::exec::JobError;
use crate::pin::EnginePin;
use crate::plan::{Part, SimulationJob};
use crate::protocol::{
    EngineRun, PROTOCOL, RunnerEngine, RunnerOutcome, RunnerRequest, RunnerResponse,
};
use crate::record::RunRecord;
use crate::sim::{OfferedName, Options, SimError, Unsupported};
use crate::workload::Corpus;

use super::answer::{Unusable, record};
use super::process::{Limits, ask};
use super::traffic::{Asked, asked};
use super::{RunnerError, spec::spec};

/// An upstream engine with the runner that speaks for it.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Its pin.
    pub pin: EnginePin,
    /// The runner.
    pub program: PathBuf,
    /// The digest of the runner's bytes.
    pub digest: Sha256,
    /// What the runner may take.
    pub limits: Limits,
}

impl Upstream {
    /// Runs a job that the pin's capabilities cover.
    ///
    /// # Errors
    /// [`JobError::Runner`] where the runner has no usable answer, [`JobError::Interrupted`], and what is wrong with the workload.
    pub fn run(
        &self,
        job: &SimulationJob,
        corpus: Option<&Corpus>,
        options: &Options<'_>,
    ) -> Result<RunRecord, JobError> {
        if corpus.is_some_and(|corpus| corpus.plays().is_some()) {
            let what = format!("recorded plays on engine `{}` {}", self.pin.name, self.pin.version);
            return Err(SimError::from(Unsupported::new(what, Part::Workload)).into());
        }
        let key = job.key().digest().hex();
        let (bytes, names) = self.request(job, asked(job, corpus)?, &key);
        let (answer, stderr) = ask(&self.program, bytes, self.limits, options.stop)?;
        let run = self.read(&answer, &key, &stderr)?;
        if let Some(progress) = options.progress {
            let done = run.requests.len() as u64;
            progress.set(0, done);
        }
        record(job, &names, &run, options.keep_events).map_err(|unusable| match unusable {
            Unusable::Nonsense(found) => RunnerError::Nonsense { found, stderr }.into(),
            Unusable::Spill(error) => error.into(),
        })
    }

    /// Returns the bytes of the request for a job, and whose each of its turns is.
    fn request(
        &self,
        job: &SimulationJob,
        asked: Asked,
        key: &str,
    ) -> (Vec<u8>, Vec<Vec<OfferedName>>) {
        let Asked { requests, traffic, names } = asked;
        let request = RunnerRequest {
            protocol: PROTOCOL,
            job: key.to_owned(),
            engine: self.engine(),
            spec: spec(job, &requests),
            traffic,
        };
        (serde_json::to_vec(&request).expect("a request has a JSON form"), names)
    }

    /// Returns whom requests and answers name.
    fn engine(&self) -> RunnerEngine {
        RunnerEngine { name: self.pin.name.clone(), version: self.pin.version.clone() }
    }

    /// Reads an answer and checks whose it is.
    pub(super) fn read(
        &self,
        answer: &[u8],
        key: &str,
        stderr: &str,
    ) -> Result<EngineRun, RunnerError> {
        let nonsense = |found: String| RunnerError::Nonsense { found, stderr: stderr.to_owned() };
        let response: RunnerResponse =
            serde_json::from_slice(answer).map_err(|error| nonsense(error.to_string()))?;
        if response.protocol != PROTOCOL {
            let found = format!("it speaks `{}` instead of `{PROTOCOL}`", response.protocol);
            return Err(nonsense(found));
        }
        if response.engine != self.engine() {
            let RunnerEngine { name, version } = response.engine;
            return Err(nonsense(format!("it comes from engine `{name}` {version}")));
        }
        if response.job != key {
            return Err(nonsense(format!("it is for job {} instead of {key}", response.job)));
        }
        match response.outcome {
            RunnerOutcome::Completed(run) => Ok(*run),
            RunnerOutcome::Refused { message } => Err(RunnerError::Refused { message }),
        }
    }
}
