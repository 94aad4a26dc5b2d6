//! A mock server in a process of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use crate::cli::{Exit, Failure};
use crate::diag::{Code, Problem};

/// A mock server in a process of its own; it ends with this.
#[derive(Debug)]
pub(super) struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    /// Starts this program's `mock` with arguments, and returns when it listens.
    ///
    /// # Errors
    /// [`Code::MockStart`] where it does not.
    pub(super) fn start(arguments: &[&str]) -> Result<Self, Failure> {
        let started = std::env::current_exe().and_then(|program| {
            Command::new(program)
                .args(["mock", "--while-stdin"])
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
        });
        let mut child = started.map_err(|error| failed(&error.to_string()))?;
        let mut line = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        let address = match read {
            Some(Ok(_)) => address_of(&line),
            Some(Err(_)) | None => None,
        };
        let Some(address) = address else {
            end(&mut child);
            return Err(failed("it did not say where it listens"));
        };
        Ok(Self { child, address })
    }

    /// Returns where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Ends a server: its input ends, and it with it.
fn end(child: &mut Child) {
    drop(child.stdin.take());
    // One that has ended already is waited for all the same.
    let _ended = child.wait();
}

/// Returns the address in the line that a server prints.
fn address_of(line: &str) -> Option<SocketAddr> {
    let json: serde_json::Value = serde_json::from_str(line).ok()?;
    let url = json.get("url")?.as_str()?;
    url.strip_prefix("http://")?.strip_suffix("/v1")?.parse().ok()
}

fn failed(why: &str) -> Failure {
    let message = format!("cannot start a mock server in a process of its own: {why}");
    Failure::new(Exit::JobFailed, Problem::new(Code::MockStart, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_that_of_the_line() {
        let line = "{\"socket\":null,\"url\":\"http://127.0.0.1:80/v1\"}\n";
        assert_eq!(address_of(line), Some(SocketAddr::from(([127, 0, 0, 1], 80))));
        assert_eq!(address_of(""), None);
    }
}
