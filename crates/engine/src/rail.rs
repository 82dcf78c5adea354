//! A gateway as the engine calls it: each call in a span of its own, measured, and told the trace
//! that it is part of.

use std::borrow::Cow;

use cauri_core::{Order, Report, Timestamp};
use tokio::time::Instant;
use tracing::{Instrument, Span};

use crate::{
    caught::caught,
    engine::Engine,
    port::{
        gateway::{Answer, Gateway},
        meter::{GatewayCall, Measured, Meter},
    },
    trace,
};

/// The gateway of an order.
#[derive(Debug)]
pub(crate) struct Rail<'a> {
    engine: &'a Engine,
    order: &'a Order,
    gateway: &'a dyn Gateway,
}

impl Engine {
    /// What carries an order.
    pub(crate) fn rail<'a>(&'a self, order: &'a Order) -> Rail<'a> {
        Rail { engine: self, order, gateway: self.0.router.gateway(order) }
    }
}

impl<'a> Rail<'a> {
    /// `None` from this and the next when the gateway panicked: whatever it did, nobody knows.
    pub(crate) async fn submit(&self, now: Timestamp) -> Option<Answer> {
        let calling = self.call(GatewayCall::Submit);
        let asked = async { self.gateway.submit(&calling.order, now).await };
        let answer = caught(PORT, asked).instrument(calling.span.clone()).await?;
        calling.end(said(&answer));
        Some(answer)
    }

    pub(crate) async fn query(&self, now: Timestamp) -> Option<Answer> {
        let calling = self.call(GatewayCall::Query);
        let asked = async { self.gateway.query(&calling.order, now).await };
        let answer = caught(PORT, asked).instrument(calling.span.clone()).await?;
        calling.end(said(&answer));
        Some(answer)
    }

    /// A gateway that panicked has confirmed nothing.
    pub(crate) async fn cancel(&self, now: Timestamp) -> bool {
        let calling = self.call(GatewayCall::Cancel);
        let asked = async { self.gateway.cancel(&calling.order, now).await };
        let asked = caught(PORT, asked).instrument(calling.span.clone());
        let Some(confirmed) = asked.await else { return false };
        calling.end(if confirmed { "confirmed" } else { "declined" });
        confirmed
    }

    fn call(&self, call: GatewayCall) -> Calling<'a> {
        let span = trace::gateway(call, self.order);
        let mut order = Cow::Borrowed(self.order);
        if let Some(trace) = span.in_scope(|| self.engine.trace()) {
            order.to_mut().trace = Some(trace);
        }
        let meter = self.engine.0.meter.as_deref();
        let measuring = meter.map(|meter| (meter, Instant::now()));
        Calling { call, order, span, measuring, outcome: UNANSWERED }
    }
}

/// What a network said last, in one word.
fn said(answer: &Answer) -> &'static str {
    match answer.reports.last() {
        None => "nothing",
        Some(report) => match report {
            Report::Accepted { .. } => "accepted",
            Report::Refused(_) => "refused",
            Report::Unreachable => "unreachable",
            Report::Paid => "paid",
            Report::Failed(_) => "failed",
            Report::Expired => "expired",
            Report::NotFound => "not_found",
            Report::Unknown => "unknown",
            _ => "other",
        },
    }
}

/// A call under way. Dropped before it ended, it was given up on, or has panicked.
struct Calling<'a> {
    call: GatewayCall,
    order: Cow<'a, Order>,
    span: Span,
    measuring: Option<(&'a dyn Meter, Instant)>,
    outcome: &'static str,
}

impl Calling<'_> {
    fn end(mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        let Self { call, order, span, measuring, outcome } = self;
        span.record("cauri.outcome", *outcome);
        if [UNANSWERED, "unreachable", "unknown"].contains(outcome) {
            trace::failed(span, outcome);
        }
        if let Some((meter, since)) = measuring {
            let (connection, took) = (&order.connection, since.elapsed());
            meter.measured(&Measured::Gateway { connection, call: *call, outcome, took });
        }
    }
}

/// What is called, in the log.
const PORT: &str = "gateway";

/// The outcome of a call that nobody waits for any more.
const UNANSWERED: &str = "unanswered";
