//! An account of the platform, and what it does all day.

use std::ops::Deref;
use std::sync::Arc;

use serde_json::{Value, json};

use super::description;
use super::http::{Request, Response};
use super::sample;
use super::server::{Account, Server};
use super::time;

/// Whoever calls: a key or none, on one server.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    server: Arc<Server>,
    headers: Vec<(String, String)>,
}

/// One account; as a caller it is its secret sandbox key.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) secret: Caller,
    pub(crate) public: Caller,
    pub(crate) live: Caller,
    pub(crate) live_public: Caller,
    pub(crate) anyone: Caller,
    pub(crate) account: Account,
    pub(crate) server: Arc<Server>,
}

/// What one currency holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Purse {
    pub(crate) available: i64,
    pub(crate) pending: i64,
    pub(crate) reserved: i64,
}

impl Caller {
    pub(crate) fn new(server: &Arc<Server>, key: Option<&str>) -> Self {
        let caller = Self { server: Arc::clone(server), headers: Vec::new() };
        match key {
            Some(key) => caller.with("Authorization", &format!("Bearer {key}")),
            None => caller,
        }
    }

    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut caller = self.clone();
        caller.headers.push((name.to_owned(), value.to_owned()));
        caller
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.send("GET", path, None, "")
    }

    pub(crate) fn delete(&self, path: &str) -> Response {
        self.send("DELETE", path, None, "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Response {
        self.post_text(path, body.to_string())
    }

    /// JSON, or what is said to be JSON, byte for byte.
    pub(crate) fn post_text(&self, path: &str, body: impl AsRef<[u8]>) -> Response {
        self.send("POST", path, Some("application/json"), body)
    }

    pub(crate) fn post_once(&self, key: &str, path: &str, body: &Value) -> Response {
        self.with("Idempotency-Key", key).post(path, body)
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: impl AsRef<[u8]>,
    ) -> Response {
        let sent = self.try_send(method, path, content_type, body);
        sent.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    pub(crate) fn try_send(
        &self,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: impl AsRef<[u8]>,
    ) -> std::io::Result<Response> {
        let mut headers = self.headers.clone();
        headers.extend(content_type.map(|text| ("Content-Type".to_owned(), text.to_owned())));
        let (method, path) = (method.to_owned(), path.to_owned());
        let request = Request { method, path, headers, body: body.as_ref().to_vec() };
        let response = self.server.http.send(&request)?;
        description::holds(&self.server.http, &request, &response);
        Ok(response)
    }

    /// Everything a list holds, page after page, in its order.
    pub(crate) fn list(&self, path: &str) -> Vec<Value> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let mut found: Vec<Value> = Vec::new();
        loop {
            let page = self.get(&format!("{path}{joint}limit=100&offset={}", found.len())).ok(200);
            assert_eq!(page["object"], "list", "{page}");
            found.extend(page["data"].as_array().expect("an array").iter().cloned());
            if page["has_more"] != true {
                assert_eq!(page["total"], found.len(), "{path}: the total");
                return found;
            }
        }
    }

    pub(crate) fn total(&self, path: &str) -> u64 {
        self.get(path).ok(200)["total"].as_u64().expect("a total")
    }

    /// The object with this id as it is now.
    pub(crate) fn see(&self, id: &Value) -> Value {
        self.get(&path_of(id)).ok(200)
    }
}

/// Where the object with this id is read.
pub(crate) fn path_of(id: &Value) -> String {
    let id = id.as_str().unwrap_or_else(|| panic!("no id: {id}"));
    let family = match id.split('_').next() {
        Some("pay") => "payments",
        Some("pout") => "payouts",
        Some("ref") => "refunds",
        Some("plink") => "payment-links",
        Some("cus") => "customers",
        Some("whe") => "webhooks",
        _ => panic!("no route reads {id}"),
    };
    format!("/v1/{family}/{id}")
}

impl Deref for Shop {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.secret
    }
}

impl Shop {
    pub(crate) fn new(server: &Arc<Server>, account: &Account) -> Self {
        Self {
            secret: Caller::new(server, Some(&account.secret_sandbox)),
            public: Caller::new(server, Some(&account.public_sandbox)),
            live: Caller::new(server, Some(&account.secret_live)),
            live_public: Caller::new(server, Some(&account.public_live)),
            anyone: Caller::new(server, None),
            account: account.clone(),
            server: Arc::clone(server),
        }
    }

