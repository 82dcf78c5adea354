//! What is told to `tracing`: every span of the engine is made here, under the names of
//! OpenTelemetry's semantic conventions where they have one.
//!
//! Ids name objects; nothing else of an object is told, no text of a person's and no secret. A span
//! that nobody wants costs one look at its callsite.

use std::{future::Future, pin::pin};

use cauri_core::{Delivery, Order, OrderId, Scope, TraceContext};
use tracing::{Instrument, Level, Span, field::Empty};

use crate::{
    engine::Engine,
    error::{AuthError, Error},
    port::{meter::GatewayCall, notifier::Receipt, store::StoreError},
};

tokio::task_local! {
    /// The trace that came from outside with what is being done, for those to whom it is passed on.
    static PASSED_ON: TraceContext;
}

impl Engine {
    /// Runs a use case within its span.
    pub(crate) async fn case<T>(
        &self,
        name: &'static str,
        scope: Scope,
        trace: Option<TraceContext>,
        doing: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let span = use_case(name, scope);
        if let Some(trace) = trace.as_ref().filter(|_| self.recorded().is_none()) {
            self.adopt(&span, trace);
        }
        // What is done is large, and wrapping it would move it each time.
        let doing = pin!(doing);
        let done = passing(trace, doing.instrument(span.clone())).await;
        if let Err(error) = &done {
            refused(&span, error);
        }
        done
    }

    /// Runs what goes on with a trace, within a span that is nobody's child here.
    pub(crate) async fn go_on<T>(
        &self,
        trace: Option<TraceContext>,
        span: Span,
        doing: impl Future<Output = T>,
    ) -> T {
        if let Some(trace) = &trace {
            self.adopt(&span, trace);
        }
        let doing = pin!(doing);
        passing(trace, doing.instrument(span)).await
    }

    /// Makes a span of the host's the child of one elsewhere, where a
    /// [`Tracer`](crate::Tracer) says how: for servers, which make a span of each request.
    pub fn adopt(&self, span: &Span, parent: &TraceContext) {
        if let Some(tracer) = self.0.tracer.as_ref().filter(|_| !span.is_disabled()) {
            tracer.adopt(span, parent);
        }
    }

    /// The trace of what is being done now: that of the span, where somebody records it, else what
    /// came from outside.
    pub(crate) fn trace(&self) -> Option<TraceContext> {
        self.recorded().or_else(|| PASSED_ON.try_with(TraceContext::clone).ok())
    }

    /// The trace that the present span is recorded in.
    fn recorded(&self) -> Option<TraceContext> {
        self.0.tracer.as_ref().and_then(|tracer| tracer.context(&Span::current()))
    }
}

/// Runs what is to pass a trace on.
async fn passing<T>(trace: Option<TraceContext>, doing: impl Future<Output = T>) -> T {
    match trace {
        Some(trace) => PASSED_ON.scope(trace, doing).await,
        None => doing.await,
    }
}

/// One use case, from the first check to its answer.
fn use_case(name: &'static str, scope: Scope) -> Span {
    tracing::info_span!(
        "use_case",
        otel.name = name,
        cauri.account.id = %scope.account,
        cauri.environment = scope.environment.as_str(),
        otel.status_code = Empty,
        "error.type" = Empty,
    )
}

fn refused(span: &Span, error: &Error) {
    span.record("error.type", code(error));
    match error {
        // A refusal is an answer like any other.
        Error::Refused(_) | Error::Unauthenticated(_) | Error::Forbidden(_) => {}
        Error::Store(_)
        | Error::Contended
        | Error::OtherList
        | Error::Seal(_)
        | Error::Replay(_) => {
            span.record("otel.status_code", "ERROR");
        }
    }
}

