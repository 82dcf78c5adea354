//! What cauri's load programs share: stores by name, stages to play on, figures to print.

pub mod figures;
pub mod stage;
pub mod store;

/// The README's code, so that it compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
