//! What responses show.

use cauri::{
    Actor, AttemptError, CustomerId, DeliveryId, DeliveryStatus, Direction, EndpointId, EntryId,
    EntryKind, EventId, EventKind, FailureCode, LedgerAccountKind, PaymentId, PaymentLinkId,
    PaymentLinkStatus, PaymentMethod, PaymentStatus, PayoutId, PayoutStatus, RefundId,
    RefundReason, RefundStatus, RequestId, Scenario, ScenarioKind, TimelineKind, TransactionId,
    retry,
};
use serde_json::{Map, Value};

use super::schema::{
    Object, any_of, any_text, array, between, count, country, currency, date, flag, id, ids,
    integer, metadata, named, network, open_words, or_null, shown_phone, text, url, word, words,
};
use crate::catalogue::FAMILIES;

/// Every schema of a response, by name.
pub(crate) fn all() -> Map<String, Value> {
    let mut all = Map::new();
    for (name, schema) in [
        ("Payment", payment()),
        ("NextAction", next_action()),
        ("TimelineEntry", timeline_entry()),
        ("PaymentLink", payment_link()),
        ("Payout", payout()),
        ("Refund", refund()),
        ("Customer", customer()),
        ("CustomerStatistics", statistics()),
        ("CurrencyStatistics", currency_statistics()),
        ("PaymentMethods", payment_methods()),
        ("MethodNetworks", method_networks()),
        ("NetworkEntry", network_entry()),
        ("Capabilities", capabilities()),
        ("Balance", balance()),
        ("CurrencyAmount", currency_amount()),
        ("LedgerEntry", ledger_entry()),
        ("WebhookEndpoint", webhook_endpoint()),
        ("DeletedWebhookEndpoint", deleted_webhook_endpoint()),
        ("WebhookDelivery", webhook_delivery()),
        ("WebhookAttempt", webhook_attempt()),
        ("WebhookReplay", webhook_replay()),
        ("Event", event(open_words(EventKind::ALL), any_object())),
        ("SandboxFunding", sandbox_funding()),
        ("SandboxScenario", sandbox_scenario()),
        ("Simulated", any_of(&[named("Payment"), named("Payout"), named("Refund")])),
        ("Error", error()),
        ("ErrorDetail", error_detail()),
    ] {
        all.insert(name.to_owned(), schema);
    }
    for item in [
        "Payment",
        "TimelineEntry",
        "PaymentLink",
        "Payout",
        "Refund",
        "Customer",
        "LedgerEntry",
        "WebhookEndpoint",
        "WebhookDelivery",
        "Event",
        "SandboxScenario",
    ] {
        all.insert(format!("{item}List"), list(item));
    }
    all
}

fn list(item: &str) -> Value {
    Object::shown("A page of a list.")
        .has("object", word("list"), "")
        .has("data", array(named(item)), "The items of the page.")
        .has("has_more", flag(), "Are there items after this page?")
        .has("total", count(), "How many items there are over all pages.")
        .has("limit", between(1, 100), "How many items the page may hold.")
        .has("offset", count(), "How many items were passed over.")
        .schema()
}

fn payment() -> Value {
    Object::shown("Money that a payer pays to the merchant.")
        .has("id", id::<PaymentId>(), "")
        .has("object", word("payment"), "")
        .scoped()
        .has("status", words(PaymentStatus::ALL), "Where it stands.")
        .has("amount", integer(), "What the payer pays, in the currency's smallest unit.")
        .has("currency", currency(), "ISO 4217.")
        .has("fee_amount", integer(), "What the merchant is charged.")
        .has("net_amount", integer(), "What the merchant keeps.")
        .has("payment_method", words(PaymentMethod::ALL), "")
        .has("network", or_null(network()), "Null for a card until it is known.")
        .has("reference", or_null(text(100)), "The merchant's own name for it.")
        .has("country", country(), "Where the payer is; ISO 3166-1.")
        .has("phone", or_null(shown_phone()), "The payer's; masked for public keys.")
        .has("customer", or_null(id::<CustomerId>()), "Who pays.")
        .has("payment_link", or_null(id::<PaymentLinkId>()), "The link it came through.")
        .has("description", or_null(text(255)), "")
        .has("metadata", metadata(), "Empty for public keys.")
        .has("refunded_amount", integer(), "The sum of its succeeded refunds.")
        .has("refundable_amount", integer(), "What can still be refunded.")
        .has("return_url", or_null(url()), "Where the payer is sent afterwards.")
        .has("next_action", or_null(named("NextAction")), "What the payer has to do.")
        .has("failure_code", or_null(open_words(FailureCode::ALL)), "Why it failed.")
        .has("failure_message", or_null(any_text()), "Why it failed, for people.")
        .has("cancellation_reason", or_null(text(255)), "")
        .has("expires_at", date(), "When it expires unless paid.")
        .has("created_at", date(), "")
        .has("updated_at", date(), "Strictly increasing.")
        .has("processing_at", or_null(date()), "When the network accepted it.")
        .has("succeeded_at", or_null(date()), "")
        .has("failed_at", or_null(date()), "")
        .has("cancelled_at", or_null(date()), "")
        .has("expired_at", or_null(date()), "It stays when a success comes late.")
        .has("available_at", or_null(date()), "When its money is, or will be, available.")
        .schema()
}

