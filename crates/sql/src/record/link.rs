//! Payment links.

use cauri_core::{
    Amount, Country, Currency, Metadata, PaymentLink, PaymentLinkId, PaymentLinkStatus,
    PaymentMethod, Scope, Text, Timestamp, WebUrl,
};

use super::mapped;

mapped! { PaymentLink {
    scope: Scope => "account" "live";
    id: PaymentLinkId => "id";
    status: PaymentLinkStatus => "status";
    active: bool => "active";
    url: String => "url";
    title: Text<100> => "title";
    description: Option<Text<255>> => "description";
    amount: Option<Amount> => "amount";
    currency: Currency => "currency";
    country: Country => "country";
    methods: Option<Vec<PaymentMethod>> => "methods";
    reusable: bool => "reusable";
    expires_at: Option<Timestamp> => "expires_at";
    return_url: Option<WebUrl> => "return_url";
    reference: Option<Text<100>> => "reference";
    metadata: Metadata => "metadata";
    payments_count: i64 => "payments_count";
    open_payments_count: i64 => "open_payments_count";
    succeeded_payments_count: i64 => "succeeded_payments_count";
    collected_amount: Amount => "collected_amount";
    paid_at: Option<Timestamp> => "paid_at";
    created_at: Timestamp => "created_at";
    updated_at: Timestamp => "updated_at";
}}
