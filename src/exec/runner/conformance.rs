//! What the protocol asks of every runner, whatever its engine: cases that are put to a built one.
//!
//! That its answers are right, other tests judge; here it is whether it takes its own requests and no others, and says so as docs/engines.md has it.

use crate::diag::{Bag, Code, Problem};
use crate::exec::JobError;
use crate::pin::EnginePin;
use crate::protocol::PROTOCOL;

use super::process::{Limits, ask};
use super::{RunnerError, Upstream};

/// How long a case may take, and how long its answer may be.
const LIMITS: Limits = Limits { seconds: 60, answer_bytes: 1 << 20 };

/// A case: its name, the request, with the words `NAME`, `VERSION` and `PROTOCOL` for what the pin says, and what must come of it.
struct Case {
    name: &'static str,
    request: &'static str,
    wanted: Wanted,
}

/// What must come of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Exit code 2: there was no request that it can read, or it is meant for another engine.
    NoRequest,
    /// An answer for the job that was asked, in which the engine refuses it.
    Refusal,
}

/// Every case.
const CASES: [Case; 9] = [
    Case { name: "no request", request: "", wanted: Wanted::NoRequest },
    Case { name: "no JSON", request: "{\"protocol\":", wanted: Wanted::NoRequest },
    Case { name: "another document", request: "[1, 2]", wanted: Wanted::NoRequest },
    Case {
        name: "another protocol",
        request: r#"{"protocol":"PROTOCOL0","job":"a","engine":{"name":"NAME","version":"VERSION"},"spec":{}}"#,
        wanted: Wanted::NoRequest,
    },
    Case {
        name: "another engine",
        request: r#"{"protocol":"PROTOCOL","job":"a","engine":{"name":"no-NAME","version":"VERSION"},"spec":{}}"#,
        wanted: Wanted::NoRequest,
    },
    Case {
        name: "another version",
        request: r#"{"protocol":"PROTOCOL","job":"a","engine":{"name":"NAME","version":"VERSION.0"},"spec":{}}"#,
        wanted: Wanted::NoRequest,
    },
    Case {
        name: "no job",
        request: r#"{"protocol":"PROTOCOL","engine":{"name":"NAME","version":"VERSION"},"spec":{}}"#,
        wanted: Wanted::NoRequest,
    },
    Case {
        name: "a field that the protocol lacks",
        request: r#"{"protocol":"PROTOCOL","job":"a","engine":{"name":"NAME","version":"VERSION"},"spec":{},"more":1}"#,
        wanted: Wanted::NoRequest,
    },
    Case {
        name: "a job that no engine runs",
        request: r#"{"protocol":"PROTOCOL","job":"JOB","engine":{"name":"NAME","version":"VERSION"},"spec":{"nothing":true}}"#,
        wanted: Wanted::Refusal,
    },
];

/// The job of the case that is answered.
const JOB: &str = "0123456789abcdef";

impl Upstream {
    /// Puts every case of the protocol to the runner and returns how many there are.
    ///
    /// # Errors
    /// [`Code::EngineProtocol`] for each case of which something else comes.
    pub fn conforms(&self) -> Result<usize, Bag> {
        let mut bag = Bag::new();
        for case in &CASES {
            if let Err(found) = self.case(case) {
                let (name, version) = (&self.pin.name, &self.pin.version);
                let message = format!(
                    "the runner of {name} {version} does not keep to the protocol: {}: {found}",
                    case.name
                );
                bag.push(
                    Problem::new(Code::EngineProtocol, message).help(
                        "docs/engines.md says what a runner answers, and with which exit code",
                    ),
                );
            }
        }
        if bag.is_empty() { Ok(CASES.len()) } else { Err(bag) }
    }

    /// Puts one case to the runner.
    fn case(&self, case: &Case) -> Result<(), String> {
        let request = filled(case.request, &self.pin);
        let found = ask(&self.program, request.into_bytes(), LIMITS, None);
        match (case.wanted, found) {
            (Wanted::NoRequest, Err(JobError::Runner(RunnerError::Crashed { how, stderr }))) => {
                if !how.ends_with(": 2") {
                    return Err(format!("it ends with {how}, and exit code 2 says so"));
                }
                if stderr.trim().is_empty() {
                    return Err("it says nothing on stderr".to_owned());
                }
                Ok(())
            }
            (Wanted::NoRequest, Ok(_)) => Err("it answers".to_owned()),
            (Wanted::Refusal, Ok((answer, stderr))) => match self.read(&answer, JOB, &stderr) {
                Err(RunnerError::Refused { .. }) => Ok(()),
                Err(error) => Err(error.to_string()),
                Ok(_) => Err("the engine ran it".to_owned()),
            },
            (_, Err(error)) => Err(error.to_string()),
        }
    }
}

/// Returns the request of a case to the runner of a pin.
fn filled(request: &str, pin: &EnginePin) -> String {
    let texts =
        [("PROTOCOL", PROTOCOL), ("NAME", &pin.name), ("VERSION", &pin.version), ("JOB", JOB)];
    texts.into_iter().fold(request.to_owned(), |request, (word, text)| request.replace(word, text))
}
