//! A shop that keeps its orders in its own table, and cauri's payments beside them in the same
//! database: an order and its payment are one commit, and the shop's own.
//!
//! What a user may copy is [`sqlite`] or [`postgres`], whichever they have.

pub mod postgres;
mod shop;
pub mod sqlite;

pub use shop::{Failure, Order, Placed, Shop};
