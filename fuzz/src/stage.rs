//! An API without a network: a memory store, a clock that stands still, a caller who needs no key.

use std::{
    cell::Cell,
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use bytes::Bytes;
use cauri::{
    Attempt, AttemptError, Balance, Caller, Changeset, Claim, CustomerId, CustomerStatistics,
    Engine, Entry, Environment, Key, Listed, Notifier, Query, Receipt, Record, Scope, Store,
    StoreError, Timestamp, Verdict, Versioned, Worker,
};
use cauri_conformance::{ManualClock, SeededEntropy};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower_service::Service;

/// 2024-11-19T00:00:00.000Z.
const START: i64 = 1_731_974_400_000;

/// An API, and all that is beneath it.
pub struct Stage {
    runtime: Runtime,
    api: Api,
    engine: Engine,
    store: Arc<Anew>,
    clock: Arc<ManualClock>,
    caller: Caller,
    receiver: Arc<Receiver>,
    turns: Cell<u32>,
    /// An object of each kind, by what its ids begin with.
    things: BTreeMap<&'static str, String>,
    description: Value,
    codes: Vec<String>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Bytes,
    /// Was it an answer that had been given before?
    pub replayed: bool,
}

impl Said {
    /// The body as JSON.
    ///
    /// # Panics
    /// When it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("every answer is JSON")
    }
}

