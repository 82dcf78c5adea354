//! What a store keeps.

use std::sync::Arc;

use super::{
    claim::Lane,
    key::Key,
    query::{Field, FieldValue, List},
};
use crate::{
    model::{
        account::{Account, Setting},
        api_key::ApiKey,
        customer::Customer,
        delivery::Delivery,
        event::Event,
        idempotency::IdempotencyRecord,
        payment::Payment,
        payment_link::PaymentLink,
        payout::Payout,
        refund::Refund,
        timeline::TimelineEntry,
        webhook_endpoint::{Subscription, Subscriptions, WebhookEndpoint},
    },
    value::{id::Id, scope::Scope, time::Timestamp},
};

/// A record with what the store knows of it beside its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores make them")]
pub struct Versioned<T> {
    /// The value.
    pub value: T,
    /// 1 after the insert, one more after every update and every claim.
    pub version: u64,
    /// When somebody has to do something about it.
    pub due_at: Option<Timestamp>,
}

impl<T> Versioned<T> {
    /// The same version of another view of the value.
    ///
    /// ```
    /// use cauri_core::Versioned;
    /// let read = Versioned { value: 42, version: 3, due_at: None };
    /// assert_eq!(read.map(|number| number.to_string()).value, "42");
    /// ```
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Versioned<U> {
        Versioned { value: f(self.value), version: self.version, due_at: self.due_at }
    }
}

impl Versioned<Record> {
    /// The same version with its value, if the record is of this type.
    ///
    /// ```
    /// use cauri_core::{Payment, Payout, Record, Versioned};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let payment = Shop::open().payment(5_000);
    /// let read: Versioned<Record> = payment.clone().map(Record::from);
    /// assert_eq!(read.clone().of::<Payment>(), Some(payment));
    /// assert_eq!(read.of::<Payout>(), None);
    /// ```
    #[must_use]
    pub fn of<T: Entity>(self) -> Option<Versioned<T>> {
        let Self { value, version, due_at } = self;
        T::from_record(value).map(|value| Versioned { value, version, due_at })
    }
}

/// What a type must say of itself to be kept by a store. Implemented by this crate only.
pub trait Entity: Sized + Clone + Send + 'static + Into<Record> {
    /// The value, if the record is of this type.
    ///
    /// ```
    /// use cauri_core::{Entity, Payment, Payout, Record};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let payment = Shop::open().payment(5_000).value;
    /// let record = Record::from(payment.clone());
    /// assert_eq!(Payment::from_record(record.clone()), Some(payment));
    /// assert_eq!(Payout::from_record(record), None);
    /// ```
    fn from_record(record: Record) -> Option<Self>;
}

