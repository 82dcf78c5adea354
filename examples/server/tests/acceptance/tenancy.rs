//! Nobody learns of another's objects (API §2, §19.7): every endpoint of the description, asked with
//! every kind of id that belongs to another account or environment, answers as if the id were made up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::http::Response;
use crate::support::server::{Server, Store};
use crate::support::shop::{Caller, Shop, path_of};
use crate::support::sink::Sink;
use crate::support::{sample, stories, time};

stories![
    what_is_anothers_is_told_from_nothing_by_no_endpoint,
    no_list_count_or_filter_shows_what_is_anothers,
    an_idempotency_key_of_another_is_free,
    an_event_reaches_nobody_else,
];

/// One of each kind of thing, by the prefix of its id.
type Things = BTreeMap<&'static str, String>;

/// An account that owns one of everything, and the sink of its webhooks.
struct Owner {
    shop: Shop,
    things: Things,
    /// Texts that only this owner's data hold.
    marks: [&'static str; 4],
    _sink: Sink,
}

impl Owner {
    fn new(server: &Arc<Server>) -> Self {
        let (shop, sink) = (Server::next_shop(server).unwrap(), Sink::open());
        let marks = ["REF-OF-THE-OWNER", "+2250511223344", "owner@example.com", "k-of-the-owner"];
        let [reference, phone, email, key] = marks;
        let endpoint = shop.hook(&sink.url(), &["*"]);
        shop.fund(100_000, "XOF");
        let body = json!({"name": "Awa", "phone": phone, "email": email, "reference": reference});
        let customer = shop.customer(body);
        let link = shop.link(json!({"reusable": true, "reference": reference}));
        let body = sample::payment(
            json!({"customer": customer["id"], "reference": reference, "phone": phone}),
        );
        let payment = shop.post_once(key, "/v1/payments", &body).ok(201);
        shop.simulate(&payment["id"], "refund_pending").ok(200);
        let via = shop.pay_via(&link, phone).ok(201);
        shop.awaits(&via, "processing");
        let payout = shop.pay_out(json!({"reference": reference})).ok(201);
        shop.awaits(&payout, "processing");
        let refund = shop.refund(&payment, Some(100)).ok(201);
        let deliveries = time::soon(|| {
            let all = shop.list("/v1/webhooks/deliveries");
            let done = all.iter().all(|it| it["status"] == "succeeded");
            if all.len() >= 9 && done { Ok(all) } else { Err(format!("{all:?}")) }
        });
        let entry = shop.list("/v1/ledger").remove(0);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let things = BTreeMap::from([
            ("pay", text(&payment["id"])),
            ("pout", text(&payout["id"])),
            ("ref", text(&refund["id"])),
            ("plink", text(&link["id"])),
            ("cus", text(&customer["id"])),
            ("whe", text(&endpoint["id"])),
            ("whd", text(&deliveries[0]["id"])),
            ("evt", text(&deliveries[0]["event"])),
            ("led", text(&entry["id"])),
            ("ltx", text(&entry["transaction"])),
            ("acct", shop.account.id.clone()),
        ]);
        Self { shop, things, marks, _sink: sink }
    }

    /// All that the owner sees.
    fn holdings(&self) -> Vec<Value> {
        let mut all = vec![self.shop.get("/v1/balance").ok(200)];
        for list in LISTS {
            all.extend(self.shop.list(list));
        }
        all.extend(self.shop.list(&format!("/v1/payments/{}/timeline", self.things["pay"])));
        all
    }

