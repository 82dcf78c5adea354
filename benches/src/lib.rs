//! Benchmarks of cauri's hot paths and its load program.
