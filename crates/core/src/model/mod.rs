//! One noun, one file: what it is, its statuses, and when it is due.

pub(crate) mod account;
pub(crate) mod api_key;
pub(crate) mod catalogue;
pub(crate) mod customer;
pub(crate) mod delivery;
pub(crate) mod event;
pub(crate) mod failure;
pub(crate) mod idempotency;
pub(crate) mod ledger;
pub(crate) mod offer;
pub(crate) mod order;
pub(crate) mod payment;
pub(crate) mod payment_link;
pub(crate) mod payout;
pub(crate) mod refund;
pub(crate) mod route;
pub(crate) mod scenario;
pub(crate) mod simulation;
pub(crate) mod timeline;
pub(crate) mod webhook_endpoint;
