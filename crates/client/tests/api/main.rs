//! The client against the real API: over real sockets, on the memory store, by a clock that stands
//! still.
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected ends there")]

mod errors;
mod events;
mod everything;
mod pages;
mod retries;
mod stage;
mod tls;
