//! Paths that several arguments name: each is taken once.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Returns the paths in their order, without those that lead where an earlier one leads. One that leads nowhere is kept as it is written.
pub(super) fn distinct(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut known = BTreeSet::new();
    let is_first =
        |path: &&PathBuf| known.insert(path.canonicalize().unwrap_or_else(|_| (*path).clone()));
    paths.iter().filter(is_first).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_named_twice_in_any_spelling_is_taken_once() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let other = root.join("src/../src");
        let none = root.join("nowhere");
        let paths = [root.join("src"), none.clone(), other, none.clone(), root.clone()];
        assert_eq!(distinct(&paths), [root.join("src"), none, root]);
    }
}
