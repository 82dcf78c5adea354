//! What a command does to several things, purely: loaded records and a request go in, a
//! [`Decision`] or an [`crate::Error`] comes out.
//!
//! One file per noun. Every function checks first, in the contract's order, and builds its
//! changeset last.

pub mod api_key;
pub mod customer;
pub mod delivery;
mod draft;
pub mod idempotency;
pub mod payment;
pub mod payment_link;
pub mod payout;
pub mod refund;
pub mod sandbox;
mod terms;
pub mod webhook_endpoint;

pub use draft::{Context, Decision};
pub use terms::{Offers, RefundFeePolicy, Terms};
