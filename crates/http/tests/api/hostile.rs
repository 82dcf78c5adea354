//! Whatever is sent: an answer of the contract, and no trace of what was refused.

use std::sync::LazyLock;

use cauri_memory::MemoryStore;
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::support::{Ask, Stand, Told, description::DESCRIPTION, link, nothing, payment, payout};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// Looks at an answer that must be one of the contract's, and not one of ours to mend.
fn fine(told: &Told) -> Result<(), TestCaseError> {
    prop_assert!(told.status < 500, "{} {}", told.status, told.json());
    if told.status >= 400 {
        let error = &DESCRIPTION["components"]["schemas"]["Error"]["properties"]["error"];
        let codes = error["properties"]["code"]["examples"].as_array().unwrap();
        let code = told.json()["error"]["code"].clone();
        prop_assert!(codes.contains(&code), "{code}");
    }
    Ok(())
}

/// Everything that a scope holds.
async fn traces(stand: &Stand) -> Vec<i64> {
    let mut totals = Vec::new();
    for list in
        ["payments", "payouts", "refunds", "customers", "payment-links", "webhooks", "ledger"]
    {
        totals.push(stand.total(&format!("/v1/{list}")).await);
    }
    totals
}

/// Sends requests to a fresh API, and looks at what they leave behind: nothing, unless one of them
/// succeeded.
fn nothing_happens(asks: Vec<Ask>) -> Result<(), TestCaseError> {
    RUNTIME.block_on(async {
        let stand = Stand::new().await;
        for ask in asks {
            if http::Uri::try_from(&*ask.path).is_err() {
                continue;
            }
            let told = stand.ask(ask.key(&stand.secret)).await;
            fine(&told)?;
            if told.status < 300 && told.method != "GET" {
                return Ok(());
            }
        }
        prop_assert_eq!(traces(&stand).await, [0; 7]);
        Ok(())
    })
}

fn paths() -> Vec<String> {
    let paths = DESCRIPTION["paths"].as_object().unwrap().keys();
    paths.map(|path| path.replace("{id}", &nothing("pay"))).collect()
}

fn path() -> impl Strategy<Value = String> {
    proptest::sample::select(paths())
}

fn method() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec!["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "X"])
}