    fn is_told_in(&self, text: &str) -> Option<&str> {
        let words = self.things.values().map(String::as_str).chain(self.marks);
        words.into_iter().find(|word| text.contains(word))
    }
}

const LISTS: [&str; 9] = [
    "/v1/payments",
    "/v1/payouts",
    "/v1/refunds",
    "/v1/customers",
    "/v1/payment-links",
    "/v1/webhooks",
    "/v1/webhooks/deliveries",
    "/v1/events",
    "/v1/ledger",
];

/// Every method of every path that takes a key.
fn operations(shop: &Shop) -> Vec<(String, String, Value)> {
    let description = shop.anyone.get("/v1/openapi.json").ok(200);
    let mut all = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if path != "/v1/openapi.json" {
                all.push((method.to_uppercase(), path.clone(), operation.clone()));
            }
        }
    }
    assert!(all.len() > 30, "{}", all.len());
    all
}

/// The query parameters that an operation declares.
fn parameters(operation: &Value) -> BTreeSet<String> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    let query = all.filter(|it| it["in"] == "query");
    query.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// Bodies that would do something, were the ids in them the caller's. `{…}` is an id.
fn bodies() -> BTreeMap<&'static str, Vec<Value>> {
    let payment = |changes: Value| sample::payment(changes);
    BTreeMap::from([
        (
            "/v1/payments",
            vec![
                payment(json!({"customer": "{cus}"})),
                json!({
                    "payment_link": "{plink}", "payment_method": "mobile_money", "network": "mtn",
                    "phone": sample::PATIENT
                }),
            ],
        ),
        ("/v1/payments/{id}/cancel", vec![json!({})]),
        ("/v1/payment-links", vec![]),
        ("/v1/payment-links/{id}", vec![json!({"active": false}), json!({"title": "Mine"})]),
        ("/v1/payouts", vec![sample::payout(json!({"customer": "{cus}"}))]),
        (
            "/v1/refunds",
            vec![json!({"payment": "{pay}"}), json!({"payment": "{pay}", "amount": 1})],
        ),
        ("/v1/customers", vec![]),
        ("/v1/customers/{id}", vec![json!({"name": "Mine"}), json!({"metadata": {"a": "b"}})]),
        ("/v1/webhooks", vec![]),
        ("/v1/webhooks/{id}", vec![json!({"active": false}), json!({"rotate_secret": true})]),
        ("/v1/webhooks/{id}/replay", vec![json!({"since": "2024-11-19T00:00:00Z"})]),
        ("/v1/webhooks/deliveries/{id}/retry", vec![json!({})]),
        ("/v1/webhooks/test", vec![json!({"webhook_endpoint": "{whe}"})]),
        (
            "/v1/sandbox/simulate",
            ["{pay}", "{pout}", "{ref}"]
                .iter()
                .map(|id| json!({"id": id, "scenario": "success"}))
                .collect(),
        ),
        ("/v1/sandbox/fund", vec![]),
    ])
}

/// A request with `{prefix}` where ids go.
#[derive(Debug)]
struct Template {
    method: String,
    path: String,
    body: Option<Value>,
}

/// Everything that can be asked about an id: in the path, in a query, in a body.
fn templates(shop: &Shop) -> Vec<Template> {
    let bodies = bodies();
    let mut all = Vec::new();
    let kinds = ["pay", "pout", "ref", "plink", "cus", "whe", "whd", "evt", "led", "ltx", "acct"];
    for (method, path, operation) in operations(shop) {
        let with_body = method == "POST";
        let bodies = match with_body {
            true => bodies.get(&*path).unwrap_or_else(|| panic!("no body for {path}")).clone(),
            false => Vec::new(),
        };
        let bodies = || bodies.iter().cloned().map(Some).chain((!with_body).then_some(None));
        for kind in kinds {
            let placed = path.replace("{id}", &format!("{{{kind}}}"));
            if path.contains("{id}") {
                all.extend(bodies().map(|body| Template {
                    method: method.clone(),
                    path: placed.clone(),
                    body,
                }));
            }
            for name in parameters(&operation) {
                let own = path.replace("{id}", "{own}");
                let joint = if name == "country" { "?" } else { "?country=CI&" };
                let joint = if path == "/v1/payment-methods" { joint } else { "?" };
                let path = format!("{own}{joint}{name}={{{kind}}}");
                all.push(Template { method: method.clone(), path, body: None });
            }
        }
        if !path.contains("{id}") {
            all.extend(bodies().map(|body| Template {
                method: method.clone(),
                path: path.clone(),
                body,
            }));
        }
    }
    all
}

