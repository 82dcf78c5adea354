//! What every answer of a kind must look like.

use std::collections::BTreeSet;

use serde_json::Value;

use super::http::Response;
use super::time;

impl Response {
    /// The whole error envelope. The type follows from the status.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str, param: Option<&str>) -> Value {
        let error = self.refusal(status);
        assert_eq!(error["code"], code, "{error}");
        assert_eq!(error["param"].as_str(), param, "{error}");
        error
    }

    /// An error envelope of this status, whatever its code.
    #[track_caller]
    pub(crate) fn refusal(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.carries_the_common_headers();
        let body = self.json();
        assert_eq!(fields(&body), names(&["error"]), "{body}");
        let error = body["error"].clone();
        let mut declared = names(&["type", "code", "message", "param", "request_id"]);
        if error.get("details").is_some() {
            declared.insert("details".to_owned());
        }
        assert_eq!(fields(&error), declared, "{error}");
        assert_eq!(error["type"], type_of(status), "{error}");
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
        assert_eq!(error["request_id"].as_str(), self.header("Request-Id"), "{error}");
        details_agree(status, &error);
        error
    }

    /// A fault at the parameter stage.
    #[track_caller]
    pub(crate) fn invalid(&self, param: &str) -> Value {
        self.refused(400, "parameter_invalid", Some(param))
    }

    #[track_caller]
    pub(crate) fn missing(&self, param: &str) -> Value {
        self.refused(400, "parameter_missing", Some(param))
    }

    /// Every fault of the parameter stage, as (code, param), in order.
    #[track_caller]
    pub(crate) fn faults(&self) -> Vec<(String, String)> {
        let error = self.refusal(400);
        let details = error["details"].as_array().expect("details").iter();
        let text = |value: &Value| value.as_str().unwrap_or("null").to_owned();
        details.map(|fault| (text(&fault["code"]), text(&fault["param"]))).collect()
    }

    #[track_caller]
    pub(crate) fn carries_the_common_headers(&self) {
        let id = self.header("Request-Id").expect("a Request-Id");
        assert!(is_id("req", id), "{id}");
        assert_eq!(self.header("Cache-Control"), Some("no-store"));
        let media = self.header("Content-Type").expect("a Content-Type");
        assert!(media.starts_with("application/json"), "{media}");
    }
}

#[track_caller]
fn details_agree(status: u16, error: &Value) {
    let details = error.get("details").and_then(Value::as_array);
    if status == 400 && !error["param"].is_null() {
        assert!(details.is_some_and(|list| !list.is_empty()), "{error}");
    }
    let Some(details) = details else { return };
    assert!(status == 400 || details.len() <= 1, "only parameters fail together: {error}");
    for fault in details {
        assert_eq!(fields(fault), names(&["code", "param", "message"]), "{error}");
    }
    if let Some(first) = details.first() {
        for field in ["code", "param", "message"] {
            assert_eq!(first[field], error[field], "the top repeats the first: {error}");
        }
    }
}

fn type_of(status: u16) -> &'static str {
    match status {
        400 | 404 | 405 | 413 | 415 => "invalid_request_error",
        401 => "authentication_error",
        402 => "balance_error",
        403 => "permission_error",
        409 => "state_error",
        422 => "idempotency_error",
        429 => "rate_limit_error",
        _ => "api_error",
    }
}

/// A prefix and a UUID as 26 characters of lower-case Crockford base32.
pub(crate) fn is_id(prefix: &str, text: &str) -> bool {
    let Some(rest) = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')) else {
        return false;
    };
    rest.len() == 26
        && rest.starts_with(|first| ('0'..='7').contains(&first))
        && rest.bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte))
}

#[track_caller]
pub(crate) fn assert_id(prefix: &str, value: &Value) {
    assert!(value.as_str().is_some_and(|text| is_id(prefix, text)), "not a {prefix}_ id: {value}");
}

