//! No test file is forgotten: each file here is a module of `main.rs`.

use std::fs;

use crate::program::repository_root;

#[test]
fn every_file_of_the_suite_is_declared_in_main() {
    let folder = repository_root().join("tests/suite");
    let main = fs::read_to_string(folder.join("main.rs")).expect("the suite has a main.rs");
    for entry in fs::read_dir(&folder).expect("the suite is a folder") {
        let path = entry.expect("the suite is readable").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("file names are ASCII");
        let declared = main.lines().any(|line| line == format!("mod {name};"));
        assert!(name == "main" || declared, "`mod {name};` is missing in tests/suite/main.rs");
    }
}
