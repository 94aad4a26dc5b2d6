//! What of an output folder is replaced.

use std::fs;

use super::super::{Folder, FolderError, Overwrite};

#[test]
fn a_folder_that_holds_anything_is_refused_unless_overwriting_is_allowed() {
    let place = tempfile::tempdir().expect("a folder");
    assert!(Folder::check(&place.path().join("new"), Overwrite::Refuse).is_ok());
    assert!(Folder::check(place.path(), Overwrite::Refuse).is_ok());
    fs::write(place.path().join("keep.txt"), "mine").expect("written");
    let refused = Folder::check(place.path(), Overwrite::Refuse).expect_err("not empty");
    assert!(matches!(refused, FolderError::NotEmpty(_)));
    assert!(Folder::check(place.path(), Overwrite::KnownNames).is_ok());
    let file = Folder::check(&place.path().join("keep.txt"), Overwrite::KnownNames);
    assert!(matches!(file.expect_err("a file"), FolderError::Io { .. }));
}

#[test]
fn known_names_of_an_earlier_run_go_and_all_others_stay() {
    let place = tempfile::tempdir().expect("a folder");
    for name in ["requests.jsonl", "prediction.json", "resource-plan.json", "keep.txt"] {
        fs::write(place.path().join(name), "old").expect("written");
    }
    let folder = Folder::check(place.path(), Overwrite::KnownNames).expect("allowed");
    folder.clear().expect("cleared");
    folder.write("prediction.json", |out| out.write_all(b"new")).expect("written");
    let failing = |_: &mut dyn std::io::Write| Err(std::io::ErrorKind::StorageFull.into());
    assert!(folder.write("requests.jsonl", failing).is_err());
    let mut names: Vec<String> = fs::read_dir(place.path())
        .expect("readable")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("ASCII"))
        .collect();
    names.sort();
    assert_eq!(names, ["keep.txt", "prediction.json"]);
    assert_eq!(fs::read(place.path().join("prediction.json")).expect("readable"), b"new");
}
