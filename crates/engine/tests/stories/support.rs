//! The stage: an engine on the memory store, a worker driven by hand, a receiver that remembers.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use cauri::{
    Attempt, AttemptError, Call, Caller, Clock, Currency, Engine, Environment, Error,
    IdempotencyKey, List, Notifier, PaymentId, Query, Receipt, RefundId, Refused, Scenario, Scope,
    Store, Timestamp, Worker,
    decide::{Terms, idempotency::Idempotency},
    wire::{self, Form, Fund, Simulate},
};
use cauri_conformance::{ManualClock, SeededEntropy};
use cauri_memory::MemoryStore;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

/// 2024-11-19T00:00:00.000Z.
const START: i64 = 1_731_974_400_000;

#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) at: Timestamp,
    pub(crate) kind: String,
    pub(crate) number: String,
    pub(crate) signature: String,
    pub(crate) body: Value,
    pub(crate) raw: Vec<u8>,
}

/// Answers as scripted, then always 200.
#[derive(Debug)]
pub(crate) struct Receiver {
    clock: Arc<ManualClock>,
    pub(crate) sent: Mutex<Vec<Sent>>,
    pub(crate) script: Mutex<VecDeque<Result<u16, AttemptError>>>,
    /// Where it waits before each answer, if it does.
    pub(crate) gate: Mutex<Option<Arc<Notify>>>,
}

#[async_trait]
impl Notifier for Receiver {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        let header =
            |name: &str| attempt.headers.iter().find(|(it, _)| *it == name).unwrap().1.clone();
        self.sent.lock().unwrap().push(Sent {
            at: self.clock.now(),
            kind: header("X-Webhook-Event"),
            number: header("X-Webhook-Attempt"),
            signature: header("X-Webhook-Signature"),
            body: serde_json::from_slice(&attempt.body).unwrap(),
            raw: attempt.body.to_vec(),
        });
        let gate = self.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.notified().await;
        }
        let outcome = self.script.lock().unwrap().pop_front().unwrap_or(Ok(200));
        Receipt { outcome, duration_ms: 10 }
    }

    async fn vet(&self, _url: &str, _environment: Environment) -> Result<(), AttemptError> {
        Ok(())
    }
}

pub(crate) struct Story {
    pub(crate) engine: Engine,
    pub(crate) worker: Worker,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) receiver: Arc<Receiver>,
    pub(crate) me: Caller,
}

impl Story {
    pub(crate) async fn begin() -> Self {
        Self::with(Terms::default()).await
    }

    pub(crate) async fn with(terms: Terms) -> Self {
        Self::over(Arc::new(MemoryStore::new()), terms).await
    }

    pub(crate) async fn over(store: Arc<dyn Store>, terms: Terms) -> Self {
        Self::sent_by(None, store, terms).await
    }

