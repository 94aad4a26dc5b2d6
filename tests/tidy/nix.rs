//! The flake: its lock says what it says, and every scenario's jobs can be built as derivations.

use serde_json::Value;

use crate::tree::{File, Violation, assert_none, repository};

/// The folder of the plans that derivations are made from.
const PLANS: &str = "ci/nix/jobs/";

/// Returns the inputs of a flake: name and reference, as in `inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";`.
fn inputs(flake: &File) -> Vec<(&str, &str)> {
    let lines = flake.text.lines().map(str::trim);
    lines
        .filter_map(|line| {
            line.strip_prefix("inputs.")?.strip_suffix("\";")?.split_once(".url = \"")
        })
        .collect()
}

/// Finds inputs that the lock file lacks, has for another reference, or does not fix; and locked inputs that the flake lacks.
fn unlocked(flake: &File, lock: &File) -> Vec<Violation> {
    let lock_says: Value = serde_json::from_str(&lock.text).expect("a lock file is JSON");
    let inputs = inputs(flake);
    let mut found = Vec::new();
    for (name, reference) in &inputs {
        let node = &lock_says["nodes"][name];
        let part = |part: &str| node["original"][part].as_str().unwrap_or_default();
        let known = format!("{}:{}/{}/{}", part("type"), part("owner"), part("repo"), part("ref"));
        if known != *reference {
            found.push(
                lock.violation(
                    0,
                    format!("`{name}` is `{reference}` in the flake, `{known}` here"),
                ),
            );
        }
        let is_fixed = |field: &str, length: usize| {
            node["locked"][field].as_str().is_some_and(|value| value.len() == length)
        };
        if !is_fixed("rev", 40) || !is_fixed("narHash", "sha256-".len() + 44) {
            found.push(lock.violation(0, format!("`{name}` has no revision and content hash")));
        }
    }
    let locked = lock_says["nodes"]["root"]["inputs"].as_object().into_iter().flatten();
    for (name, _) in locked.filter(|(name, _)| !inputs.iter().any(|(known, _)| known == name)) {
        found.push(lock.violation(0, format!("`{name}` is no input of the flake")));
    }
    found
}

/// Finds scenarios without a plan, and plans without a scenario.
fn unmatched_plans(files: &[File]) -> Vec<Violation> {
    let stems = |folder: &'static str, extension: &'static str| {
        files.iter().filter_map(move |file| {
            let stem = file.path.strip_prefix(folder)?.strip_suffix(extension)?;
            Some((file, stem))
        })
    };
    let scenarios = || stems("scenarios/", ".kdl");
    let plans = || stems(PLANS, ".json");
    let unplanned = scenarios().filter(|(_, stem)| !plans().any(|(_, known)| known == *stem));
    let orphaned = plans().filter(|(_, stem)| !scenarios().any(|(_, known)| known == *stem));
    unplanned
        .map(|(file, stem)| file.violation(0, format!("no {PLANS}{stem}.json; run ci/nix/plans")))
        .chain(orphaned.map(|(file, stem)| file.violation(0, format!("no scenarios/{stem}.kdl"))))
        .collect()
}

/// Returns a file that must be there.
fn the<'a>(files: &'a [File], path: &str) -> &'a File {
    files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path} is missing"))
}

#[test]
fn the_lock_file_fixes_what_the_flake_asks_for() {
    let files = repository();
    let flake = the(&files, "flake.nix");
    assert_eq!(inputs(flake).len(), 1, "one input");
    assert_none(&unlocked(flake, the(&files, "flake.lock")));
}

#[test]
fn every_scenario_has_a_plan_for_derivations() {
    assert_none(&unmatched_plans(&repository()));
}

#[test]
fn planted_violations_are_seen() {
    let flake = |reference: &str| {
        File::planted("flake.nix", &format!("  inputs.a.url = \"{reference}\";\n"))
    };
    let lock = |rev: &str| {
        let text = format!(
            "{{\"nodes\": {{\"root\": {{\"inputs\": {{\"a\": \"a\"}}}}, \"a\": {{\
             \"original\": {{\"type\": \"github\", \"owner\": \"o\", \"repo\": \"r\", \"ref\": \"b\"}}, \
             \"locked\": {{\"rev\": \"{rev}\", \"narHash\": \"sha256-{}\"}}}}}}}}",
            "0".repeat(44)
        );
        File::planted("flake.lock", &text)
    };
    let fixed = lock(&"0".repeat(40));
    assert_eq!(unlocked(&flake("github:o/r/b"), &fixed), []);
    assert_eq!(unlocked(&flake("github:o/r/c"), &fixed).len(), 1);
    assert_eq!(unlocked(&flake("github:o/r/b"), &lock("main")).len(), 1);
    assert_eq!(unlocked(&File::planted("flake.nix", ""), &fixed).len(), 1);
    let tree = [
        File::planted("scenarios/a.kdl", ""),
        File::planted("scenarios/b.kdl", ""),
        File::planted("ci/nix/jobs/a.json", ""),
        File::planted("ci/nix/jobs/c.json", ""),
    ];
    let found: Vec<String> = unmatched_plans(&tree).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "scenarios/b.kdl:1: no ci/nix/jobs/b.json; run ci/nix/plans",
            "ci/nix/jobs/c.json:1: no scenarios/c.kdl"
        ]
    );
}
