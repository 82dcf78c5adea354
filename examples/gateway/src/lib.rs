//! How a real network is plugged in: a [`Gateway`](cauri::Gateway) for an aggregator of mobile
//! money, written from the public documentation of pawaPay's API (version 2), and a [`fake`] of
//! that API to run it against.
//!
//! - [`Aggregator`] is the gateway. It names an order by an id that follows from ours, says
//!   "unreachable" only when there was no connection, and asks about everything else.
//! - [`Callbacks`] reads what the aggregator reports on its own, and believes nothing that is not
//!   signed.
//! - [`fake::Fake`] is the aggregator, in this process, as unreliable as it is told to be.
//!
//! Not affiliated with pawaPay; nothing here has met the real API.

mod callback;
mod client;
pub mod demo;
mod failure;
pub mod fake;
mod gateway;
mod names;
pub mod signature;
mod wire;

pub use callback::{CallbackError, Callbacks, Told};
pub use client::ConnectError;
pub use gateway::{Aggregator, AggregatorOptions};
pub use names::name;