fn code(error: &Error) -> &'static str {
    match error {
        Error::Refused(error) => error.code(),
        Error::Unauthenticated(AuthError::Missing) => "api_key_missing",
        Error::Unauthenticated(AuthError::Invalid | AuthError::Conflict) => "api_key_invalid",
        Error::Unauthenticated(AuthError::Revoked) => "api_key_revoked",
        Error::Unauthenticated(AuthError::Expired) => "api_key_expired",
        Error::Forbidden(_) => "forbidden",
        Error::Store(error) => kind(error),
        Error::Contended => "contended",
        Error::OtherList => "other_list",
        Error::Seal(_) => "seal",
        Error::Replay(_) => "replay",
    }
}

/// What kind of error of a store it is, in one word.
pub(crate) const fn kind(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unavailable(_) => "unavailable",
        StoreError::Unknown(_) => "unknown",
        StoreError::Broken(_) => "broken",
    }
}

/// A commit as its caller sees it: its turn in the queue, and the batch that it went in.
pub(crate) fn commit() -> Span {
    tracing::debug_span!("commit")
}

/// A batch of commits on its way. It is nobody's child, but linked to each of its callers.
pub(crate) fn batch<'a>(size: usize, of: impl Iterator<Item = &'a Span>) -> Span {
    let span = tracing::debug_span!(parent: None, "batch", db.operation.batch.size = size);
    if !span.is_disabled() {
        of.for_each(|caller| {
            span.follows_from(caller);
        });
    }
    span
}

/// The span of whoever waits for a batch, where batches are told of.
pub(crate) fn waiting() -> Span {
    if tracing::enabled!(Level::DEBUG) { Span::current() } else { Span::none() }
}

/// A call to a store.
pub(crate) fn store(system: &'static str, operation: &'static str, size: usize) -> Span {
    tracing::debug_span!(
        "store",
        otel.name = operation,
        otel.kind = "client",
        db.system.name = system,
        db.operation.name = operation,
        db.operation.batch.size = (size > 1).then_some(size),
        otel.status_code = Empty,
        "error.type" = Empty,
    )
}

/// What is due about an order: submitting it, asking about it, settling it.
pub(crate) fn order(id: OrderId, scope: Scope) -> Span {
    tracing::info_span!(
        parent: None,
        "order",
        otel.name = "see to an order",
        cauri.order.id = %id,
        cauri.account.id = %scope.account,
        cauri.environment = scope.environment.as_str(),
    )
}

/// A call to a network.
pub(crate) fn gateway(call: GatewayCall, order: &Order) -> Span {
    tracing::info_span!(
        "gateway",
        otel.name = call.as_str(),
        otel.kind = "client",
        cauri.connection = %order.connection,
        cauri.order.id = %order.id,
        cauri.outcome = Empty,
        otel.status_code = Empty,
        "error.type" = Empty,
    )
}

/// One attempt of a delivery.
pub(crate) fn attempt(held: &Delivery) -> Span {
    tracing::info_span!(
        parent: None,
        "delivery",
        otel.name = "deliver",
        cauri.delivery.id = %held.id,
        cauri.event.id = %held.event,
        "cauri.event.type" = held.event_kind.as_str(),
        cauri.endpoint.id = %held.endpoint,
        cauri.account.id = %held.scope.account,
        cauri.environment = held.scope.environment.as_str(),
        cauri.attempt = held.next_number(),
        "http.response.status_code" = Empty,
        otel.status_code = Empty,
        "error.type" = Empty,
    )
}

/// How an attempt ended.
pub(crate) fn attempted(span: &Span, receipt: &Receipt) {
    match receipt.outcome {
        Ok(status) => {
            span.record("http.response.status_code", status);
            if !(200..300).contains(&status) {
                failed(span, cauri_core::AttemptError::Non2xx.as_str());
            }
        }
        Err(error) => failed(span, error.as_str()),
    }
}

/// It did not work.
pub(crate) fn failed(span: &Span, why: &'static str) {
    span.record("error.type", why).record("otel.status_code", "ERROR");
}
