//! Gateways that come with the engine.

pub(crate) mod sandbox;
