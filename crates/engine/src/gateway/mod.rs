//! The gateways that come with the engine, and what stands between it and those that do not.

pub(crate) mod breaker;
pub(crate) mod router;
pub(crate) mod sandbox;
