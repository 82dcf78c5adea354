//! Orders with their networks: submitted once, asked about until the network has spoken.

use std::time::Duration;

use cauri_core::{
    Connection, Environment, Error as Refused, FailureCode, Key, Order, OrderId, Payment,
    PaymentStatus, PayoutStatus, Record, Refund, Report, Timestamp, TraceContext, Versioned,
    decide::{self, route::was_not_carried},
};

use super::Worker;
use crate::{
    error::Error,
    mailbox::Place,
    port::{gateway::Answer, store::StoreError},
    store_ext::StoreExt,
    trace,
    use_case::{Heard, payment_keys},
};

/// How long all talk with a network about an order may take, before its answer is unknown. Shorter
/// than a lease.
pub(crate) const NETWORK_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a busy store is told again what a network said, in milliseconds, and how much of a lease
/// must be left for it.
const TELL_AGAIN_MS: u64 = 250;
const TELL_WITHIN_MS: i64 = 1_000;

/// When a network that did not answer is asked again, in milliseconds.
const ASK_AGAIN_MS: i64 = 5_000;

/// How much of a lease must be left to begin to talk with a network, in milliseconds.
const CONSULT_MS: i64 = 12_000;

/// How much of it is left when all talk took its whole time: with less, something has held us up, and
/// somebody else may have sent the order by now.
const SUBMIT_MS: i64 = 2_000;

/// Where an order comes from.
#[derive(Debug)]
pub(super) enum Whose {
    /// This process made it just now, so that it certainly was not submitted before; in which trace,
    /// and its place among what waits to be begun.
    Mine(Option<TraceContext>, Place),
    /// It was claimed.
    Claimed,
}

impl Worker {
    /// Does what is due about an order, going on with the trace in which it was made where that is
    /// still known.
    pub(super) async fn order(&self, held: Versioned<Record>, whose: Whose) {
        let recent = &self.engine.0.recent;
        if !recent.put(held.clone(), self.now()) {
            // This process has written it since: what was held is not what it is.
            return;
        }
        let (mine, trace) = match whose {
            Whose::Mine(trace, _begun) => (true, trace),
            Whose::Claimed => (false, recent.trace(&held.value.key())),
        };
        let (id, scope) = match &held.value {
            Record::Payment(it) => (OrderId::Payment(it.id), it.scope),
            Record::Payout(it) => (OrderId::Payout(it.id), it.scope),
            Record::Refund(it) => (OrderId::Refund(it.id), it.scope),
            _ => return,
        };
        let span = trace::order(id, scope);
        self.engine.go_on(trace, span, self.see_to(held, mine)).await;
    }

    async fn see_to(&self, held: Versioned<Record>, mine: bool) {
        let Versioned { value: ref record, version, due_at } = held;
        let hold = Hold { version, until: due_at, mine };
        let outcome = match record {
            Record::Payment(payment) => self.payment(payment, hold).await,
            Record::Payout(payout) => {
                let order = Order::payout(payout);
                let unsent = payout.status == PayoutStatus::Created;
                self.consult(order, unsent, hold).await
            }
            Record::Refund(refund) => self.refund(refund, hold).await,
            _ => Ok(()),
        };
        if let Err(error) = outcome {
            // Due again when the lease ends.
            tracing::warn!(%error, record = ?record.key(), "an order could not be seen to");
        }
    }

    async fn payment(&self, payment: &Payment, hold: Hold) -> Result<(), Error> {
        let now = self.now();
        if payment.status == PaymentStatus::Cancelled {
            return self.call_off(payment, hold).await;
        }
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        if payment.is_unsettled() && due(payment.available_at) {
            return self.settle(payment).await;
        }
        let order = Order::payment(payment);
        let unsent = payment.status == PaymentStatus::Created && payment.expires_at > now;
        self.consult(order, unsent, hold).await
    }

    async fn settle(&self, payment: &Payment) -> Result<(), Error> {
        let keys = payment_keys(payment);
        self.engine
            .transact("settle_payment", payment.scope, keys, |mut loaded, cx| {
                let payment = loaded.take(0).ok_or(Refused::NotFound("payment"))?;
                let case = decide::payment::Case { payment, link: loaded.take(1) };
                decide::payment::settle(case, cx)
            })
            .await?;
        Ok(())
    }

    async fn refund(&self, refund: &Refund, hold: Hold) -> Result<(), Error> {
        let key = Key::Payment(refund.scope, refund.payment);
        let payment = self.engine.0.store.find::<Payment>(key).await?;
        let payment = payment.ok_or(Refused::NotFound("payment"))?.value;
        let order = Order::refund(refund, &payment);
        self.consult(order, refund.accepted_at.is_none(), hold).await
    }

