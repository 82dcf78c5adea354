//! What lists may be filtered by.

use cauri::{
    CustomerId, DeliveryStatus, Direction, EndpointId, EntryKind, EventId, EventKind, Id,
    LedgerAccountKind, Page, PaymentId, PaymentLinkId, PaymentLinkStatus, PaymentMethod,
    PaymentStatus, PayoutId, PayoutStatus, RefundId, RefundStatus, ScenarioKind, TransactionId,
};
use serde_json::Value;

use super::schema::{
    between, count, country, currency, email, flag, given_date, id, ids, network, phone, text,
    words,
};

/// A query parameter: its name, whether it must be there, its form, and what it means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filter {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) schema: fn() -> Value,
    pub(crate) about: &'static str,
}

const fn filter(name: &'static str, schema: fn() -> Value) -> Filter {
    Filter { name, required: false, schema, about: "Only those." }
}

const CURRENCY: Filter = filter("currency", currency);
const COUNTRY: Filter = filter("country", country);
const NETWORK: Filter = filter("network", network);
const REFERENCE: Filter = filter("reference", reference);
const PAYMENT_STATUS: Filter = filter("status", || words(PaymentStatus::ALL));

fn reference() -> Value {
    text(100)
}

pub(crate) const PAYMENTS: &[Filter] = &[
    PAYMENT_STATUS,
    CURRENCY,
    COUNTRY,
    filter("payment_method", || words(PaymentMethod::ALL)),
    NETWORK,
    filter("customer", id::<CustomerId>),
    filter("payment_link", id::<PaymentLinkId>),
    REFERENCE,
];

pub(crate) const LINK_PAYMENTS: &[Filter] = &[PAYMENT_STATUS];

pub(crate) const PAYMENT_LINKS: &[Filter] = &[
    filter("status", || words(PaymentLinkStatus::ALL)),
    filter("active", flag),
    REFERENCE,
    CURRENCY,
];

pub(crate) const PAYOUTS: &[Filter] = &[
    filter("status", || words(PayoutStatus::ALL)),
    CURRENCY,
    COUNTRY,
    NETWORK,
    filter("customer", id::<CustomerId>),
    REFERENCE,
];

pub(crate) const REFUNDS: &[Filter] = &[
    filter("status", || words(RefundStatus::ALL)),
    filter("payment", id::<PaymentId>),
    CURRENCY,
    REFERENCE,
];

pub(crate) const CUSTOMERS: &[Filter] =
    &[filter("email", email), filter("phone", phone), REFERENCE];

pub(crate) const LEDGER: &[Filter] = &[
    CURRENCY,
    filter("account", || words(LedgerAccountKind::ALL)),
    filter("direction", || words(Direction::ALL)),
    filter("type", || words(EntryKind::ALL)),
    filter("source", || ids(&[PaymentId::PREFIX, PayoutId::PREFIX, RefundId::PREFIX])),
    filter("transaction", id::<TransactionId>),
];

pub(crate) const DELIVERIES: &[Filter] = &[
    filter("webhook_endpoint", id::<EndpointId>),
    filter("event", id::<EventId>),
    filter("event_type", || words(EventKind::ALL)),
    filter("status", || words(DeliveryStatus::ALL)),
];

pub(crate) const EVENTS: &[Filter] = &[
    filter("type", || words(EventKind::ALL)),
    Filter {
        name: "resource",
        required: false,
        schema: || {
            ids(&[PaymentId::PREFIX, PaymentLinkId::PREFIX, PayoutId::PREFIX, RefundId::PREFIX])
        },
        about: "Only those about this object.",
    },
];

pub(crate) const SCENARIOS: &[Filter] = &[filter("applies_to", || words(ScenarioKind::ALL))];

pub(crate) const BALANCE: &[Filter] = &[CURRENCY];

pub(crate) const PAYMENT_METHODS: &[Filter] = &[
    Filter { name: "country", required: true, schema: country, about: "Where." },
    Filter {
        name: "currency",
        required: false,
        schema: currency,
        about: "The country's first unless told.",
    },
];

/// Which part of a list.
pub(crate) const PAGE: &[Filter] = &[
    Filter {
        name: "limit",
        required: false,
        schema: || between(1, i64::from(Page::LIMIT_MAX)),
        about: "How many items at most; 25 unless told.",
    },
    Filter {
        name: "offset",
        required: false,
        schema: count,
        about: "How many items to pass over; 0 unless told.",
    },
];

/// When what is listed was made.
pub(crate) const DATES: &[Filter] = &[
    Filter {
        name: "created_from",
        required: false,
        schema: given_date,
        about: "Only those made then or later.",
    },
    Filter {
        name: "created_to",
        required: false,
        schema: given_date,
        about: "Only those made before.",
    },
];