/// Values that are hard on readers.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        proptest::sample::select(vec![
            "XOF",
            "CI",
            "mtn",
            "card",
            "mobile_money",
            "+2250500009999",
            "*",
            "success",
            "2024-11-19T00:00:00.000Z",
            "https://a.example.com/",
            "\u{0}",
            "\u{202e}",
            "é",
        ])
        .prop_map(Value::from),
        proptest::sample::select(vec!["pay", "pout", "ref", "cus", "plink", "whe"])
            .prop_map(|prefix| Value::from(nothing(prefix))),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::hash_map(".{0,8}", inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// A body that is right but for some of its fields.
fn bent() -> impl Strategy<Value = (String, Value)> {
    let fields: Vec<String> = {
        let schemas = DESCRIPTION["components"]["schemas"].as_object().unwrap();
        let asked = schemas.values().filter(|it| it["additionalProperties"] == false);
        asked.flat_map(|it| it["properties"].as_object().unwrap().keys().cloned()).collect()
    };
    let bodies = vec![
        ("/v1/payments", payment(json!({}))),
        ("/v1/payouts", payout(json!({}))),
        ("/v1/payment-links", link(json!({}))),
        ("/v1/refunds", json!({ "payment": nothing("pay") })),
        ("/v1/customers", json!({ "name": "A" })),
        ("/v1/webhooks", json!({ "url": "https://a.example.com/" })),
        ("/v1/webhooks/test", json!({ "webhook_endpoint": nothing("whe") })),
        ("/v1/sandbox/simulate", json!({ "id": nothing("pay"), "scenario": "success" })),
        ("/v1/sandbox/fund", json!({ "amount": 5, "currency": "XOF" })),
    ];
    let changes = vec((proptest::sample::select(fields), value()), 1..4);
    (proptest::sample::select(bodies), changes).prop_map(|((path, mut body), changes)| {
        for (field, value) in changes {
            body[field] = value;
        }
        (path.to_owned(), body)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bytes_as_bodies(bodies in vec((path(), vec(any::<u8>(), 0..200)), 1..8)) {
        nothing_happens(bodies.into_iter().map(|(path, body)| {
            Ask::post(&path, &json!({})).body(body)
        }).collect())?;
    }

    #[test]
    fn values_as_bodies(bodies in vec((path(), value()), 1..8)) {
        nothing_happens(bodies.iter().map(|(path, body)| Ask::post(path, body)).collect())?;
    }

    #[test]
    fn bent_bodies(bodies in vec(bent(), 1..8)) {
        nothing_happens(bodies.iter().map(|(path, body)| Ask::post(path, body)).collect())?;
    }

    #[test]
    fn texts_as_queries(queries in vec((path(), "[!-~]{0,40}"), 1..8)) {
        nothing_happens(queries.into_iter().map(|(path, query)| {
            Ask::get(&format!("{path}?{}", query.replace('#', "%23")))
        }).collect())?;
    }

    #[test]
    fn escapes_as_queries(
        queries in vec((path(), "[a-z_]{1,12}", vec(any::<u8>(), 0..20)), 1..8),
    ) {
        nothing_happens(queries.into_iter().map(|(path, name, value)| {
            let value: String = value.iter().map(|byte| format!("%{byte:02x}")).collect();
            Ask::get(&format!("{path}?{name}={value}&limit={value}"))
        }).collect())?;
    }

    #[test]
    fn texts_as_paths(paths in vec((method(), "(/v1)?(/[!-~]{0,20}){0,4}"), 1..8)) {
        nothing_happens(paths.into_iter().filter(|(_, path)| path.starts_with('/')).map(
            |(method, path)| Ask::new(method, &path),
        ).collect())?;
    }

    #[test]
    fn texts_as_ids(ids in vec(("[a-z]{0,5}_?[0-9a-zA-Z_%.~-]{0,30}", path()), 1..8)) {
        nothing_happens(ids.into_iter().map(|(id, path)| {
            Ask::get(&path.replace(&nothing("pay"), &id))
        }).collect())?;
    }

    #[test]
    fn bytes_as_headers(
        path in path(),
        name in proptest::sample::select(vec![
            "X-API-Key", "Authorization", "Idempotency-Key", "Content-Type", "Content-Length",
            "Request-Id", "Expect", "Transfer-Encoding", "Accept",
        ]),
        value in vec(any::<u8>(), 0..40),
    ) {
        prop_assume!(http::HeaderValue::from_bytes(&value).is_ok());
        RUNTIME.block_on(async {
            let stand = Stand::new().await;
            for method in ["GET", "POST", "DELETE"] {
                let ask = Ask::new(method, &path).header(name, &value);
                fine(&stand.ask(ask.clone()).await)?;
                fine(&stand.ask(ask.key(&stand.secret)).await)?;
            }
            Ok::<(), TestCaseError>(())
        })?;
    }
}

#[tokio::test]
async fn the_store_of_a_refused_request_is_as_it_was() {
    let store = std::sync::Arc::new(MemoryStore::new());
    let plan = crate::support::Plan { store: Some(store.clone()), ..Default::default() };
    let stand = Stand::with(plan).await;
    stand.get("/v1/balance").await.ok(200);
    let before = traces(&stand).await;
    for path in paths() {
        for body in ["{", "[]", "{\"x\":1}", "{\"id\":{}}"] {
            let ask = Ask::post(&path, &json!({})).key(&stand.secret).once("k").body(body);
            assert!((400..500).contains(&stand.ask(ask).await.status), "{path} {body}");
        }
    }
    assert_eq!(traces(&stand).await, before);
    // The key is as free as if it had never been named.
    let ask = Ask::post("/v1/customers", &json!({ "name": "A" })).key(&stand.secret).once("k");
    let told = stand.ask(ask).await;
    told.ok(201);
    assert_eq!(told.header("Idempotent-Replayed"), None);
}
