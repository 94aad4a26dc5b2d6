//! The estimator's process: one JSON value a line, each way.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};

use super::{Estimator, ExportError, Pass, PassAnswer};

/// The protocol that both sides name first.
pub const PROTOCOL: &str = "touchstone.timing-export/1";

/// What runs on the other side.
const SCRIPT: &str = include_str!("estimator.py");

/// What is to be timed.
#[derive(Debug, Clone, Serialize)]
pub struct ExportSubject {
    /// The protocol.
    pub protocol: &'static str,
    /// Names of the model; the first that the estimator knows counts.
    pub models: Vec<String>,
    /// The hardware.
    pub hardware: String,
    /// The engine.
    pub backend: String,
    /// Its version; the estimator's current one where absent.
    pub backend_version: Option<String>,
    /// Tensor parallelism.
    pub tensor: u32,
    /// Pipeline parallelism.
    pub pipeline: u32,
    /// Attention data parallelism.
    pub attention_data: u32,
    /// Tensor parallelism of the experts.
    pub moe_tensor: u32,
    /// Expert parallelism.
    pub moe_expert: u32,
}

/// What the estimator says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Announced {
    /// The protocol.
    pub protocol: String,
    /// The package that answers.
    pub package: String,
    /// Its version.
    pub package_version: String,
    /// The model's name there.
    pub model: String,
    /// The engine's version.
    pub backend_version: String,
    /// The number formats.
    pub quantization: AnnouncedFormats,
    /// How it averages decode attention, where it does.
    pub decode_average: Option<String>,
}

/// Number formats as the estimator names them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnouncedFormats {
    /// Of the weights.
    pub weights: String,
    /// Of the experts' weights.
    pub experts: String,
    /// Of attention.
    pub activations: String,
    /// Of the KV cache.
    pub kv: String,
}

/// The estimator's process.
#[derive(Debug)]
pub struct Child {
    process: Process,
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// A line that is asked.
#[derive(Serialize)]
struct Asked {
    prefill: Vec<[u64; 3]>,
    decode: Vec<[u64; 2]>,
}

/// A line that is answered.
#[derive(Deserialize)]
struct Answered {
    passes: Vec<[f64; 3]>,
}

/// A line that says why there is none.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Child {
    /// Starts the estimator under an interpreter and tells it what is to be timed.
    ///
    /// # Errors
    /// [`ExportError`] where the interpreter is not there, or the estimator has no answers for the subject.
    pub fn start(python: &str, subject: &ExportSubject) -> Result<(Self, Announced), ExportError> {
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::piped()).spawn().map_err(|error| {
            ExportError::NoInterpreter { python: python.to_owned(), cause: error.to_string() }
        })?;
        let asks = process.stdin.take();
        let answers = process.stdout.take().expect("stdout was piped");
        let mut child = Self { process, asks, answers: BufReader::new(answers) };
        child.send(subject);
        let announced: Announced = child.receive()?;
        if announced.protocol != PROTOCOL {
            let found = format!("it speaks `{}` instead of `{PROTOCOL}`", announced.protocol);
            return Err(ExportError::protocol(found));
        }
        Ok((child, announced))
    }

    /// Sends a value.
    fn send(&mut self, value: &impl Serialize) {
        let mut line = serde_json::to_vec(value).expect("what is asked has a JSON form");
        line.push(b'\n');
        let asks = self.asks.as_mut().expect("open until the child is dropped");
        // A child that is gone says why on its way out: the answer is what is missing.
        let _sent = asks.write_all(&line).and_then(|()| asks.flush());
    }

    /// Receives a value, or why there is none.
    fn receive<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, ExportError> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line);
        if read.is_err() || line.is_empty() {
            return Err(self.ended());
        }
        if let Ok(Refusal { error }) = serde_json::from_str(&line) {
            return Err(ExportError::Refused(error));
        }
        serde_json::from_str(&line).map_err(|error| ExportError::protocol(error.to_string()))
    }

    /// Returns why there is no answer: the last line that the child left on stderr.
    fn ended(&mut self) -> ExportError {
        self.asks = None;
        let mut text = String::new();
        if let Some(stderr) = self.process.stderr.as_mut() {
            let _read = stderr.read_to_string(&mut text); // what could be read is shown
        }
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        ExportError::protocol(format!("it ended early: {}", last.unwrap_or("without a word")))
    }
}

impl Estimator for Child {
    fn answer(&mut self, passes: &[Pass]) -> Result<Vec<PassAnswer>, ExportError> {
        let mut asked = Asked { prefill: Vec::new(), decode: Vec::new() };
        for pass in passes {
            match *pass {
                Pass::Prefill { requests, length, prefix } => {
                    asked.prefill.push([requests, length, prefix]);
                }
                Pass::Decode { requests, context } => asked.decode.push([requests, context]),
            }
        }
        self.send(&asked);
        let Answered { passes: found } = self.receive()?;
        if found.len() != passes.len() {
            let found = format!("{} answers to {} passes", found.len(), passes.len());
            return Err(ExportError::protocol(found));
        }
        // prompts were asked first: answers go back to their places
        let (mut prefills, decodes) = found.split_at(asked.prefill.len());
        let mut decodes = decodes;
        let mut answers = Vec::with_capacity(passes.len());
        for pass in passes {
            let part = match pass {
                Pass::Prefill { .. } => &mut prefills,
                Pass::Decode { .. } => &mut decodes,
            };
            let ([total, attention, head], rest) = part.split_first().expect("as many as asked");
            *part = rest;
            let answer = PassAnswer { total: *total, attention: *attention, head: *head };
            let parts = [answer.total, answer.attention, answer.head];
            if parts.iter().any(|part| !part.is_finite() || *part < 0.0) {
                return Err(ExportError::protocol(format!("{pass:?} takes {parts:?} ms")));
            }
            answers.push(answer);
        }
        Ok(answers)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.asks = None; // the end of its input is the end of its work
        let _killed = self.process.kill();
        let _status = self.process.wait(); // nothing is asked of one that is dropped
    }
}
