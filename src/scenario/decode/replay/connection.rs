//! What a connection needs: certificates and proxies.

use super::endpoint::is_url;
use crate::diag::{Bag, Code};
use crate::scenario::cursor::View;
use crate::workload::live::{ClientIdentity, Target};

/// What a connection to a target goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Security {
    /// TLS.
    Tls,
    /// A network without TLS.
    Plain,
    /// Nothing that leaves the machine.
    Local,
}

impl Security {
    /// Returns that of a target.
    pub(super) fn of(target: &Target) -> Self {
        match target {
            Target::Url(url) if url.starts_with("https://") => Self::Tls,
            Target::Url(_) => Self::Plain,
            Target::Unix(_) | Target::Mock(_) => Self::Local,
        }
    }
}

/// Decodes the client's certificate, which comes with its key.
pub(super) fn client(view: &View<'_>, bag: &mut Bag) -> Option<ClientIdentity> {
    let (given, missing) = match (view.text("client-cert"), view.text("client-key")) {
        (None, None) => return None,
        (Some(certificate), Some(key)) => {
            return Some(ClientIdentity {
                certificate: certificate.to_owned(),
                key: key.to_owned(),
            });
        }
        (Some(_), None) => ("client-cert", "client-key"),
        (None, Some(_)) => ("client-key", "client-cert"),
    };
    let message = format!("`{given}` needs `{missing}`");
    let problem = view.problem(Code::ScenarioConflict, given, message, "half of an identity");
    bag.push(problem.help(format!("add `{missing}=\"PATH\"`")));
    None
}

/// Refuses certificates where nothing is encrypted, and a proxy where nothing leaves the machine.
pub(super) fn check_security(view: &View<'_>, security: Security, bag: &mut Bag) {
    for name in ["ca", "client-cert"] {
        if security != Security::Tls && view.is_given(name) {
            let message = format!("`{name}` needs an endpoint with `https://`");
            let label = "nothing is encrypted";
            bag.push(view.problem(Code::ScenarioConflict, name, message, label));
        }
    }
    if security == Security::Local && view.is_given("proxy") {
        let message = "`proxy` needs an endpoint with `http://` or `https://`";
        bag.push(view.problem(Code::ScenarioConflict, "proxy", message, "no network is used"));
    }
}

/// Refuses what is no proxy.
pub(super) fn check_proxy(view: &View<'_>, bag: &mut Bag) {
    let Some(proxy) = view.text("proxy") else { return };
    let rest = proxy.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    if !rest.is_some_and(|rest| !rest.contains('/') && is_url(proxy)) {
        let message = format!("`{proxy}` is no proxy");
        let problem = view.problem(Code::ReplayEndpoint, "proxy", message, "no `http://host:port`");
        bag.push(problem.help("write `proxy=\"http://host:3128\"`"));
    }
}
