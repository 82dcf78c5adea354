//! What Prometheus is told: numbers, and no names of anybody. docs/observability.md lists them.

mod commits;
mod counts;
mod process;
mod requests;
mod sessions;
mod waiting;

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT, CONTENT_TYPE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use cauri::Engine;
use prometheus_client::{encoding::text::encode, metrics::counter::Counter, registry::Registry};

pub(crate) use self::counts::Counts;
use self::{
    commits::Commits, process::Process, requests::Requests, sessions::Sessions, waiting::Waiting,
};
use crate::store::Opened;

/// The numbers of a server.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    requests: Requests,
    waiting: Waiting,
    /// Connections that nobody was left to serve.
    pub(crate) refused: Counter,
}

impl Metrics {
    /// Those of a server that begins now.
    pub(crate) fn of(counts: &Counts, store: &Opened, engine: &Engine) -> Self {
        let (requests, refused) = (Requests::default(), Counter::default());
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Process::since(engine.now())));
        let own = registry.sub_registry_with_prefix("cauri");
        requests.register(own);
        let help = "Connections answered 503 because as many were open as may be";
        own.register("connections_refused", help, refused.clone());
        counts.register(own);
        let waiting = Waiting::new(engine.clone(), store.clone());
        waiting.register(own);
        own.register_collector(Box::new(Commits(store.clone())));
        own.register_collector(Box::new(Sessions(store.clone())));
        Self { registry: Arc::new(registry), requests, waiting, refused }
    }

    /// Counts a request on its way through.
    pub(crate) async fn count(State(this): State<Self>, request: Request, next: Next) -> Response {
        this.requests.count(request, next).await
    }

    /// `GET /metrics`.
    pub(crate) async fn show(State(this): State<Self>, headers: HeaderMap) -> Response {
        this.waiting.ask().await;
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
