//! What the engine needs of the outside, each with its laws.

pub(crate) mod bell;
pub(crate) mod clock;
pub(crate) mod entropy;
pub(crate) mod gateway;
pub(crate) mod meter;
pub(crate) mod notifier;
pub(crate) mod store;
pub(crate) mod tracer;
