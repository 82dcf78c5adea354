//! The small dangerous protocols, in every order in which their steps can fall: the real
//! `decide::*` on what was read, the real `judge` on what is there by then.
//!
//! Each is checked as it is and with one thing left out, which must be found.

#![allow(clippy::unwrap_used, reason = "a stage that cannot be set should stop")]

mod claim;
mod explore;
mod idempotent;
mod late;
mod refunds;
mod spend;
mod stage;
