//! The engine: what an embedder holds, and where its ports come together.

use std::{collections::HashMap, fmt, sync::Arc};

use cauri_core::{
    Connection, EndpointId, Environment, Keyring, RequestId, Scope, Subscriptions, Timestamp,
    decide::Terms,
};

use crate::{
    ambient::{Ambient, OsEntropy, SystemClock},
    auth::KeyCache,
    bounded::Bounded,
    cache::Cache,
    error::BuildError,
    gateway::{
        breaker::{BreakerOptions, BreakerState},
        router::{Promise, Router},
    },
    mailbox::Mailbox,
    port::{
        bell::Bell, clock::Clock, entropy::Entropy, gateway::Gateway, meter::Meter,
        notifier::Notifier, store::Store, tracer::Tracer,
    },
    recent::Recent,
    worker::receiver::Receiver,
};

/// The payment core: every use case of the contract as a method, over a store, a notifier and the
/// rails that the embedder plugs in. Cheap to clone; all clones are one engine.
///
/// ```
/// use std::sync::Arc;
/// use cauri::{Amount, Call, Caller, Engine, Environment, Scope, wire::Fund};
/// use cauri_memory::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::builder(Arc::new(MemoryStore::new())).build()?;
/// let account = engine.create_account().await?;
/// let me = Caller::secret(Scope { account: account.id, environment: Environment::Sandbox });
/// engine.fund(&Call::by(me), Fund { amount: Amount::new(5_000), currency: "XOF".parse()? }).await?;
/// let balance = engine.balance(&me, None).await?;
/// assert_eq!(balance.available[0].amount, Amount::new(5_000));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Engine(pub(crate) Arc<Inner>);

/// What all clones share.
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) notifier: Arc<dyn Notifier>,
    pub(crate) ambient: Arc<Ambient>,
    pub(crate) terms: Terms,
    pub(crate) keys: Keyring,
    pub(crate) options: Options,
    pub(crate) mailbox: Mailbox,
    pub(crate) bell: Option<Arc<dyn Bell>>,
    pub(crate) key_cache: KeyCache,
    pub(crate) listeners: Cache<Scope, Arc<Subscriptions>>,
    pub(crate) receivers: Cache<(Scope, EndpointId), Arc<Receiver>>,
    pub(crate) recent: Recent,
    pub(crate) meter: Option<Arc<dyn Meter>>,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    pub(crate) router: Arc<Router>,
    /// Is the store the transaction of a host, which ends when the host says so?
    pub(crate) of_host: bool,
}

/// What an installation decides beside its terms (API §20).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Is personal data masked for public keys? Default yes.
    pub mask_personal_data: bool,
    /// Must every creation over HTTP name an `Idempotency-Key`? Default no. Who calls methods says
    /// so with each: [`Call::idempotent`](crate::Call::idempotent).
    pub idempotency_required: bool,
    /// The name of the signature header; default `X-Webhook-Signature`.
    pub signature_header: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mask_personal_data: true,
            idempotency_required: false,
            signature_header: "X-Webhook-Signature",
        }
    }
}

impl Engine {
    /// Begins an engine over a store. What is not set stays at its default: the machine's clock
    /// and chance, the built-in terms, a notifier that delivers nothing.
    #[must_use]
    pub fn builder(store: Arc<dyn Store>) -> EngineBuilder {
        EngineBuilder {
            store,
            notifier: Arc::new(NoNotifier),
            clock: Arc::new(SystemClock::default()),
            entropy: Arc::new(OsEntropy::default()),
            terms: Terms::default(),
            keys: None,
            options: Options::default(),
            gateways: HashMap::new(),
            breaker: BreakerOptions::default(),
            bell: None,
            meter: None,
            tracer: None,
        }
    }

