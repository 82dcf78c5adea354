//! Bodies that are accepted as they are.

use serde_json::{Value, json};

/// Waits for `simulate`: 9999 is no scenario.
pub(crate) const PATIENT: &str = "+2250500009999";

/// Succeeds by itself.
pub(crate) const WILLING: &str = "+2250500000000";

/// An id of the right form that nothing has.
pub(crate) fn unknown(prefix: &str) -> String {
    format!("{prefix}_01jd3w8k4f7q2m9x5r6t0v1b3c")
}

pub(crate) fn payment(changes: Value) -> Value {
    let body = json!({
        "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
        "phone": PATIENT, "reference": "ORDER-1"
    });
    changed(body, changes)
}

/// A payment whose payer's phone ends in these four digits.
pub(crate) fn payment_of(suffix: &str) -> Value {
    payment(json!({"phone": format!("+225050000{suffix}")}))
}

pub(crate) fn card(amount: i64, currency: &str, country: &str) -> Value {
    json!({"amount": amount, "currency": currency, "payment_method": "card", "country": country})
}

/// Waits for `simulate`.
pub(crate) fn payout(changes: Value) -> Value {
    let body = json!({
        "amount": 10000, "currency": "XOF", "network": "orange", "phone": "+221770000002"
    });
    changed(body, changes)
}

pub(crate) fn link(changes: Value) -> Value {
    let body = json!({
        "title": "Invoice 42", "amount": 15000, "currency": "XOF", "country": "CI"
    });
    changed(body, changes)
}

pub(crate) fn via(link: &Value, phone: &str) -> Value {
    json!({
        "payment_link": link["id"], "payment_method": "mobile_money", "network": "mtn",
        "phone": phone
    })
}

/// `body` with some fields set anew.
pub(crate) fn changed(mut body: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else { panic!("not an object: {changes}") };
    for (name, value) in changes {
        body[name] = value;
    }
    body
}

/// `body` without one field.
pub(crate) fn without(mut body: Value, field: &str) -> Value {
    body.as_object_mut().expect("an object").remove(field).expect("the field is there");
    body
}
