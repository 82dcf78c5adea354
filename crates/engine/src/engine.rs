//! The engine: what an embedder holds, and where its ports come together.

use std::{collections::HashMap, fmt, sync::Arc};

use cauri_core::{
    Connection, EndpointId, Environment, Keyring, Order, RequestId, Scope, SealError,
    Subscriptions, Timestamp, WebhookEndpoint, decide::Terms,
};

use crate::{
    ambient::{Ambient, OsEntropy, SystemClock},
    auth::KeyCache,
    cache::Cache,
    gateway::sandbox::SandboxGateway,
    mailbox::Mailbox,
    port::{
        bell::Bell,
        clock::Clock,
        entropy::Entropy,
        gateway::{Answer, Gateway},
        notifier::Notifier,
        store::Store,
    },
    recent::Recent,
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
    pub(crate) endpoints: Cache<(Scope, EndpointId), Arc<WebhookEndpoint>>,
    pub(crate) recent: Recent,
    gateways: HashMap<Connection, Arc<dyn Gateway>>,
    sandbox: SandboxGateway,
}

/// What an installation decides beside its terms (API §20).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Is personal data masked for public keys? Default yes.
    pub mask_personal_data: bool,
    /// Must every creation name an `Idempotency-Key`? Default no.
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
            bell: None,
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
    /// Nothing is sent before that commit, for nobody else sees what is due; after it, any worker
    /// over the store finds it within its period.
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
        let Inner { notifier, ambient, terms, keys, options, gateways, sandbox, .. } = &*self.0;
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
            endpoints: Cache::default(),
            recent: Recent::default(),
            gateways: gateways.clone(),
            sandbox: *sandbox,
        }))
    }

    /// A fresh name for a request, for logs and answers.
    #[must_use]
    pub fn request_id(&self) -> RequestId {
        self.0.ambient.env().id()
    }

    /// The rail that carries an order: the simulator in the sandbox, else the gateway of its
    /// connection.
    pub(crate) fn gateway(&self, order: &Order) -> &dyn Gateway {
        match order.scope.environment {
            Environment::Sandbox => &self.0.sandbox,
            Environment::Live => {
                self.0.gateways.get(&order.connection).map_or(&NoGateway, |gateway| &**gateway)
            }
        }
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
    bell: Option<Arc<dyn Bell>>,
}

impl EngineBuilder {
    /// What sends webhooks.
    #[must_use]
    pub fn notifier(mut self, notifier: Arc<dyn Notifier>) -> Self {
        self.notifier = notifier;
        self
    }

    /// A rail for the live offers of a connection.
    #[must_use]
    pub fn gateway(mut self, connection: Connection, gateway: Arc<dyn Gateway>) -> Self {
        self.gateways.insert(connection, gateway);
        self
    }

    /// What wakes the workers of other processes. Without it they find what this process leaves to
    /// them within their period.
    #[must_use]
    pub fn bell(mut self, bell: Arc<dyn Bell>) -> Self {
        self.bell = Some(bell);
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
    /// [`SealError`] when the keys are not fit to seal.
    pub fn build(self) -> Result<Engine, SealError> {
        let keys = match self.keys {
            Some(keys) => keys,
            None => Keyring::new([(0, self.entropy.seed())])?,
        };
        Ok(Engine(Arc::new(Inner {
            store: self.store,
            notifier: self.notifier,
            ambient: Arc::new(Ambient::new(self.clock, self.entropy)),
            terms: self.terms,
            keys,
            options: self.options,
            mailbox: Mailbox::default(),
            bell: self.bell,
            key_cache: KeyCache::default(),
            listeners: Cache::default(),
            endpoints: Cache::default(),
            recent: Recent::default(),
            gateways: self.gateways,
            sandbox: SandboxGateway::default(),
        })))
    }
}

/// Carries nothing: the answer for a connection whose gateway is not (or no longer) there.
#[derive(Debug)]
struct NoGateway;

#[async_trait::async_trait]
impl Gateway for NoGateway {
    async fn submit(&self, order: &Order, now: Timestamp) -> Answer {
        self.query(order, now).await
    }

    async fn query(&self, order: &Order, now: Timestamp) -> Answer {
        tracing::error!(order = %order.id, connection = %order.connection, "no gateway carries this connection");
        Answer::later(now.plus_seconds(60))
    }

    async fn cancel(&self, _order: &Order, _now: Timestamp) -> bool {
        false
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