    /// A payment that waits for `simulate`, with these fields changed.
    pub(crate) fn pay(&self, changes: Value) -> Value {
        self.post("/v1/payments", &sample::payment(changes)).ok(201)
    }

    /// A payment that has succeeded.
    pub(crate) fn paid(&self, changes: Value) -> Value {
        let payment = self.pay(changes);
        self.simulate(&payment["id"], "success").ok(200)
    }

    /// A payment that has succeeded, and whose refunds wait for `simulate`.
    pub(crate) fn paid_patiently(&self, changes: Value) -> Value {
        let payment = self.pay(changes);
        self.simulate(&payment["id"], "refund_pending").ok(200)
    }

    pub(crate) fn paid_by_card(&self, amount: i64, currency: &str, country: &str) -> Value {
        let payment = self.post("/v1/payments", &sample::card(amount, currency, country)).ok(201);
        self.simulate(&payment["id"], "success").ok(200)
    }

    pub(crate) fn simulate(&self, id: &Value, scenario: &str) -> Response {
        self.post("/v1/sandbox/simulate", &json!({"id": id, "scenario": scenario}))
    }

    pub(crate) fn fund(&self, amount: i64, currency: &str) -> Value {
        self.post("/v1/sandbox/fund", &json!({"amount": amount, "currency": currency})).ok(201)
    }

    pub(crate) fn pay_out(&self, changes: Value) -> Response {
        self.post("/v1/payouts", &sample::payout(changes))
    }

    pub(crate) fn refund(&self, payment: &Value, amount: Option<i64>) -> Response {
        let mut body = json!({"payment": payment["id"]});
        if let Some(amount) = amount {
            body["amount"] = amount.into();
        }
        self.post("/v1/refunds", &body)
    }

    pub(crate) fn customer(&self, body: Value) -> Value {
        self.post("/v1/customers", &body).ok(201)
    }

    pub(crate) fn link(&self, changes: Value) -> Value {
        self.post("/v1/payment-links", &sample::link(changes)).ok(201)
    }

    /// Tries to pay through a link.
    pub(crate) fn pay_via(&self, link: &Value, phone: &str) -> Response {
        self.post("/v1/payments", &sample::via(link, phone))
    }

    pub(crate) fn hook(&self, url: &str, events: &[&str]) -> Value {
        self.post("/v1/webhooks", &json!({"url": url, "events": events})).ok(201)
    }

    pub(crate) fn purse(&self, currency: &str) -> Purse {
        let balance = self.get(&format!("/v1/balance?currency={currency}")).ok(200);
        let part = |name: &str| {
            let items = balance[name].as_array().unwrap_or_else(|| panic!("{balance}"));
            assert_eq!(items.len(), 1, "exactly one item: {balance}");
            assert_eq!(items[0]["currency"], currency);
            items[0]["amount"].as_i64().expect("an integer")
        };
        Purse { available: part("available"), pending: part("pending"), reserved: part("reserved") }
    }

    /// Waits until the object has this status.
    pub(crate) fn awaits(&self, object: &Value, status: &str) -> Value {
        time::soon(|| {
            let seen = self.see(&object["id"]);
            if seen["status"] == status { Ok(seen) } else { Err(seen.to_string()) }
        })
    }

    pub(crate) fn timeline(&self, payment: &Value) -> Vec<Value> {
        self.list(&format!("{}/timeline", path_of(&payment["id"])))
    }

    /// The types of the timeline, without `settled`, whose moment depends on the method.
    pub(crate) fn chronology(&self, payment: &Value) -> Vec<String> {
        let mut types = texts(&self.timeline(payment), "type");
        types.retain(|text| text != "settled");
        types
    }

    /// The types of what was posted for an object, oldest first.
    pub(crate) fn posted(&self, object: &Value) -> Vec<String> {
        let source = object["id"].as_str().expect("an id");
        let mut types = texts(&self.list(&format!("/v1/ledger?source={source}")), "type");
        types.reverse();
        types
    }
}

/// One field of every object, as text.
pub(crate) fn texts(objects: &[Value], field: &str) -> Vec<String> {
    let text = |object: &Value| object[field].as_str().unwrap_or("null").to_owned();
    objects.iter().map(text).collect()
}
