//! The laws of stores.

fn main() {}