impl Stage {
    /// A stage with nothing on it.
    ///
    /// # Panics
    /// When it cannot be built.
    #[must_use]
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START)));
        let store = Arc::new(Anew::default());
        let receiver = Arc::new(Receiver::default());
        let engine = Engine::builder(store.clone())
            .clock(clock.clone())
            .entropy(Arc::new(SeededEntropy::new(7)))
            .notifier(receiver.clone())
            .build()
            .unwrap();
        let account = runtime.block_on(engine.create_account()).unwrap().id;
        let caller = Caller::secret(Scope { account, environment: Environment::Sandbox });
        let api = Api::builder(engine.clone()).rate_limit(None).build();
        let things = BTreeMap::new();
        let mut stage = Self {
            runtime,
            api,
            engine,
            store,
            clock,
            caller,
            receiver,
            turns: Cell::new(1),
            things,
            description: Value::Null,
            codes: Vec::new(),
        };
        stage.description = stage.ask("GET", "/v1/openapi.json", None, b"").json();
        let error = &stage.description["components"]["schemas"]["Error"]["properties"]["error"];
        let codes = error["properties"]["code"]["examples"].as_array().unwrap();
        stage.codes = codes.iter().map(|it| it.as_str().unwrap().to_owned()).collect();
        stage
    }

    /// A stage with one object of each kind, which [`Stage::again`] puts back.
    ///
    /// # Panics
    /// When one of them is refused.
    #[must_use]
    pub fn furnished() -> Self {
        let mut stage = Self::new();
        let made = |path: &str, body: Value| {
            let said = stage.post(path, &body);
            assert!((200..300).contains(&said.status), "{path}: {}", said.json());
            said.json()
        };
        made("/v1/sandbox/fund", json!({ "amount": 1_000_000, "currency": "XOF" }));
        let endpoint = made("/v1/webhooks", json!({ "url": "https://a.example.com/" }));
        let customer = made("/v1/customers", json!({ "name": "Awa", "email": "a@example.com" }));
        let link = json!({ "title": "A", "amount": 500, "currency": "XOF", "country": "CI" });
        let link = made("/v1/payment-links", link);
        let payment = json!({
            "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
            "phone": "+2250500009999", "reference": "R", "customer": customer["id"],
        });
        let paid = made("/v1/payments", payment.clone());
        let simulate = json!({ "id": paid["id"], "scenario": "success" });
        made("/v1/sandbox/simulate", simulate);
        let open = made("/v1/payments", payment);
        let payout = json!({
            "amount": 10_000, "currency": "XOF", "network": "orange", "phone": "+221770000002",
        });
        let payout = made("/v1/payouts", payout);
        let refund = made("/v1/refunds", json!({ "payment": paid["id"], "amount": 100 }));
        let delivery = made("/v1/webhooks/test", json!({ "webhook_endpoint": endpoint["id"] }));
        let id = |object: &Value| object["id"].as_str().unwrap().to_owned();
        stage.things = BTreeMap::from([
            ("whe", id(&endpoint)),
            ("cus", id(&customer)),
            ("plink", id(&link)),
            ("pay", id(&paid)),
            ("pay open", id(&open)),
            ("pout", id(&payout)),
            ("ref", id(&refund)),
            ("whd", id(&delivery)),
            ("evt", delivery["event"].as_str().unwrap().to_owned()),
            ("pay nothing", "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".to_owned()),
            ("cus nothing", "cus_01jd3w8k4f7q2m9x5r6t0v1b3c".to_owned()),
            ("no id", "x".to_owned()),
        ]);
        stage.keep();
        stage
    }

    /// What is on it now is what [`Stage::again`] puts back.
    pub fn keep(&self) {
        self.store.keep();
    }

    /// As it was when it was kept.
    pub fn again(&self) {
        self.store.again();
        self.receiver_answers(Ok(200));
        // What the engine believes of the store before is believed for half a second at most, and of
        // no moment that has yet to come.
        let turn = self.turns.get();
        self.turns.set(turn.wrapping_add(1));
        let earlier = i64::from(turn % 256).saturating_mul(1_000);
        self.clock.set(Timestamp::from_millis(START.saturating_sub(earlier)));
    }

    /// The ids of what is on it, and some that name nothing.
    #[must_use]
    pub fn ids(&self) -> Vec<&str> {
        self.things.values().map(String::as_str).collect()
    }

    /// Every path and method of the description, and the statuses that it may answer.
    ///
    /// # Panics
    /// When the description is not one.
    #[must_use]
    pub fn operations(&self) -> Vec<(String, String, Vec<u16>)> {
        let mut all = Vec::new();
        for (path, methods) in self.description["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let statuses = operation["responses"].as_object().unwrap().keys();
                let statuses = statuses.filter_map(|status| status.parse().ok()).collect();
                all.push((method.to_uppercase(), path.clone(), statuses));
            }
        }
        all
    }

    /// Every name of a field of a request.
    #[must_use]
    pub fn fields(&self) -> Vec<String> {
        let schemas = self.description["components"]["schemas"].as_object();
        let asked = schemas.into_iter().flat_map(|it| it.values());
        let asked = asked.filter(|it| it["additionalProperties"] == false);
        let names = asked.filter_map(|it| it["properties"].as_object());
        let mut all: Vec<String> = names.flat_map(|it| it.keys().cloned()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Posts JSON.
    pub fn post(&self, path: &str, body: &Value) -> Said {
        self.ask("POST", path, None, body.to_string().as_bytes())
    }

    /// Gets a path.
    pub fn get(&self, path: &str) -> Said {
        self.ask("GET", path, None, b"")
    }

    /// Asks, and looks at what every answer must be: one of the contract's, and whole.
    ///
    /// # Panics
    /// When the answer is none of the contract's, or when a call that was refused left a trace.
    pub fn ask(&self, method: &str, path: &str, key: Option<&str>, body: &[u8]) -> Said {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("Content-Type", "application/json");
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let body = Full::new(Bytes::copy_from_slice(body));
        let mut request = request.body(body).expect("a request");
        request.extensions_mut().insert(self.caller);
        let accepted = self.store.accepted();
        let said = self.runtime.block_on(async {
            let mut api = self.api.clone();
            let answer = api.call(request).await.unwrap_or_else(|never| match never {});
            let (head, body) = answer.into_parts();
            let body = body.collect().await.unwrap_or_else(|never| match never {}).to_bytes();
            let replayed = head.headers.contains_key("Idempotent-Replayed");
            Said { status: head.status.as_u16(), body, replayed }
        });
        assert!(said.status < 500, "{method} {path}: {}", said.json());
        if said.status >= 400 {
            let error = said.json()["error"].clone();
            let code = error["code"].as_str().expect("an error has a code");
            let known = self.codes.is_empty() || self.codes.iter().any(|it| it == code);
            assert!(known, "{method} {path}: {code} is not in the catalogue");
            assert!(error["request_id"].is_string() && error["message"].is_string());
        }
        if said.status >= 400 || said.replayed || method == "GET" {
            assert_eq!(self.store.accepted(), accepted, "{method} {path} left a trace");
        }
        said
    }

    /// Lets time pass and does what is due, until nothing is.
    ///
    /// # Panics
    /// When the worker fails, or never comes to rest.
    pub fn pass(&self, millis: i64) {
        self.clock.advance_millis(millis);
        let worker = Worker::new(self.engine.clone());
        for _ in 0..1_000 {
            if self.runtime.block_on(worker.tick()).expect("the worker works").is_idle() {
                return;
            }
        }
        panic!("the worker never comes to rest");
    }

    /// Asserts that the books add up.
    ///
    /// # Panics
    /// When they do not.
    pub fn audit(&self) {
        let audit = self.runtime.block_on(self.engine.audit()).expect("the store answers");
        assert_eq!(audit.violations, [], "the books do not add up");
    }

    /// How the receiver of all webhooks answers from now on.
    pub fn receiver_answers(&self, answer: Result<u16, AttemptError>) {
        *self.receiver.answer.lock().expect("no panic under it") = answer;
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}

/// Answers all webhooks alike.
#[derive(Debug)]
struct Receiver {
    answer: Mutex<Result<u16, AttemptError>>,
}

impl Default for Receiver {
    fn default() -> Self {
        Self { answer: Mutex::new(Ok(200)) }
    }
}

#[async_trait]
impl Notifier for Receiver {
    async fn deliver(&self, _: &Attempt) -> Receipt {
        Receipt { outcome: *self.answer.lock().expect("no panic under it"), duration_ms: 10 }
    }

    async fn vet(&self, url: &str, _: Environment) -> Result<(), AttemptError> {
        if url.contains("forbidden") { Err(AttemptError::UrlNotAllowed) } else { Ok(()) }
    }
}

/// A memory store that can be what it was, and that counts what it accepts.
#[derive(Debug, Default)]
struct Anew {
    store: Mutex<Arc<MemoryStore>>,
    accepted: AtomicU64,
    /// What was accepted so far, and will be again.
    kept: Mutex<Vec<Changeset>>,
    is_kept: Mutex<bool>,
}

impl Anew {
    fn store(&self) -> Arc<MemoryStore> {
        self.store.lock().expect("no panic under it").clone()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Changeset>> {
        self.kept.lock().expect("no panic under it")
    }

    fn keep(&self) {
        *self.is_kept.lock().expect("no panic under it") = true;
    }

    fn again(&self) {
        let store = MemoryStore::new();
        let batch = self.kept().clone();
        let mut told = Box::pin(store.commit(batch));
        let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
        // A memory store answers at once.
        assert!(told.as_mut().poll(context).is_ready());
        drop(told);
        *self.store.lock().expect("no panic under it") = Arc::new(store);
    }

    fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Store for Anew {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        let verdicts = self.store().commit(batch.clone()).await?;
        let is_kept = *self.is_kept.lock().expect("no panic under it");
        for (changes, verdict) in batch.into_iter().zip(&verdicts) {
            if verdict.is_ok() {
                self.accepted.fetch_add(1, Ordering::Relaxed);
                if !is_kept {
                    self.kept().push(changes);
                }
            }
        }
        Ok(verdicts)
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.store().get(keys).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.store().list(query).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.store().claim(claim).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.store().entries(query).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.store().balances(scope).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.store().statistics(scope, customer).await
    }
}
