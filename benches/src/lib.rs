//! What cauri's load programs share: stores by name, stages to play on, figures to print.

pub mod figures;
pub mod stage;
pub mod store;
