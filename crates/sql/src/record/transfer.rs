//! Payouts and refunds: money on its way out.

use cauri_core::{
    Amount, Connection, Country, Currency, CustomerId, FailureCode, Metadata, Network, PaymentId,
    PaymentMethod, Payout, PayoutId, PayoutStatus, Phone, Refund, RefundId, RefundReason,
    RefundStatus, Scope, Simulation, Text, Timestamp,
};

use super::mapped;

mapped! { Payout {
    scope: Scope => "account" "live";
    id: PayoutId => "id";
    status: PayoutStatus => "status";
    amount: Amount => "amount";
    currency: Currency => "currency";
    fee_amount: Amount => "fee_amount";
    method: PaymentMethod => "method";
    network: Network => "network";
    country: Country => "country";
    phone: Phone => "phone";
    recipient_name: Option<Text<100>> => "recipient_name";
    customer: Option<CustomerId> => "customer";
    reference: Option<Text<100>> => "reference";
    description: Option<Text<255>> => "description";
    metadata: Metadata => "metadata";
    failure: Option<FailureCode> => "failure";
    created_at: Timestamp => "created_at";
    updated_at: Timestamp => "updated_at";
    processing_at: Option<Timestamp> => "processing_at";
    succeeded_at: Option<Timestamp> => "succeeded_at";
    failed_at: Option<Timestamp> => "failed_at";
    connection: Connection => "connection";
    poll_at: Option<Timestamp> => "poll_at";
    simulation: Option<Simulation> => "scenario" "simulated_at";
}}

mapped! { Refund {
    scope: Scope => "account" "live";
    id: RefundId => "id";
    status: RefundStatus => "status";
    payment: PaymentId => "payment";
    amount: Amount => "amount";
    currency: Currency => "currency";
    fee_returned_amount: Amount => "fee_returned_amount";
    reason: Option<RefundReason> => "reason";
    description: Option<Text<255>> => "description";
    reference: Option<Text<100>> => "reference";
    metadata: Metadata => "metadata";
    failure: Option<FailureCode> => "failure";
    created_at: Timestamp => "created_at";
    updated_at: Timestamp => "updated_at";
    accepted_at: Option<Timestamp> => "accepted_at";
    succeeded_at: Option<Timestamp> => "succeeded_at";
    failed_at: Option<Timestamp> => "failed_at";
    connection: Connection => "connection";
    poll_at: Option<Timestamp> => "poll_at";
    simulation: Option<Simulation> => "scenario" "simulated_at";
}}
