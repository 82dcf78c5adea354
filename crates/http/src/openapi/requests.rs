//! What requests may say.

use cauri::{
    CustomerId, EndpointId, EventId, EventKind, Id, PaymentId, PaymentLinkId, PaymentMethod,
    PayoutId, RefundId, RefundReason, Scenario,
};
use serde_json::{Map, Value};

use super::schema::{
    Object, between, country, currency, email, flag, given_amount, given_date, id, ids,
    merged_metadata, metadata, network, open_words, or_null, pattern, phone, some, text, url,
    words,
};

/// Every schema of a request's body, by name.
pub(crate) fn all() -> Map<String, Value> {
    [
        ("CreatePayment", create_payment()),
        ("CancelPayment", cancel_payment()),
        ("CreatePaymentLink", create_payment_link()),
        ("ModifyPaymentLink", modify_payment_link()),
        ("CreatePayout", create_payout()),
        ("CreateRefund", create_refund()),
        ("CreateCustomer", create_customer()),
        ("ModifyCustomer", modify_customer()),
        ("CreateWebhookEndpoint", create_webhook_endpoint()),
        ("ModifyWebhookEndpoint", modify_webhook_endpoint()),
        ("TestWebhook", test_webhook()),
        ("RetryDelivery", retry_delivery()),
        ("ReplayEvents", replay_events()),
        ("Simulate", simulate()),
        ("Fund", fund()),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema))
    .collect()
}

fn create_payment() -> Value {
    Object::asked("A payment to be made.")
        .may("amount", or_null(given_amount()), "Required unless the link has one.")
        .may("currency", or_null(currency()), "Required without a link.")
        .has("payment_method", words(PaymentMethod::ALL), "")
        .may("network", or_null(network()), "Required for mobile money.")
        .may("phone", or_null(phone()), "For mobile money, unless the customer has one.")
        .may("country", or_null(country()), "Required for a card without a link.")
        .may("otp", or_null(pattern("^[0-9]{4,10}$")), "A pre-authorisation code; never shown.")
        .may("customer", or_null(id::<CustomerId>()), "")
        .may("payment_link", or_null(id::<PaymentLinkId>()), "")
        .may("reference", or_null(text(100)), "The merchant's own name for it.")
        .may("description", or_null(text(255)), "")
        .may("metadata", or_null(metadata()), "")
        .may("return_url", or_null(url()), "https; in the sandbox http as well.")
        .may("expires_in", or_null(between(60, 86_400)), "In seconds; 900 unless told.")
        .schema()
}

fn cancel_payment() -> Value {
    Object::asked("Why it is cancelled.").may("reason", or_null(text(255)), "").schema()
}

fn create_payment_link() -> Value {
    Object::asked("A payment link to be made.")
        .has("title", text(100), "")
        .has("currency", currency(), "")
        .has("country", country(), "")
        .may("amount", or_null(given_amount()), "Absent when the payer chooses.")
        .may("description", or_null(text(255)), "")
        .may("payment_methods", or_null(some(words(PaymentMethod::ALL))), "Absent for all.")
        .may("reusable", or_null(flag()), "May it be paid more than once? False unless told.")
        .may("expires_at", or_null(given_date()), "In the future, at most a year ahead.")
        .may("return_url", or_null(url()), "https; in the sandbox http as well.")
        .may("reference", or_null(text(100)), "The merchant's own name for it.")
        .may("metadata", or_null(metadata()), "")
        .may("active", or_null(flag()), "True unless told.")
        .schema()
}

fn modify_payment_link() -> Value {
    Object::asked("What changes of a payment link.")
        .may("title", text(100), "")
        .may("description", or_null(text(255)), "")
        .may("active", flag(), "")
        .may("expires_at", or_null(given_date()), "In the future, at most a year ahead.")
        .may("return_url", or_null(url()), "")
        .may("reference", or_null(text(100)), "")
        .may("metadata", or_null(merged_metadata()), "Merged key by key; null deletes.")
        .may("amount", or_null(given_amount()), "Only while no payment is under way or made.")
        .schema()
}

