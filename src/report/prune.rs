//! What no later command needs below `runs/`: results of other builds, what interrupted writes left, and runs that are old enough.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::digest::Sha256;

/// What may go.
pub struct PruneRule<'a> {
    /// The program whose cached results stay; where it is not known, all stay.
    pub program: Option<Sha256>,
    /// How many runs of each scenario stay, and how many plans of which there are parts; all where absent.
    pub keep: Option<usize>,
    /// Whether something is so old that no process can be writing it.
    pub is_stale: &'a dyn Fn(&Metadata) -> bool,
}

impl std::fmt::Debug for PruneRule<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PruneRule").field("keep", &self.keep).finish_non_exhaustive()
    }
}

/// A folder that may go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prunable {
    /// The folder.
    pub path: PathBuf,
    /// Why nothing needs it.
    pub why: PruneReason,
}

/// Why nothing needs a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PruneReason {
    /// Another build of the program computed these results, and only it would use them.
    OtherProgram,
    /// A write was interrupted.
    Unfinished,
    /// There are enough newer runs.
    OldRun,
    /// There are parts of enough newer plans.
    OldParts,
}

impl PruneReason {
    /// Returns the words for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::OtherProgram => "results of another build",
            Self::Unfinished => "left of an interrupted write",
            Self::OldRun => "an old run",
            Self::OldParts => "parts of an old plan",
        }
    }
}

/// Returns the folders below `runs` that may go, sorted by path. Nothing is removed; what is not known is never listed.
///
/// # Errors
/// Whatever the file system says; a folder that is not there holds nothing.
pub fn prunable(runs: &Path, rule: &PruneRule<'_>) -> io::Result<Vec<Prunable>> {
    let mut found = Vec::new();
    for folder in folders(runs)? {
        if name(&folder) == ".cache" {
            cache(&folder, rule, &mut found)?;
        } else {
            scenario(&folder, rule, &mut found)?;
        }
    }
    found.sort();
    Ok(found)
}

/// Collects what may go of the result cache: `.cache/<program>/<key>`.
fn cache(cache: &Path, rule: &PruneRule<'_>, found: &mut Vec<Prunable>) -> io::Result<()> {
    let Some(program) = rule.program else { return Ok(()) };
    for folder in folders(cache)? {
        if name(&folder) == program.short() {
            unfinished(&folder, rule, found)?;
        } else {
            found.push(Prunable { path: folder, why: PruneReason::OtherProgram });
        }
    }
    Ok(())
}

/// Collects what may go of a scenario's runs.
fn scenario(scenario: &Path, rule: &PruneRule<'_>, found: &mut Vec<Prunable>) -> io::Result<()> {
    unfinished(scenario, rule, found)?;
    let Some(keep) = rule.keep else { return Ok(()) };
    let latest = fs::read_link(scenario.join("latest")).unwrap_or_default();
    let runs = by_age(folders(scenario)?, |folder| fs::metadata(folder.join("run.json")));
    // The one that `latest` leads to stays and is one of those that do, however old it is.
    let (latest, others): (Vec<PathBuf>, Vec<PathBuf>) =
        runs.into_iter().partition(|folder| Path::new(&name(folder)) == latest);
    let old = others.into_iter().skip(keep.saturating_sub(latest.len()));
    found.extend(old.map(|path| Prunable { path, why: PruneReason::OldRun }));
    let plans = by_age(folders(&scenario.join("parts"))?, |folder| fs::metadata(folder));
    let old = plans.into_iter().skip(keep);
    found.extend(old.map(|path| Prunable { path, why: PruneReason::OldParts }));
    Ok(())
}

/// Collects what interrupted writes left in a folder.
fn unfinished(folder: &Path, rule: &PruneRule<'_>, found: &mut Vec<Prunable>) -> io::Result<()> {
    for path in folders(folder)? {
        let is_ours = [".new-", ".old-", ".latest-"].iter().any(|it| name(&path).starts_with(it));
        if is_ours && (rule.is_stale)(&fs::metadata(&path)?) {
            found.push(Prunable { path, why: PruneReason::Unfinished });
        }
    }
    Ok(())
}

