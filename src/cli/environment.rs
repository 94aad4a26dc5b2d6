//! What the process environment says, read once.

use std::env;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::exec::live::{LiveEnvironment, ProxyVariable};
use crate::plan::{JobKind, Plan};
use crate::replay::http::ApiKey;

/// A snapshot of the environment variables and terminals that steer presentation, never a result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Environment {
    /// Whether `CI` is set to anything but `false`, `0` or nothing: writes to `pins/` are then forbidden.
    pub(crate) continuous_integration: bool,
    /// Whether `NO_COLOR` is set to anything but nothing.
    pub(crate) no_color: bool,
    /// What stderr leads to.
    pub(crate) stderr: Stderr,
}

/// What stderr leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stderr {
    /// A file, a pipe, or a terminal that calls itself `dumb`.
    Plain,
    /// A terminal that draws.
    Terminal,
}

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn snapshot() -> Self {
        let dumb = variable("TERM").is_some_and(|value| value == "dumb");
        Self {
            continuous_integration: variable("CI")
                .is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false")),
            no_color: variable("NO_COLOR").is_some_and(|value| !value.is_empty()),
            stderr: if std::io::stderr().is_terminal() && !dumb {
                Stderr::Terminal
            } else {
                Stderr::Plain
            },
        }
    }
}

/// Returns how many jobs run side by side where nothing is said: one for each processor, at least one.
#[expect(clippy::disallowed_methods, reason = "decides how long a run takes, never what it yields")]
pub(crate) fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Returns who uses the program, for the header of a golden: the login name; without one, what git says.
///
/// Git comes last: in a hook or a rebase `GIT_AUTHOR_NAME` is the author of the commit at hand, who need not be who accepts.
pub(crate) fn user() -> String {
    first_name(variable)
}

/// Returns the first name that the environment knows, or `unknown`.
fn first_name(variable: impl Fn(&str) -> Option<String>) -> String {
    ["LOGNAME", "USER", "USERNAME", "GIT_AUTHOR_NAME"]
        .into_iter()
        .filter_map(variable)
        .find(|name| !name.trim().is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the machine's name, for provenance; `None` where it has none.
pub(crate) fn host() -> Option<String> {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = told.or_else(|| variable("HOSTNAME")).or_else(|| variable("COMPUTERNAME"))?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns the revision of the sources, where whoever packaged the program tells it in `TOUCHSTONE_REVISION`.
///
/// Told at run time: a revision inside the program would give every commit another program, though no source of it changed.
pub(crate) fn revision() -> Option<String> {
    variable("TOUCHSTONE_REVISION").filter(|revision| !revision.trim().is_empty())
}

/// Returns what live traffic of a plan may use of the environment: `SSL_CERT_FILE`, and the keys whose variables it names. Of proxy
/// variables only the names are kept: they count for nothing.
pub(crate) fn live_environment(plan: &Plan) -> LiveEnvironment {
    let named = plan.jobs.iter().filter_map(|job| match &job.kind {
        JobKind::Replay(replay) => replay.settings.endpoint.api_key_env.clone(),
        JobKind::Simulation(_) => None,
    });
    let keys = named.filter_map(|name| Some((ApiKey::new(&variable(&name)?)?, name)));
    let is_set = |it: &ProxyVariable| variable(it.0).is_some_and(|value| !value.is_empty());
    let certificates = variable("SSL_CERT_FILE").filter(|path| !path.is_empty());
    LiveEnvironment {
        root: plan.root.clone(),
        ssl_cert_file: certificates.map(PathBuf::from),
        keys: keys.map(|(key, name)| (name, key)).collect(),
        ignored: ProxyVariable::ALL.into_iter().filter(is_set).collect(),
    }
}

/// Where runners of upstream engines are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunnerFolders {
    /// The folder for what this program builds outside of checkouts: `TOUCHSTONE_CACHE`, else that of the user's caches.
    pub(crate) cache: Option<PathBuf>,
    /// Ready-made runners: `TOUCHSTONE_RUNNERS`.
    pub(crate) prebuilt: Option<PathBuf>,
}

/// Returns where runners are.
pub(crate) fn runner_folders() -> RunnerFolders {
    folders_of(variable)
}

/// Returns where runners are, as the environment says.
fn folders_of(variable: impl Fn(&str) -> Option<String>) -> RunnerFolders {
    let folder = |name: &str| variable(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let of_user = || {
        let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
        Some(caches?.join("touchstone"))
    };
    RunnerFolders {
        cache: folder("TOUCHSTONE_CACHE").or_else(of_user),
        prebuilt: folder("TOUCHSTONE_RUNNERS"),
    }
}

/// Returns a variable, with what is no UTF-8 replaced: these are compared with fixed words only.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn variable(name: &str) -> Option<String> {
    env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_are_built_in_the_caches_of_the_user_unless_a_folder_is_named() {
        let folders = |known: &'static [(&str, &str)]| {
            let find = move |name: &str| known.iter().find(|(known, _)| *known == name);
            folders_of(move |name| find(name).map(|(_, value)| (*value).to_owned()))
        };
        let cache = |known| folders(known).cache;
        assert_eq!(cache(&[("HOME", "/h")]), Some(PathBuf::from("/h/.cache/touchstone")));
        assert_eq!(
            cache(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]),
            Some(PathBuf::from("/x/touchstone"))
        );
        assert_eq!(
            cache(&[("TOUCHSTONE_CACHE", "/t"), ("XDG_CACHE_HOME", "/x")]),
            Some(PathBuf::from("/t"))
        );
        assert_eq!(folders(&[]), RunnerFolders { cache: None, prebuilt: None });
    }

    #[test]
    fn who_accepts_is_the_login_name_before_the_author_that_git_names() {
        let known = |names: &'static [(&str, &str)]| {
            let find = |name: &str| names.iter().find(|(known, _)| *known == name);
            first_name(move |name| find(name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(known(&[("GIT_AUTHOR_NAME", "a bot"), ("USER", "ada")]), "ada");
        assert_eq!(known(&[("GIT_AUTHOR_NAME", "Ada"), ("USER", " ")]), "Ada");
        assert_eq!(known(&[]), "unknown");
    }
}
