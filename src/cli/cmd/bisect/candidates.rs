//! The versions between a good and a bad one, in the order of the registry; of `native` the behaviours, oldest first.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::cli::cmd::same_version::same_version;
use crate::diag::{Bag, Code, Problem};
use crate::exec::DerivedRoot;
use crate::pin::{EnginePin, EngineVersion, ListedVersion, Registry, listed_versions};
use crate::plan::{Compat, EngineIdentity};

/// The versions from the good one to the bad one.
#[derive(Debug)]
pub(super) struct Candidates {
    engine: String,
    root: DerivedRoot,
    versions: Vec<Candidate>,
}

/// A version that can be asked, as far as is known.
#[derive(Debug)]
struct Candidate {
    text: String,
    source: Source,
}

/// Where a version's engine comes from.
#[derive(Debug)]
enum Source {
    /// It is this program, or it is pinned.
    There,
    /// The registry has it; its pin is made from the nearest.
    Listed { nearest: Box<EnginePin>, listed: ListedVersion },
}

impl Candidates {
    /// Returns the versions of an engine from `good` to `bad`: those that are pinned, and those that the project lists.
    ///
    /// # Errors
    /// `pin::unknown` for an end that is neither, [`Code::UpgradeSame`] where both are one version,
    /// [`Code::BisectOrder`] where the bad one is before the good one.
    pub(super) fn new(root: &Path, engine: &str, ends: (&str, &str)) -> Result<Self, Bag> {
        let derived = DerivedRoot::new(root).map_err(|error| {
            let message = format!("cannot make a folder for the engine's versions: {error}");
            Problem::new(Code::RunUnwritable, message)
        })?;
        let registry = Registry::open(root)?;
        let all = if engine == "native" { native() } else { upstream(&registry, engine)? };
        let place = |stated: &str| place(&all, stated, engine);
        let (good, bad) = (place(ends.0)?, place(ends.1)?);
        if bad == good {
            let known: Vec<String> = all.iter().map(|version| version.text.clone()).collect();
            let same = (engine, all[good].text.as_str());
            return Err(same_version(same, &known, ["--good", "--bad"]).into());
        }
        if bad < good {
            let message = format!("version {} is not behind {}", all[bad].text, all[good].text);
            let order = if engine == "native" { "of the behaviours" } else { "of the registry" };
            return Err(Problem::new(Code::BisectOrder, message)
                .help(format!("`--good` is the older of the two, in the order {order}"))
                .into());
        }
        let between = all.into_iter().skip(good).take(bad - good + 1);
        Ok(Self { engine: engine.to_owned(), root: derived, versions: between.collect() })
    }

    /// Returns the versions, the good one first.
    pub(super) fn names(&self) -> Vec<String> {
        self.versions.iter().map(|version| version.text.clone()).collect()
    }

    /// Returns the root whose pins hold every version that was made ready.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Makes a version ready to be asked.
    ///
    /// # Errors
    /// Why it cannot be, in words.
    pub(super) fn ready(&self, place: usize, stop: &AtomicBool) -> Result<EngineIdentity, String> {
        let version = &self.versions[place];
        if let Source::Listed { nearest, listed } = &version.source {
            self.root.add(nearest, listed, stop)?;
        }
        let found = Registry::open(self.root())
            .map_err(Bag::from)
            .and_then(|registry| EngineIdentity::find(&registry, &self.engine, &version.text));
        found.map_err(told)
    }
}

/// Returns what findings say, in one text.
pub(super) fn told(bag: Bag) -> String {
    let lines = bag.into_sorted();
    lines.iter().map(|problem| problem.message().to_owned()).collect::<Vec<_>>().join("; ")
}

/// Returns the behaviours that `native` imitates.
fn native() -> Vec<Candidate> {
    let there =
        |compat: &Compat| Candidate { text: compat.name().to_owned(), source: Source::There };
    Compat::ALL.iter().map(there).collect()
}

