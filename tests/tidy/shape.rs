//! The shape of files: how long, and what a `mod.rs` may hold. Functions are clippy's (`ci/clippy.toml`).

use crate::rust::code;
use crate::tree::{File, Violation, assert_none, repository};

/// The most lines a Rust file may have.
const FILE_LINES_MAX: usize = 500;

/// File names that name no idea.
const EMPTY_NAMES: &[&str] =
    &["utils", "util", "helpers", "helper", "common", "types", "misc", "shared"];

/// Finds Rust files that are too long.
fn too_long(files: &[File]) -> Vec<Violation> {
    files
        .iter()
        .filter(|file| file.is_rust() && file.text.lines().count() > FILE_LINES_MAX)
        .map(|file| {
            let lines = file.text.lines().count();
            file.violation(FILE_LINES_MAX, format!("{lines} lines, at most {FILE_LINES_MAX}"))
        })
        .collect()
}

/// Finds files whose name names no idea.
fn nameless(files: &[File]) -> Vec<Violation> {
    files
        .iter()
        .filter(|file| file.is_rust())
        .filter(|file| {
            file.path.trim_end_matches(".rs").split('/').any(|part| EMPTY_NAMES.contains(&part))
        })
        .map(|file| file.violation(0, "the name names no idea"))
        .collect()
}

/// Finds items in `mod.rs` (of a folder of tests excepted) and `lib.rs` that do more than declare: anything but `mod`, `use` and attributes.
fn logic_in_declarations(files: &[File]) -> Vec<Violation> {
    let declaring = |file: &&File| {
        let is_fixture = file.path.contains("/tests/");
        (file.path.ends_with("/mod.rs") && !is_fixture) || file.path == "src/lib.rs"
    };
    let mut found = Vec::new();
    for file in files.iter().filter(declaring) {
        for (line, text) in code(&file.text).lines().enumerate() {
            let first =
                text.strip_prefix("pub(crate) ").or_else(|| text.strip_prefix("pub(super) "));
            let inside = || Some(text.strip_prefix("pub(in ")?.split_once(") ")?.1);
            let first = first.or_else(inside).or_else(|| text.strip_prefix("pub "));
            let first = first.unwrap_or(text);
            let declares = ["mod ", "use ", "#", ")]", "}", "///", " "]
                .iter()
                .any(|start| first.starts_with(start));
            if !declares && !first.trim().is_empty() {
                found.push(
                    file.violation(line, format!("`{}` belongs in a named file", text.trim())),
                );
            }
        }
    }
    found
}

#[test]
fn no_rust_file_is_longer_than_500_lines() {
    assert_none(&too_long(&repository()));
}

#[test]
fn every_file_name_names_an_idea() {
    assert_none(&nameless(&repository()));
}

#[test]
fn mod_files_declare_and_document_only() {
    assert_none(&logic_in_declarations(&repository()));
}

#[test]
fn planted_violations_are_seen() {
    let long = File::planted("src/a.rs", &"\n".repeat(501));
    assert_eq!(too_long(&[long, File::planted("src/b.rs", &"\n".repeat(500))]).len(), 1);
    assert_eq!(
        nameless(&[File::planted("src/utils.rs", ""), File::planted("src/types/a.rs", "")]).len(),
        2
    );
    let declares = "//! Doc.\n\nmod a;\n#[cfg(test)]\nmod tests;\npub use a::{\n    B,\n};\npub(crate) use c::D;\n";
    let planted = |tail: &str| [File::planted("src/x/mod.rs", &format!("{declares}{tail}"))];
    assert_eq!(logic_in_declarations(&planted("")), []);
    assert_eq!(logic_in_declarations(&planted("pub fn f() {}\n")).len(), 1);
    assert_eq!(logic_in_declarations(&planted("const A: u8 = 1;\n")).len(), 1);
}
