//! How long a live run takes from its command to its first request.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::served::Served;
use crate::cli::{Exit, Failure};
use crate::diag::{Code, Problem};
use crate::mock::proof::first_arrival;
use crate::replay::Wall;
use crate::units::Nanos;

/// Sessions of the capture.
const SESSIONS: u64 = 8;
/// Calls of each.
const CALLS: u64 = 4;
/// The pin of the capture. `bench pin` adds its digest.
const PIN: &str = r#"trace "sessions" {
    about "Sessions that grow."
    format "dynamo"
    shard "sessions.jsonl"
    origin "written to be measured with" license="Apache-2.0"
}
"#;

/// Returns how long a process of this program takes from its start until its first request has reached a server: it reads a scenario, verifies
/// and lowers a pinned capture, plans every request and connects.
///
/// # Errors
/// [`Code::MockStart`] where no request came, with what the process said.
pub(super) fn first_request(served: &Served) -> Result<Nanos, Failure> {
    let folder = tempfile::tempdir().map_err(|error| unmeasured(&error))?;
    let root = folder.path();
    write(root, served).map_err(|error| unmeasured(&error))?;
    for pinned in ["pins/traces/sessions.kdl", "first.kdl"] {
        bench(root, ["pin", pinned]).map_err(|error| unmeasured(&error))?;
    }
    let measured = || -> io::Result<Option<Nanos>> {
        // What the server has told of is forgotten there.
        first_arrival(served.address())?;
        let begun = Wall::start().epoch();
        bench(root, ["run", "first.kdl"])?;
        Ok(first_arrival(served.address())?.and_then(|arrived| arrived.since(begun)))
    };
    let found = measured().map_err(|error| unmeasured(&error))?;
    found.ok_or_else(|| unmeasured(&io::Error::other("no request arrived")))
}

/// Writes a project: a capture, its pin, and a scenario that replays it.
fn write(root: &Path, served: &Served) -> io::Result<()> {
    std::fs::create_dir_all(root.join("pins/traces"))?;
    std::fs::write(root.join("pins/traces/sessions.jsonl"), capture())?;
    std::fs::write(root.join("pins/traces/sessions.kdl"), PIN)?;
    std::fs::write(root.join("first.kdl"), scenario(&format!("http://{}/v1", served.address())))
}

/// Returns the scenario that sends the capture at once.
fn scenario(url: &str) -> String {
    format!(
        r#"scenario "first" {{
    seed 1
    pins {{
        trace "sessions"
    }}
    workload "sessions" {{
        trace "sessions"
        load "recorded" speedup=1000.0
    }}
    replay "wire" {{
        workload "sessions"
        endpoint "{url}" model="m" streaming=#true usage=#true
        lanes 8
    }}
}}
"#
    )
}

/// Returns a capture of sessions whose prompts grow by 16 blocks a call.
fn capture() -> String {
    let mut lines = String::new();
    for session in 0..SESSIONS {
        for call in 0..CALLS {
            let blocks = (call + 1) * 16;
            let input = blocks * 16;
            let received = 1_760_000_000_000 + call * 1_000;
            let ended = received + 500;
            let hashes: Vec<String> =
                (0..blocks).map(|block| (session * 1_000 + block + 1).to_string()).collect();
            let hashes = hashes.join(",");
            let line = writeln!(
                lines,
                r#"{{"timestamp":{ended},"event":{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{ended},"event_source":"dynamo","agent_context":{{"session_id":"s{session}","trajectory_id":"s{session}","session_type_id":"measured"}},"request":{{"request_id":"s{session}-{call}","model":"m","input_tokens":{input},"output_tokens":4,"cached_tokens":0,"request_received_ms":{received},"total_time_ms":500.0,"replay":{{"trace_block_size":16,"input_length":{input},"input_sequence_hashes":[{hashes}]}}}}}}}}"#
            );
            line.expect("a text takes what is written");
        }
    }
    lines
}

/// Runs this program in a folder.
///
/// # Errors
/// Where it cannot be started, or did not succeed: what it said.
fn bench(root: &Path, arguments: [&str; 2]) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.current_dir(root).args(arguments).stdin(Stdio::null());
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("`bench {}`: {said}", arguments.join(" "))))
}

/// Returns the failure of a measurement that nothing is known of.
fn unmeasured(error: &io::Error) -> Failure {
    let message = format!("cannot measure the first request of a live run: {error}");
    Failure::new(Exit::JobFailed, Problem::new(Code::MockStart, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capture_is_one_of_whole_sessions() {
        let lines = capture();
        assert_eq!(lines.lines().count() as u64, SESSIONS * CALLS);
        for line in lines.lines() {
            let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let replay = &record["event"]["request"]["replay"];
            let hashes = replay["input_sequence_hashes"].as_array().expect("a list").len();
            assert_eq!(replay["input_length"].as_u64(), Some(hashes as u64 * 16));
        }
    }
}
