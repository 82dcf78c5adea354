//! Payments and their timelines.

use cauri_core::{
    Actor, Amount, Connection, Country, Currency, CustomerId, EventId, FailureCode, Metadata,
    Network, NextAction, Otp, Payment, PaymentId, PaymentLinkId, PaymentMethod, PaymentStatus,
    Phone, RefundId, Scope, Simulation, Text, TimelineEntry, TimelineKind, Timestamp, WebUrl,
};

use super::mapped;

mapped! { Payment {
    scope: Scope => "account" "live";
    id: PaymentId => "id";
    status: PaymentStatus => "status";
    amount: Amount => "amount";
    currency: Currency => "currency";
    fee_amount: Amount => "fee_amount";
    method: PaymentMethod => "method";
    network: Option<Network> => "network";
    reference: Option<Text<100>> => "reference";
    country: Country => "country";
    phone: Option<Phone> => "phone";
    otp: Option<Otp> => "otp";
    customer: Option<CustomerId> => "customer";
    payment_link: Option<PaymentLinkId> => "payment_link";
    description: Option<Text<255>> => "description";
    metadata: Metadata => "metadata";
    return_url: Option<WebUrl> => "return_url";
    next_action: Option<NextAction> => "next_action";
    failure: Option<FailureCode> => "failure";
    cancellation_reason: Option<Text<255>> => "cancellation_reason";
    refunded_amount: Amount => "refunded_amount";
    refunding_amount: Amount => "refunding_amount";
    fee_returned_amount: Amount => "fee_returned_amount";
    refunds_count: i64 => "refunds_count";
    pending_amount: Amount => "pending_amount";
    settled_at: Option<Timestamp> => "settled_at";
    expires_at: Timestamp => "expires_at";
    created_at: Timestamp => "created_at";
    updated_at: Timestamp => "updated_at";
    processing_at: Option<Timestamp> => "processing_at";
    succeeded_at: Option<Timestamp> => "succeeded_at";
    failed_at: Option<Timestamp> => "failed_at";
    cancelled_at: Option<Timestamp> => "cancelled_at";
    expired_at: Option<Timestamp> => "expired_at";
    available_at: Option<Timestamp> => "available_at";
    timeline_count: i64 => "timeline_count";
    connection: Connection => "connection";
    poll_at: Option<Timestamp> => "poll_at";
    simulation: Option<Simulation> => "scenario" "simulated_at";
}}

mapped! { TimelineEntry {
    scope: Scope => "account" "live";
    payment: PaymentId => "payment";
    number: i64 => "number";
    kind: TimelineKind => "kind";
    status: PaymentStatus => "status";
    actor: Actor => "actor";
    message: String => "message";
    amount: Option<Amount> => "amount";
    refund: Option<RefundId> => "refund";
    event: Option<EventId> => "event";
    created_at: Timestamp => "created_at";
}}
