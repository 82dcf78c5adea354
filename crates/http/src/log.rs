//! What is told about requests: never a header, a body or a key.

use std::time::Instant;

use cauri::{Engine, RequestId, TraceContext};
use http::{Method, Response};
use tracing::{
    Span,
    field::{self, Empty},
};

/// The route that answered, as its pattern (`/v1/payments/{id}`): an extension of every response
/// whose path has one, for the metrics of the server around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchedRoute(&'static str);

impl MatchedRoute {
    pub(crate) const fn new(path: &'static str) -> Self {
        Self(path)
    }

    /// The pattern.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// One request, from its arrival to its answer.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) span: Span,
    since: Instant,
}

impl Log {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long an answer took is told to the log only"
    )]
    pub(crate) fn begin(id: RequestId, method: &Method, route: Option<MatchedRoute>) -> Self {
        let route = route.map(MatchedRoute::as_str);
        // A method of a stranger's own making is no name of anything.
        let method = known(method);
        let span = tracing::info_span!(
            "request",
            request_id = %id,
            otel.name = format_args!("{method} {}", route.unwrap_or_default()),
            otel.kind = "server",
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            trace_id = Empty,
            otel.status_code = Empty,
            "error.type" = Empty,
        );
        Self { span, since: Instant::now() }
    }

    /// The caller traces it.
    pub(crate) fn is_part_of(&self, trace: &TraceContext, engine: &Engine) {
        self.span.record("trace_id", format_args!("{:032x}", trace.trace_id()));
        engine.adopt(&self.span, trace);
    }

    pub(crate) fn end<B>(&self, response: &Response<B>) {
        let duration_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let status = response.status().as_u16();
        self.span.record("http.response.status_code", status);
        if response.status().is_server_error() {
            // What the caller did wrong is no error of ours.
            self.span
                .record("otel.status_code", "ERROR")
                .record("error.type", field::display(status));
        }
        self.span.in_scope(|| tracing::debug!(status, duration_ms, "answered"));
    }
}

/// The methods of HTTP, as OpenTelemetry knows them.
fn known(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "CONNECT" => "CONNECT",
        "TRACE" => "TRACE",
        _ => "_OTHER",
    }
}