fn next_action() -> Value {
    let approve =
        Object::shown("The payer approves on the phone.").has("type", word("approve_on_phone"), "");
    let redirect = Object::shown("The payer goes to a page.")
        .has("type", word("redirect"), "")
        .has("url", any_text(), "Where.");
    any_of(&[approve.schema(), redirect.schema()])
}

fn timeline_entry() -> Value {
    Object::shown("Something that happened to a payment.")
        .has("object", word("timeline_entry"), "")
        .scoped()
        .has("type", words(TimelineKind::ALL), "What happened.")
        .has("status", words(PaymentStatus::ALL), "The payment's, afterwards.")
        .has("actor", words(Actor::ALL), "Who caused it.")
        .has("message", any_text(), "")
        .has("amount", or_null(integer()), "Of a refund.")
        .has("refund", or_null(id::<RefundId>()), "")
        .has("event", or_null(id::<EventId>()), "The event that tells of it.")
        .has("created_at", date(), "")
        .schema()
}

fn payment_link() -> Value {
    Object::shown("A page where a payer pays.")
        .has("id", id::<PaymentLinkId>(), "")
        .has("object", word("payment_link"), "")
        .scoped()
        .has("status", words(PaymentLinkStatus::ALL), "")
        .has("active", flag(), "May payments be made through it?")
        .has("url", any_text(), "Where the payer goes.")
        .has("title", text(100), "")
        .has("description", or_null(text(255)), "")
        .has("amount", or_null(integer()), "Null when the payer chooses.")
        .has("currency", currency(), "ISO 4217.")
        .has("country", country(), "ISO 3166-1.")
        .has("payment_methods", or_null(array(words(PaymentMethod::ALL))), "Null means all.")
        .has("reusable", flag(), "May it be paid more than once?")
        .has("expires_at", or_null(date()), "")
        .has("return_url", or_null(url()), "Where the payer is sent afterwards.")
        .has("reference", or_null(text(100)), "The merchant's own name for it.")
        .has("metadata", metadata(), "Empty for public keys.")
        .has("payments_count", count(), "Payments of every status.")
        .has("succeeded_payments_count", count(), "Those that ever succeeded.")
        .has("collected_amount", integer(), "The sum of those.")
        .has("paid_at", or_null(date()), "")
        .has("created_at", date(), "")
        .has("updated_at", date(), "Strictly increasing.")
        .schema()
}

fn payout() -> Value {
    Object::shown("Money that leaves the balance for a recipient.")
        .has("id", id::<PayoutId>(), "")
        .has("object", word("payout"), "")
        .scoped()
        .has("status", words(PayoutStatus::ALL), "Where it stands.")
        .has("amount", integer(), "What the recipient gets, in the currency's smallest unit.")
        .has("currency", currency(), "ISO 4217.")
        .has("fee_amount", integer(), "What the merchant pays on top.")
        .has("total_amount", integer(), "What leaves the balance.")
        .has("payment_method", words(PaymentMethod::ALL), "")
        .has("network", network(), "")
        .has("country", country(), "Where the recipient is; ISO 3166-1.")
        .has("phone", shown_phone(), "The recipient's; masked for public keys.")
        .has("recipient_name", or_null(text(100)), "Masked for public keys.")
        .has("customer", or_null(id::<CustomerId>()), "Who gets it.")
        .has("reference", or_null(text(100)), "The merchant's own name for it.")
        .has("description", or_null(text(255)), "")
        .has("metadata", metadata(), "Empty for public keys.")
        .has("failure_code", or_null(open_words(FailureCode::ALL)), "Why it failed.")
        .has("failure_message", or_null(any_text()), "Why it failed, for people.")
        .has("created_at", date(), "")
        .has("updated_at", date(), "Strictly increasing.")
        .has("processing_at", or_null(date()), "When the network accepted it.")
        .has("succeeded_at", or_null(date()), "")
        .has("failed_at", or_null(date()), "")
        .schema()
}

