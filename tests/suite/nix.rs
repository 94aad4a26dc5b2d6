//! The plans that derivations are made from are those of the scenarios.

use std::fs;

use crate::program::{Place, repository_root};

#[test]
fn the_plans_for_derivations_are_those_of_the_scenarios() {
    let place = Place::repository();
    let folder = fs::read_dir(repository_root().join("scenarios")).expect("there are scenarios");
    for entry in folder {
        let path = entry.expect("readable").path();
        let name = path.file_stem().expect("a scenario has a name").to_string_lossy().into_owned();
        let planned = place
            .bench(["plan", &format!("scenarios/{name}.kdl"), "--format", "nix-json"])
            .exits(0);
        let known = repository_root().join(format!("ci/nix/jobs/{name}.json"));
        let known =
            fs::read_to_string(&known).expect("tests/tidy says that every scenario has one");
        assert!(planned.stdout == known, "{name}: run ci/nix/plans and look at the difference");
    }
}