    /// Talks to the network and tells the engine what it said. An order that may have been sent
    /// before is asked about first, and sent only when the network has never heard of it. All of
    /// it ends well within a lease, so that nobody else talks about the same order meanwhile.
    ///
    /// An order that was not carried goes to the next connection of its route, but only while it is
    /// certain that nobody else has sent it, and once the move is written down, which is a new
    /// lease.
    async fn consult(&self, mut order: Order, unsent: bool, mut hold: Hold) -> Result<(), Error> {
        let mut tried = Vec::new();
        let Answer { reports, ask_again_at } = loop {
            if !is_held(hold.until, self.now()) {
                // Reading what belongs to it took too long, or this process was stopped meanwhile.
                return Ok(());
            }
            let (answer, next) = if unsent && hold.mine {
                self.send(&order, &tried).await
            } else {
                (self.ask(&order, unsent, hold.until).await, None)
            };
            let Some(next) = next else { break answer };
            let Some(moved) = self.engine.reroute(&order, hold.version, &next).await? else {
                break answer;
            };
            if !is_held(moved.due_at, self.now()) {
                // Whoever claims it asks the new connection first.
                return Ok(());
            }
            hold = Hold { version: moved.version, until: moved.due_at, ..hold };
            tried.push(std::mem::replace(&mut order, moved.value).connection);
        };
        let asked = Some(hold.version);
        let heard = Heard { reports: &reports, ask_again_at, asked, from: None };
        let told = self.held(hold.until, || self.engine.hear(order.scope, order.id, &heard)).await;
        if unsent && may_be_there(&reports) {
            self.call_off_if_cancelled(&order).await?;
        }
        told
    }

    /// Writes down what took effort to learn: a store that is away for a moment is told again, as
    /// long as what it is about is surely ours.
    pub(super) async fn held<T, F>(
        &self,
        until: Option<Timestamp>,
        mut tell: impl FnMut() -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let last = until.map(|until| until.plus_millis(-TELL_WITHIN_MS));
        loop {
            match tell().await {
                // Nothing was applied. What may have been is not told twice.
                Err(Error::Store(StoreError::Unavailable(_)) | Error::Contended)
                    if last.is_some_and(|last| self.now() < last) =>
                {
                    tokio::time::sleep(Duration::from_millis(TELL_AGAIN_MS)).await;
                }
                told => return told,
            }
        }
    }

    /// Calls off at its network what was cancelled here and may have been sent, until that is over.
    async fn call_off(&self, payment: &Payment, hold: Hold) -> Result<(), Error> {
        if !is_held(hold.until, self.now()) {
            return Ok(());
        }
        let order = Order::payment(payment);
        let rail = self.engine.rail(&order);
        let mut is_off = false;
        let answer = self.in_time(&order, async {
            is_off = rail.cancel(self.now()).await;
            if is_off {
                Some(Answer { reports: Vec::new(), ask_again_at: None })
            } else {
                rail.query(self.now()).await
            }
        });
        let Answer { reports, .. } = answer.await;
        let again = decide::payment::call_off_again(payment, &reports, self.now());
        let again = again.filter(|_| !is_off);
        if !is_off && again.is_none() && !reports.contains(&Report::NotFound) {
            tracing::error!(order = %order.id, ?reports, "cancelled here, but the network did not call it off");
        }
        // Only that it was paid is told: the merchant must know, and give it back.
        let paid = reports.into_iter().find(|report| *report == Report::Paid);
        let (reports, asked) = (Vec::from_iter(paid), Some(hold.version));
        let heard = Heard { reports: &reports, ask_again_at: again, asked, from: None };
        self.held(hold.until, || self.engine.hear(order.scope, order.id, &heard)).await
    }

    /// A payment that was cancelled while it was on its way to the network is called off there as
    /// soon as it has arrived. Should that fail, [`Self::call_off`] goes on.
    async fn call_off_if_cancelled(&self, order: &Order) -> Result<(), Error> {
        let (OrderId::Payment(id), Environment::Live) = (order.id, order.scope.environment) else {
            return Ok(());
        };
        let found = self.engine.0.store.find::<Payment>(Key::Payment(order.scope, id)).await?;
        if found.is_none_or(|it| it.value.status != PaymentStatus::Cancelled) {
            return Ok(());
        }
        let rail = self.engine.rail(order);
        let asked = rail.cancel(self.now());
        if !tokio::time::timeout(NETWORK_TIMEOUT, asked).await.unwrap_or(false) {
            tracing::warn!(order = %order.id, "cancelled here, but not yet called off by the network");
        }
        Ok(())
    }

