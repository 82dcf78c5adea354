//! What rails say: answers to our questions, and callbacks.

use cauri_core::{
    Actor, Changeset, Entity, Environment, Error as Refused, Key, NextQuestion, OrderId, Payment,
    PaymentId, Payout, PayoutId, Refund, RefundId, Report, Scope, Timestamp,
    decide::{self, Decision},
};

use super::payments;
use crate::{engine::Engine, error::Error, store_ext::StoreExt};

impl Engine {
    /// Takes what a network reports on its own, from the rail's callback. Reports may repeat and
    /// contradict; only what the state machines allow changes anything.
    ///
    /// The embedder has checked that the callback is authentic; the scope comes from what it gave
    /// the rail together with the order.
    ///
    /// # Errors
    /// [`Refused::NotFound`] for an order that is not of this scope, or [`Error::Store`].
    pub async fn report(&self, scope: Scope, order: OrderId, report: Report) -> Result<(), Error> {
        let heard = Heard { reports: &[report], ask_again_at: None, asked: None };
        self.hear(scope, order, &heard).await
    }

    /// Applies reports and plans the next question.
    pub(crate) async fn hear(
        &self,
        scope: Scope,
        order: OrderId,
        heard: &Heard<'_>,
    ) -> Result<(), Error> {
        match order {
            OrderId::Payment(id) => self.hear_payment(scope, id, heard).await,
            OrderId::Payout(id) => self.hear_payout(scope, id, heard).await,
            OrderId::Refund(id) => self.hear_refund(scope, id, heard).await,
        }
    }

    async fn hear_payment(
        &self,
        scope: Scope,
        id: PaymentId,
        heard: &Heard<'_>,
    ) -> Result<(), Error> {
        // Which link it came from never changes, so it may be of any time.
        let found = self.known::<Payment>(Key::Payment(scope, id)).await?;
        let found = found.ok_or(Refused::NotFound("payment"))?;
        self.transact(scope, payments::keys_of(&found), |mut loaded, cx| {
            let payment = loaded.take::<Payment>(0).ok_or(Refused::NotFound("payment"))?;
            let Some(next) = heard.next(scope, payment.version) else { return Ok(nothing()) };
            let case = decide::payment::Case { payment, link: loaded.take(1) };
            decide::payment::report(case, heard.reports, next, Actor::Network, cx)
                .map(|decision| decision.map(|_| ()))
        })
        .await
    }

    /// An order as it is, or as this process wrote it last.
    async fn known<T: Entity>(&self, key: Key) -> Result<Option<T>, Error> {
        if let Some(found) = self.0.recent.one(&key).and_then(T::from_record) {
            return Ok(Some(found));
        }
        Ok(self.0.store.find::<T>(key).await?.map(|found| found.value))
    }

    async fn hear_payout(
        &self,
        scope: Scope,
        id: PayoutId,
        heard: &Heard<'_>,
    ) -> Result<(), Error> {
        let keys = vec![Key::Payout(scope, id)];
        self.transact(scope, keys, |mut loaded, cx| {
            let payout = loaded.take::<Payout>(0).ok_or(Refused::NotFound("payout"))?;
            let Some(next) = heard.next(scope, payout.version) else { return Ok(nothing()) };
            decide::payout::report(payout, heard.reports, next, cx)
                .map(|decision| decision.map(|_| ()))
        })
        .await
    }

    async fn hear_refund(
        &self,
        scope: Scope,
        id: RefundId,
        heard: &Heard<'_>,
    ) -> Result<(), Error> {
        // Nor does the payment of a refund.
        let found = self.known::<Refund>(Key::Refund(scope, id)).await?;
        let payment = found.ok_or(Refused::NotFound("refund"))?.payment;
        let keys = vec![Key::Refund(scope, id), Key::Payment(scope, payment)];
        self.transact(scope, keys, |mut loaded, cx| {
            let refund = loaded.take::<Refund>(0).ok_or(Refused::NotFound("refund"))?;
            let Some(next) = heard.next(scope, refund.version) else { return Ok(nothing()) };
            let payment = loaded.take(1).ok_or(Refused::NotFound("payment"))?;
            let case = decide::refund::Case { refund, payment };
            decide::refund::report(case, heard.reports, next, Actor::Network, cx)
                .map(|decision| decision.map(|_| ()))
        })
        .await
    }
}

/// What a network said, and of which version of the order.
#[derive(Debug)]
pub(crate) struct Heard<'a> {
    pub(crate) reports: &'a [Report],
    pub(crate) ask_again_at: Option<Timestamp>,
    /// The version that was asked about; `None` when the network spoke on its own.
    pub(crate) asked: Option<u64>,
}

impl Heard<'_> {
    /// The plan after this for an order that is at `version` by now; `None` when it is not to be
    /// heard at all. What was said of an earlier state overturns no plan. What the simulator said
    /// of one counts for nothing: a person has told it another story since (API §17.2).
    fn next(&self, scope: Scope, version: u64) -> Option<NextQuestion> {
        match (self.asked, self.ask_again_at) {
            (Some(asked), at) if asked == version => Some(at.into()),
            (Some(_), _) if scope.environment == Environment::Sandbox => None,
            (Some(_), Some(at)) => Some(NextQuestion::AtUnlessPlanned(at)),
            (Some(_), None) | (None, _) => Some(NextQuestion::AsPlanned),
        }
    }
}

fn nothing() -> Decision<()> {
    Decision { value: (), changes: Changeset::new(), if_short: None }
}
