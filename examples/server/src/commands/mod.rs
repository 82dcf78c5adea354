//! What can be done beside serving, one file per noun.

pub(crate) mod accounts;
pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod keys;
pub(crate) mod listen;
pub(crate) mod migrate;
pub(crate) mod payments;
pub(crate) mod payouts;
pub(crate) mod refunds;
pub(crate) mod secrets;
pub(crate) mod trigger;
