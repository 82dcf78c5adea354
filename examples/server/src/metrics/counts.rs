//! What the engine tells its meter.

use std::sync::atomic::AtomicU64;

use cauri::{ClaimKind, Measured, Meter};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};

/// In seconds: from what memory answers to what nobody waits for.
const BUCKETS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0];

/// In changesets: a batch holds 128 at most, unless told otherwise.
const SIZES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// In seconds: how long after its moment a webhook leaves. The worker looks four times a second.
const LATENESS: [f64; 9] = [0.01, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 300.0, 3_600.0];

/// A histogram of durations.
pub(super) fn histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

type Count<L> = Family<L, Counter<u64, AtomicU64>>;

/// Counters and histograms that the engine and its store count in.
#[derive(Debug)]
pub(crate) struct Counts {
    events: Count<Event>,
    failures: Count<Failure>,
    gateway_calls: Count<GatewayCalled>,
    gateway_latency: Family<GatewayTimed, Histogram>,
    attempts: Count<Attempted>,
    attempt_latency: Histogram,
    lateness: Histogram,
    claimed: Count<Claimed>,
    store_calls: Count<StoreCalled>,
    store_latency: Family<StoreTimed, Histogram>,
    batches: Histogram,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Event {
    kind: &'static str,
    environment: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failure {
    object: &'static str,
    code: &'static str,
    environment: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GatewayCalled {
    connection: String,
    call: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GatewayTimed {
    connection: String,
    call: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Attempted {
    environment: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Claimed {
    work: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StoreCalled {
    operation: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StoreTimed {
    operation: &'static str,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            events: Family::default(),
            failures: Family::default(),
            gateway_calls: Family::default(),
            gateway_latency: Family::new_with_constructor(histogram),
            attempts: Family::default(),
            attempt_latency: histogram(),
            lateness: Histogram::new(LATENESS),
            claimed: Family::default(),
            store_calls: Family::default(),
            store_latency: Family::new_with_constructor(histogram),
            batches: Histogram::new(SIZES),
        }
    }
}

impl Counts {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("events", "Events committed", self.events.clone());
        registry.register("failures", "Orders that failed, by reason", self.failures.clone());
        registry.register("gateway_calls", "Calls to networks", self.gateway_calls.clone());
        registry.register_with_unit(
            "gateway_call_duration",
            "How long a network took to answer",
            Unit::Seconds,
            self.gateway_latency.clone(),
        );
        registry.register("delivery_attempts", "Webhooks attempted", self.attempts.clone());
        registry.register_with_unit(
            "delivery_attempt_duration",
            "How long a receiver took to answer",
            Unit::Seconds,
            self.attempt_latency.clone(),
        );
        registry.register_with_unit(
            "delivery_lateness",
            "How long after its moment an attempt began",
            Unit::Seconds,
            self.lateness.clone(),
        );
        registry.register(
            "claimed",
            "Records taken on because they were due",
            self.claimed.clone(),
        );
        registry.register("store_calls", "Calls to the store", self.store_calls.clone());
        registry.register_with_unit(
            "store_call_duration",
            "How long the store took",
            Unit::Seconds,
            self.store_latency.clone(),
        );
        registry.register("commit_batch_size", "Changesets in a batch", self.batches.clone());
    }
}

impl Meter for Counts {
    fn measured(&self, what: &Measured<'_>) {
        match *what {
            Measured::Told { kind, environment, failure } => {
                let environment = environment.as_str();
                self.events.get_or_create(&Event { kind: kind.as_str(), environment }).inc();
                if let Some(code) = failure {
                    let (object, code) = (kind.object(), code.as_str());
                    let failure = Failure { object, code, environment };
                    self.failures.get_or_create(&failure).inc();
                }
            }
            Measured::Gateway { connection, call, outcome, took } => {
                let (connection, call) = (connection.as_str().to_owned(), call.as_str());
                let timed = GatewayTimed { connection: connection.clone(), call };
                self.gateway_latency.get_or_create(&timed).observe(took.as_secs_f64());
                let called = GatewayCalled { connection, call, outcome };
                self.gateway_calls.get_or_create(&called).inc();
            }
            Measured::Delivery { environment, outcome, took, late } => {
                let outcome = match outcome {
                    Ok(200..=299) => "2xx",
                    Ok(300..=399) => "3xx",
                    Ok(400..=499) => "4xx",
                    Ok(500..=599) => "5xx",
                    Ok(_) => "other",
                    Err(error) => error.as_str(),
                };
                let environment = environment.as_str();
                self.attempts.get_or_create(&Attempted { environment, outcome }).inc();
                self.attempt_latency.observe(took.as_secs_f64());
                self.lateness.observe(late.as_secs_f64());
            }
            Measured::Claimed { kind, count } => {
                let count = u64::try_from(count).unwrap_or(u64::MAX);
                self.claimed.get_or_create(&Claimed { work: work(kind) }).inc_by(count);
            }
            Measured::Store { operation, size, error, took } => {
                let outcome = error.unwrap_or("ok");
                self.store_calls.get_or_create(&StoreCalled { operation, outcome }).inc();
                let timed = StoreTimed { operation };
                self.store_latency.get_or_create(&timed).observe(took.as_secs_f64());
                if operation == "commit" {
                    let size = u32::try_from(size).unwrap_or(u32::MAX);
                    self.batches.observe(size.into());
                }
            }
            // What a later engine measures beyond these has no metric yet.
            _ => {}
        }
    }
}

/// What kind of work is due, in one word.
pub(super) const fn work(kind: ClaimKind) -> &'static str {
    match kind {
        ClaimKind::Payments => "payments",
        ClaimKind::Payouts => "payouts",
        ClaimKind::Refunds => "refunds",
        ClaimKind::Deliveries => "deliveries",
        ClaimKind::Idempotency => "idempotency",
    }
}
