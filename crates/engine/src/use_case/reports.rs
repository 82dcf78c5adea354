//! What rails say: answers to our questions, and callbacks.

use cauri_core::{
    Actor, Error as Refused, Key, NextQuestion, OrderId, Payment, PaymentId, Payout, PayoutId,
    Refund, RefundId, Report, Scope, Timestamp, decide,
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
        self.hear(scope, order, &[report], None, None).await
    }

    /// Applies reports and plans the next question. `asked` is the version that the network was
    /// asked about: what it said of an earlier state changes no plan.
    pub(crate) async fn hear(
        &self,
        scope: Scope,
        order: OrderId,
        reports: &[Report],
        ask_again_at: Option<Timestamp>,
        asked: Option<u64>,
    ) -> Result<(), Error> {
        match order {
            OrderId::Payment(id) => {
                self.hear_payment(scope, id, reports, ask_again_at, asked).await
            }
            OrderId::Payout(id) => self.hear_payout(scope, id, reports, ask_again_at, asked).await,
            OrderId::Refund(id) => self.hear_refund(scope, id, reports, ask_again_at, asked).await,
        }
    }

    async fn hear_payment(
        &self,
        scope: Scope,
        id: PaymentId,
        reports: &[Report],
        ask_again_at: Option<Timestamp>,
        asked: Option<u64>,
    ) -> Result<(), Error> {
        let found = self.0.store.find::<Payment>(Key::Payment(scope, id)).await?;
        let found = found.ok_or(Refused::NotFound("payment"))?;
        self.transact(scope, payments::keys_of(&found.value), |mut loaded, cx| {
            let payment = loaded.take::<Payment>(0).ok_or(Refused::NotFound("payment"))?;
            let next = next(ask_again_at, asked, payment.version);
            let case = decide::payment::Case { payment, link: loaded.take(1) };
            decide::payment::report(case, reports, next, Actor::Network, cx)
        })
        .await?;
        Ok(())
    }

    async fn hear_payout(
        &self,
        scope: Scope,
        id: PayoutId,
        reports: &[Report],
        ask_again_at: Option<Timestamp>,
        asked: Option<u64>,
    ) -> Result<(), Error> {
        let keys = vec![Key::Payout(scope, id)];
        self.transact(scope, keys, |mut loaded, cx| {
            let payout = loaded.take::<Payout>(0).ok_or(Refused::NotFound("payout"))?;
            let next = next(ask_again_at, asked, payout.version);
            decide::payout::report(payout, reports, next, cx)
        })
        .await?;
        Ok(())
    }

    async fn hear_refund(
        &self,
        scope: Scope,
        id: RefundId,
        reports: &[Report],
        ask_again_at: Option<Timestamp>,
        asked: Option<u64>,
    ) -> Result<(), Error> {
        let found = self.0.store.find::<Refund>(Key::Refund(scope, id)).await?;
        let payment = found.ok_or(Refused::NotFound("refund"))?.value.payment;
        let keys = vec![Key::Refund(scope, id), Key::Payment(scope, payment)];
        self.transact(scope, keys, |mut loaded, cx| {
            let refund = loaded.take::<Refund>(0).ok_or(Refused::NotFound("refund"))?;
            let next = next(ask_again_at, asked, refund.version);
            let payment = loaded.take(1).ok_or(Refused::NotFound("payment"))?;
            let case = decide::refund::Case { refund, payment };
            decide::refund::report(case, reports, next, Actor::Network, cx)
        })
        .await?;
        Ok(())
    }
}

fn next(ask_again_at: Option<Timestamp>, asked: Option<u64>, version: u64) -> NextQuestion {
    if asked == Some(version) { ask_again_at.into() } else { NextQuestion::AsPlanned }
}
