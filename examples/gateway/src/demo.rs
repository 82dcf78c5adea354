//! A shop that is live over two connections to the aggregator, each a fake, and a tour of what can
//! go wrong.

use std::{collections::HashMap, io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, Uri},
    routing::post,
};
use cauri::{
    AccountId, Amount, ApiKeyKind, Call, Caller, Catalogue, Clock, Connection, Engine, Environment,
    Faults, FeeSchedule, Flow, Grouped, Key, Leg, Offer, Payment, PaymentId, PaymentMethod, Route,
    Routes, Scope, Secret, StoreExt, SystemClock, Worker,
    decide::{Offers, Terms},
    wire::{self, CreatePayment, Form},
};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use serde_json::{Map, Value};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle, time::sleep};

use crate::{
    Aggregator, AggregatorOptions, CallbackError, Callbacks, ConnectError,
    fake::{Fake, FakeOptions},
    signature::{Keys, Signer},
};

/// What can go wrong before anything is there to go wrong.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The two connections, the better one first.
pub const CONNECTIONS: [&str; 2] = ["main", "spare"];

/// A shop, open: its server, its engine with a worker, and the fakes.
#[derive(Debug)]
pub struct Shop {
    /// The engine.
    pub engine: Engine,
    /// The shop itself.
    pub me: Caller,
    /// A secret live key of the shop.
    pub key: Secret,
    /// Where its server is; the API is under `/pay/v1`.
    pub url: String,
    /// The aggregator, reached over each of [`CONNECTIONS`].
    pub fakes: [Fake; 2],
    stop: oneshot::Sender<()>,
    worker: JoinHandle<()>,
    server: JoinHandle<io::Result<()>>,
}

impl Shop {
    /// Opens it. The fakes end orders after that time as their phones say: `0000` pays, `0001` has
    /// too little, `0002` says no, and any other waits.
    ///
    /// # Errors
    /// When the machine does not let us listen.
    pub async fn open(after: Option<Duration>) -> Result<Self, Failure> {
        let ours = Arc::new(Signer::generate("shop-1")?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let token = Secret::new("an-api-token");
        let fake = async || {
            let mut options = FakeOptions::new(token.clone(), Arc::clone(&clock));
            options.keys = Some(Keys::default().with(ours.id(), &ours.public_key())?);
            options.after = after;
            options.chatty = true;
            Ok::<Fake, Failure>(Fake::begin(options).await?)
        };
        let fakes = [fake().await?, fake().await?];
        let gateway = |fake: &Fake| -> Result<Arc<Aggregator>, ConnectError> {
            let options = AggregatorOptions::new(fake.url(), token.clone());
            Ok(Arc::new(Aggregator::new(options.signed(Arc::clone(&ours)))?))
        };
        let [main, spare] = CONNECTIONS.map(Connection::new);
        let engine = Engine::builder(Arc::new(Grouped::new(MemoryStore::new())))
            .terms(terms()?)
            .gateway(main, gateway(&fakes[0])?)
            .gateway(spare, gateway(&fakes[1])?)
            .build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let worker = tokio::spawn(Worker::new(engine.clone()).run(async {
            let _ = stopped.await;
        }));
        let account: AccountId = engine.create_account().await?.id;
        let scope = Scope { account, environment: Environment::Live };
        let key = engine.create_key(scope, ApiKeyKind::Secret, None, None).await?.clear;

        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let authority = listener.local_addr()?.to_string();
        let mut callbacks = HashMap::new();
        for (connection, fake) in CONNECTIONS.iter().zip(&fakes) {
            let (id, pem) = fake.key();
            let keys = Keys::default().with(id, &pem)?;
            let named = Connection::new(*connection);
            let taker = Callbacks::new(engine.clone(), named, authority.clone(), keys);
            callbacks.insert((*connection).to_owned(), taker);
            fake.call_back(format!("http://{authority}/callbacks/{connection}"));
        }
        let app = Router::new()
            .route("/callbacks/{connection}", post(callback))
            .with_state(Host { engine: engine.clone(), callbacks: Arc::new(callbacks) })
            .nest_service("/pay", Api::builder(engine.clone()).prefix("/pay").build());
        let server = tokio::spawn(async move { axum::serve(listener, app).await });
        let url = format!("http://{authority}");
        let me = Caller::secret(scope);
        Ok(Self { engine, me, key, url, fakes, stop, worker, server })
    }

    /// Closes it, when what is under way has ended.
    ///
    /// # Errors
    /// When its worker has failed.
    pub async fn close(self) -> Result<(), Failure> {
        let _ = self.stop.send(());
        self.worker.await?;
        self.server.abort();
        Ok(())
    }

    /// Asks a payer for money.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn collect(&self, phone: &str) -> Result<wire::Payment, Failure> {
        let ask = CreatePayment {
            amount: Some(Amount::new(5_000)),
            currency: Some("XOF".parse()?),
            network: Some("mtn".parse()?),
            phone: Some(phone.parse()?),
            ..CreatePayment::by(PaymentMethod::MobileMoney)
        };
        Ok(self.engine.create_payment(&Call::by(self.me), ask).await?.object)
    }

