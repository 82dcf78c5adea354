//! Orders with their networks: submitted once, asked about until the network has spoken.

use std::time::Duration;

use cauri_core::{
    Environment, Error as Refused, Key, Order, OrderId, Payment, PaymentStatus, Record, Refund,
    Report, Timestamp, Versioned, decide,
};

use super::Worker;
use crate::{
    error::Error,
    port::gateway::Answer,
    store_ext::StoreExt,
    use_case::{Heard, payment_keys},
};

/// How long all talk with a network about an order may take, before its answer is unknown. Shorter
/// than a lease.
pub(crate) const NETWORK_TIMEOUT: Duration = Duration::from_secs(10);

/// When a network that did not answer is asked again, in milliseconds.
const ASK_AGAIN_MS: i64 = 5_000;

impl Worker {
    /// Does what is due about an order. `mine` says that this process made it just now, so that it
    /// certainly was not submitted before.
    pub(super) async fn order(&self, held: Versioned<Record>, mine: bool) {
        self.engine.0.recent.put(held.clone(), self.now());
        let Versioned { value: ref record, version, .. } = held;
        let outcome = match record {
            Record::Payment(payment) => self.payment(payment, version, mine).await,
            Record::Payout(payout) => {
                let order = Order::payout(payout);
                self.consult(
                    &order,
                    payout.status == cauri_core::PayoutStatus::Created,
                    version,
                    mine,
                )
                .await
            }
            Record::Refund(refund) => self.refund(refund, version, mine).await,
            _ => Ok(()),
        };
        if let Err(error) = outcome {
            // Due again when the lease ends.
            tracing::warn!(%error, record = ?record.key(), "an order could not be seen to");
        }
    }

    async fn payment(&self, payment: &Payment, version: u64, mine: bool) -> Result<(), Error> {
        let now = self.now();
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        if payment.is_unsettled() && due(payment.available_at) {
            return self.settle(payment).await;
        }
        let order = Order::payment(payment);
        let unsent = payment.status == PaymentStatus::Created && payment.expires_at > now;
        self.consult(&order, unsent, version, mine).await
    }

    async fn settle(&self, payment: &Payment) -> Result<(), Error> {
        let keys = payment_keys(payment);
        self.engine
            .transact(payment.scope, keys, |mut loaded, cx| {
                let payment = loaded.take(0).ok_or(Refused::NotFound("payment"))?;
                let case = decide::payment::Case { payment, link: loaded.take(1) };
                decide::payment::settle(case, cx)
            })
            .await?;
        Ok(())
    }

    async fn refund(&self, refund: &Refund, version: u64, mine: bool) -> Result<(), Error> {
        let key = Key::Payment(refund.scope, refund.payment);
        let payment = self.engine.0.store.find::<Payment>(key).await?;
        let payment = payment.ok_or(Refused::NotFound("payment"))?.value;
        let order = Order::refund(refund, &payment);
        self.consult(&order, refund.accepted_at.is_none(), version, mine).await
    }

    /// Talks to the network and tells the engine what it said. An order that may have been sent
    /// before is asked about first, and sent only when the network has never heard of it. All of
    /// it ends well within a lease, so that nobody else talks about the same order meanwhile.
    async fn consult(
        &self,
        order: &Order,
        unsent: bool,
        version: u64,
        mine: bool,
    ) -> Result<(), Error> {
        let talk = tokio::time::timeout(NETWORK_TIMEOUT, self.talk(order, unsent, mine));
        let answer = talk.await.unwrap_or_else(|_| {
            tracing::warn!(order = %order.id, "the network did not answer in time");
            let ask_again_at = Some(self.now().plus_millis(ASK_AGAIN_MS));
            Answer { reports: vec![Report::Unknown], ask_again_at }
        });
        let Answer { reports, ask_again_at } = answer;
        let heard = Heard { reports: &reports, ask_again_at, asked: Some(version) };
        self.engine.hear(order.scope, order.id, &heard).await?;
        if unsent && reports.iter().any(|report| matches!(report, Report::Accepted { .. })) {
            self.call_off_if_cancelled(order).await?;
        }
        Ok(())
    }

    /// A payment that was cancelled while it was on its way to the network is called off there too.
    async fn call_off_if_cancelled(&self, order: &Order) -> Result<(), Error> {
        let (OrderId::Payment(id), Environment::Live) = (order.id, order.scope.environment) else {
            return Ok(());
        };
        let found = self.engine.0.store.find::<Payment>(Key::Payment(order.scope, id)).await?;
        if found.is_none_or(|it| it.value.status != PaymentStatus::Cancelled) {
            return Ok(());
        }
        let asked = self.engine.gateway(order).cancel(order, self.now());
        if !tokio::time::timeout(NETWORK_TIMEOUT, asked).await.unwrap_or(false) {
            tracing::error!(order = %order.id, "cancelled here, but the network did not call it off");
        }
        Ok(())
    }

    async fn talk(&self, order: &Order, unsent: bool, mine: bool) -> Answer {
        let gateway = self.engine.gateway(order);
        if unsent && mine {
            return gateway.submit(order, self.now()).await;
        }
        let mut answer = gateway.query(order, self.now()).await;
        if unsent && answer.reports.contains(&Report::NotFound) {
            answer = gateway.submit(order, self.now()).await;
            if order.scope.environment == Environment::Sandbox {
                // The simulator loses nothing on the way: what it says is so.
                return answer;
            }
        }
        // What did not get through now says nothing of an order that may have been sent before: it
        // may still be on its way to a network that does not know it yet.
        if answer.reports.contains(&Report::Unreachable) {
            answer.reports.retain(|report| *report != Report::Unreachable);
            answer.ask_again_at =
                answer.ask_again_at.or_else(|| Some(self.now().plus_millis(ASK_AGAIN_MS)));
        }
        answer
    }
}
