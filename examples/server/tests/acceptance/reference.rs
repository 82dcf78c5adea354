//! `GET /docs`: the reference for people.

use std::collections::BTreeSet;

use crate::support::http::Response;
use crate::support::server::Store;
use crate::support::stories;

stories![
    the_reference_has_every_operation_and_every_schema,
    the_reference_loads_nothing_from_elsewhere,
];

fn page(store: &Store, path: &str, media: &str) -> Response {
    let page = store.shop().anyone.get(path);
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(page.header("Content-Type"), Some(media));
    let policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'";
    assert_eq!(page.header("Content-Security-Policy"), Some(policy));
    assert_eq!(page.header("X-Content-Type-Options"), Some("nosniff"));
    assert_eq!(page.header("Referrer-Policy"), Some("no-referrer"));
    page
}

/// Every value of an attribute.
fn values(html: &str, attribute: &str) -> BTreeSet<String> {
    let opening = format!(" {attribute}=\"");
    let after = html.split(&opening).skip(1);
    after.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

fn the_reference_has_every_operation_and_every_schema(store: &Store) {
    let html = page(store, "/docs", "text/html; charset=utf-8").text();
    let described = store.shop().anyone.get("/v1/openapi.json").ok(200);
    let ids = values(&html, "id");
    let mut operations = 0;
    for (path, methods) in described["paths"].as_object().unwrap() {
        assert!(html.contains(&format!("{path}</code>")), "{path}");
        for operation in methods.as_object().unwrap().values() {
            assert!(ids.contains(operation["operationId"].as_str().unwrap()), "{operation}");
            operations += 1;
        }
    }
    assert!(operations > 30, "{operations}");
    for (name, schema) in described["components"]["schemas"].as_object().unwrap() {
        assert!(ids.contains(&format!("schema-{name}")), "{name}");
        for field in schema["properties"].as_object().into_iter().flatten() {
            assert!(html.contains(&format!("<code>{}</code>", field.0)), "{name}.{}", field.0);
        }
    }
    for code in ["parameter_invalid", "webhook_delivery_not_retryable", "payment_link_in_use"] {
        assert!(html.contains(&format!("<code>{code}</code>")), "{code}");
    }
    for link in values(&html, "href") {
        if let Some(id) = link.strip_prefix('#') {
            assert!(ids.contains(id), "{link} leads nowhere");
        }
    }
}

fn the_reference_loads_nothing_from_elsewhere(store: &Store) {
    let html = page(store, "/docs", "text/html; charset=utf-8").text();
    let css = page(store, "/docs/style.css", "text/css; charset=utf-8").text();
    // What the policy would refuse is not even tried.
    for word in ["<script", "<style", "<iframe", "<img", "<object", "<form", "<base", "http-equiv"]
    {
        assert!(!html.contains(word), "{word}");
    }
    for attribute in ["src", "srcset", "style", "action", "onload", "onclick"] {
        assert_eq!(values(&html, attribute), BTreeSet::new(), "{attribute}");
    }
    for word in ["url(", "@import", "http:", "https:", "//"] {
        assert!(!css.contains(word), "{word}");
    }
    let outward: Vec<String> =
        values(&html, "href").into_iter().filter(|link| !link.starts_with('#')).collect();
    assert_eq!(outward, ["/docs/style.css", "/v1/openapi.json"]);
    for path in outward {
        assert_eq!(store.shop().anyone.get(&path).status, 200, "{path}");
    }
    assert_eq!(store.shop().anyone.delete("/docs").status, 405);
}
