//! What the aggregator reports on its own.

use cauri::{
    AccountId, Amount, Caller, Connection, Currency, Engine, Environment, Error, OrderId, Refused,
    Report, Scope, Timestamp,
};

use http::HeaderMap;

use crate::{
    names::{self, Kind},
    signature::{Keys, Message, SignatureError},
    wire::Transaction,
};

/// Why a callback changes nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// It is not signed as it should be. Answer 401.
    #[error("not signed by the aggregator")]
    Signature(#[from] SignatureError),
    /// It is no callback of an order of ours. Answer 400.
    #[error("not a callback of an order of ours")]
    Malformed,
    /// It is of another amount or currency than the order. Answer 409, and have somebody look.
    #[error("of another amount than the order")]
    Amount,
    /// The engine could not take it. Answer 503, so that it comes again.
    #[error("not taken")]
    Engine(#[source] Error),
}

/// What a callback said.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Told {
    /// Of which order.
    pub order: OrderId,
    /// What.
    pub report: Report,
}

/// Takes the callbacks of one connection: what is not signed with one of the aggregator's keys, and
/// for us, changes nothing. Without any key nothing is believed at all.
#[derive(Debug, Clone)]
pub struct Callbacks {
    engine: Engine,
    connection: Connection,
    authority: String,
    keys: Keys,
}

impl Callbacks {
    /// `authority` is our own host, as the aggregator calls it, with its port unless that is 443;
    /// `keys` are the aggregator's, from its dashboard.
    ///
    /// The host is never taken from a request: the aggregator signs for all its customers with the
    /// same keys, and what it has told another one must not be played to us.
    #[must_use]
    pub fn new(
        engine: Engine,
        connection: Connection,
        authority: impl Into<String>,
        keys: Keys,
    ) -> Self {
        Self { engine, connection, authority: authority.into(), keys }
    }

    /// Takes one callback, a `POST` to this path.
    ///
    /// # Errors
    /// [`CallbackError`], which says how to answer.
    pub async fn take(
        &self,
        path: &str,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Told, CallbackError> {
        let message = Message { method: "POST", authority: &self.authority, path, headers, body };
        self.keys.verify(&message, now)?;
        let said = serde_json::from_slice::<Transaction>(body);
        let said = said.map_err(|_| CallbackError::Malformed)?;
        let (scope, order) = said.order().ok_or(CallbackError::Malformed)?;
        let report = said.report(Kind::of(order)).ok_or(CallbackError::Malformed)?;
        let (amount, currency) = self.expected(scope, order).await?;
        if said.currency != currency.code() || names::amount(&said.amount, currency) != Some(amount)
        {
            tracing::error!(%order, "a callback of another amount than the order");
            return Err(CallbackError::Amount);
        }
        let told = self.engine.report_from(&self.connection, scope, order, report.clone()).await;
        told.map_err(not_taken)?;
        Ok(Told { order, report })
    }

    /// What the order was of.
    async fn expected(
        &self,
        scope: Scope,
        order: OrderId,
    ) -> Result<(Amount, Currency), CallbackError> {
        let caller = Caller::secret(scope);
        match order {
            OrderId::Payment(id) => {
                self.engine.payment(&caller, id).await.map(|it| (it.amount, it.currency))
            }
            OrderId::Payout(id) => {
                self.engine.payout(&caller, id).await.map(|it| (it.amount, it.currency))
            }
            OrderId::Refund(id) => {
                self.engine.refund(&caller, id).await.map(|it| (it.amount, it.currency))
            }
        }
        .map_err(not_taken)
    }
}

fn not_taken(error: Error) -> CallbackError {
    match error {
        Error::Refused(Refused::NotFound(_)) => CallbackError::Malformed,
        other => CallbackError::Engine(other),
    }
}

impl Transaction {
    /// Which order of ours it is: the one that we gave along, if its name is that of this
    /// transaction.
    fn order(&self) -> Option<(Scope, OrderId)> {
        let order: OrderId = self.client_reference_id.as_ref()?.parse().ok()?;
        let account: AccountId = self.metadata.get("account")?.parse().ok()?;
        let named = self.name(Kind::of(order))? == names::name(order).to_string();
        named.then_some((Scope { account, environment: Environment::Live }, order))
    }
}
