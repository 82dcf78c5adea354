//! Sequences of calls, with time passing and a receiver that fails, against what must be true after
//! any of them.
//!
//! Input: one call after another.

#![no_main]

use cauri::AttemptError;
use cauri_fuzz::{Choices, Said, Stage};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// A shop, and what it made.
struct Shop<'s> {
    stage: &'s Stage,
    payments: Vec<String>,
    objects: Vec<String>,
    links: Vec<String>,
    endpoints: Vec<String>,
    customers: Vec<String>,
    asked: Vec<Asked>,
}

/// A call that was made with a key, and what was answered.
#[derive(Clone)]
struct Asked {
    path: String,
    key: String,
    body: String,
    said: Said,
}

thread_local! {
    static STAGE: Stage = {
        let stage = Stage::new();
        stage.keep();
        stage
    };
}

fuzz_target!(|input: &[u8]| STAGE.with(|stage| play(stage, input)));

fn play(stage: &Stage, input: &[u8]) {
    stage.again();
    let mut choices = Choices::new(input);
    let mut shop = Shop {
        stage,
        payments: Vec::new(),
        objects: Vec::new(),
        links: Vec::new(),
        endpoints: Vec::new(),
        customers: Vec::new(),
        asked: Vec::new(),
    };
    let mut steps = 0;
    while !choices.is_empty() && steps < 64 {
        shop.step(&mut choices);
        steps += 1;
    }
    shop.stage.audit();
    shop.is_sound();
    // Nothing waits for ever, but for what only a network can say.
    shop.stage.receiver_answers(Ok(200));
    for _ in 0..8 {
        shop.stage.pass(7_200_000);
    }
    shop.stage.audit();
    shop.is_sound();
    for delivery in shop.list("/v1/webhooks/deliveries") {
        assert_ne!(delivery["status"], "pending", "{delivery}");
    }
    for payment in shop.list("/v1/payments") {
        let waits = payment["status"] == "created" || payment["status"] == "processing";
        assert!(!waits, "{payment}");
    }
}

const SUFFIXES: [&str; 12] = [
    "0000", "0001", "0002", "0101", "0106", "0201", "0202", "0301", "0302", "0303", "0401", "0402",
];

