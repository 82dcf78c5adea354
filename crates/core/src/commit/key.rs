//! What names a record.

use crate::{
    model::{api_key::KeyHash, idempotency::IdempotencyKey},
    value::{
        id::{
            AccountId, ApiKeyId, CustomerId, DeliveryId, EndpointId, EventId, OrderId, PaymentId,
            PaymentLinkId, PayoutId, RefundId,
        },
        scope::Scope,
    },
};

/// The name of a record. Every record has one primary key; an API key can also be found by its
/// hash, an alternate key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new kind must stop every store from compiling")]
pub enum Key {
    /// An account.
    Account(AccountId),
    /// A setting of the installation.
    Setting(String),
    /// An API key.
    ApiKey(Scope, ApiKeyId),
    /// An API key, by the hash of its text: an alternate key, unique over all accounts.
    ApiKeyHash(KeyHash),
    /// A customer.
    Customer(Scope, CustomerId),
    /// A payment link.
    PaymentLink(Scope, PaymentLinkId),
    /// A payment.
    Payment(Scope, PaymentId),
    /// A payout.
    Payout(Scope, PayoutId),
    /// A refund.
    Refund(Scope, RefundId),
    /// A line of a payment's timeline.
    TimelineEntry(Scope, PaymentId, i64),
    /// A webhook endpoint.
    WebhookEndpoint(Scope, EndpointId),
    /// The subscribers of a scope.
    Subscriptions(Scope),
    /// An event.
    Event(Scope, EventId),
    /// A delivery.
    Delivery(Scope, DeliveryId),
    /// An idempotency record.
    Idempotency(Scope, IdempotencyKey),
}

impl Key {
    /// The key of something that moves money.
    ///
    /// ```
    /// use cauri_core::{Key, OrderId, Scope, Environment};
    /// let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// let scope = Scope { account, environment: Environment::Live };
    /// let payout = "pout_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// assert_eq!(Key::order(scope, OrderId::Payout(payout)), Key::Payout(scope, payout));
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    #[must_use]
    pub const fn order(scope: Scope, id: OrderId) -> Self {
        match id {
            OrderId::Payment(id) => Self::Payment(scope, id),
            OrderId::Payout(id) => Self::Payout(scope, id),
            OrderId::Refund(id) => Self::Refund(scope, id),
        }
    }

    /// Whose it names; `None` for what belongs to the installation, and for a hash, which does not
    /// say.
    ///
    /// ```
    /// use cauri_core::{Environment, Key, Scope};
    /// let scope = Scope {
    ///     account: "acct_01j9v8k3xw0000000000000000".parse()?,
    ///     environment: Environment::Live,
    /// };
    /// assert_eq!(Key::Subscriptions(scope).scope(), Some(scope));
    /// assert_eq!(Key::Account(scope.account).scope(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn scope(&self) -> Option<Scope> {
        match self {
            Self::Account(_) | Self::Setting(_) | Self::ApiKeyHash(_) => None,
            Self::ApiKey(scope, _)
            | Self::Customer(scope, _)
            | Self::PaymentLink(scope, _)
            | Self::Payment(scope, _)
            | Self::Payout(scope, _)
            | Self::Refund(scope, _)
            | Self::TimelineEntry(scope, _, _)
            | Self::WebhookEndpoint(scope, _)
            | Self::Subscriptions(scope)
            | Self::Event(scope, _)
            | Self::Delivery(scope, _)
            | Self::Idempotency(scope, _) => Some(*scope),
        }
    }
}
