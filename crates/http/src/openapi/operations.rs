//! What can be asked and what is answered, route by route.

use cauri::{
    CustomerId, DeliveryId, EndpointId, EventId, PaymentId, PaymentLinkId, PayoutId, RefundId,
    RequestId, Success,
};
use serde_json::{Map, Value, json};

use super::{
    examples,
    filters::Filter,
    requests,
    schema::{any_text, id, named, pattern, word},
};
use crate::{
    catalogue::{FAMILIES, Family},
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
            "content": { "application/json": content(body) },
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
    for Family { status, kind, codes } in &FAMILIES {
        let may = |word: &&str| general(route, word) || route.doc.codes.contains(word);
        let codes: Vec<&str> = codes.iter().map(|code| code.word).filter(may).collect();
        if !codes.is_empty() {
            responses.insert(status.to_string(), refusal(route, *status, kind, &codes));
        }
    }
    responses
}

/// May every route like this one refuse so?
fn general(route: &Route, code: &str) -> bool {
    let posts = route.verb == Verb::Post;
    let keyed = route.access != Access::Anyone;
    match code {
        "internal_error" | "service_unavailable" | "parameter_unknown" | "parameter_invalid" => {
            true
        }
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
    if route.success == Success::Created {
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
        "content": { "application/json": content(route.doc.gives) },
    })
}

/// What a schema describes, and what that looks like.
fn content(name: &str) -> Value {
    let mut content = json!({ "schema": named(name) });
    if let Some(example) = examples::of(name) {
        content["example"] = example;
    }
    content
}

fn refusal(route: &Route, status: u16, kind: &str, codes: &[&str]) -> Value {
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
        // A list that may grow, so that it is no part of the schema.
        "x-codes": codes,
        "content": { "application/json": {
            "schema": named("Error"),
            "example": examples::error(kind, codes.first().copied().unwrap_or_default()),
        } },
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
    let text = any_text;
    [
        ("Request-Id", "Names this request in our logs.", id::<RequestId>(), REQUEST_ID),
        ("Cache-Control", "Nobody keeps an answer.", word("no-store"), "no-store"),
        (
            "RateLimit-Policy",
            "How many requests (`q`) each key has within how many seconds (`w`); absent when there \
             is no limit.",
            text(),
            r#""default";q=6000;w=60"#,
        ),
        (
            "RateLimit",
            "How many requests are left (`r`), and in how many seconds all are back (`t`).",
            text(),
            r#""default";r=5999;t=1"#,
        ),
        (
            "Location",
            "The path of what was created.",
            text(),
            "/v1/payments/pay_01jd3w8k4f7q2m9x5r6t0v1b3c",
        ),
        (
            "Idempotent-Replayed",
            "Present when this is the answer to an earlier use of the key.",
            word("true"),
            "true",
        ),
        ("Retry-After", "In how many seconds to try again.", pattern("^[0-9]+$"), "1"),
        ("WWW-Authenticate", "How to say who calls.", word("Bearer"), "Bearer"),
    ]
    .into_iter()
    .map(|(name, about, schema, example)| {
        let header = json!({ "description": about, "schema": schema, "example": example });
        (name.to_owned(), header)
    })
    .collect()
}

const REQUEST_ID: &str = "req_01jd3w8k4f7q2m9x5r6t0v1b3c";