    /// A request, as its JSON would be read.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read<T>(
        &self,
        body: Value,
        read: impl Fn(&Map<String, Value>, &Form<'_>) -> Result<T, Faults>,
    ) -> Result<T, Failure> {
        let form = Form {
            environment: Environment::Live,
            catalogue: &self.engine.terms().live.catalogue,
            now: self.engine.now(),
        };
        Ok(read(body.as_object().ok_or("not an object")?, &form)?)
    }

    /// A payment as it is stored, once it is so; it waits half a minute at most.
    ///
    /// # Errors
    /// When it does not come to that.
    pub async fn until(
        &self,
        id: PaymentId,
        is_so: impl Fn(&Payment) -> bool,
    ) -> Result<Payment, Failure> {
        let key = Key::Payment(self.me.scope, id);
        for _ in 0..600 {
            let found = self.engine.store().find::<Payment>(key.clone()).await?;
            let payment = found.ok_or("no such payment")?.value;
            if is_so(&payment) {
                return Ok(payment);
            }
            sleep(Duration::from_millis(50)).await;
        }
        Err(format!("{id} does not come to its end").into())
    }
}

/// One network, in one country, offered over a route of two connections.
fn terms() -> Result<Terms, Failure> {
    let [main, spare] = CONNECTIONS.map(Connection::new);
    let offer = Offer {
        method: PaymentMethod::MobileMoney,
        network: "mtn".parse()?,
        currency: "XOF".parse()?,
        min: Amount::new(100),
        max: Amount::new(1_500_000),
        capabilities: Aggregator::CAPABILITIES,
        flow: Flow::Push,
        connection: Connection::new("mtn_ci"),
    };
    let catalogue = Catalogue::sandbox().without_offers().with_offer("CI".parse()?, offer)?;
    let route = Route::new([
        Leg { connection: main, priority: 1, share: 100 },
        Leg { connection: spare, priority: 2, share: 100 },
    ])?;
    let mut terms = Terms::default();
    terms.live = Offers { catalogue, fees: FeeSchedule::sandbox() };
    terms.routes = Routes::default().with(Connection::new("mtn_ci"), route);
    Ok(terms)
}

#[derive(Clone)]
struct Host {
    engine: Engine,
    callbacks: Arc<HashMap<String, Callbacks>>,
}

/// The route that the aggregator calls. It fails closed: whatever is not certain is not taken, and
/// what could be taken later is asked for again.
async fn callback(
    State(host): State<Host>,
    Path(connection): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let Some(callbacks) = host.callbacks.get(&connection) else { return StatusCode::NOT_FOUND };
    match callbacks.take(uri.path(), &headers, &body, host.engine.now()).await {
        Ok(_) => StatusCode::OK,
        Err(CallbackError::Signature(_)) => StatusCode::UNAUTHORIZED,
        Err(CallbackError::Amount) => StatusCode::CONFLICT,
        Err(CallbackError::Engine(_)) => StatusCode::SERVICE_UNAVAILABLE,
        Err(_) => StatusCode::BAD_REQUEST,
    }
}
