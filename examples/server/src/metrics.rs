//! What Prometheus is told: numbers of requests and commits, and no names of anybody.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method,
        header::{ACCEPT, CONTENT_TYPE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use cauri::GroupedStats;
use cauri_http::MatchedRoute;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _, text::encode},
    metrics::{
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::ConstGauge,
        histogram::Histogram,
    },
    registry::{Registry, Unit},
};
use tokio::time::Instant;

use crate::store::Opened;

/// In seconds: from what memory answers to what nobody waits for.
const BUCKETS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// The numbers of a server.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    requests: Family<Answered, Counter<u64, AtomicU64>>,
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

impl Metrics {
    pub(crate) fn of(store: Opened) -> Self {
        let requests = Family::default();
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        let latency = Family::new_with_constructor(histogram);
        let mut registry = Registry::with_prefix("cauri");
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "From the head of a request to its answer",
            Unit::Seconds,
            latency.clone(),
        );
        registry.register_collector(Box::new(Commits(store)));
        Self { registry: Arc::new(registry), requests, latency }
    }

    /// Counts a request on its way through.
    pub(crate) async fn count(State(this): State<Self>, request: Request, next: Next) -> Response {
        let since = Instant::now();
        let method = method(request.method());
        let response = next.run(request).await;
        // A path of a client's own making is no label.
        let Some(route) = response.extensions().get::<MatchedRoute>().copied() else {
            return response;
        };
        let route = route.as_str();
        let status = response.status().as_u16();
        this.requests.get_or_create(&Answered { method, route, status }).inc();
        let took = since.elapsed().as_secs_f64();
        this.latency.get_or_create(&Routed { method, route }).observe(took);
        response
    }

    /// `GET /metrics`.
    pub(crate) async fn show(State(this): State<Self>, headers: HeaderMap) -> Response {
        let mut text = String::new();
        if let Err(error) = encode(&mut text, &this.registry) {
            tracing::error!(%error, "the metrics cannot be written");
        }
        // The older form reads the newer one's text, and only leaves out some of the types.
        let accepts = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let media = if accepts.is_some_and(|accept| accept.contains("application/openmetrics-text"))
        {
            "application/openmetrics-text; version=1.0.0; charset=utf-8"
        } else {
            "text/plain; version=0.0.4; charset=utf-8"
        };
        ([(CONTENT_TYPE, HeaderValue::from_static(media))], text).into_response()
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

/// What the grouped store did.
#[derive(Debug)]
struct Commits(Opened);

impl Collector for Commits {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let GroupedStats {
            batches,
            changesets,
            largest_batch,
            halved,
            refused,
            calls,
            queue_time,
            commit_time,
            waiting,
            in_flight,
            ..
        } = self.0.stats();
        let mut counter = |name: &str, help: &str, value: u64| {
            let counter = ConstCounter::new(value);
            counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)
        };
        counter("commit_batches", "Batches sent to the store", batches)?;
        counter("commit_changesets", "Changesets in them", changesets)?;
        counter("commit_batches_halved", "Batches cut in two by a broken store", halved)?;
        counter("commit_calls_refused", "Commits refused by a full queue", refused)?;
        counter("commit_calls", "Commits that left the queue", calls)?;
        let mut seconds = |name: &str, help: &str, value: Duration| {
            let counter = ConstCounter::new(value.as_secs_f64());
            let unit = Some(&Unit::Seconds);
            counter.encode(encoder.encode_descriptor(name, help, unit, counter.metric_type())?)
        };
        seconds("commit_queue_time", "How long commits waited, in all", queue_time)?;
        seconds("commit_store_time", "How long the store took, in all", commit_time)?;
        let mut gauge = |name: &str, help: &str, value: u64| {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
        };
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        gauge("commit_batch_largest", "Changesets in the largest batch", largest_batch)?;
        gauge("commit_waiting", "Changesets that wait now", number(waiting))?;
        gauge("commit_in_flight", "Batches on their way now", number(in_flight))
    }
}
