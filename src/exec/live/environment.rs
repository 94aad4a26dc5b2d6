//! What live traffic may use of the environment.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::replay::http::{ApiKey, Surroundings};
use crate::workload::live::EndpointSettings;

/// What live traffic may use of the environment; a scenario alone decides the rest.
#[derive(Debug, Clone, Default)]
pub struct LiveEnvironment {
    /// The folder that paths of the scenario start from.
    pub root: PathBuf,
    /// The variable `SSL_CERT_FILE`.
    pub ssl_cert_file: Option<PathBuf>,
    /// The keys of APIs, by the variable that a scenario names; nothing prints them.
    pub keys: BTreeMap<String, ApiKey>,
    /// Variables that are set, name a proxy, and count for nothing. Their values may hold a password, and are not kept.
    pub ignored: Vec<ProxyVariable>,
}

/// The name of a variable by which other programs are told of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyVariable(pub &'static str);

impl ProxyVariable {
    /// Every such variable, in the order in which they are told.
    pub const ALL: [Self; 8] = [
        Self("ALL_PROXY"),
        Self("HTTPS_PROXY"),
        Self("HTTP_PROXY"),
        Self("NO_PROXY"),
        Self("all_proxy"),
        Self("https_proxy"),
        Self("http_proxy"),
        Self("no_proxy"),
    ];
}

impl LiveEnvironment {
    /// Returns what the client of an endpoint is given.
    pub(super) fn surroundings(&self, endpoint: &EndpointSettings) -> Surroundings {
        let key = endpoint.api_key_env.as_ref().and_then(|variable| self.keys.get(variable));
        Surroundings {
            root: self.root.clone(),
            ssl_cert_file: self.ssl_cert_file.clone(),
            api_key: key.cloned(),
        }
    }

    /// Returns the variables that count for nothing, by name.
    pub fn ignored(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.ignored.iter().map(|variable| variable.0)
    }
}
