//! What a command does to several things, purely: loaded records and a request go in, a
//! [`Decision`] or an [`crate::Error`] comes out.
//!
//! One file per noun. Every function checks first, in the contract's order, and builds its
//! changeset last. Nothing has happened before the changeset is committed: a decision can be made
//! again with the same [`Env`](crate::Env), thrown away, or only be looked at.
//!
//! | When | Call |
//! |---|---|
//! | a merchant asks | `create`, `modify`, `cancel`, `delete` of the noun |
//! | a network has said something | [`payment::report`], [`payout::report`], [`refund::report`] |
//! | a payment's money becomes available | [`payment::settle`] |
//! | a webhook was attempted | [`delivery::attempted`] |
//! | a key was used before | [`idempotency::earlier`] |
//! | the sandbox is told to play | [`sandbox::simulate`], [`sandbox::fund`] |
//!
//! ```
//! use cauri_core::{Error, PaymentStatus, decide::payment};
//! # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
//! # use shop::Shop;
//! let mut shop = Shop::open();
//! let case = payment::Case { payment: shop.payment(5_000), link: None };
//! let decision = payment::cancel(case, None, false, &mut shop.context())?;
//! assert_eq!(decision.value.status, PaymentStatus::Cancelled);
//! // The payment, a line of its timeline, an event: three writes that come true together.
//! assert_eq!(decision.changes.writes().len(), 3);
//! # Ok::<(), Error>(())
//! ```

pub mod api_key;
pub mod customer;
pub mod delivery;
mod draft;
pub mod idempotency;
pub mod payment;
pub mod payment_link;
pub mod payout;
pub mod refund;
pub mod route;
pub mod sandbox;
mod terms;
pub mod webhook_endpoint;

pub use draft::{Context, Decision};
pub use terms::{Offers, RefundFeePolicy, Terms};