impl Shop<'_> {
    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.byte() % 16 {
            0..=2 => self.pay(choices),
            3 => {
                let amount = 10_000 + i64::from(choices.pair()) % 1_000;
                let body = json!({
                    "amount": amount, "currency": "XOF", "payment_method": "card", "country": "CI",
                });
                self.create("/v1/payments", body, choices);
            }
            4 => {
                let body = json!({ "amount": 1 + i64::from(choices.pair()), "currency": "XOF" });
                self.create("/v1/sandbox/fund", body, choices);
            }
            5 | 6 => {
                let Some(payment) = any(&self.payments, choices) else { return };
                let mut body = json!({ "payment": payment });
                if choices.byte() % 3 > 0 {
                    body["amount"] = (1 + i64::from(choices.pair()) % 6_000).into();
                }
                self.create("/v1/refunds", body, choices);
            }
            7 => {
                let phone = format!("+22177000{}", choices.pick(&SUFFIXES));
                let body = json!({
                    "amount": 100 + i64::from(choices.pair()) % 9_000, "currency": "XOF",
                    "network": "orange", "phone": phone,
                });
                self.create("/v1/payouts", body, choices);
            }
            8 | 9 => {
                const SCENARIOS: [&str; 8] = [
                    "success",
                    "slow_success",
                    "pending",
                    "user_rejected",
                    "timeout",
                    "refund_failure",
                    "late_success_after_expiry",
                    "network_down",
                ];
                let Some(id) = any(&self.objects, choices) else { return };
                let body = json!({ "id": id, "scenario": choices.pick(&SCENARIOS) });
                self.create("/v1/sandbox/simulate", body, choices);
            }
            10 => {
                let Some(id) = any(&self.payments, choices) else { return };
                self.create(&format!("/v1/payments/{id}/cancel"), json!({}), choices);
            }
            11 => {
                let body = json!({
                    "title": "A", "currency": "XOF", "country": "CI", "amount": 700,
                    "reusable": choices.byte() % 2 == 0,
                });
                self.create("/v1/payment-links", body, choices);
            }
            12 => match choices.byte() % 4 {
                0 => {
                    self.create("/v1/webhooks", json!({ "url": "https://a.example.com/" }), choices)
                }
                1 => self.create("/v1/customers", json!({ "name": "A" }), choices),
                2 => {
                    let Some(id) = any(&self.endpoints, choices) else { return };
                    self.stage.ask("DELETE", &format!("/v1/webhooks/{id}"), None, b"");
                }
                _ => {
                    let Some(id) = any(&self.endpoints, choices) else { return };
                    let active = choices.byte() % 2 == 0;
                    let body = json!({ "active": active, "rotate_secret": true });
                    self.create(&format!("/v1/webhooks/{id}"), body, choices);
                }
            },
            13 => {
                // Asked again, and again after whatever happened since.
                let Some(Asked { path, key, body, said }) = any(&self.asked, choices) else {
                    return;
                };
                let again = self.stage.ask("POST", &path, Some(&key), body.as_bytes());
                // A day later the key is free, and it is another call.
                if again.replayed {
                    assert_eq!((again.status, again.body), (said.status, said.body));
                } else {
                    self.learn(&path, &again);
                }
            }
            14 => {
                let answer = *choices.pick(&[
                    Ok(200),
                    Ok(500),
                    Err(AttemptError::Timeout),
                    Err(AttemptError::UrlNotAllowed),
                ]);
                self.stage.receiver_answers(answer);
            }
            _ => {
                let scale = *choices.pick(&[1, 10, 100, 10_000]);
                self.stage.pass(i64::from(choices.byte()) * scale);
            }
        }
    }

    fn pay(&mut self, choices: &mut Choices<'_>) {
        let phone = format!("+225050000{}", choices.pick(&SUFFIXES));
        let mut body = json!({
            "amount": 100 + i64::from(choices.pair()), "currency": "XOF", "phone": phone,
            "payment_method": "mobile_money", "network": choices.pick(&["mtn", "wave", "orange"]),
        });
        let how = choices.byte();
        if let Some(link) = any(&self.links, choices).filter(|_| how & 1 != 0) {
            body["payment_link"] = link.into();
            body.as_object_mut().map(|body| body.remove("amount"));
        }
        if let Some(customer) = any(&self.customers, choices).filter(|_| how & 2 != 0) {
            body["customer"] = customer.into();
        }
        if how & 4 != 0 {
            body["expires_in"] = (60 + u32::from(choices.byte())).into();
        }
        self.create("/v1/payments", body, choices);
    }

    /// Posts, sometimes with a key.
    fn create(&mut self, path: &str, body: Value, choices: &mut Choices<'_>) {
        let key = (choices.byte() % 2 == 0).then(|| format!("k{}", self.asked.len()));
        let body = body.to_string();
        let said = self.stage.ask("POST", path, key.as_deref(), body.as_bytes());
        self.learn(path, &said);
        if let (Some(key), 200..=299) = (key, said.status) {
            self.asked.push(Asked { path: path.to_owned(), key, body, said });
        }
    }

    fn learn(&mut self, path: &str, said: &Said) {
        if said.status != 201 {
            return;
        }
        let Some(id) = said.json()["id"].as_str().map(str::to_owned) else { return };
        match path {
            "/v1/payments" => {
                self.payments.push(id.clone());
                self.objects.push(id);
            }
            "/v1/payouts" | "/v1/refunds" => self.objects.push(id),
            "/v1/payment-links" => self.links.push(id),
            "/v1/webhooks" => self.endpoints.push(id),
            "/v1/customers" => self.customers.push(id),
            _ => {}
        }
    }

    /// Everything a list holds.
    fn list(&self, path: &str) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let page = self.stage.get(&format!("{path}?limit=100&offset={}", all.len())).json();
            all.extend(page["data"].as_array().expect("a list").iter().cloned());
            if page["has_more"] == false {
                assert_eq!(page["total"], all.len(), "{path}");
                return all;
            }
        }
    }

    /// What is true at any moment.
    fn is_sound(&self) {
        let (payments, refunds) = (self.list("/v1/payments"), self.list("/v1/refunds"));
        let (payouts, events) = (self.list("/v1/payouts"), self.list("/v1/events"));
        let mut reserved = 0;
        for payment in &payments {
            let own = || refunds.iter().filter(|it| it["payment"] == payment["id"]);
            let sum = |of: &dyn Fn(&Value) -> bool| -> i64 {
                own().filter(|it| of(it)).map(|it| number(it, "amount")).sum()
            };
            let paid = ["succeeded", "partially_refunded", "refunded"]
                .iter()
                .any(|status| payment["status"] == *status);
            let refunded = sum(&|it| it["status"] == "succeeded");
            let taken = sum(&|it| it["status"] != "failed");
            assert_eq!(number(payment, "refunded_amount"), refunded, "{payment}");
            let left = if paid { number(payment, "amount") - taken } else { 0 };
            assert_eq!(number(payment, "refundable_amount"), left, "{payment}");
            assert!(left >= 0 && (paid || taken == 0), "{payment}");
            let told = |kind: &str| {
                let ours = events.iter().filter(|it| it["data"]["object"]["id"] == payment["id"]);
                ours.filter(|it| it["type"] == kind).count()
            };
            assert_eq!(told("payment.created"), 1, "{payment}");
            assert_eq!(told("payment.succeeded"), usize::from(paid), "{payment}");
            assert!(told("payment.processing") <= 1 && told("payment.failed") <= 1, "{payment}");
            let last = if payment["status"] == "refunded" { 1 } else { 0 };
            assert_eq!(told("payment.refunded"), last, "{payment}");
        }
        for payout in &payouts {
            let open = payout["status"] == "created" || payout["status"] == "processing";
            reserved += if open { number(payout, "total_amount") } else { 0 };
        }
        for refund in &refunds {
            reserved +=
                if refund["status"] == "created" { number(refund, "net_amount") } else { 0 };
        }
        let balance = self.stage.get("/v1/balance?currency=XOF").json();
        assert_eq!(number(&balance["reserved"][0], "amount"), reserved, "{balance}");
        for link in self.list("/v1/payment-links") {
            let through = payments.iter().filter(|it| it["payment_link"] == link["id"]);
            assert_eq!(link["payments_count"], through.clone().count(), "{link}");
            let paid = through.filter(|it| !it["succeeded_at"].is_null());
            let sum: i64 = paid.map(|it| number(it, "amount")).sum();
            assert_eq!(number(&link, "collected_amount"), sum, "{link}");
        }
    }
}

fn number(object: &Value, field: &str) -> i64 {
    object[field].as_i64().expect("a number")
}

fn any<T: Clone>(of: &[T], choices: &mut Choices<'_>) -> Option<T> {
    (!of.is_empty()).then(|| choices.pick(of).clone())
}