    /// Sends an order that nobody has sent before. Answers also where it goes next, when this
    /// connection certainly does not carry it.
    async fn send(&self, order: &Order, tried: &[Connection]) -> (Answer, Option<Connection>) {
        let router = &self.engine.0.router;
        let terms = self.engine.terms();
        // Whoever sent it on to this connection has asked its breaker already.
        if tried.is_empty()
            && let Some(next) = router.instead(order, terms, self.now())
        {
            return (Answer::final_report(Report::Unreachable), Some(next.clone()));
        }
        let answer = self.in_time(order, self.submit(order)).await;
        let next = was_not_carried(&answer.reports)
            .then(|| router.after(order, tried, terms, self.now()).cloned())
            .flatten();
        (answer, next)
    }

    /// Asks about an order that may have been sent before, and that is held until then.
    async fn ask(&self, order: &Order, unsent: bool, until: Option<Timestamp>) -> Answer {
        self.in_time(order, async {
            let mut answer = self.engine.rail(order).query(self.now()).await?;
            let sent_again = unsent && answer.reports.contains(&Report::NotFound);
            if sent_again {
                let now = self.now();
                if until.is_none_or(|until| until < now.plus_millis(SUBMIT_MS)) {
                    let ask_again_at = Some(now.plus_millis(ASK_AGAIN_MS));
                    return Some(Answer { reports: Vec::new(), ask_again_at });
                }
                answer = self.submit(order).await?;
                if order.scope.environment == Environment::Sandbox {
                    // The simulator loses nothing on the way: what it says is so.
                    return Some(answer);
                }
            }
            // What did not get through now, or met a network that was closed just then, says nothing
            // of an order that may have been sent before: it may still be on its way to a network
            // that does not know it yet, and takes it on when it comes.
            let says_nothing = |report: &Report| match report {
                Report::Unreachable => true,
                Report::Refused(FailureCode::NetworkUnavailable) => sent_again,
                _ => false,
            };
            if answer.reports.iter().any(says_nothing) {
                answer.reports.retain(|report| !says_nothing(report));
                answer.ask_again_at =
                    answer.ask_again_at.or_else(|| Some(self.now().plus_millis(ASK_AGAIN_MS)));
            }
            Some(answer)
        })
        .await
    }

    async fn submit(&self, order: &Order) -> Option<Answer> {
        let sent = Sent { worker: self, order, is_answered: false };
        let answer = self.engine.rail(order).submit(self.now()).await?;
        sent.answered(&answer);
        Some(answer)
    }

    /// What a network says before our patience ends, or its gateway panics: then nobody knows what
    /// it did, and it is asked.
    async fn in_time(&self, order: &Order, talk: impl Future<Output = Option<Answer>>) -> Answer {
        let said = tokio::time::timeout(NETWORK_TIMEOUT, talk).await;
        said.ok().flatten().unwrap_or_else(|| {
            tracing::warn!(order = %order.id, "the network did not answer, or not in time");
            let ask_again_at = Some(self.now().plus_millis(ASK_AGAIN_MS));
            Answer { reports: vec![Report::Unknown], ask_again_at }
        })
    }
}

/// How this process holds an order.
#[derive(Debug, Clone, Copy)]
struct Hold {
    version: u64,
    until: Option<Timestamp>,
    /// Did it make the order just now, so that it certainly was not submitted before?
    mine: bool,
}

/// A submission under way. One that is given up, or whose gateway panics, was not answered.
struct Sent<'a> {
    worker: &'a Worker,
    order: &'a Order,
    is_answered: bool,
}

impl Sent<'_> {
    fn answered(mut self, answer: &Answer) {
        self.is_answered = true;
        self.worker.engine.0.router.heard(self.order, answer, self.worker.now());
    }
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.worker.engine.0.router.failed(self.order, self.worker.now());
        }
    }
}

/// May the network have the order, or get it still, by what it said to a sending?
fn may_be_there(reports: &[Report]) -> bool {
    let is_refused = |report: &Report| matches!(report, Report::Refused(_));
    !was_not_carried(reports) && !reports.iter().any(is_refused)
}

/// Is something held for long enough to talk with a network about it?
pub(super) fn is_held(until: Option<Timestamp>, now: Timestamp) -> bool {
    until.is_some_and(|until| until >= now.plus_millis(CONSULT_MS))
}
