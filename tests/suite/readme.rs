//! The README shows what the program does.

use std::fs;

use crate::program::{Place, repository_root};

/// Returns the lines of the first block of plain text after a sentence.
fn block_after(text: &str, sentence: &str) -> Vec<String> {
    let (_, after) = text.split_once(sentence).expect("the README has the sentence");
    let (_, block) = after.split_once("```text\n").expect("a block follows it");
    let (block, _) = block.split_once("```").expect("the block ends");
    block.lines().map(str::to_owned).collect()
}

#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let readme = fs::read_to_string(repository_root().join("README.md")).expect("there is one");
    let ran = Place::repository().bench(["scenarios/dynamo.kdl"]).exits(0);
    let printed: Vec<String> = ran.stdout.lines().map(|line| line.trim_end().to_owned()).collect();
    assert_eq!(printed, block_after(&readme, "The first command prints"));
}
