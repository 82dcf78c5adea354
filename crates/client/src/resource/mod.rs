//! The resources, one file per noun.

mod customers;
mod events;
mod ledger;
mod payment_links;
mod payments;
mod payouts;
mod refunds;
mod sandbox;
mod webhooks;

pub use customers::Customers;
pub use events::Events;
pub use payment_links::PaymentLinks;
pub use payments::Payments;
pub use payouts::Payouts;
pub use refunds::Refunds;
pub use sandbox::Sandbox;
pub use webhooks::Webhooks;
