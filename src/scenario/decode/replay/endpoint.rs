//! Where requests go.

use super::connection::{Security, check_proxy, check_security, client};
use super::header;
use super::request::request;
use super::settings::nanos;
use crate::diag::{Bag, Code};
use crate::scenario::cursor::View;
use crate::units::Nanos;
use crate::workload::live::{EndpointSettings, MockSettings, SessionRouting, Target, Timeouts};

/// Limits without a `timeout` node: those that its properties have as defaults.
const TIMEOUTS: Timeouts = Timeouts {
    connect: Some(Nanos::new(10_000_000_000)),
    first_byte: Some(Nanos::new(600_000_000_000)),
    idle: Some(Nanos::new(600_000_000_000)),
    total: None,
};

/// Decodes an `endpoint` of a `replay`; `None` where the bag says why.
pub(super) fn endpoint(
    view: &View<'_>,
    replay: &View<'_>,
    routing: Option<&SessionRouting>,
    bag: &mut Bag,
) -> Option<EndpointSettings> {
    let target = target(view, bag);
    let request = request(view, routing, bag);
    let headers = header::headers(view, routing, bag);
    let timeouts = replay.child("timeout").map_or(Some(TIMEOUTS), |node| timeouts(node, bag));
    let client = client(view, bag);
    if let Some(target) = &target {
        check_security(view, Security::of(target), bag);
    }
    check_proxy(view, bag);
    check_key(view, bag);
    let text = |name: &str| view.text(name).map(str::to_owned);
    Some(EndpointSettings {
        target: target?,
        request: request?,
        api_key_env: text("api-key-env"),
        ca: text("ca"),
        client,
        proxy: text("proxy"),
        headers: headers?,
        timeouts: timeouts?,
    })
}

/// Decodes the target.
fn target(view: &View<'_>, bag: &mut Bag) -> Option<Target> {
    let url = view.text("URL")?;
    let mock = view.child("mock");
    if url == "mock" {
        let script = mock.map_or(Some(MockSettings::default()), |node| script(node, bag));
        return script.map(Target::Mock);
    }
    if let Some(mock) = mock {
        let message = "`mock` says what the server in `bench` does, and this endpoint is another";
        let problem = mock.head().problem(Code::ScenarioConflict, message, "of no effect");
        bag.push(problem.help("write `endpoint \"mock\"`, or remove the node"));
    }
    if let Some(path) = url.strip_prefix("unix:") {
        if path.starts_with('/') {
            return Some(Target::Unix(path.to_owned()));
        }
    } else if is_url(url) {
        return Some(Target::Url(url.trim_end_matches('/').to_owned()));
    }
    let message = format!("`{url}` is no endpoint");
    let problem = view.problem(Code::ReplayEndpoint, "URL", message, "no URL");
    bag.push(problem.help(
        "write `\"http://host:8000\"`, `\"https://host\"`, `\"unix:/run/engine.sock\"` or `\"mock\"`",
    ));
    None
}

/// Returns whether a text is `http(s)://host[:port][/path]` without user, query and fragment.
pub(super) fn is_url(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else {
        return false;
    };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    plain(path) && !path.contains(['?', '#', '"', '<', '>', '\\']) && is_authority(authority)
}

/// Returns whether a text is a host with or without a port.
fn is_authority(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => {
            let six = host.contains(':') && host.parse::<std::net::Ipv6Addr>().is_ok();
            (
                if six { "six" } else { "" },
                port.strip_prefix(':').or(port.is_empty().then_some("0")),
            )
        }
        None => text.split_once(':').map_or((text, Some("0")), |(host, port)| (host, Some(port))),
    };
    let named = !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    named && port.is_some_and(|port| port.parse::<u16>().is_ok())
}

/// Decodes what the server in `bench` does.
fn script(view: &View<'_>, bag: &mut Bag) -> Option<MockSettings> {
    let (first_token, gap) = (nanos(view, "first-token", bag)?, nanos(view, "gap", bag)?);
    let deployment = view.text("deployment").map(str::to_owned);
    for (name, delay) in [("first-token", first_token), ("gap", gap)] {
        if deployment.is_some() && delay > Nanos::ZERO {
            let message = format!("`{name}` is of no effect: the engine of the deployment decides");
            let problem = view.problem(Code::ScenarioConflict, name, message, "of no effect");
            bag.push(problem.help("remove it, or `deployment`"));
        }
    }
    Some(MockSettings { deployment, first_token, gap })
}

/// Decodes how long a request may take.
fn timeouts(view: &View<'_>, bag: &mut Bag) -> Option<Timeouts> {
    let mut limit = |name: &str| match view.real(name) {
        None => Some(None),
        Some(_) => nanos(view, name, bag).map(Some),
    };
    Some(Timeouts {
        connect: limit("connect")?,
        first_byte: limit("first-byte")?,
        idle: limit("idle")?,
        total: limit("total")?,
    })
}

/// Refuses what is no name of an environment variable: most often the key itself.
fn check_key(view: &View<'_>, bag: &mut Bag) {
    let Some(name) = view.text("api-key-env") else { return };
    let word = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || !name.bytes().all(word) || name.as_bytes()[0].is_ascii_digit() {
        let message =
            "`api-key-env` is the name of an environment variable: capitals, digits and `_`";
        let problem = view.problem(Code::ReplayEndpoint, "api-key-env", message, "no such name");
        bag.push(problem.help(
            "put the key into a variable, `export OPENAI_API_KEY=…`, and write `api-key-env=\"OPENAI_API_KEY\"`; never the key itself",
        ));
    }
}
