//! The architecture test.

fn main() {}
