//! What rails say: answers to our questions, and callbacks.

use std::borrow::Cow;

use cauri_core::{
    Actor, Changeset, Connection, Entity, Environment, Error as Refused, Key, NextQuestion,
    OrderId, Payment, PaymentId, Payout, PayoutId, Refund, RefundId, Report, Scope, Timestamp,
    decide::{self, Decision, route::Movable},
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
        self.report_by(None, scope, order, report).await
    }

    /// The same from a connection that is one of a route. Of an order that another connection
    /// carries by now, it only counts that it was paid: that money has moved, whoever was to move
    /// it.
    ///
    /// # Errors
    /// As [`Self::report`].
    pub async fn report_from(
        &self,
        connection: &Connection,
        scope: Scope,
        order: OrderId,
        report: Report,
    ) -> Result<(), Error> {
        self.report_by(Some(connection), scope, order, report).await
    }

    async fn report_by(
        &self,
        from: Option<&Connection>,
        scope: Scope,
        order: OrderId,
        report: Report,
    ) -> Result<(), Error> {
        let key = match order {
            OrderId::Payment(id) => Key::Payment(scope, id),
            OrderId::Payout(id) => Key::Payout(scope, id),
            OrderId::Refund(id) => Key::Refund(scope, id),
        };
        let trace = self.trace().or_else(|| self.0.recent.trace(&key));
        let heard = Heard { reports: &[report], ask_again_at: None, asked: None, from };
        self.case("report", scope, trace, self.hear(scope, order, &heard)).await
    }

    /// Applies reports and plans the next question. Each kind of order says whether a report
    /// contradicts how it has ended by then.
    pub(crate) async fn hear(
        &self,
        scope: Scope,
        order: OrderId,
        heard: &Heard<'_>,
    ) -> Result<(), Error> {
        let contradicted = match order {
            OrderId::Payment(id) => self.hear_payment(scope, id, heard).await?,
            OrderId::Payout(id) => self.hear_payout(scope, id, heard).await?,
            OrderId::Refund(id) => self.hear_refund(scope, id, heard).await?,
        };
        // In the sandbox it is a story like any other.
        if contradicted && scope.environment == Environment::Live {
            // Nothing of ours can be undone: the money has gone twice, or not at all.
            tracing::error!(%order, account = %scope.account, reports = ?heard.reports,
                "the network contradicts how an order has ended");
        }
        Ok(())
    }

    async fn hear_payment(
        &self,
        scope: Scope,
        id: PaymentId,
        heard: &Heard<'_>,
    ) -> Result<bool, Error> {
        // Which link it came from never changes, so it may be of any time.
        let found = self.known::<Payment>(Key::Payment(scope, id)).await?;
        let found = found.ok_or(Refused::NotFound("payment"))?;
        self.transact("report_payment", scope, payments::keys_of(&found), |mut loaded, cx| {
            let mut payment = loaded.take::<Payment>(0).ok_or(Refused::NotFound("payment"))?;
            let Some((reports, next)) = heard.of(payment.version, &payment.value.connection, scope)
            else {
                return Ok(nothing());
            };
            if let Some(from) = heard.from
                && *from != payment.value.connection
                && payment.value.status.may_be_paid()
            {
                // Only who has the money can give it back.
                tracing::error!(payment = %id, carried_by = %payment.value.connection, paid_by = %from,
                    "paid over a connection that had not taken it on");
                payment.value.carry_by(from.clone());
            }
            let case = decide::payment::Case { payment, link: loaded.take(1) };
            let decision = decide::payment::report(case, &reports, next, Actor::Network, cx)?;
            Ok(decision.map(|it| it.status.is_contradicted_by(&reports)))
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
    ) -> Result<bool, Error> {
        let keys = vec![Key::Payout(scope, id)];
        self.transact("report_payout", scope, keys, |mut loaded, cx| {
            let payout = loaded.take::<Payout>(0).ok_or(Refused::NotFound("payout"))?;
            let Some((reports, next)) = heard.of(payout.version, &payout.value.connection, scope)
            else {
                return Ok(nothing());
            };
            let elsewhere = heard.is_of_another(&payout.value.connection);
            let decision = decide::payout::report(payout, &reports, next, cx)?;
            Ok(decision.map(|it| elsewhere || it.status.is_contradicted_by(&reports)))
        })
        .await
    }

    async fn hear_refund(
        &self,
        scope: Scope,
        id: RefundId,
        heard: &Heard<'_>,
    ) -> Result<bool, Error> {
        // Nor does the payment of a refund.
        let found = self.known::<Refund>(Key::Refund(scope, id)).await?;
        let payment = found.ok_or(Refused::NotFound("refund"))?.payment;
        let keys = vec![Key::Refund(scope, id), Key::Payment(scope, payment)];
        self.transact("report_refund", scope, keys, |mut loaded, cx| {
            let refund = loaded.take::<Refund>(0).ok_or(Refused::NotFound("refund"))?;
            let Some((reports, next)) = heard.of(refund.version, &refund.value.connection, scope)
            else {
                return Ok(nothing());
            };
            let payment = loaded.take(1).ok_or(Refused::NotFound("payment"))?;
            let case = decide::refund::Case { refund, payment };
            let elsewhere = heard.is_of_another(&case.refund.value.connection);
            let decision = decide::refund::report(case, &reports, next, Actor::Network, cx)?;
            Ok(decision.map(|it| elsewhere || it.status.is_contradicted_by(&reports)))
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
    /// Which connection spoke, where that is known; else the one that carries the order.
    pub(crate) from: Option<&'a Connection>,
}

impl Heard<'_> {
    /// Did another connection speak than the one that carries the order? What it says was paid may
    /// be paid twice: it had said that it did not take the order on.
    fn is_of_another(&self, connection: &Connection) -> bool {
        self.from.is_some_and(|from| from != connection)
    }

    /// What of this counts for an order that is at `version` by now, and the plan after it; `None`
    /// when nothing does.
    ///
    /// What was said of an earlier state overturns no plan. Nor does it fail an order: that *our*
    /// sending did not arrive, or was not taken on, says nothing once somebody else may have sent
    /// the order again, because our hold on it was over by their clock. And what the simulator said
    /// of an earlier state counts for nothing: a person has told it another story since (API §17.2).
    fn of(
        &self,
        version: u64,
        connection: &Connection,
        scope: Scope,
    ) -> Option<(Cow<'_, [Report]>, NextQuestion)> {
        if self.is_of_another(connection) && !self.reports.contains(&Report::Paid) {
            return None;
        }
        let Some(asked) = self.asked else {
            return Some((self.reports.into(), NextQuestion::AsPlanned));
        };
        if asked == version {
            return Some((self.reports.into(), self.ask_again_at.into()));
        }
        if scope.environment == Environment::Sandbox {
            return None;
        }
        let of_the_order = |it: &&Report| !matches!(it, Report::Unreachable | Report::Refused(..));
        let reports: Vec<Report> = self.reports.iter().filter(of_the_order).cloned().collect();
        let next = self.ask_again_at.map(NextQuestion::AtUnlessPlanned);
        if reports.is_empty() && next.is_none() {
            return None;
        }
        Some((reports.into(), next.unwrap_or(NextQuestion::AsPlanned)))
    }
}

/// Nothing was heard that counts.
fn nothing() -> Decision<bool> {
    Decision { value: false, changes: Changeset::new(), if_short: None }
}
