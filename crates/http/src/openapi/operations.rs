//! What can be asked and what is answered, route by route.

use std::collections::BTreeMap;

use cauri::{
    CustomerId, DeliveryId, EndpointId, EventId, PaymentId, PaymentLinkId, PayoutId, RefundId,
    RequestId, Success,
};
use serde_json::{Map, Value, json};

use super::{
    filters::Filter,
    requests,
    schema::{about_it, any_text, id, named, pattern, words},
};
use crate::{
    catalogue::FAMILIES,
    handler::Noun,
    respond::status,
    route::{Access, Route, Verb},
};

/// One operation.
pub(crate) fn of(route: &Route) -> Value {
    let doc = &route.doc;
    let mut operation = json!({
        "operationId": doc.id,
        "summary": doc.summary,
        "description": access(route),
        "tags": [tag(route)],
        "parameters": parameters(route),
        "responses": responses(route),
    });
    if let Some(body) = doc.takes {
        operation["requestBody"] = json!({
            // An empty body counts as an empty object, which is enough where nothing must be said.
            "required": requests::all()[body].get("required").is_some(),
            "content": { "application/json": { "schema": named(body) } },
        });
    }
    if route.access == Access::Anyone {
        operation["security"] = json!([]);
    }
    operation
}

fn access(route: &Route) -> String {
    let key = match route.access {
        Access::Anyone => "Needs no key.",
        Access::Public => "Needs a key; with a public one personal data is masked.",
        Access::Secret => "Needs a secret key.",
    };
    let place = if route.sandbox_only { " In the sandbox only." } else { "" };
    format!("{key}{place}")
}

/// The first word of the path.
fn tag(route: &Route) -> &'static str {
    route.path.trim_start_matches("/v1/").split(['/', '.']).next().unwrap_or_default()
}

fn parameters(route: &Route) -> Vec<Value> {
    let mut parameters = Vec::new();
    if let Some(noun) = route.object {
        parameters.push(json!({
            "name": "id",
            "in": "path",
            "required": true,
            "description": format!("Of the {}.", noun.name()),
            "schema": match noun {
                Noun::Payment => id::<PaymentId>(),
                Noun::PaymentLink => id::<PaymentLinkId>(),
                Noun::Payout => id::<PayoutId>(),
                Noun::Refund => id::<RefundId>(),
                Noun::Customer => id::<CustomerId>(),
                Noun::Endpoint => id::<EndpointId>(),
                Noun::Delivery => id::<DeliveryId>(),
                Noun::Event => id::<EventId>(),
            },
        }));
    }
    for Filter { name, required, schema, about } in route.doc.filters.iter().copied().flatten() {
        parameters.push(json!({
            "name": name,
            "in": "query",
            "required": required,
            "description": about,
            "schema": schema(),
        }));
    }
    if route.verb == Verb::Post {
        parameters.push(json!({
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "description": "A repeat with the same key and body gets the first answer again, for \
                24 hours. An installation may require it of whatever creates.",
            "schema": { "type": "string", "pattern": "^[!-~]{1,255}$" },
        }));
    }
    parameters
}

fn responses(route: &Route) -> Map<String, Value> {
    let mut responses = Map::new();
    let success = status(route.success);
    responses.insert(success.as_str().to_owned(), answer(route));
    let mut codes = BTreeMap::<u16, Vec<&str>>::new();
    for family in &FAMILIES {
        for code in family.codes {
            if general(route, code) || route.doc.codes.contains(code) {
                codes.entry(family.status).or_default().push(code);
            }
        }
    }
    for (status, codes) in codes {
        responses.insert(status.to_string(), refusal(route, status, &codes));
    }
    responses
}

/// May every route like this one refuse so?
fn general(route: &Route, code: &str) -> bool {
    let posts = route.verb == Verb::Post;
    let keyed = route.access != Access::Anyone;
    match code {
        "internal_error" | "parameter_unknown" | "parameter_invalid" => true,
        "parameter_missing" => {
            posts || route.doc.filters.iter().copied().flatten().any(|filter| filter.required)
        }
        "json_invalid"
        | "idempotency_key_invalid"
        | "idempotency_key_reused"
        | "content_type_not_supported" => posts,
        "idempotency_key_required" => route.success == Success::Created,
        "body_too_large"
        | "rate_limited"
        | "service_unavailable"
        | "api_key_missing"
        | "api_key_invalid"
        | "api_key_revoked"
        | "api_key_expired"
        | "credentials_conflict" => keyed,
        "secret_key_required" => route.access == Access::Secret,
        "sandbox_only" => route.sandbox_only,
        "resource_not_found" => route.object.is_some(),
        _ => false,
    }
}

fn answer(route: &Route) -> Value {
    let mut names = common(route);
    if route.success == Success::Created && route.doc.gives != "SandboxFunding" {
        names.push("Location");
    }
    if route.verb == Verb::Post {
        names.push("Idempotent-Replayed");
    }
    json!({
        "description": match route.success {
            Success::Created => "It was created.",
            Success::Done => "Done.",
            Success::Accepted => "It was taken on.",
        },
        "headers": headers_of(&names),
        "content": { "application/json": { "schema": named(route.doc.gives) } },
    })
}

fn refusal(route: &Route, status: u16, codes: &[&str]) -> Value {
    let mut names = common(route);
    match status {
        401 => {
            names = vec!["Request-Id", "Cache-Control", "WWW-Authenticate"];
        }
        429 | 503 => names.push("Retry-After"),
        _ => {}
    }
    json!({
        "description": format!("Refused: {}.", codes.join(", ")),
        "headers": headers_of(&names),
        "content": { "application/json": { "schema": {
            "allOf": [
                named("Error"),
                { "properties": { "error": { "properties": { "code": words(codes) } } } },
            ],
        } } },
    })
}

/// The headers of every answer.
fn common(route: &Route) -> Vec<&'static str> {
    let mut names = vec!["Request-Id", "Cache-Control"];
    if route.access != Access::Anyone {
        names.extend(["RateLimit-Policy", "RateLimit"]);
    }
    names
}

fn headers_of(names: &[&str]) -> Map<String, Value> {
    let reference = |name: &&str| {
        ((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }))
    };
    names.iter().map(reference).collect()
}

/// Every header of a response, by name.
pub(crate) fn headers() -> Map<String, Value> {
    let header = |about: &str, schema: Value| json!({ "description": about, "schema": schema });
    let seconds = || pattern("^[0-9]+$");
    [
        ("Request-Id", header("Names this request in our logs.", id::<RequestId>())),
        ("Cache-Control", header("", json!({ "const": "no-store" }))),
        (
            "RateLimit-Policy",
            header(
                "How many requests (`q`) each key has within how many seconds (`w`); absent when \
                 there is no limit.",
                about_it(any_text(), "`\"default\";q=6000;w=60`"),
            ),
        ),
        (
            "RateLimit",
            header(
                "How many requests are left (`r`), and in how many seconds all are back (`t`).",
                about_it(any_text(), "`\"default\";r=5999;t=1`"),
            ),
        ),
        ("Location", header("The path of what was created.", any_text())),
        (
            "Idempotent-Replayed",
            header(
                "Present when this is the answer to an earlier use of the key.",
                words(&["true"]),
            ),
        ),
        ("Retry-After", header("In how many seconds to try again.", seconds())),
        ("WWW-Authenticate", header("", json!({ "const": "Bearer" }))),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema))
    .collect()
}