/// Returns folders by their age, the newest first and equals by name; those without the file that tells it are no runs and left out.
fn by_age(folders: Vec<PathBuf>, file: impl Fn(&PathBuf) -> io::Result<Metadata>) -> Vec<PathBuf> {
    let aged = folders.into_iter().filter_map(|folder| {
        let modified = file(&folder).and_then(|file| file.modified()).ok()?;
        Some((std::cmp::Reverse(modified), folder))
    });
    let mut aged: Vec<_> = aged.collect();
    aged.sort();
    aged.into_iter().map(|(_, folder)| folder).collect()
}

/// Returns the folders in a folder, links left out.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Returns a folder's name.
fn name(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names that a rule lets go in a folder with two builds' results, three runs, the oldest of which `latest` leads to,
    /// parts of two plans, an interrupted write and something that is not ours.
    fn going(keep: Option<usize>, stale: &str) -> Vec<(String, PruneReason)> {
        let folder = tempfile::tempdir().expect("a folder");
        let runs = folder.path();
        let program = Sha256::of(b"program");
        for path in [
            format!(".cache/{}/.new-x", program.short()),
            format!(".cache/{}/key", program.short()),
            ".cache/0123456789ab/key".to_owned(),
            "s/.new-y".to_owned(),
            "s/mine".to_owned(),
        ] {
            fs::create_dir_all(runs.join(path)).expect("writable");
        }
        for (age, run) in ["run-a", "run-b", "run-c"].iter().enumerate() {
            write(&runs.join("s").join(run).join("run.json"), age);
        }
        for (age, plan) in ["plan-a", "plan-b"].iter().enumerate() {
            fs::create_dir_all(runs.join("s/parts").join(plan)).expect("writable");
            set_age(&runs.join("s/parts").join(plan), age);
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("run-c", runs.join("s/latest")).expect("writable");
        let is_stale = |_: &Metadata| stale == "stale";
        let rule = PruneRule { program: Some(program), keep, is_stale: &is_stale };
        let found = prunable(runs, &rule).expect("readable");
        found.into_iter().map(|found| (name(&found.path), found.why)).collect()
    }

    fn write(path: &Path, age: usize) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(path, "{}").expect("writable");
        set_age(path, age);
    }

    /// Makes a file `age` days older than the first.
    fn set_age(path: &Path, age: usize) {
        let base = fs::metadata(env!("CARGO_MANIFEST_DIR")).and_then(|it| it.modified());
        let days = std::time::Duration::from_hours(24 * u64::try_from(age).expect("few"));
        let file = fs::File::open(path).expect("readable");
        file.set_modified(base.expect("an age") - days).expect("writable");
    }

    #[test]
    fn only_results_of_other_builds_and_stale_leftovers_go_unasked() {
        let other = ("0123456789ab".to_owned(), PruneReason::OtherProgram);
        assert_eq!(going(None, "fresh"), std::slice::from_ref(&other));
        let left = |name: &str| (name.to_owned(), PruneReason::Unfinished);
        assert_eq!(going(None, "stale"), [other, left(".new-x"), left(".new-y")]);
    }

    #[test]
    #[cfg(unix)]
    fn the_newest_runs_and_the_latest_stay() {
        let gone = |keep| {
            let names = going(Some(keep), "fresh").into_iter();
            let runs = names.filter(|(_, why)| *why != PruneReason::OtherProgram);
            runs.map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(gone(3), Vec::<String>::new());
        assert_eq!(gone(2), ["run-b"]);
        assert_eq!(gone(1), ["plan-b", "run-a", "run-b"]);
        assert_eq!(gone(0), ["plan-a", "plan-b", "run-a", "run-b"]);
    }

    #[test]
    fn where_there_are_no_runs_there_is_nothing_to_prune() {
        let rule = PruneRule { program: None, keep: Some(0), is_stale: &|_| true };
        assert_eq!(prunable(Path::new("/nowhere/at/all"), &rule).expect("nothing"), []);
    }
}
