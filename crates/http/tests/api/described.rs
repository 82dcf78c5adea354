//! The description is complete: nothing is accepted that it does not say, and nothing refused that
//! it does. Responses are held against it wherever one is asked for.

use std::collections::{BTreeMap, BTreeSet};

use cauri::{Env, Tick};
use serde_json::{Map, Value, json};

use crate::support::{
    Ask, Stand,
    description::{DESCRIPTION, validator},
    nothing, payment,
};

fn operations() -> Vec<(&'static str, &'static str, &'static Value)> {
    let paths = DESCRIPTION["paths"].as_object().unwrap();
    let each = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (&**path, &**method, operation))
    });
    each.collect()
}

fn refers(value: &'static Value, seen: &mut BTreeSet<&'static str>) {
    match value {
        Value::Object(object) => {
            seen.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| refers(value, seen));
        }
        Value::Array(items) => items.iter().for_each(|value| refers(value, seen)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn whatever_is_referred_to_is_there_and_the_other_way_round() {
    assert_eq!(DESCRIPTION["openapi"], "3.1.0");
    let mut seen = BTreeSet::new();
    refers(&DESCRIPTION, &mut seen);
    for reference in &seen {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(DESCRIPTION.pointer(pointer).is_some(), "{reference}");
    }
    for kind in ["schemas", "headers"] {
        for name in DESCRIPTION["components"][kind].as_object().unwrap().keys() {
            let reference = format!("#/components/{kind}/{name}");
            assert!(seen.contains(&*reference), "{reference} is used by nothing");
        }
    }
}

#[test]
fn every_schema_is_a_schema() {
    for (name, schema) in DESCRIPTION["components"]["schemas"].as_object().unwrap() {
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{name}");
    }
}

/// Every `content` of the description, with where it is.
fn contents(value: &'static Value, at: &str, found: &mut Vec<(String, &'static Value)>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                if name == "content" {
                    found.push((at.to_owned(), &value["application/json"]));
                }
                contents(value, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => items.iter().for_each(|value| contents(value, at, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn whatever_is_asked_or_told_has_an_example_of_its_own_schema() {
    let mut found = Vec::new();
    contents(&DESCRIPTION["paths"], "", &mut found);
    assert!(found.len() > 300, "{}", found.len());
    for (at, content) in found {
        if content["schema"]["$ref"] == "#/components/schemas/Description" {
            continue;
        }
        let example = content.get("example").unwrap_or_else(|| panic!("{at} has no example"));
        let wrong: Vec<String> =
            validator(&content["schema"]).iter_errors(example).map(|it| it.to_string()).collect();
        assert!(wrong.is_empty(), "{at}: {wrong:?} {example}");
    }
    for (name, header) in DESCRIPTION["components"]["headers"].as_object().unwrap() {
        assert!(validator(&header["schema"]).is_valid(&header["example"]), "{name}");
    }
}

#[test]
fn operations_have_names_of_their_own() {
    let names: BTreeSet<&str> =
        operations().iter().map(|(_, _, it)| it["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.len(), operations().len());
    let tags: Vec<&Value> =
        DESCRIPTION["tags"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    for (path, method, operation) in operations() {
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{method} {path}");
        assert!(tags.contains(&&operation["tags"][0]), "{method} {path}");
    }
    for tag in tags {
        let used = operations().iter().any(|(_, _, it)| it["tags"][0] == *tag);
        assert!(used, "{tag} is of nothing");
    }
}

/// The names of what is in a place (`query`) of an operation.
fn parameters(operation: &Value, place: &str) -> BTreeSet<String> {
    let all = operation["parameters"].as_array().unwrap().iter();
    let here = all.filter(|parameter| parameter["in"] == place);
    here.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
}

fn fields(operation: &Value) -> Option<&'static Map<String, Value>> {
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    let pointer = schema.as_str()?.strip_prefix('#')?;
    DESCRIPTION.pointer(pointer)?["properties"].as_object()
}

/// An object for each kind of id in a path.
async fn things(stand: &Stand) -> BTreeMap<&'static str, String> {
    stand.fund(100_000).await;
    let paid = stand.paid(json!({})).await;
    let post = async |path: &str, body: Value| stand.post(path, &body).await.ok(201);
    let link = json!({ "title": "A", "currency": "XOF", "country": "CI" });
    let endpoint = json!({ "url": "https://a.example.com/" });
    let payout = crate::support::payout(json!({}));
    let endpoint = post("/v1/webhooks", endpoint).await;
    let test = json!({ "webhook_endpoint": endpoint["id"] });
    let delivery = stand.post("/v1/webhooks/test", &test).await.ok(202);
    let things = [
        ("payments", paid.clone()),
        ("payment-links", post("/v1/payment-links", link).await),
        ("payouts", post("/v1/payouts", payout).await),
        ("refunds", post("/v1/refunds", json!({ "payment": paid["id"], "amount": 100 })).await),
        ("customers", post("/v1/customers", json!({ "name": "A" })).await),
        ("webhooks", endpoint),
        ("events", json!({ "id": delivery["event"] })),
        ("deliveries", delivery),
    ];
    things.into_iter().map(|(list, it)| (list, it["id"].as_str().unwrap().to_owned())).collect()
}

/// The list that the id in a path is of.
fn list_of(path: &str) -> &str {
    let list = path.split_once("/{id}").map_or(path, |(list, _)| list);
    list.rsplit('/').next().unwrap()
}

fn filled(path: &str, things: &BTreeMap<&'static str, String>) -> String {
    things.get(list_of(path)).map_or_else(|| path.to_owned(), |id| path.replace("{id}", id))
}

fn unknown(told: &crate::support::Told, name: &str) -> bool {
    let details = told.json()["error"]["details"].clone();
    let details = details.as_array().cloned().unwrap_or_default();
    details.iter().any(|it| it["code"] == "parameter_unknown" && it["param"] == name)
}

#[tokio::test]
async fn exactly_the_declared_query_parameters_are_known() {
    let stand = Stand::new().await;
    let things = things(&stand).await;
    let all: BTreeSet<String> =
        operations().iter().flat_map(|(_, _, it)| parameters(it, "query")).collect();
    assert!(all.len() > 20);
    for (path, method, operation) in operations().into_iter().filter(|it| it.1 == "get") {
        let declared = parameters(operation, "query");
        for name in &all {
            // A value that no parameter takes: known names are refused as well, for another reason.
            let asked = format!("{}?{name}=%00", filled(path, &things));
            let told = stand.get(&asked).await;
            assert_eq!(unknown(&told, name), !declared.contains(name), "{method} {asked}");
        }
    }
}

#[tokio::test]
async fn exactly_the_declared_fields_are_known() {
    let stand = Stand::new().await;
    let things = things(&stand).await;
    let mut all: BTreeSet<&str> = BTreeSet::from(["status", "id", "object", "secret"]);
    for (_, _, operation) in operations() {
        all.extend(fields(operation).into_iter().flat_map(Map::keys).map(String::as_str));
    }
    for (path, method, operation) in operations().into_iter().filter(|it| it.1 == "post") {
        let declared = fields(operation).expect(path);
        for name in &all {
            let body = json!({ *name: { "no": ["such", "value"] } });
            let told = stand.post(&filled(path, &things), &body).await;
            assert_eq!(told.status, 400, "{method} {path} {body}: {}", told.json());
            // What cannot be changed is known, though not declared.
            let immutable = told.json()["error"]["code"] == "parameter_immutable";
            let known = declared.contains_key(*name) || immutable;
            assert_eq!(unknown(&told, name), !known, "{method} {path} {name}");
        }
    }
}

#[tokio::test]
async fn exactly_the_required_fields_are_missing_from_nothing() {
    let stand = Stand::new().await;
    let things = things(&stand).await;
    for (path, _, operation) in operations().into_iter().filter(|it| it.1 == "post") {
        let reference = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let schema = DESCRIPTION.pointer(&reference.as_str().unwrap()[1..]).unwrap();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let told = stand.post(&filled(path, &things), &json!({})).await;
        let missing = told.json()["error"]["details"].as_array().cloned().unwrap_or_default();
        let missing: Vec<&Value> = missing.iter().map(|it| &it["param"]).collect();
        for name in &required {
            assert!(missing.contains(&name), "{path} {name}");
        }
        // More may be missing: what is required only unless something else is there.
        let conditional = ["/v1/payments", "/v1/customers"].contains(&path);
        assert!(conditional || missing.len() == required.len(), "{path} {missing:?}");
    }
}

#[tokio::test]
async fn what_the_schema_of_a_request_accepts_is_accepted() {
    let stand = Stand::new().await;
    let schema = |name: &str| validator(&json!({ "$ref": format!("#/components/schemas/{name}") }));
    let create = schema("CreatePayment");
    for (changes, good) in [
        (json!({}), true),
        (json!({ "metadata": { "a": "b" }, "expires_in": 60, "otp": "1234" }), true),
        (json!({ "description": null, "return_url": "https://shop.example.com/" }), true),
        (json!({ "amount": 0 }), false),
        (json!({ "amount": "5000" }), false),
        (json!({ "currency": "xof" }), false),
        (json!({ "payment_method": "cash" }), false),
        (json!({ "phone": "0500009999" }), false),
        (json!({ "reference": "" }), false),
        (json!({ "reference": "x".repeat(101) }), false),
        (json!({ "metadata": { "": "b" } }), false),
        (json!({ "metadata": { "a": 1 } }), false),
        (json!({ "expires_in": 59 }), false),
        (json!({ "customer": nothing("pay") }), false),
        (json!({ "colour": "red" }), false),
    ] {
        let body = payment(changes);
        assert_eq!(create.is_valid(&body), good, "{body}");
        let told = stand.post("/v1/payments", &body).await;
        assert_eq!(told.status == 201, good, "{body}: {}", told.json());
    }
}

#[tokio::test]
async fn every_declared_id_is_one_of_its_kind() {
    let stand = Stand::new().await;
    for (list, id) in things(&stand).await {
        for (path, _, operation) in operations() {
            if list_of(path) != list || !path.contains("{id}") {
                continue;
            }
            let parameter = &operation["parameters"][0];
            assert_eq!((&parameter["name"], &parameter["in"]), (&json!("id"), &json!("path")));
            assert!(validator(&parameter["schema"]).is_valid(&json!(id)), "{path} {id}");
            assert!(!validator(&parameter["schema"]).is_valid(&json!(nothing("acct"))));
        }
    }
}

#[tokio::test]
async fn what_is_sent_to_receivers_is_as_described() {
    let stand = Stand::new().await;
    let kinds = DESCRIPTION["webhooks"].as_object().unwrap();
    assert_eq!(kinds.len(), cauri::EventKind::ALL.len());
    for kind in cauri::EventKind::ALL {
        let body = &kinds[kind.as_str()]["post"]["requestBody"]["content"]["application/json"];
        let scope = stand.scope;
        let id = nothing("evt").parse().unwrap();
        let now = stand.engine.now();
        let mut env = Env::new(now, Tick::first(now), [7; 32]);
        let sample = cauri::wire::sample(*kind, &mut env, scope);
        let text = cauri::wire::event_payload(id, *kind, now, scope, true, &sample);
        let event: Value = serde_json::from_str(&text).unwrap();
        let wrong: Vec<String> =
            validator(&body["schema"]).iter_errors(&event).map(|it| it.to_string()).collect();
        assert!(wrong.is_empty(), "{kind}: {wrong:?} {event:#}");
    }
}

#[tokio::test]
async fn the_description_needs_no_key_and_names_the_prefix() {
    let stand = Stand::with(crate::support::Plan { prefix: "/pay", ..Default::default() }).await;
    let told = stand.ask(Ask::get("/pay/v1/openapi.json")).await;
    assert_eq!(told.ok(200)["servers"], json!([{ "url": "/pay" }]));
}
