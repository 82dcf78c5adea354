//! Who calls, and what they get back.

use std::fmt;

use cauri_core::{
    ApiKeyId, ApiKeyKind, Environment, Scope, Success, TraceContext,
    decide::idempotency::Idempotency,
};

use crate::error::PermissionError;

/// Who calls: the outcome of [`crate::Engine::authenticate`], or of the embedder's own
/// authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caller {
    /// Whose data.
    pub scope: Scope,
    /// What they may do.
    pub kind: ApiKeyKind,
    /// With which key, where there was one.
    pub key: Option<ApiKeyId>,
}

impl Caller {
    /// A caller who may do everything in a scope.
    #[must_use]
    pub const fn secret(scope: Scope) -> Self {
        Self { scope, kind: ApiKeyKind::Secret, key: None }
    }

    /// A caller who may read a scope, with personal data masked.
    #[must_use]
    pub const fn public(scope: Scope) -> Self {
        Self { scope, kind: ApiKeyKind::Public, key: None }
    }

    /// The same caller, known by a key.
    #[must_use]
    pub const fn with_key(mut self, key: ApiKeyId) -> Self {
        self.key = Some(key);
        self
    }

    /// Everything that changes something needs this.
    ///
    /// # Errors
    /// [`PermissionError::SecretKeyRequired`].
    pub const fn may_write(&self) -> Result<(), PermissionError> {
        match self.kind {
            ApiKeyKind::Secret => Ok(()),
            ApiKeyKind::Public => Err(PermissionError::SecretKeyRequired),
        }
    }

    /// The sandbox's tools need this.
    ///
    /// # Errors
    /// [`PermissionError::SandboxOnly`].
    pub const fn may_play(&self) -> Result<(), PermissionError> {
        match self.scope.environment {
            Environment::Sandbox => Ok(()),
            Environment::Live => Err(PermissionError::SandboxOnly),
        }
    }
}

/// A command: who calls, and under which idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// Who.
    pub caller: Caller,
    /// How a repeat is known (API §5); `None` when every call is a new one.
    pub idempotency: Option<Idempotency>,
    /// The trace that it is part of, where the caller said so.
    pub trace: Option<TraceContext>,
}

impl Call {
    /// A command that is new each time.
    #[must_use]
    pub const fn by(caller: Caller) -> Self {
        Self { caller, idempotency: None, trace: None }
    }

    /// The same command, under an idempotency key (API §5): sent again within a day, by whomever
    /// and after whatever crash, it answers as it did the first time, and does nothing. The
    /// fingerprint says what is asked for; a key that comes with another one is refused.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cauri::{
    ///     Amount, Call, Caller, Engine, Environment, Scope,
    ///     decide::idempotency::Idempotency,
    ///     wire::{self, Fund},
    /// };
    /// use cauri_memory::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::builder(Arc::new(MemoryStore::new())).build()?;
    /// let account = engine.create_account().await?.id;
    /// let me = Caller::secret(Scope { account, environment: Environment::Sandbox });
    /// // What the same request over HTTP would be known by, so that one may follow the other.
    /// let body = wire::parse_object(br#"{"amount": 5000, "currency": "XOF"}"#)?;
    /// let fingerprint = wire::fingerprint("POST", "/v1/sandbox/fund", &body);
    /// let once = Idempotency { key: "opening-balance".parse()?, fingerprint };
    /// let call = Call::by(me).idempotent(Some(once));
    ///
    /// let ask = Fund { amount: Amount::new(5_000), currency: "XOF".parse()? };
    /// assert!(!engine.fund(&call, ask).await?.replayed);
    /// assert!(engine.fund(&call, ask).await?.replayed);
    /// let balance = engine.balance(&me, None).await?;
    /// assert_eq!(balance.available[0].amount, Amount::new(5_000));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn idempotent(mut self, idempotency: Option<Idempotency>) -> Self {
        self.idempotency = idempotency;
        self
    }

    /// The same command, as part of a trace: what follows from it names that trace to networks and
    /// receivers.
    #[must_use]
    pub fn traced(mut self, trace: Option<TraceContext>) -> Self {
        self.trace = trace;
        self
    }
}

/// What a command answers.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply<T> {
    /// The object; of a repeat, as it was then.
    pub object: T,
    /// The exact body, where the command had an idempotency key.
    pub body: Option<String>,
    /// Which kind of success.
    pub success: Success,
    /// The path of what was created.
    pub location: Option<String>,
    /// Is it the answer to an earlier use of the key?
    pub replayed: bool,
}

/// The answer to an earlier use of an idempotency key, as it was given then.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// The exact body.
    pub body: String,
    /// Which kind of success.
    pub success: Success,
    /// The path of what was created.
    pub location: Option<String>,
}

// Bodies have the payer in them, and secrets that are shown once.
impl<T: fmt::Debug> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("object", &self.object)
            .field("body", &self.body.as_ref().map(|body| Hidden(body.len())))
            .field("success", &self.success)
            .field("location", &self.location)
            .field("replayed", &self.replayed)
            .finish()
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("body", &Hidden(self.body.len()))
            .field("success", &self.success)
            .field("location", &self.location)
            .finish()
    }
}

/// So many bytes, and nothing of them.
struct Hidden(usize);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}