/// Returns the versions of an upstream engine: pinned or listed, in the registry's order.
fn upstream(registry: &Registry, engine: &str) -> Result<Vec<Candidate>, Bag> {
    let pins: Vec<(EngineVersion, EnginePin)> = registry
        .engine_versions(engine)?
        .into_iter()
        .filter_map(|pin| Some((EngineVersion::parse(&pin.version)?, pin)))
        .collect();
    let listed = listed_versions(registry.root(), engine)?;
    let mut order: Vec<&EngineVersion> = pins.iter().map(|(version, _)| version).collect();
    order.extend(listed.iter().map(|listed| &listed.version));
    order.sort_unstable();
    order.dedup();
    let place = |version: &EngineVersion| order.iter().position(|known| *known == version);
    let nearest = |version: &EngineVersion| {
        let at = place(version)?;
        // What leads to one release has more in common than neighbours of two.
        let is_apart = |pin: &EngineVersion| release(pin.as_str()) != release(version.as_str());
        pins.iter().min_by_key(|(pin, _)| {
            (is_apart(pin), place(pin).map(|pin| (pin.abs_diff(at), pin < at)))
        })
    };
    let candidate = |version: &&EngineVersion| {
        let text = version.as_str().to_owned();
        if pins.iter().any(|(pin, _)| pin == *version) {
            return Some(Candidate { text, source: Source::There });
        }
        let listed = listed.iter().find(|listed| listed.version == **version)?.clone();
        let nearest = Box::new(nearest(version)?.1.clone());
        Some(Candidate { text, source: Source::Listed { nearest, listed } })
    };
    Ok(order.iter().filter_map(candidate).collect())
}

/// Returns the release that a version is or leads to.
fn release(version: &str) -> &str {
    version.split('-').next().unwrap_or(version)
}

/// Returns the place of a version as it is stated; a nightly may be stated by its number.
fn place(all: &[Candidate], stated: &str, engine: &str) -> Result<usize, Problem> {
    let meant = EngineVersion::parse(stated);
    let is_meant = |version: &Candidate| {
        let own = EngineVersion::parse(&version.text);
        version.text == stated
            || own.zip(meant.as_ref()).is_some_and(|(own, meant)| own.is_meant_by(meant))
    };
    all.iter().position(is_meant).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|version| version.text.as_str()).collect();
        let message = format!("engine `{engine}` has no version `{stated}` here");
        let help = if known.is_empty() {
            "no version of it is pinned or listed".to_owned()
        } else {
            format!("pinned or listed are {}", known.join(", "))
        };
        Problem::new(Code::PinUnknown, message).help(help)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn nightlies_are_walked_by_number_and_made_from_the_nearest_pin() {
        let ends = ("0.13.0-dev.73", "0.13.0-dev.92");
        let candidates = Candidates::new(project(), "aisimulate", ends).expect("listed");
        let names = candidates.names();
        let ends: Vec<&str> = names.iter().map(|name| &name[name.len() - 2..]).collect();
        assert_eq!(ends, ["73", "74", "77", "81", "82", "83", "85", "86", "87", "92"]);
        let sources = candidates.versions.iter().map(|version| match &version.source {
            Source::There => "pinned".to_owned(),
            Source::Listed { nearest, .. } => {
                nearest.version[nearest.version.len() - 2..].to_owned()
            }
        });
        let sources: Vec<String> = sources.collect();
        assert_eq!(sources[..8], ["86", "86", "86", "86", "86", "86", "86", "pinned"]);
    }

    #[test]
    fn ends_that_are_unknown_or_out_of_order_are_refused() {
        let refused = |good: &str, bad: &str| {
            let found = Candidates::new(project(), "native", (good, bad));
            found.expect_err("refused").into_sorted()[0].code()
        };
        assert_eq!(refused("0.13.0", "0.14.0"), Code::PinUnknown);
        assert_eq!(refused("0.13.0-dev.87", "0.13.0"), Code::BisectOrder);
        assert_eq!(refused("0.13.0", "0.13.0"), Code::UpgradeSame);
        let found = Candidates::new(project(), "native", ("0.13.0-dev.87", "0.13.0"));
        let found = found.expect_err("refused").into_sorted().remove(0);
        assert!(found.help_text().is_some_and(|help| help.ends_with("order of the behaviours")));
    }
}