fn create_payout() -> Value {
    Object::asked("A payout to be made.")
        .has("amount", given_amount(), "")
        .has("currency", currency(), "")
        .has("network", network(), "")
        .has("phone", phone(), "")
        .may("payment_method", or_null(words(PaymentMethod::ALL)), "Mobile money unless told.")
        .may("country", or_null(country()), "")
        .may("recipient_name", or_null(text(100)), "")
        .may("customer", or_null(id::<CustomerId>()), "")
        .may("reference", or_null(text(100)), "The merchant's own name for it.")
        .may("description", or_null(text(255)), "")
        .may("metadata", or_null(metadata()), "")
        .schema()
}

fn create_refund() -> Value {
    Object::asked("A refund to be made.")
        .has("payment", id::<PaymentId>(), "")
        .may("amount", or_null(given_amount()), "All that can be refunded, unless told.")
        .may("reason", or_null(words(RefundReason::ALL)), "")
        .may("description", or_null(text(255)), "")
        .may("reference", or_null(text(100)), "The merchant's own name for it.")
        .may("metadata", or_null(metadata()), "")
        .schema()
}

fn create_customer() -> Value {
    Object::asked("A customer: a name, an e-mail address or a phone at least.")
        .may("name", or_null(text(100)), "")
        .may("email", or_null(email()), "")
        .may("phone", or_null(phone()), "")
        .may("country", or_null(country()), "")
        .may("reference", or_null(text(100)), "The merchant's own name for them.")
        .may("metadata", or_null(metadata()), "")
        .schema()
}

fn modify_customer() -> Value {
    Object::asked("What changes of a customer; null clears.")
        .may("name", or_null(text(100)), "")
        .may("email", or_null(email()), "")
        .may("phone", or_null(phone()), "")
        .may("country", or_null(country()), "")
        .may("reference", or_null(text(100)), "")
        .may("metadata", or_null(merged_metadata()), "Merged key by key; null deletes.")
        .schema()
}

fn events() -> Value {
    let mut kinds: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    kinds.push("*");
    some(words(&kinds))
}

fn create_webhook_endpoint() -> Value {
    Object::asked("An endpoint to be made.")
        .has("url", url(), "https, without user info and fragment; in the sandbox http as well.")
        .may("events", or_null(events()), "All unless told.")
        .may("active", or_null(flag()), "True unless told.")
        .may("description", or_null(text(255)), "")
        .may("metadata", or_null(metadata()), "")
        .schema()
}

fn modify_webhook_endpoint() -> Value {
    Object::asked("What changes of an endpoint.")
        .may("url", url(), "")
        .may("events", events(), "")
        .may("active", flag(), "")
        .may("description", or_null(text(255)), "")
        .may("metadata", or_null(merged_metadata()), "Merged key by key; null deletes.")
        .may("rotate_secret", flag(), "Draws a new secret, which the answer shows.")
        .may(
            "previous_secret_expires_in",
            between(0, 86_400),
            "For how many seconds the old one signs as well; 0 unless told.",
        )
        .schema()
}

fn test_webhook() -> Value {
    Object::asked("A sample event to be sent.")
        .has("webhook_endpoint", id::<EndpointId>(), "")
        .may("event_type", or_null(words(EventKind::ALL)), "`payment.succeeded` unless told.")
        .schema()
}

fn retry_delivery() -> Value {
    Object::asked("Nothing is to be said about it.").schema()
}

fn replay_events() -> Value {
    Object::asked("Which events are to be sent once more.")
        .has("since", given_date(), "Those of then or later; not in the future.")
        .may("until", or_null(given_date()), "Those before then; now unless told.")
        .may("after", or_null(id::<EventId>()), "Those after this one: a page's `last_event`.")
        .may("limit", or_null(between(1, 100)), "How many at most; 100 unless told.")
        .schema()
}

fn simulate() -> Value {
    let order = ids(&[PaymentId::PREFIX, PayoutId::PREFIX, RefundId::PREFIX]);
    Object::asked("An outcome to be played.")
        .has("id", order, "")
        .has("scenario", open_words(Scenario::ALL), "")
        .schema()
}

fn fund() -> Value {
    Object::asked("Test money to be credited.")
        .has("amount", given_amount(), "")
        .has("currency", currency(), "")
        .schema()
}
