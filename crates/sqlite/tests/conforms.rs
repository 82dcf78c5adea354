//! The laws of stores, and of durable ones.

fn main() {}
