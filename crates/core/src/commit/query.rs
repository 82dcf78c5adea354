//! Lists: which records, in which order, which part.

use uuid::Uuid;

use super::record::Record;
use crate::{
    model::ledger::Entry,
    value::{
        id::{Id, PaymentId},
        page::Page,
        scope::Scope,
        time::Timestamp,
    },
};

/// A list that a store keeps. Each is numbered 1, 2, 3 … in the order in which its records were
/// accepted, without gaps (API §19.9); pages run from the highest number down, but for timelines,
/// which run up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new list must stop every store from compiling")]
pub enum List {
    /// All accounts.
    Accounts,
    /// API keys.
    ApiKeys(Scope),
    /// Customers.
    Customers(Scope),
    /// Payment links.
    PaymentLinks(Scope),
    /// Payments.
    Payments(Scope),
    /// Payouts.
    Payouts(Scope),
    /// Refunds.
    Refunds(Scope),
    /// The timeline of one payment, oldest first.
    Timeline(Scope, PaymentId),
    /// Webhook endpoints, deleted ones included unless filtered out.
    WebhookEndpoints(Scope),
    /// Events.
    Events(Scope),
    /// Deliveries.
    Deliveries(Scope),
    /// Ledger entries; read by `entries`, never by `list`.
    Entries(Scope),
}

impl List {
    /// Whose it is; `None` for the list of accounts.
    ///
    /// ```
    /// use cauri_core::{Environment, List, Scope};
    /// let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// let scope = Scope { account, environment: Environment::Live };
    /// assert_eq!(List::Payments(scope).scope(), Some(scope));
    /// assert_eq!(List::Accounts.scope(), None);
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    #[must_use]
    pub const fn scope(self) -> Option<Scope> {
        match self {
            Self::Accounts => None,
            Self::ApiKeys(scope)
            | Self::Customers(scope)
            | Self::PaymentLinks(scope)
            | Self::Payments(scope)
            | Self::Payouts(scope)
            | Self::Refunds(scope)
            | Self::Timeline(scope, _)
            | Self::WebhookEndpoints(scope)
            | Self::Events(scope)
            | Self::Deliveries(scope)
            | Self::Entries(scope) => Some(scope),
        }
    }

    /// Does its first page hold the oldest records?
    ///
    /// ```
    /// use cauri_core::{Environment, List, Scope};
    /// let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// let scope = Scope { account, environment: Environment::Live };
    /// let payment = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// assert!(List::Timeline(scope, payment).is_oldest_first());
    /// assert!(!List::Payments(scope).is_oldest_first());
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    #[must_use]
    pub const fn is_oldest_first(self) -> bool {
        matches!(self, Self::Timeline(..))
    }

    /// Its name, for a store that keeps a counter for each.
    ///
    /// ```
    /// use cauri_core::List;
    /// assert_eq!(List::Accounts.name(), "accounts");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accounts => "accounts",
            Self::ApiKeys(_) => "api_keys",
            Self::Customers(_) => "customers",
            Self::PaymentLinks(_) => "payment_links",
            Self::Payments(_) => "payments",
            Self::Payouts(_) => "payouts",
            Self::Refunds(_) => "refunds",
            Self::Timeline(..) => "timeline_entries",
            Self::WebhookEndpoints(_) => "webhook_endpoints",
            Self::Events(_) => "events",
            Self::Deliveries(_) => "deliveries",
            Self::Entries(_) => "ledger_entries",
        }
    }
}

/// A field that lists can be filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new field must stop every store from compiling")]
pub enum Field {
    /// Status.
    Status,
    /// Currency.
    Currency,
    /// Country.
    Country,
    /// Payment method.
    PaymentMethod,
    /// Network.
    Network,
    /// Customer.
    Customer,
    /// Payment link.
    PaymentLink,
    /// The merchant's reference.
    Reference,
    /// A link's `active`.
    Active,
    /// A refund's payment.
    Payment,
    /// A customer's e-mail address, in lower case.
    Email,
    /// A customer's phone.
    Phone,
    /// A delivery's endpoint.
    Endpoint,
    /// A delivery's event.
    Event,
    /// The kind of an event.
    EventKind,
    /// Is an endpoint deleted?
    Deleted,
    /// A ledger entry's account.
    LedgerAccount,
    /// A ledger entry's side.
    Direction,
    /// A ledger entry's type.
    EntryKind,
    /// What a ledger entry is because of.
    Source,
    /// The transaction of a ledger entry.
    Transaction,
}

/// What a field is compared with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "stores bind every kind")]
pub enum FieldValue {
    /// A word or a text.
    Text(String),
    /// The bits of an id.
    Id(Uuid),
    /// Yes or no.
    Flag(bool),
}

