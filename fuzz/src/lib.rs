//! What the targets share: choices read from bytes, and an API on a store that starts anew.

mod choices;
mod stage;

pub use choices::Choices;
pub use stage::{Said, Stage};
