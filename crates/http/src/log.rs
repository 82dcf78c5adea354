//! What is told about requests: never a header, a body or a key.

use std::time::Instant;

use cauri::RequestId;
use http::{Method, Response};
use tracing::{Span, field::Empty};

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
        let span = tracing::info_span!(
            "request",
            request_id = %id,
            method = %method,
            route = route.map(MatchedRoute::as_str),
            status = Empty,
            duration_ms = Empty,
        );
        Self { span, since: Instant::now() }
    }

    pub(crate) fn end<B>(&self, response: &Response<B>) {
        let duration_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let status = response.status().as_u16();
        self.span.record("status", status).record("duration_ms", duration_ms);
        self.span.in_scope(|| tracing::debug!(status, duration_ms, "answered"));
    }
}
