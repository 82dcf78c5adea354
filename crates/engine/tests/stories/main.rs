//! Stories of whole lives, told on a clock that the test owns: days of retries in milliseconds.

#![allow(clippy::unwrap_used, reason = "a story that goes wrong should stop")]

mod audits;
mod beliefs;
mod deliveries;
mod duties;
mod events;
mod histories;
mod idempotency;
mod keys;
mod leases;
mod links;
mod lists;
mod orders;
mod payments;
mod payouts;
mod refunds;
mod routes;
mod support;
mod worker;
