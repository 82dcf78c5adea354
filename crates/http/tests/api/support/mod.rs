//! The stage: an engine, its API, and whoever asks it.

pub(crate) mod description;
pub(crate) mod tale;

use std::{num::NonZeroU32, sync::Arc};

use bytes::Bytes;
use cauri::{
    ApiKeyKind, Engine, Environment, Notifier, Options, Scope, Store, Timestamp, Worker,
    decide::{Offers, Terms},
};
use cauri_conformance::{ManualClock, SeededEntropy};
use cauri_http::{Api, MatchedRoute, RateLimit};
use cauri_memory::MemoryStore;
use http::{HeaderMap, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// 2024-11-19T00:00:00.000Z.
const START: i64 = 1_731_974_400_000;

pub(crate) struct Stand {
    pub(crate) api: Api,
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) secret: String,
    pub(crate) public: String,
    pub(crate) live: String,
    pub(crate) scope: Scope,
}

/// How a stand differs from the default.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) notifier: Option<Arc<dyn Notifier>>,
    pub(crate) rate: Option<(u32, u32)>,
    pub(crate) idempotency_required: bool,
    pub(crate) live: Option<Offers>,
    pub(crate) prefix: &'static str,
}

impl Stand {
    pub(crate) async fn new() -> Self {
        Self::with(Plan::default()).await
    }

    pub(crate) async fn with(plan: Plan) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START)));
        let store = plan.store.unwrap_or_else(|| Arc::new(MemoryStore::new()));
        let mut terms = Terms::default();
        if let Some(live) = plan.live {
            terms.live = live;
        }
        let mut options = Options::default();
        options.idempotency_required = plan.idempotency_required;
        let mut engine = Engine::builder(store)
            .clock(clock.clone())
            .entropy(Arc::new(SeededEntropy::new(7)))
            .terms(terms)
            .options(options);
        if let Some(notifier) = plan.notifier {
            engine = engine.notifier(notifier);
        }
        let engine = engine.build().unwrap();
        let rate = plan.rate.map(|(requests, seconds)| {
            let number = |number| NonZeroU32::new(number).unwrap();
            RateLimit::new(number(requests), number(seconds))
        });
        let api = Api::builder(engine.clone()).rate_limit(rate).prefix(plan.prefix).build();
        let account = engine.create_account().await.unwrap().id;
        let key = async |kind, environment| {
            let scope = Scope { account, environment };
            let new = engine.create_key(scope, kind, None, None).await.unwrap();
            new.clear.reveal().to_owned()
        };
        Self {
            secret: key(ApiKeyKind::Secret, Environment::Sandbox).await,
            public: key(ApiKeyKind::Public, Environment::Sandbox).await,
            live: key(ApiKeyKind::Secret, Environment::Live).await,
            scope: Scope { account, environment: Environment::Sandbox },
            api,
            engine,
            clock,
        }
    }

    /// Does what is due, until nothing is.
    pub(crate) async fn work(&self) {
        while !Worker::new(self.engine.clone()).tick().await.unwrap().is_idle() {}
    }

    pub(crate) async fn after(&self, seconds: i64) {
        self.clock.advance_millis(seconds * 1_000);
        self.work().await;
    }

    pub(crate) async fn ask(&self, ask: Ask) -> Told {
        self.send(ask.request()).await
    }

    /// Asks, and looks at whatever every response must be.
    pub(crate) async fn send<B>(&self, request: Request<B>) -> Told
    where
        B: Body + Send + 'static,
        B::Data: Send,
    {
        let method = request.method().to_string();
        let response =
            self.api.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        let told = Told::read(method, response).await;
        told.is_proper();
        told
    }

    pub(crate) async fn get(&self, path: &str) -> Told {
        self.ask(Ask::get(path).key(&self.secret)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Told {
        self.ask(Ask::post(path, body).key(&self.secret)).await
    }

    /// A payment in the sandbox that waits for `simulate`.
    pub(crate) async fn payment(&self, changes: Value) -> Value {
        self.post("/v1/payments", &payment(changes)).await.ok(201)
    }

    /// A payment that succeeded.
    pub(crate) async fn paid(&self, changes: Value) -> Value {
        let payment = self.payment(changes).await;
        self.simulate(&payment, "success").await.ok(200)
    }

    pub(crate) async fn simulate(&self, object: &Value, scenario: &str) -> Told {
        let body = json!({ "id": object["id"], "scenario": scenario });
        self.post("/v1/sandbox/simulate", &body).await
    }

    pub(crate) async fn fund(&self, amount: i64) {
        let body = json!({ "amount": amount, "currency": "XOF" });
        self.post("/v1/sandbox/fund", &body).await.ok(201);
    }

    pub(crate) async fn total(&self, path: &str) -> i64 {
        self.get(path).await.ok(200)["total"].as_i64().unwrap()
    }
}

pub(crate) fn merged(mut body: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

pub(crate) fn payment(changes: Value) -> Value {
    let body = json!({
        "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
        "phone": "+2250500009999", "reference": "ORDER-1",
    });
    merged(body, changes)
}

pub(crate) fn payout(changes: Value) -> Value {
    let body = json!({
        "amount": 10_000, "currency": "XOF", "network": "orange", "phone": "+221770000002",
    });
    merged(body, changes)
}

pub(crate) fn link(changes: Value) -> Value {
    let body =
        json!({ "title": "Invoice 42", "amount": 15_000, "currency": "XOF", "country": "CI" });
    merged(body, changes)
}

/// An id of this kind that names nothing.
pub(crate) fn nothing(prefix: &str) -> String {
    format!("{prefix}_01jd3w8k4f7q2m9x5r6t0v1b3c")
}

pub(crate) fn path_of(object: &Value) -> String {
    let id = object["id"].as_str().unwrap();
    let list = match id.split_once('_').unwrap().0 {
        "pay" => "payments",
        "plink" => "payment-links",
        "pout" => "payouts",
        "ref" => "refunds",
        "cus" => "customers",
        _ => "webhooks",
    };
    format!("/v1/{list}/{id}")
}

/// A request to be.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        let (method, path) = (method.to_owned(), path.to_owned());
        Self { method, path, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: &str, body: &Value) -> Self {
        Self::new("POST", path).header("Content-Type", "application/json").body(body.to_string())
    }

    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("Authorization", format!("Bearer {key}"))
    }

    pub(crate) fn once(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(&*self.method).uri(&self.path);
        for (name, value) in &self.headers {
            request = request.header(name, &value[..]);
        }
        request.body(Full::new(self.body.clone().into())).unwrap()
    }
}

