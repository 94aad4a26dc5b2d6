//! The project's own files: reasons for dependencies, how many packages, scripts, what the changelog opens with.

use crate::tree::{File, Violation, assert_none, repository};

/// The most packages `Cargo.lock` may hold, this one counted. Raise it with a reason in the commit.
const PACKAGES_MAX: usize = 330;

/// Finds dependencies without the reason in a comment on the line above. Lines of one family (`clap`, `clap_mangen`) share one.
fn reasonless(manifest: &File) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut in_dependencies = false;
    let mut above = "";
    for (line, text) in manifest.text.lines().enumerate() {
        if text.starts_with('[') {
            in_dependencies = text.ends_with("dependencies]");
        } else if let Some((name, _)) = text.split_once(" = ").filter(|_| in_dependencies) {
            let family = name.split(['-', '_']).next().unwrap_or(name);
            let has_reason = above.starts_with('#') || above.starts_with(family);
            if !has_reason && !name.starts_with('#') {
                found.push(manifest.violation(line, format!("no comment says why `{name}`")));
            }
        }
        above = text;
    }
    found
}

/// Finds a lock file with more packages than the limit.
fn too_many_packages(lock: &File) -> Vec<Violation> {
    let count = lock.text.lines().filter(|line| *line == "[[package]]").count();
    if count <= PACKAGES_MAX {
        return Vec::new();
    }
    vec![lock.violation(0, format!("{count} packages, at most {PACKAGES_MAX}"))]
}

/// Finds a changelog whose first section is not the unreleased one.
fn released_only(changelog: &File) -> Vec<Violation> {
    let first = changelog.text.lines().find(|line| line.starts_with("## "));
    if first == Some("## Unreleased") {
        return Vec::new();
    }
    vec![changelog.violation(0, "the first section is `## Unreleased`")]
}

/// Finds steps of the CI script that are listed and not written, or written and not listed.
fn unmatched_steps(script: &File) -> Vec<Violation> {
    let lines = || script.text.lines().enumerate();
    let listed: Vec<&str> = lines()
        .filter_map(|(_, text)| text.strip_prefix("steps='")?.strip_suffix('\''))
        .flat_map(str::split_whitespace)
        .collect();
    let written: Vec<(usize, &str)> = lines()
        .filter_map(|(line, text)| Some((line, text.strip_prefix("step_")?.strip_suffix("() {")?)))
        .collect();
    let unlisted = written.iter().filter(|(_, step)| !listed.contains(step));
    let unwritten = listed.iter().filter(|step| !written.iter().any(|(_, known)| known == *step));
    unlisted
        .map(|(line, step)| script.violation(*line, format!("step `{step}` never runs")))
        .chain(unwritten.map(|step| script.violation(0, format!("step `{step}` is not written"))))
        .collect()
}

/// Returns a file that must be there.
fn the<'a>(files: &'a [File], path: &str) -> &'a File {
    files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path} is missing"))
}

#[test]
fn every_dependency_says_why() {
    assert_none(&reasonless(the(&repository(), "Cargo.toml")));
}

#[test]
fn the_lock_file_stays_under_its_limit() {
    assert_none(&too_many_packages(the(&repository(), "Cargo.lock")));
}

#[test]
fn the_changelog_opens_with_what_is_unreleased() {
    assert_none(&released_only(the(&repository(), "docs/CHANGELOG.md")));
}

#[test]
fn every_step_of_the_ci_script_is_written_and_runs() {
    assert_none(&unmatched_steps(the(&repository(), "ci/run.sh")));
}

#[test]
fn the_project_has_the_files_a_stranger_looks_for() {
    let files = repository();
    for path in [
        "README.md",
        "LICENSE",
        "docs/CONTRIBUTING.md",
        "docs/GLOSSARY.md",
        "docs/guide.md",
        "docs/metrics.md",
        "docs/determinism.md",
        "docs/diagnostics.md",
        "docs/scenario.md",
        "ci/run.sh",
        "ci/test.sh",
        ".ci/run",
    ] {
        the(&files, path);
    }
}

#[test]
fn planted_violations_are_seen() {
    let manifest = "[dependencies]\n# Why.\nclap = \"4\"\nclap_mangen = \"1\"\nserde = \"1\"\n\n[profile.dev]\nopt-level = 1\n";
    let found = reasonless(&File::planted("Cargo.toml", manifest));
    assert_eq!(found.len(), 1);
    assert!(found[0].to_string().contains("`serde`"));
    let script = "steps='lint tests'\nstep_lint() {\n}\nstep_docs() {\n}\n";
    let found: Vec<String> = unmatched_steps(&File::planted("ci/run.sh", script))
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        found,
        ["ci/run.sh:4: step `docs` never runs", "ci/run.sh:1: step `tests` is not written",]
    );
    let lock = |count: usize| File::planted("Cargo.lock", &"[[package]]\n".repeat(count));
    assert_eq!(too_many_packages(&lock(PACKAGES_MAX + 1)).len(), 1);
    assert_eq!(too_many_packages(&lock(PACKAGES_MAX)), []);
    assert_eq!(
        released_only(&File::planted("docs/CHANGELOG.md", "# Changes\n\n## 0.1.0\n")).len(),
        1
    );
    assert_eq!(
        released_only(&File::planted("docs/CHANGELOG.md", "# Changes\n\n## Unreleased\n")),
        []
    );
}
