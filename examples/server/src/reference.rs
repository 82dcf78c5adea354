//! `GET /docs`: the API's description of itself, for people. One page without a script, made once
//! from the same document that machines read, and nothing in it comes from elsewhere.

mod schema;

use axum::{
    Router,
    body::Bytes,
    http::{HeaderName, HeaderValue, header},
    response::IntoResponse,
    routing::get,
};
use maud::{DOCTYPE, Markup, html};
use serde_json::{Map, Value};

use self::schema::{fields, kind};

const CSS: &str = include_str!("reference.css");

/// Nothing runs, nothing is embedded, and only our own style sheet is loaded.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The page and its style sheet.
pub(crate) fn routes(description: &[u8]) -> Router {
    // It is our own document; one that cannot be read makes an empty page.
    let document: Value = serde_json::from_slice(description).unwrap_or_default();
    let page = Bytes::from(page(&document).into_string());
    Router::new()
        .route("/docs", get(async move || text(page.clone(), "text/html; charset=utf-8")))
        .route("/docs/style.css", get(async || text(CSS, "text/css; charset=utf-8")))
}

fn text(body: impl IntoResponse, media: &'static str) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, media),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers.map(|(name, value): (HeaderName, _)| (name, HeaderValue::from_static(value))), body)
}

/// One method of one path.
struct Operation<'d> {
    verb: String,
    path: &'d str,
    of: &'d Value,
}

fn operations<'d>(paths: &'d Value) -> Vec<Operation<'d>> {
    let each = |(path, methods): (&'d String, &'d Value)| {
        let methods = object(methods).into_iter().flatten();
        methods.map(move |(verb, of)| Operation { verb: verb.to_uppercase(), path, of })
    };
    object(paths).into_iter().flatten().flat_map(each).collect()
}

fn page(document: &Value) -> Markup {
    let info = &document["info"];
    let operations = operations(&document["paths"]);
    let schemas = object(&document["components"]["schemas"]);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (word(&info["title"])) " " (word(&info["version"])) ": reference" }
                link rel="stylesheet" href="/docs/style.css";
            }
            body {
                nav { (contents(document, &operations)) }
                main {
                    h1 { (word(&info["title"])) " " (word(&info["version"])) }
                    p { (prose(&info["description"])) }
                    p {
                        "This page is made from " a href="/v1/openapi.json" { "/v1/openapi.json" }
                        ", which describes the API in OpenAPI 3.1 for generators and tools."
                    }
                    h2 id="authentication" { "Authentication" }
                    @for (name, scheme) in object(&document["components"]["securitySchemes"]).into_iter().flatten() {
                        p { b { (name) } ": " (prose(&scheme["description"])) }
                    }
                    @for tag in array(&document["tags"]) {
                        h2 id=(format!("tag-{}", word(&tag["name"]))) { (word(&tag["name"])) }
                        p { (prose(&tag["description"])) }
                        @for operation in operations.iter().filter(|it| it.of["tags"][0] == tag["name"]) {
                            (section(operation))
                        }
                    }
                    h2 id="events-sent" { "What is sent to webhook endpoints" }
                    table {
                        @for (kind, path) in object(&document["webhooks"]).into_iter().flatten() {
                            tr {
                                td { code { (kind) } }
                                td { (schema::of_event(path)) }
                            }
                        }
                    }
                    h2 id="schemas" { "Schemas" }
                    @for (name, schema) in schemas.into_iter().flatten() {
                        h3 id=(format!("schema-{name}")) { (name) }
                        p { (prose(&schema["description"])) }
                        @if schema["properties"].is_object() { (fields(schema)) }
                        @else { p { (kind(schema)) } }
                    }
                }
            }
        }
    }
}

fn contents(document: &Value, operations: &[Operation<'_>]) -> Markup {
    html! {
        @for tag in array(&document["tags"]) {
            a href=(format!("#tag-{}", word(&tag["name"]))) { b { (word(&tag["name"])) } }
            ul {
                @for it in operations.iter().filter(|it| it.of["tags"][0] == tag["name"]) {
                    li { a href=(format!("#{}", word(&it.of["operationId"]))) { (word(&it.of["summary"])) } }
                }
            }
        }
        ul {
            li { a href="#authentication" { "Authentication" } }
            li { a href="#events-sent" { "Webhooks" } }
            li { a href="#schemas" { "Schemas" } }
        }
    }
}

fn section(operation: &Operation<'_>) -> Markup {
    let Operation { verb, path, of } = operation;
    let body = &of["requestBody"]["content"]["application/json"];
    let parameters = array(&of["parameters"]);
    html! {
        h3 id=(word(&of["operationId"])) { (word(&of["summary"])) }
        p { code { span.verb { (verb) } (path) } }
        p { (prose(&of["description"])) }
        @if !parameters.is_empty() {
            h4 { "Parameters" }
            table {
                @for it in parameters {
                    tr {
                        td { code { (word(&it["name"])) } }
                        td {
                            span.soft {
                                (word(&it["in"])) @if it["required"] == true { ", required" } ": "
                                (kind(&it["schema"])) ". "
                            }
                            (prose(&it["description"]))
                        }
                    }
                }
            }
        }
        @if body.is_object() {
            h4 { "Body: " (kind(&body["schema"])) }
            (example(&body["example"]))
        }
        h4 { "Answers" }
        table {
            @for (status, response) in object(&of["responses"]).into_iter().flatten() {
                tr {
                    td { code { (status) } }
                    td { (answer(response)) }
                }
            }
        }
        @let done = object(&of["responses"]).into_iter().flatten().find(|(status, _)| status.starts_with('2'));
        @if let Some((_, response)) = done {
            (example(&response["content"]["application/json"]["example"]))
        }
    }
}

fn answer(response: &Value) -> Markup {
    let codes = array(&response["x-codes"]);
    html! {
        @if codes.is_empty() {
            (prose(&response["description"])) " "
            (kind(&response["content"]["application/json"]["schema"]))
        } @else {
            @for (at, code) in codes.iter().enumerate() {
                @if at > 0 { ", " }
                code { (word(code)) }
            }
        }
    }
}

fn example(example: &Value) -> Markup {
    let text = serde_json::to_string_pretty(example).unwrap_or_default();
    html! { @if example.is_object() { pre { (text) } } }
}

/// A text in which words between backticks are code.
fn prose(text: &Value) -> Markup {
    html! {
        @for (at, part) in word(text).split('`').enumerate() {
            @if at % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn object(value: &Value) -> Option<&Map<String, Value>> {
    value.as_object()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_document_says_is_text_and_never_markup() {
        let evil = "<script>alert(1)</script>\"'&";
        let schema = json!({ "type": "string", "enum": [evil], "description": evil });
        let document = json!({
            "info": { "title": evil, "description": evil },
            "tags": [{ "name": evil, "description": evil }],
            "paths": { evil: { "get": {
                "operationId": evil, "summary": evil, "description": evil, "tags": [evil],
                "parameters": [{ "name": evil, "in": evil, "schema": schema }],
                "responses": { "200": {
                    "description": evil,
                    "content": { "application/json": { "schema": schema, "example": { evil: evil } } },
                } },
            } } },
            "components": { "schemas": { evil: { "properties": { evil: schema } } } },
        });
        let text = page(&document).into_string();
        assert!(text.contains("&lt;script&gt;"));
        assert!(!text.contains("<script"), "{text}");
        assert!(!text.contains("\"'&"), "{text}");
    }

    #[test]
    fn a_document_that_cannot_be_read_is_an_empty_page() {
        assert!(page(&Value::Null).into_string().contains("<h1>"));
    }
}
