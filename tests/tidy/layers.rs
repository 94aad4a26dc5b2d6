//! Dependencies point down the layers that the documentation of `src/lib.rs` draws.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust::{module_path, modules_named};
use crate::tree::{File, Violation, assert_none, repository};

/// Pairs of modules of one layer that may name each other, with the reason. Empty is the aim.
const DECLARED_CYCLES: &[(&str, &str)] = &[];

/// Returns the layer of each module, read from the diagram: lines of `N  name  name … | comment`.
///
/// A layer's names end at the first run of words that are not module names: the remark.
fn layers(lib: &File) -> BTreeMap<String, usize> {
    let mut layers = BTreeMap::new();
    for line in diagram(&lib.text) {
        let mut words = line.split_whitespace();
        let Some(layer) = words.next().and_then(|word| word.parse().ok()) else { continue };
        for column in line.split("  ").map(str::trim).skip(1) {
            let is_name = !column.is_empty() && column.chars().all(|c| c.is_ascii_lowercase());
            if is_name && column.parse::<usize>().is_err() {
                layers.insert(column.to_owned(), layer);
            }
        }
    }
    layers
}

/// Returns the lines of the first diagram of layers in a text, without comment marks.
fn diagram(text: &str) -> Vec<&str> {
    text.lines()
        .map(|line| line.trim_start_matches("//!").trim())
        .skip_while(|line| !line.starts_with("7 "))
        .take_while(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

/// Returns the modules that `lib.rs` declares.
fn declared(lib: &File) -> BTreeSet<String> {
    lib.text
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

/// Returns `lib.rs`.
fn lib(files: &[File]) -> &File {
    files.iter().find(|file| file.path == "src/lib.rs").expect("the library has a root")
}

/// Finds modules that are declared and not drawn.
fn undrawn(lib: &File) -> Vec<Violation> {
    let layers = layers(lib);
    declared(lib)
        .into_iter()
        .filter(|module| !layers.contains_key(module))
        .map(|module| lib.violation(0, format!("`{module}` is in no layer of the diagram")))
        .collect()
}

/// Finds paths that point up.
fn upward(files: &[File]) -> Vec<Violation> {
    let layers = layers(lib(files));
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some(from) = module_path(file).and_then(|path| path.first().copied()) else { continue };
        let Some(layer) = layers.get(from) else { continue };
        for (line, to) in modules_named(file) {
            if layers.get(&to).is_some_and(|above| above > layer) {
                found.push(
                    file.violation(line, format!("`{from}` (layer {layer}) names `{to}` above it")),
                );
            }
        }
    }
    found
}

/// Finds modules of one layer that reach each other both ways.
fn cycles(files: &[File]) -> Vec<Violation> {
    let layers = layers(lib(files));
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some(from) = module_path(file).and_then(|path| path.first().copied()) else { continue };
        for (_, to) in modules_named(file) {
            if to != from && layers.contains_key(from) && layers.get(from) == layers.get(&to) {
                edges.entry(from.to_owned()).or_default().insert(to);
            }
        }
    }
    let mut found = Vec::new();
    for (from, direct) in &edges {
        for to in direct {
            let is_declared = DECLARED_CYCLES
                .iter()
                .any(|(a, b)| (a == from && b == to) || (a == to && b == from));
            if reaches(&edges, to, from) && !is_declared {
                found.push(lib(files).violation(0, format!("`{from}` and `{to}` name each other")));
            }
        }
    }
    found
}

/// Returns whether `to` can be reached from `from`.
fn reaches(edges: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        let next = edges.get(at).into_iter().flatten().map(String::as_str);
        open.extend(next.filter(|module| seen.insert(module)));
    }
    false
}

#[test]
fn every_module_is_drawn_in_a_layer() {
    let files = repository();
    assert_none(&undrawn(lib(&files)));
    assert!(layers(lib(&files)).len() >= 10, "the diagram was read");
}

#[test]
fn no_module_names_one_above_it() {
    assert_none(&upward(&repository()));
}

#[test]
fn no_modules_of_one_layer_name_each_other() {
    assert_none(&cycles(&repository()));
}

#[test]
fn the_diagram_in_the_contributing_guide_is_that_of_the_library() {
    let files = repository();
    let guide =
        files.iter().find(|file| file.path == "docs/CONTRIBUTING.md").expect("there is a guide");
    assert_eq!(diagram(&guide.text), diagram(&lib(&files).text));
}

#[test]
fn planted_violations_are_seen() {
    let lib = "//!  7  cli      the rest of the line is a remark\n//!  1  trace   pin  data\n//!  0  units    no I/O\n\
               pub mod cli;\nmod trace;\nmod pin;\npub mod stray;\n";
    let plant =
        |path: &str, text: &str| vec![File::planted("src/lib.rs", lib), File::planted(path, text)];
    assert_eq!(undrawn(&File::planted("src/lib.rs", lib)).len(), 1);
    assert_eq!(upward(&plant("src/trace/read.rs", "use crate::cli::Exit;")).len(), 1);
    assert_eq!(upward(&plant("src/trace/read.rs", "use crate::{units, trace};")).len(), 0);
    let mut both = plant("src/trace/read.rs", "use crate::pin::Pin;");
    assert_eq!(cycles(&both).len(), 0);
    both.push(File::planted("src/pin/mod.rs", "use crate::trace::Row;"));
    assert_eq!(cycles(&both).len(), 2);
}
