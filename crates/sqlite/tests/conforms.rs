//! The laws, on SQLite.

fn main() {}
