//! Webhook endpoints: where events are sent (API §16.1).

use super::event::EventKind;
use crate::{
    arithmetic::seal::Sealed,
    value::{
        id::EndpointId, metadata::Metadata, scope::Scope, text::Text, time::Timestamp,
        web_url::WebUrl,
    },
};

/// How many endpoints an environment may have (API §16.1).
pub const ENDPOINTS_MAX: usize = 16;

/// Which kinds of event an endpoint wants.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reference knows these two")]
pub enum Subscription {
    /// Every kind, those of the future included: `*`.
    All,
    /// These kinds, as they were named; never empty, and none twice.
    Kinds(Vec<EventKind>),
}

impl Subscription {
    /// Is this kind wanted?
    ///
    /// ```
    /// use cauri_core::{EventKind, Subscription};
    /// let paid = Subscription::Kinds([EventKind::PaymentSucceeded].into());
    /// assert!(paid.wants(EventKind::PaymentSucceeded));
    /// assert!(!paid.wants(EventKind::PaymentFailed));
    /// assert!(Subscription::All.wants(EventKind::PaymentFailed));
    /// ```
    #[must_use]
    pub fn wants(&self, kind: EventKind) -> bool {
        match self {
            Self::All => true,
            Self::Kinds(kinds) => kinds.contains(&kind),
        }
    }

    /// The words of the API.
    ///
    /// ```
    /// use cauri_core::{EventKind, Subscription};
    /// let ended = Subscription::Kinds([EventKind::PaymentFailed, EventKind::PaymentSucceeded].into());
    /// assert_eq!(ended.words(), ["payment.failed", "payment.succeeded"]);
    /// assert_eq!(Subscription::All.words(), ["*"]);
    /// ```
    #[must_use]
    pub fn words(&self) -> Vec<&'static str> {
        match self {
            Self::All => vec!["*"],
            Self::Kinds(kinds) => kinds.iter().map(|kind| kind.as_str()).collect(),
        }
    }
}

/// As it travels: its words.
impl serde::Serialize for Subscription {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.words())
    }
}

/// A secret that still signs beside the present one, until a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct PreviousSecret {
    /// The secret, sealed.
    pub secret: Sealed,
    /// When it stops signing.
    pub expires_at: Timestamp,
}

/// A webhook endpoint as it is stored. What the API shows of it is
/// [`crate::wire::WebhookEndpoint`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct WebhookEndpoint {
    /// Its id.
    pub id: EndpointId,
    /// Whose it is.
    pub scope: Scope,
    /// Where events are sent.
    pub url: WebUrl,
    /// Which events.
    pub events: Subscription,
    /// Is anything sent at all?
    pub active: bool,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// What signs, sealed.
    pub secret: Sealed,
    /// What still signs beside it during a rotation.
    pub previous_secret: Option<PreviousSecret>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Strictly increasing with every change of a visible field (API §19.5).
    pub updated_at: Timestamp,
    /// When it was deleted; from then on it is as if it did not exist.
    pub deleted_at: Option<Timestamp>,
}

/// All endpoints of a scope that are not deleted, in one record: what a commit that emits an event
/// reads to know who gets it, and what keeps two concurrent creations from passing the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Subscriptions {
    /// Whose they are.
    pub scope: Scope,
    /// At most [`ENDPOINTS_MAX`].
    pub endpoints: Vec<Subscriber>,
}

/// What emitting needs to know of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Subscriber {
    /// Which endpoint.
    pub id: EndpointId,
    /// Its address, shown in the delivery.
    pub url: WebUrl,
    /// Which events it wants.
    pub events: Subscription,
    /// Is anything sent to it?
    pub active: bool,
}

impl Subscriptions {
    /// A scope without endpoints.
    ///
    /// ```
    /// use cauri_core::{EventKind, Subscriptions};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let nobody = Subscriptions::none(Shop::open().scope);
    /// assert_eq!(nobody.of(EventKind::PaymentSucceeded).count(), 0);
    /// ```
    #[must_use]
    pub const fn none(scope: Scope) -> Self {
        Self { scope, endpoints: Vec::new() }
    }

    /// Who gets an event of this kind.
    ///
    /// ```
    /// use cauri_core::EventKind;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let endpoint = shop.endpoint().value.id;
    /// let listeners: Vec<_> =
    ///     shop.subscriptions.of(EventKind::PaymentSucceeded).map(|it| it.id).collect();
    /// assert_eq!(listeners, [endpoint]);
    /// ```
    pub fn of(&self, kind: EventKind) -> impl Iterator<Item = &Subscriber> {
        self.endpoints.iter().filter(move |endpoint| endpoint.active && endpoint.events.wants(kind))
    }
}