impl Template {
    fn filled(&self, things: &Things) -> (String, Option<String>) {
        let fill = |text: &str| {
            things
                .iter()
                .fold(text.to_owned(), |text, (kind, id)| text.replace(&format!("{{{kind}}}"), id))
        };
        // The caller has nothing of its own either: the question is only what it names.
        let path = fill(&self.path.replace("{own}", &sample::unknown("pay")));
        (path, self.body.as_ref().map(|body| fill(&body.to_string())))
    }

    fn ask(&self, caller: &Caller, things: &Things) -> Response {
        let (path, body) = self.filled(things);
        match body {
            Some(body) => caller.post_text(&path, body),
            None => caller.send(&self.method, &path, None, ""),
        }
    }
}

/// What an answer says, but for the ids that were asked with and the id of the request.
fn said(response: &Response, things: &Things) -> (u16, String) {
    let mut text = response.text();
    if let Some(id) = response.header("Request-Id") {
        text = text.replace(id, "{req}");
    }
    for (kind, id) in things {
        text = text.replace(id, &format!("{{{kind}}}"));
    }
    (response.status, text)
}

fn what_is_anothers_is_told_from_nothing_by_no_endpoint(store: &Store) {
    let server = store.serve(&["--rate-limit", "off"]);
    let owner = Owner::new(&server);
    let stranger = Server::next_shop(&server).unwrap();
    let before = owner.holdings();
    let made_up: Things =
        owner.things.keys().map(|&prefix| (prefix, sample::unknown(prefix))).collect();
    let templates = templates(&owner.shop);
    let mut asked = 0;
    for (who, caller) in [
        ("another account", &stranger.secret),
        ("another account's public key", &stranger.public),
        ("the other environment", &owner.shop.live),
        ("the other environment's public key", &owner.shop.live_public),
    ] {
        for template in &templates {
            let foreign = said(&template.ask(caller, &owner.things), &owner.things);
            let nothing = said(&template.ask(caller, &made_up), &made_up);
            assert_eq!(foreign, nothing, "{who}: {template:?}");
            let refused = foreign.0 >= 400 || foreign.1.contains(r#""data":[]"#);
            let about_itself = template.path.starts_with("/v1/balance")
                || template.path.starts_with("/v1/payment-methods")
                || template.path.starts_with("/v1/sandbox/scenarios");
            assert!(refused || about_itself, "{who}: {template:?}: {foreign:?}");
            asked += 2;
        }
    }
    assert!(asked > 4_000, "{asked}");
    assert_eq!(owner.holdings(), before, "and nothing of it was changed");
}

fn no_list_count_or_filter_shows_what_is_anothers(store: &Store) {
    let server = store.serve(&["--rate-limit", "off"]);
    let owner = Owner::new(&server);
    let stranger = Server::next_shop(&server).unwrap();
    let [reference, phone, email, _] = owner.marks;
    let phone = phone.replace('+', "%2B");
    for caller in [&stranger.secret, &owner.shop.live] {
        for list in LISTS {
            let page = caller.get(list).ok(200);
            assert_eq!((&page["data"], &page["total"]), (&json!([]), &json!(0)), "{list}");
            assert_eq!(page["has_more"], false, "{list}");
        }
        for query in [
            format!("/v1/payments?reference={reference}"),
            format!("/v1/payouts?reference={reference}"),
            format!("/v1/payment-links?reference={reference}"),
            format!("/v1/customers?reference={reference}"),
            format!("/v1/customers?phone={phone}"),
            format!("/v1/customers?email={email}"),
            "/v1/payments?status=succeeded".to_owned(),
            "/v1/ledger?currency=XOF&account=clearing".to_owned(),
            "/v1/webhooks/deliveries?event_type=payment.succeeded".to_owned(),
            "/v1/payments?offset=1".to_owned(),
        ] {
            assert_eq!(caller.total(&query), 0, "{query}");
        }
        let balance = caller.get("/v1/balance").ok(200);
        for purse in ["available", "pending", "reserved"] {
            assert_eq!(balance[purse], json!([]), "{balance}");
        }
    }
    // What the stranger does is counted from one, whatever the owner has done before.
    stranger.fund(7, "XOF");
    let lines = stranger.list("/v1/ledger");
    assert!(lines.iter().all(|line| line["balance_after"] == 7), "{lines:?}");
    let link = stranger.link(json!({"reference": reference}));
    assert_eq!(stranger.total(&format!("/v1/payment-links?reference={reference}")), 1);
    assert_eq!(owner.shop.total(&format!("/v1/payment-links?reference={reference}")), 1);
    let body = json!({"name": "B", "email": email, "reference": reference});
    let customer = stranger.customer(body);
    let seen = stranger.see(&customer["id"]);
    assert_eq!(seen["statistics"]["payments_count"], 0, "{seen}");
    for object in [&link, &customer] {
        owner.shop.get(&path_of(&object["id"])).refused(404, "resource_not_found", None);
    }
    for caller in [&stranger.secret, &stranger.public, &owner.shop.live, &stranger.anyone] {
        for path in LISTS.into_iter().chain(["/v1/balance", "/metrics", "/healthz", "/readyz"]) {
            let text = caller.get(path).text().replace(reference, "").replace(email, "");
            assert_eq!(owner.is_told_in(&text), None, "{path}");
        }
    }
}

fn an_idempotency_key_of_another_is_free(store: &Store) {
    let server = store.serve(&[]);
    let owner = Owner::new(&server);
    let stranger = Server::next_shop(&server).unwrap();
    let [.., key] = owner.marks;
    for (caller, status) in [(&stranger.secret, 201), (&owner.shop.live, 201)] {
        // Neither replayed nor refused as reused: not the same body, and not even the same path.
        let answer = caller.post_once(key, "/v1/customers", &json!({"name": "Mine"}));
        answer.ok(status);
        assert_eq!(answer.header("Idempotent-Replayed"), None);
        assert_eq!(owner.is_told_in(&answer.text()), None);
    }
    // A key that a refused request named is not taken from anybody.
    let body = sample::payment(json!({"customer": owner.things["cus"]}));
    stranger.post_once("k2", "/v1/payments", &body).refused(
        400,
        "related_resource_not_found",
        Some("customer"),
    );
    let own = owner.shop.post_once("k2", "/v1/payments", &body);
    own.ok(201);
    assert_eq!(own.header("Idempotent-Replayed"), None);
}

fn an_event_reaches_nobody_else(store: &Store) {
    let server = store.serve(&[]);
    let (ears, stranger) = (Sink::open(), Server::next_shop(&server).unwrap());
    stranger.hook(&ears.url_of("/account"), &["*"]);
    let owner = Owner::new(&server);
    let live = json!({"url": "https://shop.example.com/", "events": ["*"]});
    owner.shop.live.post("/v1/webhooks", &live).ok(201);
    // What comes later comes after: had anything been sent, it would be here before this.
    let link = stranger.link(json!({}));
    let hits = ears.awaits(1);
    assert_eq!(hits.len(), 1, "{:?}", ears.kinds());
    assert_eq!(hits[0].event()["data"]["object"]["id"], link["id"]);
    for caller in [&stranger.secret, &owner.shop.live] {
        let foreign = owner.things["evt"].as_str();
        assert_eq!(caller.total(&format!("/v1/webhooks/deliveries?event={foreign}")), 0);
    }
    assert_eq!(stranger.total("/v1/webhooks/deliveries"), 1);
    assert_eq!(owner.shop.live.total("/v1/webhooks/deliveries"), 0);
}