    /// With another notifier than the receiver that remembers.
    pub(crate) async fn sent_by(
        notifier: Option<Arc<dyn Notifier>>,
        store: Arc<dyn Store>,
        terms: Terms,
    ) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START)));
        let receiver = Arc::new(Receiver {
            clock: Arc::clone(&clock),
            sent: Mutex::default(),
            script: Mutex::default(),
            gate: Mutex::default(),
        });
        let engine = Engine::builder(store)
            .clock(clock.clone())
            .entropy(Arc::new(SeededEntropy::new(7)))
            .notifier(notifier.unwrap_or_else(|| receiver.clone()))
            .terms(terms)
            .build()
            .unwrap();
        let account = engine.create_account().await.unwrap();
        let scope = Scope { account: account.id, environment: Environment::Sandbox };
        let worker = Worker::new(engine.clone());
        Self { engine, worker, clock, receiver, me: Caller::secret(scope) }
    }

    pub(crate) fn call(&self) -> Call {
        Call::by(self.me)
    }

    pub(crate) fn keyed(&self, key: &str, fingerprint: u8) -> Call {
        let key: IdempotencyKey = key.parse().unwrap();
        self.call().idempotent(Some(Idempotency { key, fingerprint: [fingerprint; 32] }))
    }

    /// Works until nothing is due now.
    pub(crate) async fn settle(&self) {
        for _ in 0..100 {
            if self.worker.tick().await.unwrap().is_idle() {
                return;
            }
        }
        panic!("the worker never comes to rest");
    }

    /// Lets time pass, a quarter of a second at a time.
    pub(crate) async fn wait(&self, millis: i64) {
        self.settle().await;
        let mut left = millis;
        while left > 0 {
            let step = left.min(250);
            self.clock.advance_millis(step);
            left -= step;
            self.settle().await;
        }
    }

    pub(crate) fn read<T>(
        &self,
        body: Value,
        read: impl Fn(&Map<String, Value>, &Form<'_>) -> Result<T, cauri::Faults>,
    ) -> Result<T, Error> {
        let form = Form {
            environment: Environment::Sandbox,
            catalogue: &self.engine.terms().sandbox.catalogue,
            now: self.clock.now(),
        };
        Ok(read(body.as_object().unwrap(), &form)?)
    }

    pub(crate) async fn pay(&self, changes: Value) -> Result<wire::Payment, Error> {
        let mut body = json!({
            "amount": 5000, "currency": "XOF", "payment_method": "mobile_money",
            "network": "mtn", "phone": "+2250500009999", "reference": "ORDER-1",
        });
        for (name, value) in changes.as_object().unwrap() {
            if value.is_null() {
                body.as_object_mut().unwrap().remove(name);
            } else {
                body[name] = value.clone();
            }
        }
        let ask = self.read(body, wire::CreatePayment::read)?;
        Ok(self.engine.create_payment(&self.call(), ask).await?.object)
    }

    /// A payment that succeeded by itself, of which the phone ends so.
    pub(crate) async fn paid(&self, suffix: &str) -> wire::Payment {
        let payment = self.pay(json!({"phone": format!("+225050000{suffix}")})).await.unwrap();
        self.wait(2_750).await;
        self.payment(payment.id).await
    }

    pub(crate) async fn payment(&self, id: PaymentId) -> wire::Payment {
        self.engine.payment(&self.me, id).await.unwrap()
    }

    pub(crate) async fn refund(&self, body: Value) -> Result<wire::Refund, Error> {
        let ask = self.read(body, wire::CreateRefund::read)?;
        Ok(self.engine.create_refund(&self.call(), ask).await?.object)
    }

    pub(crate) async fn refunded(&self, id: RefundId) -> wire::Refund {
        self.engine.refund(&self.me, id).await.unwrap()
    }

    pub(crate) async fn simulate(&self, id: &str, scenario: Scenario) -> Result<Value, Error> {
        let ask = Simulate { id: id.parse().unwrap(), scenario };
        let reply = self.engine.simulate(&self.call(), ask).await?;
        Ok(serde_json::to_value(reply.object).unwrap())
    }

    pub(crate) async fn fund(&self, amount: i64, currency: &str) {
        let ask = Fund { amount: cauri::Amount::new(amount), currency: currency.parse().unwrap() };
        self.engine.fund(&self.call(), ask).await.unwrap();
    }

    pub(crate) async fn listen(&self, events: Value) -> wire::WebhookEndpoint {
        let body = json!({"url": "http://127.0.0.1:9/hooks", "events": events});
        let ask = self.read(body, wire::CreateWebhookEndpoint::read).unwrap();
        self.engine.create_webhook_endpoint(&self.call(), ask).await.unwrap().object
    }

    /// `(available, pending, reserved)` of a currency.
    pub(crate) async fn balance(&self, currency: &str) -> (i64, i64, i64) {
        let currency: Currency = currency.parse().unwrap();
        let sheet = self.engine.balance(&self.me, Some(currency)).await.unwrap();
        let of = |sums: &[wire::CurrencyAmount]| sums[0].amount.units();
        (of(&sheet.available), of(&sheet.pending), of(&sheet.reserved))
    }

    pub(crate) async fn timeline(&self, id: PaymentId) -> Vec<(String, String)> {
        let query =
            Query::all(List::Timeline(self.me.scope, id)).page(cauri::Page::new(100, 0).unwrap());
        let lines = self.engine.payment_timeline(&self.me, id, &query).await.unwrap();
        lines.data.iter().map(|it| (it.kind.to_string(), it.actor.to_string())).collect()
    }

    /// The kinds of event that were sent, in order.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.receiver.sent.lock().unwrap().iter().map(|it| it.kind.clone()).collect()
    }

    pub(crate) async fn sound(&self) {
        let audit = self.engine.audit().await.unwrap();
        assert_eq!(audit.violations, [], "{audit:?}");
    }
}

/// The refusal's code.
pub(crate) fn code<T: std::fmt::Debug>(outcome: Result<T, Error>) -> &'static str {
    match outcome {
        Err(Error::Refused(refused)) => refused.code(),
        other => panic!("not refused: {other:?}"),
    }
}

pub(crate) fn refused(error: &Error) -> &Refused {
    match error {
        Error::Refused(refused) => refused,
        other => panic!("not a refusal: {other}"),
    }
}