macro_rules! records {
    ($($(#[$meta:meta])* $name:ident($kind:ty),)+) => {
        /// Anything a store keeps. Exhaustive on purpose: a new kind must stop every store from
        /// compiling, since a wildcard arm would drop money silently.
        ///
        /// What was decided is not changed any more, only replaced, so a copy shares the value, as long
        /// as nobody changes theirs.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[expect(clippy::exhaustive_enums, reason = "see above")]
        pub enum Record {
            $($(#[$meta])* $name(Arc<$kind>),)+
        }

        /// The kinds of record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(clippy::exhaustive_enums, reason = "a new kind must stop every store from compiling")]
        pub enum RecordKind {
            $($(#[$meta])* $name,)+
        }

        impl RecordKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];
        }

        impl Record {
            /// Of which kind it is.
            ///
            /// ```
            /// use cauri_core::{Account, Record, RecordKind, Timestamp};
            /// let id = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
            /// let record = Record::from(Account { id, created_at: Timestamp::EPOCH });
            /// assert_eq!(record.kind(), RecordKind::Account);
            /// # Ok::<(), cauri_core::IdError>(())
            /// ```
            #[must_use]
            pub const fn kind(&self) -> RecordKind {
                match self { $(Self::$name(_) => RecordKind::$name,)+ }
            }
        }

        $(
            impl From<$kind> for Record {
                fn from(value: $kind) -> Self {
                    Self::$name(Arc::new(value))
                }
            }

            impl Entity for $kind {
                fn from_record(record: Record) -> Option<Self> {
                    match record {
                        Record::$name(value) => Some(Arc::unwrap_or_clone(value)),
                        _ => None,
                    }
                }
            }
        )+
    };
}

records! {
    /// An account.
    Account(Account),
    /// A setting of the installation.
    Setting(Setting),
    /// An API key.
    ApiKey(ApiKey),
    /// A customer.
    Customer(Customer),
    /// A payment link.
    PaymentLink(PaymentLink),
    /// A payment.
    Payment(Payment),
    /// A payout.
    Payout(Payout),
    /// A refund.
    Refund(Refund),
    /// A line of a payment's timeline.
    TimelineEntry(TimelineEntry),
    /// A webhook endpoint.
    WebhookEndpoint(WebhookEndpoint),
    /// The subscribers of a scope.
    Subscriptions(Subscriptions),
    /// An event.
    Event(Event),
    /// A delivery.
    Delivery(Delivery),
    /// An idempotency record.
    Idempotency(IdempotencyRecord),
}

impl Record {
    /// Its version once it is inserted: 1. Of a kind that can be forgotten and inserted again, the
    /// milliseconds since 1970 at which it was made: no version is ever met twice, and whoever has
    /// read what is forgotten since does not replace what has come after it.
    ///
    /// ```
    /// use cauri_core::{Account, Record, Timestamp};
    /// let id = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// let record = Record::from(Account { id, created_at: Timestamp::EPOCH });
    /// assert_eq!(record.first_version(), 1);
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    #[must_use]
    pub fn first_version(&self) -> u64 {
        match self {
            Self::Idempotency(it) => u64::try_from(it.created_at.millis()).unwrap_or(1).max(1),
            _ => 1,
        }
    }

    /// The primary key.
    ///
    /// ```
    /// use cauri_core::{Account, Key, Record, Timestamp};
    /// let id = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// let record = Record::from(Account { id, created_at: Timestamp::EPOCH });
    /// assert_eq!(record.key(), Key::Account(id));
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    #[must_use]
    pub fn key(&self) -> Key {
        match self {
            Self::Account(it) => Key::Account(it.id),
            Self::Setting(it) => Key::Setting(it.name.clone()),
            Self::ApiKey(it) => Key::ApiKey(it.scope, it.id),
            Self::Customer(it) => Key::Customer(it.scope, it.id),
            Self::PaymentLink(it) => Key::PaymentLink(it.scope, it.id),
            Self::Payment(it) => Key::Payment(it.scope, it.id),
            Self::Payout(it) => Key::Payout(it.scope, it.id),
            Self::Refund(it) => Key::Refund(it.scope, it.id),
            Self::TimelineEntry(it) => Key::TimelineEntry(it.scope, it.payment, it.number),
            Self::WebhookEndpoint(it) => Key::WebhookEndpoint(it.scope, it.id),
            Self::Subscriptions(it) => Key::Subscriptions(it.scope),
            Self::Event(it) => Key::Event(it.scope, it.id),
            Self::Delivery(it) => Key::Delivery(it.scope, it.id),
            Self::Idempotency(it) => Key::Idempotency(it.scope, it.key.clone()),
        }
    }

    /// The alternate key, where there is one.
    ///
    /// ```
    /// use cauri_core::{Key, Record};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let (key, _) = shop.key();
    /// let hash = key.value.hash;
    /// assert_eq!(Record::from(key.value).alternate_key(), Some(Key::ApiKeyHash(hash)));
    /// assert_eq!(Record::from(shop.payment(5_000).value).alternate_key(), None);
    /// ```
    #[must_use]
    pub fn alternate_key(&self) -> Option<Key> {
        match self {
            Self::ApiKey(it) => Some(Key::ApiKeyHash(it.hash)),
            Self::Account(_)
            | Self::Setting(_)
            | Self::Customer(_)
            | Self::PaymentLink(_)
            | Self::Payment(_)
            | Self::Payout(_)
            | Self::Refund(_)
            | Self::TimelineEntry(_)
            | Self::WebhookEndpoint(_)
            | Self::Subscriptions(_)
            | Self::Event(_)
            | Self::Delivery(_)
            | Self::Idempotency(_) => None,
        }
    }

    /// The list in which the store numbers it densely, where there is one. A timeline's lines
    /// bring their own numbers.
    ///
    /// ```
    /// use cauri_core::{List, Record};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let payment = shop.payment(5_000).value;
    /// assert_eq!(Record::from(payment).list(), Some(List::Payments(shop.scope)));
    /// assert_eq!(Record::from(shop.subscriptions.clone()).list(), None);
    /// ```
    #[must_use]
    pub fn list(&self) -> Option<List> {
        match self {
            Self::Account(_) => Some(List::Accounts),
            Self::ApiKey(it) => Some(List::ApiKeys(it.scope)),
            Self::Customer(it) => Some(List::Customers(it.scope)),
            Self::PaymentLink(it) => Some(List::PaymentLinks(it.scope)),
            Self::Payment(it) => Some(List::Payments(it.scope)),
            Self::Payout(it) => Some(List::Payouts(it.scope)),
            Self::Refund(it) => Some(List::Refunds(it.scope)),
            Self::WebhookEndpoint(it) => Some(List::WebhookEndpoints(it.scope)),
            Self::Event(it) => Some(List::Events(it.scope)),
            Self::Delivery(it) => Some(List::Deliveries(it.scope)),
            Self::TimelineEntry(_)
            | Self::Setting(_)
            | Self::Subscriptions(_)
            | Self::Idempotency(_) => None,
        }
    }

    /// Whose it is; `None` for what belongs to the installation.
    ///
    /// ```
    /// use cauri_core::{Record, Setting};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// assert_eq!(Record::from(shop.payment(5_000).value).scope(), Some(shop.scope));
    /// let setting = Setting { name: "colour".to_owned(), value: b"blue".to_vec() };
    /// assert_eq!(Record::from(setting).scope(), None);
    /// ```
    #[must_use]
    pub fn scope(&self) -> Option<Scope> {
        match self {
            Self::Account(_) | Self::Setting(_) => None,
            Self::ApiKey(it) => Some(it.scope),
            Self::Customer(it) => Some(it.scope),
            Self::PaymentLink(it) => Some(it.scope),
            Self::Payment(it) => Some(it.scope),
            Self::Payout(it) => Some(it.scope),
            Self::Refund(it) => Some(it.scope),
            Self::TimelineEntry(it) => Some(it.scope),
            Self::WebhookEndpoint(it) => Some(it.scope),
            Self::Subscriptions(it) => Some(it.scope),
            Self::Event(it) => Some(it.scope),
            Self::Delivery(it) => Some(it.scope),
            Self::Idempotency(it) => Some(it.scope),
        }
    }

    /// The lane in which it waits when it is due; `None` for what is never claimed, and for
    /// idempotency records, which wait for nobody.
    ///
    /// ```
    /// use cauri_core::{Lane, Record};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let mut payment = shop.payment(5_000).value;
    /// assert_eq!(Record::from(payment.clone()).lane(), Some(Lane::Inside)); // of the sandbox
    /// payment.scope.environment = cauri_core::Environment::Live;
    /// let connection = payment.connection.clone();
    /// assert_eq!(Record::from(payment).lane(), Some(Lane::Connection(connection)));
    /// assert_eq!(Record::from(shop.subscriptions.clone()).lane(), None);
    /// ```
    #[must_use]
    pub fn lane(&self) -> Option<Lane> {
        let (scope, connection) = match self {
            // Paid: it only has to be settled.
            Self::Payment(it) if it.is_unsettled() => return Some(Lane::Inside),
            Self::Payment(it) => (it.scope, &it.connection),
            Self::Payout(it) => (it.scope, &it.connection),
            Self::Refund(it) => (it.scope, &it.connection),
            Self::Delivery(it) => return Some(Lane::Endpoint(it.endpoint)),
            Self::Account(_)
            | Self::Setting(_)
            | Self::ApiKey(_)
            | Self::Customer(_)
            | Self::PaymentLink(_)
            | Self::TimelineEntry(_)
            | Self::WebhookEndpoint(_)
            | Self::Subscriptions(_)
            | Self::Event(_)
            | Self::Idempotency(_) => return None,
        };
        let live = scope.environment.is_live();
        Some(if live { Lane::Connection(connection.clone()) } else { Lane::Inside })
    }

    /// When it was made: what `created_from` and `created_to` look at.
    ///
    /// ```
    /// use cauri_core::Record;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// assert_eq!(Record::from(shop.payment(5_000).value).created_at(), Some(shop.now()));
    /// assert_eq!(Record::from(shop.subscriptions.clone()).created_at(), None);
    /// ```
    #[must_use]
    pub fn created_at(&self) -> Option<Timestamp> {
        match self {
            Self::Setting(_) | Self::Subscriptions(_) => None,
            Self::Account(it) => Some(it.created_at),
            Self::ApiKey(it) => Some(it.created_at),
            Self::Customer(it) => Some(it.created_at),
            Self::PaymentLink(it) => Some(it.created_at),
            Self::Payment(it) => Some(it.created_at),
            Self::Payout(it) => Some(it.created_at),
            Self::Refund(it) => Some(it.created_at),
            Self::TimelineEntry(it) => Some(it.created_at),
            Self::WebhookEndpoint(it) => Some(it.created_at),
            Self::Event(it) => Some(it.created),
            Self::Delivery(it) => Some(it.created_at),
            Self::Idempotency(it) => Some(it.created_at),
        }
    }

    /// The value of a field that lists can be filtered by; `None` when it is null or when records
    /// of this kind have no such field.
    ///
    /// ```
    /// use cauri_core::{Field, FieldValue, Record};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let record = Record::from(shop.payment(5_000).value);
    /// assert_eq!(record.field(Field::Network), Some(FieldValue::Text("mtn".to_owned())));
    /// assert_eq!(record.field(Field::Customer), None); // it has none
    /// assert_eq!(record.field(Field::Email), None); // payments have no such field
    /// ```
    #[must_use]
    pub fn field(&self, field: Field) -> Option<FieldValue> {
        let word = |word: &str| Some(FieldValue::Text(word.to_owned()));
        match (self, field) {
            (Self::Customer(it), Field::Email) => {
                it.email.as_ref().map(|email| FieldValue::Text(email.folded()))
            }
            (Self::Customer(it), Field::Phone) => {
                it.phone.as_ref().and_then(|it| word(it.as_str()))
            }
            (Self::Customer(it), Field::Reference) => {
                it.reference.as_ref().and_then(|it| word(it.as_str()))
            }
            (Self::PaymentLink(it), Field::Status) => word(it.status.as_str()),
            (Self::PaymentLink(it), Field::Active) => Some(FieldValue::Flag(it.active)),
            (Self::PaymentLink(it), Field::Currency) => word(it.currency.code()),
            (Self::PaymentLink(it), Field::Reference) => {
                it.reference.as_ref().and_then(|it| word(it.as_str()))
            }
            (Self::Payment(it), Field::Status) => word(it.status.as_str()),
            (Self::Payment(it), Field::Currency) => word(it.currency.code()),
            (Self::Payment(it), Field::Country) => word(it.country.code()),
            (Self::Payment(it), Field::PaymentMethod) => word(it.method.as_str()),
            (Self::Payment(it), Field::Network) => {
                it.network.as_ref().and_then(|it| word(it.as_str()))
            }
            (Self::Payment(it), Field::Customer) => it.customer.map(|id| FieldValue::Id(id.uuid())),
            (Self::Payment(it), Field::PaymentLink) => {
                it.payment_link.map(|id| FieldValue::Id(id.uuid()))
            }
            (Self::Payment(it), Field::Reference) => {
                it.reference.as_ref().and_then(|it| word(it.as_str()))
            }
            (Self::Payout(it), Field::Status) => word(it.status.as_str()),
            (Self::Payout(it), Field::Currency) => word(it.currency.code()),
            (Self::Payout(it), Field::Country) => word(it.country.code()),
            (Self::Payout(it), Field::Network) => word(it.network.as_str()),
            (Self::Payout(it), Field::Customer) => it.customer.map(|id| FieldValue::Id(id.uuid())),
            (Self::Payout(it), Field::Reference) => {
                it.reference.as_ref().and_then(|it| word(it.as_str()))
            }
            (Self::Refund(it), Field::Status) => word(it.status.as_str()),
            (Self::Refund(it), Field::Currency) => word(it.currency.code()),
            (Self::Refund(it), Field::Payment) => Some(FieldValue::Id(it.payment.uuid())),
            (Self::Refund(it), Field::Reference) => {
                it.reference.as_ref().and_then(|it| word(it.as_str()))
            }
            (Self::WebhookEndpoint(it), Field::Deleted) => {
                Some(FieldValue::Flag(it.deleted_at.is_some()))
            }
            (Self::Event(it), Field::EventKind) => word(it.kind.as_str()),
            (Self::Delivery(it), Field::Status) => word(it.status.as_str()),
            (Self::Delivery(it), Field::Endpoint) => Some(FieldValue::Id(it.endpoint.uuid())),
            (Self::Delivery(it), Field::Event) => Some(FieldValue::Id(it.event.uuid())),
            (Self::Delivery(it), Field::EventKind) => word(it.event_kind.as_str()),
            _ => None,
        }
    }
}

impl WebhookEndpoint {
    /// What emitting needs to know of it.
    #[must_use]
    pub(crate) fn subscriber(&self) -> crate::model::webhook_endpoint::Subscriber {
        crate::model::webhook_endpoint::Subscriber {
            id: self.id,
            url: self.url.clone(),
            events: match &self.events {
                Subscription::All => Subscription::All,
                Subscription::Kinds(kinds) => Subscription::Kinds(kinds.clone()),
            },
            active: self.active,
        }
    }
}
