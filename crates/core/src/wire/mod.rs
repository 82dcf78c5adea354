//! The public JSON: what requests ask and what responses show, one file per noun.
//!
//! A request type (`CreatePayment`) holds only values that cannot have a wrong form; `read` makes
//! it from a JSON object and reports every fault at once. A response type ([`Payment`]) is what the
//! contract shows of a record, field for field.

pub(crate) mod customer;
pub(crate) mod delivery;
pub(crate) mod payment;
pub(crate) mod payment_link;
pub(crate) mod payout;
pub(crate) mod refund;
pub(crate) mod sandbox;
pub(crate) mod webhook_endpoint;

pub use customer::{CreateCustomer, ModifyCustomer};
pub use delivery::TestWebhook;
pub use payment::{CancelPayment, CreatePayment};
pub use payment_link::{CreatePaymentLink, ModifyPaymentLink};
pub use payout::CreatePayout;
pub use refund::CreateRefund;
pub use sandbox::{Fund, Simulate};
pub use webhook_endpoint::{CreateWebhookEndpoint, ModifyWebhookEndpoint};
