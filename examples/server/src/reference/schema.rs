//! Schemas in words.

use maud::{Markup, html};
use serde_json::Value;

use super::{array, object, prose, word};

/// The fields of an object: those that are always there first, in their order.
pub(super) fn fields(schema: &Value) -> Markup {
    let required: Vec<&str> = array(&schema["required"]).iter().map(word).collect();
    let place = |name: &str| required.iter().position(|it| *it == name).unwrap_or(usize::MAX);
    let mut fields: Vec<(&String, &Value)> =
        object(&schema["properties"]).into_iter().flatten().collect();
    fields.sort_by_key(|(name, _)| place(name));
    html! {
        table {
            @for (name, field) in fields {
                tr {
                    td { code { (name) } }
                    td {
                        span.soft {
                            (kind(field))
                            @if !required.contains(&name.as_str()) { ", optional" }
                            ". "
                        }
                        (prose(&field["description"]))
                    }
                }
            }
        }
    }
}

/// What values of a schema are, in a few words.
pub(super) fn kind(schema: &Value) -> Markup {
    if let Some(name) = named(schema) {
        return html! { a href=(format!("#schema-{name}")) { (name) } };
    }
    if let Some(kinds) = schema["anyOf"].as_array() {
        return html! {
            @for (at, it) in kinds.iter().enumerate() {
                @if at > 0 { " or " }
                (kind(it))
            }
        };
    }
    if let Some(constant) = schema.get("const") {
        return html! { code { (plain(constant)) } };
    }
    if let Some(words) = schema["enum"].as_array() {
        return html! {
            @for (at, it) in words.iter().enumerate() {
                @if at > 0 { ", " }
                code { (plain(it)) }
            }
        };
    }
    if schema["items"].is_object() {
        return html! { "array of " (kind(&schema["items"])) };
    }
    html! {
        (types(&schema["type"]))
        @if let Some(format) = schema["format"].as_str().filter(|it| *it != "int64") { " (" (format) ")" }
        @if let (Some(least), Some(most)) = (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
            ", " (least) " to " (most)
        }
        @if let Some(most) = schema["maxLength"].as_u64() { ", at most " (most) " characters" }
    }
}

/// The object that a webhook tells of.
pub(super) fn of_event(path: &Value) -> Markup {
    let body = &path["post"]["requestBody"]["content"]["application/json"]["schema"];
    kind(&body["properties"]["data"]["properties"]["object"])
}

/// `string`, or `string or null`.
fn types(kind: &Value) -> String {
    match kind.as_array() {
        Some(kinds) => kinds.iter().map(word).collect::<Vec<_>>().join(" or "),
        None => word(kind).to_owned(),
    }
}

fn named(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
