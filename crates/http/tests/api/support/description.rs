//! Holds every response against the API's description of itself.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex},
};

use cauri::Engine;
use cauri_http::Api;
use cauri_memory::MemoryStore;
use http_body_util::{BodyExt, Full};
use jsonschema::Validator;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::Told;

/// The description, as a client without a key gets it.
pub(crate) static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    let engine = Engine::builder(std::sync::Arc::new(MemoryStore::new())).build().unwrap();
    let request = http::Request::get("/v1/openapi.json").body(Full::<bytes::Bytes>::default());
    let body = futures_util::FutureExt::now_or_never(async {
        let response = Api::new(engine).oneshot(request.unwrap()).await.unwrap();
        response.into_body().collect().await.unwrap().to_bytes()
    });
    serde_json::from_slice(&body.unwrap()).unwrap()
});

/// Its schemas, with nothing allowed that they do not declare.
pub(crate) static STRICT: LazyLock<Value> = LazyLock::new(|| {
    let mut components = DESCRIPTION["components"].clone();
    close(&mut components["schemas"]);
    components
});

fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(close);
            let is_object = object.get("type") == Some(&json!("object"));
            if is_object && object.get("properties").is_some_and(Value::is_object) {
                object.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A schema of the description, ready to judge.
pub(crate) fn validator(schema: &Value) -> Validator {
    let whole = json!({ "allOf": [schema], "components": *STRICT });
    jsonschema::draft202012::options().should_validate_formats(true).build(&whole).unwrap()
}

static VALIDATORS: LazyLock<Mutex<HashMap<String, std::sync::Arc<Validator>>>> =
    LazyLock::new(Mutex::default);

/// Is this response one that the description knows?
#[track_caller]
pub(crate) fn describes(told: &Told) {
    // What has no route, or no such method, is described by nothing.
    let Some(route) = told.route.filter(|_| told.status != 405) else { return };
    let name = format!("{} {} {}", told.method, route.as_str(), told.status);
    let operation = &DESCRIPTION["paths"][route.as_str()][told.method.to_lowercase()];
    let response = &operation["responses"][told.status.to_string()];
    let known = VALIDATORS.lock().unwrap().get(&name).cloned();
    let validator = known.unwrap_or_else(|| {
        let schema = &response["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{name} is not described: {}", told.json());
        let validator = std::sync::Arc::new(validator(schema));
        VALIDATORS.lock().unwrap().insert(name.clone(), validator.clone());
        validator
    });
    let body = told.json();
    let wrong: Vec<String> = validator
        .iter_errors(&body)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{name} is not as described: {wrong:#?} {body:#}");
    if told.status >= 400 {
        let codes = response["x-codes"].as_array().expect("codes");
        let mut given = vec![&body["error"]["code"]];
        let details = body["error"]["details"].as_array();
        given.extend(details.into_iter().flatten().map(|it| &it["code"]));
        assert!(given.iter().all(|code| codes.contains(code)), "{name}: {given:?} {codes:?}");
    }
    for header in ["Location", "Idempotent-Replayed", "Retry-After", "RateLimit"] {
        let declared = response["headers"].get(header).is_some();
        assert!(declared || told.header(header).is_none(), "{name}: {header} is not described");
    }
}
