//! Statistics over the hot loops.

fn main() {}
