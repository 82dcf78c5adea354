//! Requests and their answers.

use std::sync::atomic::AtomicU64;

use axum::{extract::Request, http::Method, middleware::Next, response::Response};
use cauri_http::MatchedRoute;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};
use tokio::time::Instant;

use super::counts::histogram;

/// Counted on their way through.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    answered: Family<Answered, Counter<u64, AtomicU64>>,
    latency: Family<Routed, Histogram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Routed {
    method: &'static str,
    route: &'static str,
}

impl Default for Requests {
    fn default() -> Self {
        Self { answered: Family::default(), latency: Family::new_with_constructor(histogram) }
    }
}

impl Requests {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("http_requests", "Requests answered", self.answered.clone());
        registry.register_with_unit(
            "http_request_duration",
            "From the head of a request to its answer",
            Unit::Seconds,
            self.latency.clone(),
        );
    }

    pub(super) async fn count(self, request: Request, next: Next) -> Response {
        let since = Instant::now();
        let method = method(request.method());
        let response = next.run(request).await;
        // A path of a client's own making is no label.
        let Some(route) = response.extensions().get::<MatchedRoute>().copied() else {
            return response;
        };
        let route = route.as_str();
        let status = response.status().as_u16();
        self.answered.get_or_create(&Answered { method, route, status }).inc();
        let took = since.elapsed().as_secs_f64();
        self.latency.get_or_create(&Routed { method, route }).observe(took);
        response
    }
}

fn method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "DELETE" => "DELETE",
        _ => "other",
    }
}