/// A response, read whole.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) method: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) route: Option<MatchedRoute>,
}

impl Told {
    async fn read(method: String, response: Response<Full<Bytes>>) -> Self {
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap_or_else(|never| match never {}).to_bytes();
        let route = head.extensions.get::<MatchedRoute>().copied();
        Self { method, status: head.status.as_u16(), headers: head.headers, body, route }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.json());
        self.json()
    }

    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str, param: Option<&str>) {
        let body = self.json();
        assert_eq!(self.status, status, "{body}");
        assert_eq!(body["error"]["code"], code, "{body}");
        assert_eq!(body["error"]["param"].as_str(), param, "{body}");
    }

    /// The code, or nothing.
    pub(crate) fn code(&self) -> Option<String> {
        self.json()["error"]["code"].as_str().map(str::to_owned)
    }

    /// What holds for every response.
    #[track_caller]
    fn is_proper(&self) {
        let id = self.header("Request-Id").expect("a Request-Id");
        assert!(tale::is_id(id) && id.starts_with("req_"), "{id}");
        assert_eq!(self.header("Cache-Control"), Some("no-store"));
        assert_eq!(self.header("Content-Type"), Some("application/json"));
        let body = self.json();
        if self.status >= 400 {
            assert_eq!(body["error"]["request_id"], id, "{body}");
        }
        assert_eq!(self.header("WWW-Authenticate").is_some(), self.status == 401);
        assert_eq!(self.header("Allow").is_some(), self.status == 405);
        assert_eq!(self.header("Retry-After").is_some(), [429, 503].contains(&self.status));
        description::describes(self);
    }
}
