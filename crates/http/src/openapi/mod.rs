//! The description of the API in OpenAPI 3.1, from the table of routes and the types themselves.

mod examples;
pub(crate) mod filters;
mod objects;
mod operations;
mod requests;
mod schema;

use cauri::EventKind;
use serde_json::{Map, Value, json};

use crate::route::ROUTES;

/// The whole description, of an API that clients see under a prefix.
pub(crate) fn document(prefix: &str) -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.verb.as_str().to_lowercase()] = operations::of(route);
    }
    let mut schemas = objects::all();
    schemas.extend(requests::all());
    schemas.extend(schema::shared());
    let about = "An OpenAPI 3.1 document: this one.";
    schemas.insert("Description".to_owned(), json!({ "type": "object", "description": about }));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "cauri",
            "version": "v1",
            "description": "Payments, payouts, refunds, payment links, a ledger and webhooks. \
                Amounts are integers in the smallest unit of their currency.",
            "contact": { "name": "cauri", "url": env!("CARGO_PKG_REPOSITORY") },
            "license": { "name": "MIT or Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": if prefix.is_empty() { "/" } else { prefix } }],
        "security": [{ "bearer": [] }, { "header": [] }],
        "tags": TAGS.map(|(name, about)| json!({ "name": name, "description": about })),
        "paths": paths,
        "webhooks": webhooks(),
        "components": {
            "schemas": schemas,
            "headers": operations::headers(),
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, such as `sk_test_…`.",
                },
                "header": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-API-Key",
                    "description": "The same key in a header of its own.",
                },
            },
        },
    })
}

/// What operations are about: the first word of their paths.
const TAGS: [(&str, &str); 12] = [
    ("payments", "Money that payers pay to the merchant."),
    ("payment-links", "Pages where a payer pays."),
    ("payouts", "Money that leaves the balance for a recipient."),
    ("refunds", "Money of a payment that goes back to its payer."),
    ("customers", "Those who pay or are paid."),
    ("payment-methods", "How money can be paid in a country."),
    ("balance", "What the merchant has."),
    ("ledger", "Every line of the double-entry ledger."),
    ("webhooks", "Where events are sent, and how their deliveries fare."),
    ("events", "What happened, as it was told."),
    ("sandbox", "Test money and outcomes on demand; never in live."),
    ("openapi", "This description."),
];

/// What is sent to webhook endpoints.
fn webhooks() -> Map<String, Value> {
    let mut webhooks = Map::new();
    for kind in EventKind::ALL {
        let object = match kind.as_str().split_once('.').map(|(noun, _)| noun) {
            Some("payment_link") => "PaymentLink",
            Some("payout") => "Payout",
            Some("refund") => "Refund",
            _ => "Payment",
        };
        let body = objects::event(schema::word(kind.as_str()), schema::named(object));
        let header = |name: &str, about: &str| {
            json!({
                "name": name,
                "in": "header",
                "required": true,
                "description": about,
                "schema": { "type": "string" },
            })
        };
        let post = json!({
            "post": {
                "operationId": format!("on_{}", kind.as_str().replace('.', "_")),
                "summary": format!("Tells of {kind}"),
                "tags": ["webhooks"],
                "security": [],
                "parameters": [
                    header("X-Webhook-Signature", "`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 \
                        of the seconds, a dot and the body, under the endpoint's secret."),
                    header("X-Webhook-Event", "The kind."),
                    header("X-Webhook-Delivery", "The id of the delivery."),
                    header("X-Webhook-Attempt", "Which attempt it is, from 1."),
                ],
                "requestBody": {
                    "required": true,
                    "content": { "application/json": { "schema": body } },
                },
                "responses": {
                    "2XX": { "description": "It was received. Anything else is tried again." },
                },
            },
        });
        webhooks.insert(kind.as_str().to_owned(), post);
    }
    webhooks
}