fn refund() -> Value {
    Object::shown("Money of a payment that goes back to its payer.")
        .has("id", id::<RefundId>(), "")
        .has("object", word("refund"), "")
        .scoped()
        .has("status", words(RefundStatus::ALL), "Where it stands.")
        .has("payment", id::<PaymentId>(), "")
        .has("amount", integer(), "What the payer gets back, in the currency's smallest unit.")
        .has("currency", currency(), "ISO 4217.")
        .has("fee_returned_amount", integer(), "The share of the fee that is given back.")
        .has("net_amount", integer(), "What leaves the balance.")
        .has("reason", or_null(words(RefundReason::ALL)), "")
        .has("description", or_null(text(255)), "")
        .has("reference", or_null(text(100)), "The merchant's own name for it.")
        .has("metadata", metadata(), "Empty for public keys.")
        .has("failure_code", or_null(open_words(FailureCode::ALL)), "Why it failed.")
        .has("failure_message", or_null(any_text()), "Why it failed, for people.")
        .has("created_at", date(), "")
        .has("updated_at", date(), "Strictly increasing.")
        .has("succeeded_at", or_null(date()), "")
        .has("failed_at", or_null(date()), "")
        .schema()
}

fn customer() -> Value {
    Object::shown("Somebody who pays or is paid.")
        .has("id", id::<CustomerId>(), "")
        .has("object", word("customer"), "")
        .scoped()
        .has("name", or_null(text(100)), "Masked for public keys.")
        .has("email", or_null(any_text()), "Masked for public keys.")
        .has("phone", or_null(shown_phone()), "Masked for public keys.")
        .has("country", or_null(country()), "ISO 3166-1.")
        .has("reference", or_null(text(100)), "The merchant's own name for them.")
        .has("metadata", metadata(), "Empty for public keys.")
        .has("created_at", date(), "")
        .has("updated_at", date(), "Strictly increasing.")
        .may("statistics", named("CustomerStatistics"), "Only where one customer is retrieved.")
        .schema()
}

fn statistics() -> Value {
    Object::shown("What a customer's payments add up to.")
        .has("payments_count", count(), "All payments.")
        .has("succeeded_payments_count", count(), "Those that ever succeeded.")
        .has("failed_payments_count", count(), "Those that failed.")
        .has("refunds_count", count(), "Refunds that succeeded.")
        .has("first_payment_at", or_null(date()), "Of those that ever succeeded.")
        .has("last_payment_at", or_null(date()), "Of those that ever succeeded.")
        .has("by_currency", array(named("CurrencyStatistics")), "Sorted by currency.")
        .schema()
}

fn currency_statistics() -> Value {
    Object::shown("The sums of one currency.")
        .has("currency", currency(), "ISO 4217.")
        .has("succeeded_payments_count", count(), "Payments that ever succeeded.")
        .has("paid_amount", integer(), "Their sum.")
        .has("refunded_amount", integer(), "The sum of their succeeded refunds.")
        .has("net_paid_amount", integer(), "The first less the second.")
        .has("average_amount", integer(), "Of one payment, rounded down.")
        .schema()
}

fn payment_methods() -> Value {
    Object::shown("How money can be paid in a country.")
        .has("object", word("list"), "")
        .has("country", country(), "ISO 3166-1.")
        .has("currency", currency(), "ISO 4217.")
        .scoped()
        .has("data", array(named("MethodNetworks")), "")
        .schema()
}

fn method_networks() -> Value {
    Object::shown("The networks of one payment method.")
        .has("payment_method", words(PaymentMethod::ALL), "")
        .has("networks", array(named("NetworkEntry")), "")
        .schema()
}

