//! Holds every answer against what the server says of itself at `/v1/openapi.json`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::http::{Http, Request, Response};

static DOCUMENT: OnceLock<Value> = OnceLock::new();
static VALIDATORS: Mutex<Option<HashMap<String, Arc<Validator>>>> = Mutex::new(None);

/// The answer is one that the description has: its status, its body, its headers.
#[track_caller]
pub(crate) fn holds(server: &Http, request: &Request, response: &Response) {
    let path = request.path.split('?').next().unwrap_or_default();
    if path == "/v1/openapi.json" {
        return;
    }
    let document = DOCUMENT.get_or_init(|| read(server));
    let Some(template) = template(document, path) else { return };
    let operation = &document["paths"][template][request.method.to_lowercase()];
    if operation.is_null() {
        assert_eq!(response.status, 405, "{} {path} has no operation", request.method);
        return;
    }
    let name = format!("{} {template} {}", request.method, response.status);
    let described = &operation["responses"][response.status.to_string()];
    let schema = &described["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{name} is not described: {}", response.text());
    let body = response.json();
    let wrong: Vec<String> = validator(document, &name, schema)
        .iter_errors(&body)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{name} is not as described: {wrong:#?} {body:#}");
    if let Some(codes) = described["x-codes"].as_array() {
        assert!(codes.contains(&body["error"]["code"]), "{name}: {body} is none of {codes:?}");
    }
    for header in ["Location", "Idempotent-Replayed", "Retry-After", "RateLimit", "Request-Id"] {
        let declared = described["headers"].get(header).is_some();
        assert!(declared || response.header(header).is_none(), "{name}: {header}");
    }
}

fn read(server: &Http) -> Value {
    let (method, path) = ("GET".to_owned(), "/v1/openapi.json".to_owned());
    let request = Request { method, path, headers: Vec::new(), body: Vec::new() };
    let mut document = server.send(&request).expect("the description").json();
    close(&mut document["components"]["schemas"]);
    document
}

/// Nothing is allowed here that is not declared, though clients must allow it.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(close);
            if object.get("properties").is_some_and(Value::is_object) {
                object.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The path of the description that this one is: words win over ids.
fn template<'d>(document: &'d Value, path: &str) -> Option<&'d str> {
    let is_of = |template: &&String| {
        let (ours, theirs) = (template.split('/'), path.split('/'));
        ours.clone().count() == theirs.clone().count()
            && ours
                .zip(theirs)
                .all(|(our, their)| our == their || our == "{id}" && !their.is_empty())
    };
    let templates = document["paths"].as_object().expect("paths").keys().filter(is_of);
    templates.min_by_key(|template| template.contains("{id}")).map(String::as_str)
}

fn validator(document: &Value, name: &str, schema: &Value) -> Arc<Validator> {
    let mut all = VALIDATORS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let known = all.get_or_insert_default();
    let new = || {
        let whole = json!({ "allOf": [schema], "components": document["components"] });
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        Arc::new(options.build(&whole).expect("a schema"))
    };
    Arc::clone(known.entry(name.to_owned()).or_insert_with(new))
}