/// Declared fields are always there, and every date has the one form.
#[track_caller]
pub(crate) fn declares(object: &Value, declared: &[&str]) {
    assert_eq!(fields(object), names(declared), "{object}");
    for (name, value) in object.as_object().expect("an object") {
        if name.ends_with("_at") && !value.is_null() {
            time::millis(value);
        }
    }
    assert_eq!(object["livemode"], object["environment"] == "live", "{object}");
}

/// A list envelope of six fields.
#[track_caller]
pub(crate) fn envelope(page: &Value) -> &Vec<Value> {
    let six = names(&["object", "data", "has_more", "total", "limit", "offset"]);
    assert_eq!(fields(page), six, "{page}");
    assert_eq!(page["object"], "list");
    page["data"].as_array().expect("an array")
}

pub(crate) fn fields(object: &Value) -> BTreeSet<String> {
    object
        .as_object()
        .unwrap_or_else(|| panic!("not an object: {object}"))
        .keys()
        .cloned()
        .collect()
}

pub(crate) fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

pub(crate) const PAYMENT: &[&str] = &[
    "id",
    "object",
    "environment",
    "livemode",
    "status",
    "amount",
    "currency",
    "fee_amount",
    "net_amount",
    "payment_method",
    "network",
    "reference",
    "country",
    "phone",
    "customer",
    "payment_link",
    "description",
    "metadata",
    "refunded_amount",
    "refundable_amount",
    "return_url",
    "next_action",
    "failure_code",
    "failure_message",
    "cancellation_reason",
    "expires_at",
    "created_at",
    "updated_at",
    "processing_at",
    "succeeded_at",
    "failed_at",
    "cancelled_at",
    "expired_at",
    "available_at",
];

pub(crate) const PAYOUT: &[&str] = &[
    "id",
    "object",
    "environment",
    "livemode",
    "status",
    "amount",
    "currency",
    "fee_amount",
    "total_amount",
    "payment_method",
    "network",
    "country",
    "phone",
    "recipient_name",
    "customer",
    "reference",
    "description",
    "metadata",
    "failure_code",
    "failure_message",
    "created_at",
    "updated_at",
    "processing_at",
    "succeeded_at",
    "failed_at",
];

pub(crate) const REFUND: &[&str] = &[
    "id",
    "object",
    "environment",
    "livemode",
    "status",
    "payment",
    "amount",
    "currency",
    "fee_returned_amount",
    "net_amount",
    "reason",
    "description",
    "reference",
    "metadata",
    "failure_code",
    "failure_message",
    "created_at",
    "updated_at",
    "succeeded_at",
    "failed_at",
];

pub(crate) const LINK: &[&str] = &[
    "id",
    "object",
    "environment",
    "livemode",
    "status",
    "active",
    "url",
    "title",
    "description",
    "amount",
    "currency",
    "country",
    "payment_methods",
    "reusable",
    "expires_at",
    "return_url",
    "reference",
    "metadata",
    "payments_count",
    "succeeded_payments_count",
    "collected_amount",
    "paid_at",
    "created_at",
    "updated_at",
];

pub(crate) const CUSTOMER: &[&str] = &[
    "id",
    "object",
    "environment",
    "livemode",
    "name",
    "email",
    "phone",
    "country",
    "reference",
    "metadata",
    "created_at",
    "updated_at",
];

pub(crate) const ENTRY: &[&str] = &[
    "id",
    "object",
    "environment",
    "livemode",
    "transaction",
    "account",
    "direction",
    "amount",
    "currency",
    "type",
    "source",
    "balance_after",
    "created_at",
];

pub(crate) const ENDPOINT: &[&str] = &[
    "id",
    "object",
    "environment",
    "livemode",
    "url",
    "events",
    "active",
    "description",
    "metadata",
    "created_at",
    "updated_at",
];

pub(crate) const DELIVERY: &[&str] = &[
    "id",
    "object",
    "environment",
    "livemode",
    "webhook_endpoint",
    "event",
    "event_type",
    "url",
    "status",
    "attempts_count",
    "max_attempts",
    "next_attempt_at",
    "http_status",
    "duration_ms",
    "error",
    "attempts",
    "test",
    "created_at",
    "completed_at",
];
