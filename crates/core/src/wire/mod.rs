//! The public JSON: what requests ask and what responses show, one file per noun.
//!
//! A request type (`CreatePayment`) holds only values that cannot have a wrong form; `read` makes
//! it from a JSON object and reports every fault at once. A response type ([`Payment`]) is what the
//! contract shows of a record, field for field.
//!
//! | To | Use |
//! |---|---|
//! | read the body of a request | [`parse_object`], then `read` of the request's type |
//! | build a request without JSON | its fields, then `faults`, which says what `read` would |
//! | read the parameters of a list | [`query`] |
//! | show a record | `of` of the response's type |
//! | hide personal data from a public key | [`Mask::masked`] |
//! | make the body of an event | [`event_payload`] |
//! | compare two requests under one idempotency key | [`fingerprint`] |
//!
//! ```
//! use cauri_core::{Catalogue, Environment, Timestamp, wire};
//!
//! let (environment, catalogue) = (Environment::Sandbox, &Catalogue::sandbox());
//! let form = wire::Form { environment, catalogue, now: Timestamp::EPOCH };
//! let body = wire::parse_object(br#"{"name":"Awa Diop","emial":"awa@example.com"}"#)?;
//! let faults = wire::CreateCustomer::read(&body, &form).unwrap_err();
//! assert_eq!(faults.to_string(), "emial is not a parameter of this request.");
//! # Ok::<(), wire::JsonError>(())
//! ```

pub(crate) mod api_key;
pub(crate) mod customer;
pub(crate) mod delivery;
pub(crate) mod event;
pub(crate) mod field;
pub(crate) mod form;
pub(crate) mod json;
pub(crate) mod ledger;
pub(crate) mod list;
pub(crate) mod methods;
pub(crate) mod params;
pub(crate) mod payment;
pub(crate) mod payment_link;
pub(crate) mod payout;
pub(crate) mod private;
pub mod query;
pub(crate) mod refund;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod sample;
pub(crate) mod sandbox;
pub(crate) mod simulated;
pub mod tag;
pub(crate) mod timeline;
pub(crate) mod webhook_endpoint;

pub use api_key::ApiKey;
pub use customer::{
    CreateCustomer, CurrencyStatistics, Customer, CustomerStatistics, ModifyCustomer,
};
pub use delivery::{RetryDelivery, TestWebhook, WebhookDelivery};
pub use event::{Event, EventBody, EventData, event_is_about, event_payload};
pub use form::Form;
pub use json::{JsonError, fingerprint, parse_object};
pub use ledger::{BalanceSheet, CurrencyAmount, LedgerEntry};
pub use list::List;
pub use methods::{Capabilities, MethodNetworks, NetworkEntry, PaymentMethods};
pub use payment::{CancelPayment, CreatePayment, Payment};
pub use payment_link::{CreatePaymentLink, ModifyPaymentLink, PaymentLink};
pub use payout::{CreatePayout, Payout};
pub use private::{Mask, Private};
pub use refund::{CreateRefund, Refund};
pub use replay::{ReplayEvents, ReplayPage, WebhookReplay};
pub use sample::{Sample, sample};
pub use sandbox::{Fund, SandboxFunding, SandboxScenario, Simulate};
pub use simulated::Simulated;
pub use timeline::TimelineEntry;
pub use webhook_endpoint::{
    CreateWebhookEndpoint, DeletedEndpoint, ModifyWebhookEndpoint, WebhookEndpoint,
};

#[cfg(test)]
mod tests;
