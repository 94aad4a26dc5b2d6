//! The architecture test: what a machine can check of docs/CONTRIBUTING.md.
//!
//! A rule is a function from the tree to violations. Each module holds one kind of rule, the test that the repository obeys it, and
//! tests that it sees a planted violation. `tree` reads the repository, `rust` reads its sources.

mod cases;
mod codes;
mod docs;
mod homes;
mod layers;
mod nix;
mod project;
mod rust;
mod shape;
mod text;
mod tree;
mod words;
