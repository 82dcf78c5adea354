//! What each route asks of the engine, one noun a file.

pub(crate) mod customers;
pub(crate) mod events;
pub(crate) mod ledger;
pub(crate) mod payment_links;
pub(crate) mod payments;
pub(crate) mod payouts;
pub(crate) mod refunds;
pub(crate) mod sandbox;
pub(crate) mod webhooks;

use crate::{ask::Ask, problem::Failure, respond::Answer};

/// How a handler ends.
pub(crate) type Outcome = Result<Answer, Failure>;

/// What the id in a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noun {
    Payment,
    PaymentLink,
    Payout,
    Refund,
    Customer,
    Endpoint,
    Delivery,
    Event,
}

impl Noun {
    /// What people call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Payment => "payment",
            Self::PaymentLink => "payment link",
            Self::Payout => "payout",
            Self::Refund => "refund",
            Self::Customer => "customer",
            Self::Endpoint => "webhook endpoint",
            Self::Delivery => "webhook delivery",
            Self::Event => "event",
        }
    }

    /// Is the object of the path there?
    pub(crate) async fn find(self, ask: &Ask) -> Result<(), Failure> {
        let (engine, caller) = (&ask.engine, ask.caller());
        match self {
            Self::Payment => _ = engine.payment(caller, ask.id()?).await?,
            Self::PaymentLink => _ = engine.payment_link(caller, ask.id()?).await?,
            Self::Payout => _ = engine.payout(caller, ask.id()?).await?,
            Self::Refund => _ = engine.refund(caller, ask.id()?).await?,
            Self::Customer => _ = engine.customer(caller, ask.id()?).await?,
            Self::Endpoint => _ = engine.webhook_endpoint(caller, ask.id()?).await?,
            Self::Delivery => _ = engine.webhook_delivery(caller, ask.id()?).await?,
            Self::Event => _ = engine.event(caller, ask.id()?).await?,
        }
        Ok(())
    }
}
