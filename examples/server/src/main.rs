//! The reference server of cauri.
fn main() {}
