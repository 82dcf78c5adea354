//! The API asked in-process, over the memory store and a clock that stands still.
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected ends there")]

mod concurrent;
mod described;
mod errors;
mod golden;
mod headers;
mod hostile;
mod order;
mod outage;
mod overload;
mod repeats;
mod support;