fn network_entry() -> Value {
    Object::shown("A network. Of a card's only the name is shown.")
        .has("network", network(), "")
        .may("connection_key", any_text(), "The simulator that plays it; in the sandbox only.")
        .may("simulated", word_true(), "In the sandbox only.")
        .may("min_amount", integer(), "The least it moves at once.")
        .may("max_amount", integer(), "The most it moves at once.")
        .may("capabilities", named("Capabilities"), "")
        .schema()
}

fn word_true() -> Value {
    serde_json::json!({ "const": true })
}

fn capabilities() -> Value {
    Object::shown("What a network can do.")
        .has("payin", flag(), "Take a payment.")
        .has("payout", flag(), "Pay out.")
        .has("refund", flag(), "Give a payment back.")
        .has("partial_refund", flag(), "Give back a part of it.")
        .has("cancel", flag(), "Call off a payment that is not approved yet.")
        .schema()
}

fn balance() -> Value {
    let each = || array(named("CurrencyAmount"));
    Object::shown("What the merchant has, by currency.")
        .has("object", word("balance"), "")
        .scoped()
        .has("available", each(), "May be paid out or refunded.")
        .has("pending", each(), "Collected, not yet available.")
        .has("reserved", each(), "Held for payouts and refunds in flight.")
        .schema()
}

fn currency_amount() -> Value {
    Object::shown("An amount of one currency.")
        .has("currency", currency(), "ISO 4217.")
        .has("amount", integer(), "In its smallest unit.")
        .schema()
}

fn ledger_entry() -> Value {
    let source = ids(&[
        <PaymentId as cauri::Id>::PREFIX,
        <PayoutId as cauri::Id>::PREFIX,
        <RefundId as cauri::Id>::PREFIX,
    ]);
    Object::shown("One line of a posting.")
        .has("id", id::<EntryId>(), "")
        .has("object", word("ledger_entry"), "")
        .scoped()
        .has("transaction", id::<TransactionId>(), "Groups the lines that balance.")
        .has("account", words(LedgerAccountKind::ALL), "")
        .has("direction", words(Direction::ALL), "")
        .has("amount", integer(), "Above zero, in the currency's smallest unit.")
        .has("currency", currency(), "ISO 4217.")
        .has("type", open_words(EntryKind::ALL), "Why it was booked.")
        .has("source", or_null(source), "What it was booked for.")
        .has("balance_after", integer(), "Of its account and currency, after this line.")
        .has("created_at", date(), "")
        .schema()
}

fn webhook_endpoint() -> Value {
    Object::shown("Where events are sent.")
        .has("id", id::<EndpointId>(), "")
        .has("object", word("webhook_endpoint"), "")
        .scoped()
        .has("url", url(), "")
        .has("events", array(open_words(EventKind::ALL)), "Kinds, or `*` alone.")
        .has("active", flag(), "Is anything sent?")
        .has("description", or_null(text(255)), "")
        .has("metadata", metadata(), "")
        .may("secret", any_text(), "What signs; only when it is new.")
        .has("created_at", date(), "")
        .has("updated_at", date(), "Strictly increasing.")
        .schema()
}

fn deleted_webhook_endpoint() -> Value {
    Object::shown("An endpoint that is no more.")
        .has("id", id::<EndpointId>(), "")
        .has("object", word("webhook_endpoint"), "")
        .scoped()
        .has("deleted", word_true(), "")
        .schema()
}

fn webhook_delivery() -> Value {
    let attempts = i64::from(retry::ATTEMPTS_MAX);
    let kept = i64::from(retry::ATTEMPTS_KEPT_MAX);
    Object::shown("An event on its way to an endpoint.")
        .has("id", id::<DeliveryId>(), "")
        .has("object", word("webhook_delivery"), "")
        .scoped()
        .has("webhook_endpoint", id::<EndpointId>(), "")
        .has("event", id::<EventId>(), "")
        .has("event_type", open_words(EventKind::ALL), "")
        .has("url", url(), "")
        .has("status", words(DeliveryStatus::ALL), "")
        .has("attempts_count", between(0, kept), "")
        .has("max_attempts", between(attempts, attempts), "Beyond it only retries are made.")
        .has("next_attempt_at", or_null(date()), "")
        .has("http_status", or_null(integer()), "Of the last attempt.")
        .has("duration_ms", or_null(integer()), "Of the last attempt.")
        .has(
            "error",
            or_null(words(AttemptError::ALL)),
            "Of the last attempt, or why there is none.",
        )
        .has("attempts", array(named("WebhookAttempt")), "")
        .has("test", flag(), "Was it made by a test?")
        .has("created_at", date(), "")
        .has("completed_at", or_null(date()), "")
        .schema()
}

