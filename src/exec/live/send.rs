//! One live run: the endpoint is there, the client is made, requests are sent.

use std::sync::atomic::AtomicBool;

use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::graph::content::Tokenizer;
use crate::mock::{Behaviour, Bind, MockServer, Script, Security, Settings, start};
use crate::plan::{ReplayJob, SimulationJob};
use crate::record::LiveRun;
use crate::replay::http::Client;
use crate::replay::wire::WirePlan;
use crate::replay::{LiveEvent, LiveInputs, Wall};
use crate::workload::live::{EndpointSettings, MockSettings, Target, TokenCounter};

use super::{LiveEnvironment, LiveError};

/// Refuses a job whose client cannot be had: a key, a certificate or an address that is not what the scenario says. Nothing is sent.
///
/// # Errors
/// [`Code::ReplayClient`].
pub fn check(job: &ReplayJob, environment: &LiveEnvironment) -> Result<(), Problem> {
    let endpoint = &job.settings.endpoint;
    if let Target::Mock(_) = endpoint.target {
        let stand_in = at(endpoint, "http://127.0.0.1/v1");
        return client(&stand_in, environment, Wall::start()).map(drop).map_err(|it| refused(&it));
    }
    client(endpoint, environment, Wall::start()).map(drop).map_err(|error| refused(&error))
}

/// Sends the traffic of a job and returns what was observed, also where `stop` ended it early.
///
/// # Errors
/// [`LiveError`] where nothing can be sent at all.
pub fn send(
    job: &ReplayJob,
    plan: &WirePlan,
    environment: &LiveEnvironment,
    stop: &AtomicBool,
    listener: &mut dyn FnMut(LiveEvent),
) -> Result<LiveRun, LiveError> {
    let wall = Wall::start();
    let endpoint = &job.settings.endpoint;
    let server = match &endpoint.target {
        Target::Mock(mock) => Some(serve(mock, job.served_by.as_deref(), wall)?),
        Target::Url(_) | Target::Unix(_) => None,
    };
    let endpoint = server.as_ref().map_or_else(|| endpoint.clone(), |it| at(endpoint, &it.url()));
    let client = client(&endpoint, environment, wall)?;
    let counter = counts(&job.settings.tokens, environment)?;
    let run = LiveInputs { plan, client, counter: counter.as_ref() }.run(stop, listener)?;
    drop(server); // it served to the end
    Ok(run)
}

/// Returns who counts the tokens of answers here; nobody where the server does.
fn counts(
    tokens: &TokenCounter,
    environment: &LiveEnvironment,
) -> Result<Option<Tokenizer>, LiveError> {
    match tokens {
        TokenCounter::Server => Ok(None),
        TokenCounter::Builtin => Ok(Some(Tokenizer::builtin())),
        TokenCounter::File { path, digest } => {
            let unreadable = |reason| LiveError::Unreadable { path: path.clone(), reason };
            let bytes = std::fs::read(environment.root.join(path)).map_err(unreadable)?;
            // Traffic may start long after it was planned: the file must still be the one that the plan was made with.
            let found = Sha256::of(&bytes);
            if found != *digest {
                return Err(LiveError::Changed { path: path.clone(), planned: *digest, found });
            }
            let read = Tokenizer::from_json(path, &bytes);
            read.map(Some).map_err(|problem| LiveError::Tokenizer(problem.message().to_owned()))
        }
    }
}

/// Starts the server in `bench` itself on the loopback device: the engine of a deployment, or exact delays.
fn serve(
    mock: &MockSettings,
    engine: Option<&SimulationJob>,
    wall: Wall,
) -> Result<MockServer, LiveError> {
    let behaviour = match engine {
        Some(job) => Behaviour::Simulated(Box::new(job.clone())),
        None => Behaviour::Scripted(Script::fixed(mock.first_token, mock.gap)),
    };
    let bind = Bind::Loopback(0);
    Ok(start(Settings { bind, security: Security::Plain, behaviour, wall })?)
}

/// Returns an endpoint at another URL.
fn at(endpoint: &EndpointSettings, url: &str) -> EndpointSettings {
    EndpointSettings { target: Target::Url(url.to_owned()), ..endpoint.clone() }
}

/// Returns the client of an endpoint.
fn client(
    endpoint: &EndpointSettings,
    environment: &LiveEnvironment,
    wall: Wall,
) -> Result<Client, LiveError> {
    Ok(Client::new(endpoint, &environment.surroundings(endpoint), wall)?)
}

/// Returns the problem of a client that cannot be had. No error of a client holds a key.
fn refused(error: &LiveError) -> Problem {
    Problem::new(Code::ReplayClient, error.to_string()).help(error.help())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns why a tokenizer, planned with the digest of `planned`, counts nothing in this folder.
    fn refused(root: &std::path::Path) -> LiveError {
        let environment = LiveEnvironment { root: root.to_owned(), ..LiveEnvironment::default() };
        let digest = Sha256::of(b"planned");
        let counter = TokenCounter::File { path: "tokenizer.json".to_owned(), digest };
        counts(&counter, &environment).expect_err("it is not the file of the plan")
    }

    #[test]
    fn a_tokenizer_that_changed_since_it_was_planned_counts_nothing() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::write(root.path().join("tokenizer.json"), "changed").expect("written");
        assert_eq!(
            refused(root.path()).to_string(),
            format!(
                "`tokenizer.json` has changed since the job was planned: {} then, {} now",
                Sha256::of(b"planned"),
                Sha256::of(b"changed")
            )
        );
    }

    #[test]
    fn a_tokenizer_that_is_gone_since_it_was_planned_is_named_with_what_to_do() {
        let root = tempfile::tempdir().expect("a folder");
        let error = refused(root.path());
        let told = error.to_string();
        assert!(told.starts_with("cannot read the tokenizer `tokenizer.json`, which"), "{told}");
        assert!(error.help().starts_with("put the file back"), "{}", error.help());
    }
}