    /// The terms of this installation.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.0.terms
    }

    /// The options of this installation.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// The store beneath.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// The present moment, as this engine sees it.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.ambient.now()
    }

    /// The same engine, with its terms, keys, clock and rails, over another store: that of a
    /// transaction which the host has begun. A use case run on it becomes true together with the
    /// host's own rows, when the host commits, or not at all.
    ///
    /// What is due is not begun before that commit, for nobody else sees it; after it, any worker
    /// over the store finds it within its period. A transaction on Postgres also rings for the
    /// others, and that is heard when the host commits: a worker that listens
    /// ([`EngineBuilder::bell`](crate::EngineBuilder::bell)) begins at once.
    ///
    /// Two use cases ask somebody before they decide, within a transaction as well:
    /// [`Engine::cancel_payment`] the network that has the payment, which stays called off there if
    /// the host rolls back, and the making and changing of an endpoint the notifier, whether its URL
    /// may be used. Neither belongs into a transaction that holds locks.
    ///
    /// While the transaction is open, ask nothing of the outer engine for the same account: on
    /// SQLite it is the one writer, and what else writes waits for it (5 s) and fails; on Postgres
    /// whoever writes for the same account waits so. A call that is not awaited to its end writes
    /// nothing any more, and may leave the transaction rolled back.
    ///
    /// What this engine has read lately it believes for half a second (API keys, endpoints and who
    /// listens), also where it was changed by way of `within`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cauri::{Engine, List, Query};
    /// use cauri_memory::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::builder(Arc::new(MemoryStore::new())).build()?;
    /// // With a database: the transaction's store, such as `SqliteTransaction::new(transaction)`.
    /// let transaction = Arc::new(MemoryStore::new());
    /// engine.within(transaction).create_account().await?;
    /// assert!(engine.accounts().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn within(&self, store: Arc<dyn Store>) -> Self {
        let Inner { notifier, ambient, terms, keys, options, tracer, router, .. } = &*self.0;
        Self(Arc::new(Inner {
            store,
            notifier: Arc::clone(notifier),
            ambient: Arc::clone(ambient),
            terms: terms.clone(),
            keys: keys.clone(),
            options: options.clone(),
            // Nobody listens: what is made is due at once, for whoever claims it after the commit.
            mailbox: Mailbox::default(),
            // The transaction's own store tells the others, when the host commits.
            bell: None,
            // What was read may be rolled back.
            key_cache: KeyCache::default(),
            listeners: Cache::default(),
            receivers: Cache::default(),
            recent: Recent::default(),
            // What was done may be rolled back, and then it did not happen.
            meter: None,
            tracer: tracer.clone(),
            router: Arc::clone(router),
            of_host: true,
        }))
    }

    /// A fresh name for a request, for logs and answers.
    #[must_use]
    pub fn request_id(&self) -> RequestId {
        self.0.ambient.env().id()
    }

    /// What this process thinks of a connection, from how it has answered lately; `None` when no
    /// gateway is plugged in behind it.
    #[must_use]
    pub fn breaker(&self, connection: &Connection) -> Option<BreakerState> {
        self.0.router.state(connection)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("store", &self.store)
            .field("notifier", &self.notifier)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Puts an [`Engine`] together.
#[derive(Debug)]
pub struct EngineBuilder {
    store: Arc<dyn Store>,
    notifier: Arc<dyn Notifier>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    terms: Terms,
    keys: Option<Keyring>,
    options: Options,
    gateways: HashMap<Connection, Arc<dyn Gateway>>,
    breaker: BreakerOptions,
    bell: Option<Arc<dyn Bell>>,
    meter: Option<Arc<dyn Meter>>,
    tracer: Option<Arc<dyn Tracer>>,
}

impl EngineBuilder {
    /// What sends webhooks.
    #[must_use]
    pub fn notifier(mut self, notifier: Arc<dyn Notifier>) -> Self {
        self.notifier = notifier;
        self
    }

    /// A rail for a connection: what live offers name, or the routes of the terms lead to.
    #[must_use]
    pub fn gateway(mut self, connection: Connection, gateway: Arc<dyn Gateway>) -> Self {
        self.gateways.insert(connection, gateway);
        self
    }

    /// When a connection counts as down, so that orders take another way of their route.
    #[must_use]
    pub const fn breaker(mut self, options: BreakerOptions) -> Self {
        self.breaker = options;
        self
    }

    /// What wakes the workers of other processes. Without it they find what this process leaves to
    /// them within their period.
    #[must_use]
    pub fn bell(mut self, bell: Arc<dyn Bell>) -> Self {
        self.bell = Some(bell);
        self
    }

    /// What counts and measures. Without it nothing does.
    #[must_use]
    pub fn meter(mut self, meter: Arc<dyn Meter>) -> Self {
        self.meter = Some(meter);
        self
    }

    /// What ties the spans of this process to the traces of others. Without it the trace that came
    /// with a command is passed on as it came.
    #[must_use]
    pub fn tracer(mut self, tracer: Arc<dyn Tracer>) -> Self {
        self.tracer = Some(tracer);
        self
    }

    /// Another clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Another source of chance; only for tests.
    #[must_use]
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.entropy = entropy;
        self
    }

    /// Other terms.
    #[must_use]
    pub fn terms(mut self, terms: Terms) -> Self {
        self.terms = terms;
        self
    }

    /// The keys that seal webhook secrets at rest. Without them a fresh key is drawn, so that
    /// secrets cannot be opened by another process or after a restart: fit for tests only.
    #[must_use]
    pub fn keys(mut self, keys: Keyring) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Other options.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// The engine.
    ///
    /// # Errors
    /// [`BuildError`] when the keys are not fit to seal, the terms cannot be used, or an offer
    /// promises what the gateway that carries it does not declare. An offer whose connection has no
    /// gateway here is none of them: a node that runs no worker needs none.
    pub fn build(self) -> Result<Engine, BuildError> {
        let keys = match self.keys {
            Some(keys) => keys,
            None => Keyring::new([(0, self.entropy.seed())])?,
        };
        if let Some(field) = self.terms.unusable() {
            return Err(BuildError::Terms(field));
        }
        let router = Router::new(self.gateways, self.breaker);
        if let Some(Promise { network, connection }) = router.broken_promise(&self.terms) {
            return Err(BuildError::Promise { network, connection });
        }
        Ok(Engine(Arc::new(Inner {
            store: self.store,
            notifier: Arc::new(Bounded(self.notifier)),
            ambient: Arc::new(Ambient::new(self.clock, self.entropy)),
            terms: self.terms,
            keys,
            options: self.options,
            mailbox: Mailbox::default(),
            bell: self.bell,
            key_cache: KeyCache::default(),
            listeners: Cache::default(),
            receivers: Cache::default(),
            recent: Recent::default(),
            meter: self.meter,
            tracer: self.tracer,
            router: Arc::new(router),
            of_host: false,
        })))
    }
}

/// Delivers nothing: each attempt fails as if there were no connection.
#[derive(Debug)]
struct NoNotifier;

#[async_trait::async_trait]
impl Notifier for NoNotifier {
    async fn deliver(&self, _attempt: &crate::Attempt) -> crate::Receipt {
        crate::Receipt { outcome: Err(cauri_core::AttemptError::ConnectionFailed), duration_ms: 0 }
    }

    async fn vet(
        &self,
        _url: &str,
        _environment: Environment,
    ) -> Result<(), cauri_core::AttemptError> {
        Ok(())
    }
}