fn webhook_attempt() -> Value {
    Object::shown("One attempt to deliver.")
        .has("number", between(1, i64::from(retry::ATTEMPTS_KEPT_MAX)), "")
        .has("started_at", date(), "")
        .has("http_status", or_null(integer()), "What the receiver answered.")
        .has("duration_ms", integer(), "")
        .has("error", or_null(words(AttemptError::ALL)), "")
        .schema()
}

fn webhook_replay() -> Value {
    Object::shown("A part of the events that was sent once more.")
        .has("object", word("webhook_replay"), "")
        .scoped()
        .has("webhook_endpoint", id::<EndpointId>(), "Where to.")
        .has("since", date(), "Events of then or later.")
        .has("until", date(), "Events before then.")
        .has("events_count", between(0, 100), "How many events were looked at.")
        .has("deliveries_count", between(0, 100), "How many of them the endpoint wants.")
        .has("last_event", or_null(id::<EventId>()), "To go on after; null when there was none.")
        .has("has_more", flag(), "Are there more after it?")
        .schema()
}

fn sandbox_funding() -> Value {
    Object::shown("Test money.")
        .has("object", word("sandbox_funding"), "")
        .scoped()
        .has("amount", integer(), "In the currency's smallest unit.")
        .has("currency", currency(), "ISO 4217.")
        .has("transaction", id::<TransactionId>(), "The posting that booked it.")
        .has("available_amount", integer(), "What is available now.")
        .has("created_at", date(), "")
        .schema()
}

fn sandbox_scenario() -> Value {
    Object::shown("An outcome that the sandbox can play.")
        .has("object", word("sandbox_scenario"), "")
        .scoped()
        .has("code", open_words(Scenario::ALL), "")
        .has("description", any_text(), "")
        .has("applies_to", array(words(ScenarioKind::ALL)), "")
        .has("outcome", or_null(any_text()), "The status it leads to; null when it waits.")
        .has("failure_code", or_null(open_words(FailureCode::ALL)), "")
        .has("phone_suffix", or_null(any_text()), "The last digits of a phone that choose it.")
        .has("card_amount_suffix", or_null(integer()), "The amount modulo 1000 that chooses it.")
        .has("delay_seconds", or_null(integer()), "Null when it waits.")
        .schema()
}

fn any_object() -> Value {
    any_of(&["Payment", "PaymentLink", "Payout", "Refund"].map(named))
}

/// An event of this kind about an object: what webhooks carry.
pub(crate) fn event(kind: Value, object: Value) -> Value {
    let data = Object::shown("").has("object", object, "As it was right afterwards.");
    Object::shown("Something that happened.")
        .has("id", id::<EventId>(), "")
        .has("object", word("event"), "")
        .has("type", kind, "")
        .has("created", date(), "The object's `updated_at`.")
        .scoped()
        .has("data", data.schema(), "")
        .may("test", word_true(), "Only in events made by a test.")
        .schema()
}

fn error() -> Value {
    let mut kinds: Vec<&str> = FAMILIES.iter().map(|family| family.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let codes = FAMILIES.iter().flat_map(|family| family.codes);
    let codes: Vec<&str> = codes.map(|code| code.word).collect();
    let error = Object::shown("")
        .has("type", words(&kinds), "")
        .has("code", open_words(&codes), "What clients decide by.")
        .has("message", any_text(), "For people; it may change.")
        .has("param", or_null(any_text()), "A dotted path such as `metadata.order` or `events[1]`.")
        .may(
            "details",
            array(named("ErrorDetail")),
            "Everything that is wrong with the parameters.",
        )
        .has("request_id", id::<RequestId>(), "As in the header `Request-Id`.");
    Object::shown("Why a request was refused.").has("error", error.schema(), "").schema()
}

fn error_detail() -> Value {
    Object::shown("One thing that is wrong with a parameter.")
        .has("code", any_text(), "")
        .has("param", or_null(any_text()), "")
        .has("message", any_text(), "")
        .schema()
}