/// One condition: the field has exactly this value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a field and a value")]
pub struct Filter {
    /// Which field.
    pub field: Field,
    /// Which value.
    pub value: FieldValue,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores read every field")]
pub struct Query {
    /// Of which list.
    pub list: List,
    /// Only records that meet all of these.
    pub filters: Vec<Filter>,
    /// Only records made then or later.
    pub created_from: Option<Timestamp>,
    /// Only records made before.
    pub created_to: Option<Timestamp>,
    /// Which part.
    pub page: Page,
}

/// What a list answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores make them")]
pub struct Listed<T> {
    /// The records of the page, in the list's order.
    pub items: Vec<T>,
    /// How many records match over all pages.
    pub total: i64,
}

impl Query {
    /// The first page of a whole list.
    ///
    /// ```
    /// use cauri_core::{List, Query};
    /// let query = Query::all(List::Accounts);
    /// assert_eq!((query.page.limit(), query.page.offset()), (25, 0));
    /// assert!(query.is_unfiltered());
    /// ```
    #[must_use]
    pub fn all(list: List) -> Self {
        Self {
            list,
            filters: Vec::new(),
            created_from: None,
            created_to: None,
            page: Page::default(),
        }
    }

    /// One more condition.
    ///
    /// ```
    /// use cauri_core::{Environment, Field, FieldValue, List, PaymentStatus, Query, Scope};
    /// let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// let scope = Scope { account, environment: Environment::Live };
    /// let failed = FieldValue::Text(PaymentStatus::Failed.to_string());
    /// let query = Query::all(List::Payments(scope)).with(Field::Status, failed);
    /// assert_eq!(query.filters.len(), 1);
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    #[must_use]
    pub fn with(mut self, field: Field, value: FieldValue) -> Self {
        self.filters.push(Filter { field, value });
        self
    }

    /// Another part.
    ///
    /// ```
    /// use cauri_core::{List, Page, Query};
    /// let third = Page::new(10, 20).expect("within the limits");
    /// assert_eq!(Query::all(List::Accounts).page(third).page, third);
    /// ```
    #[must_use]
    pub const fn page(mut self, page: Page) -> Self {
        self.page = page;
        self
    }

    /// Is every record of the list wanted? Then a page is a range of numbers and the total a
    /// counter.
    ///
    /// ```
    /// use cauri_core::{Field, FieldValue, List, Query};
    /// let query = Query::all(List::Accounts);
    /// assert!(query.is_unfiltered());
    /// assert!(!query.with(Field::Active, FieldValue::Flag(true)).is_unfiltered());
    /// ```
    #[must_use]
    pub const fn is_unfiltered(&self) -> bool {
        self.filters.is_empty() && self.created_from.is_none() && self.created_to.is_none()
    }

    /// Does a record of the list meet the conditions?
    ///
    /// ```
    /// use cauri_core::{Field, FieldValue, List, Query};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let record = shop.payment(5_000).value.into();
    /// let of = |status: &str| {
    ///     let status = FieldValue::Text(status.to_owned());
    ///     Query::all(List::Payments(shop.scope)).with(Field::Status, status)
    /// };
    /// assert!(of("created").admits(&record));
    /// assert!(!of("succeeded").admits(&record));
    /// ```
    #[must_use]
    pub fn admits(&self, record: &Record) -> bool {
        self.admits_moment(record.created_at())
            && self.filters.iter().all(|it| record.field(it.field).as_ref() == Some(&it.value))
    }

    /// Does a ledger entry meet the conditions?
    ///
    /// ```
    /// use cauri_core::{Field, FieldValue, List, Query};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.paid(5_000);
    /// let fees = FieldValue::Text("fees".to_owned());
    /// let query = Query::all(List::Entries(shop.scope)).with(Field::LedgerAccount, fees);
    /// // Two lines for the payment, two for its fee; one of them is on the account of fees.
    /// assert_eq!(shop.entries.len(), 4);
    /// assert_eq!(shop.entries.iter().filter(|entry| query.admits_entry(entry)).count(), 1);
    /// ```
    #[must_use]
    pub fn admits_entry(&self, entry: &Entry) -> bool {
        self.admits_moment(Some(entry.created_at))
            && self.filters.iter().all(|it| entry.field(it.field).as_ref() == Some(&it.value))
    }

    fn admits_moment(&self, at: Option<Timestamp>) -> bool {
        self.created_from.is_none_or(|from| at.is_some_and(|at| at >= from))
            && self.created_to.is_none_or(|to| at.is_some_and(|at| at < to))
    }
}

impl Entry {
    /// The value of a field that entries can be filtered by.
    ///
    /// ```
    /// use cauri_core::{Field, FieldValue};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.paid(5_000);
    /// let side = shop.entries[0].field(Field::Direction);
    /// assert_eq!(side, Some(FieldValue::Text("debit".to_owned())));
    /// assert_eq!(shop.entries[0].field(Field::Email), None);
    /// ```
    #[must_use]
    pub fn field(&self, field: Field) -> Option<FieldValue> {
        let word = |word: &str| Some(FieldValue::Text(word.to_owned()));
        match field {
            Field::Currency => word(self.currency.code()),
            Field::LedgerAccount => word(self.account.as_str()),
            Field::Direction => word(self.direction.as_str()),
            Field::EntryKind => word(self.kind.as_str()),
            Field::Source => self.source.map(|id| FieldValue::Id(id.uuid())),
            Field::Transaction => Some(FieldValue::Id(self.transaction.uuid())),
            _ => None,
        }
    }
}
