//! The gateway under test, asked in a few words.

use std::{pin::pin, sync::Arc, time::Duration};

use cauri::{
    Answer, Capabilities, Environment, Gateway, Order, Payment, PaymentStatus, Payout,
    PayoutStatus, Refund, RefundStatus, Report, Scope, Timestamp,
};
use futures_util::future::{Either, select};
use tokio::time::sleep;

use super::rig::{Conduct, End, Place, Rig};
use crate::fixtures::{self, Random};

/// The gateway under test, with the network behind it. Whatever goes wrong panics.
pub(crate) struct Subject {
    pub(crate) rig: Arc<dyn Rig>,
    pub(crate) declared: Capabilities,
}

/// What kinds of order a gateway may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Payment,
    Payout,
    Refund,
}

impl Subject {
    pub(crate) fn new(rig: Arc<dyn Rig>, declared: Capabilities) -> Self {
        Self { rig, declared }
    }

    pub(crate) async fn gateway(&self) -> Arc<dyn Gateway> {
        self.rig.gateway().await
    }

    /// The kinds that the gateway declares.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let Capabilities { payin, payout, refund, .. } = self.declared;
        [(Kind::Payment, payin), (Kind::Payout, payout), (Kind::Refund, refund)]
            .into_iter()
            .filter_map(|(kind, can)| can.then_some(kind))
            .collect()
    }

    /// An order that has never been sent. The payment that a refund returns is made and paid.
    pub(crate) async fn order(&self, kind: Kind, random: &mut Random) -> Order {
        match kind {
            Kind::Payment => Order::payment(&self.payment(random)),
            Kind::Payout => Order::payout(&self.payout(random)),
            Kind::Refund => {
                let mut payment = self.payment(random);
                self.taken_on(&Order::payment(&payment)).await;
                self.rig.end(End::Paid).await;
                payment.status = PaymentStatus::Succeeded;
                payment.processing_at = Some(now());
                Order::refund(&self.refund(random, &payment), &payment)
            }
        }
    }

    /// A live payment at the place of the rig.
    pub(crate) fn payment(&self, random: &mut Random) -> Payment {
        let Place { country, offer, phone } = self.rig.place();
        let scope = live(random);
        Payment {
            status: PaymentStatus::Created,
            amount: offer.min,
            currency: offer.currency,
            country,
            method: offer.method,
            network: Some(offer.network),
            phone,
            otp: None,
            return_url: None,
            connection: offer.connection,
            created_at: now(),
            expires_at: now().plus_seconds(900),
            processing_at: None,
            simulation: None,
            ..fixtures::payment(random, scope)
        }
    }

    fn payout(&self, random: &mut Random) -> Payout {
        let Place { country, offer, phone } = self.rig.place();
        let scope = live(random);
        let made = fixtures::payout(random, scope);
        Payout {
            status: PayoutStatus::Created,
            amount: offer.min,
            currency: offer.currency,
            country,
            method: offer.method,
            network: offer.network,
            phone: phone.unwrap_or_else(|| made.phone.clone()),
            connection: offer.connection,
            processing_at: None,
            simulation: None,
            ..made
        }
    }

    fn refund(&self, random: &mut Random, payment: &Payment) -> Refund {
        Refund {
            status: RefundStatus::Created,
            payment: payment.id,
            amount: payment.amount,
            currency: payment.currency,
            connection: payment.connection.clone(),
            accepted_at: None,
            simulation: None,
            ..fixtures::refund(random, payment.scope)
        }
    }

    /// Sends an order that the network takes on.
    pub(crate) async fn taken_on(&self, order: &Order) {
        let Answer { reports, .. } = self.gateway().await.submit(order, now()).await;
        assert!(is_accepted(&reports), "it works, and answered {reports:?} to {:?}", order.id);
    }

    /// Begins a call while the network hangs, and gives it up once the network has done what it was
    /// asked: as many orders as this are taken on by then.
    pub(crate) async fn given_up(&self, order: &Order, taken_on: usize) {
        self.rig.conduct(Conduct::Hangs).await;
        let gateway = self.gateway().await;
        let done = pin!(async {
            for _ in 0..5_000 {
                if self.rig.taken_on().await >= taken_on {
                    return;
                }
                sleep(Duration::from_millis(2)).await;
            }
            panic!("{:?} never arrived at the network", order.id);
        });
        let call = gateway.submit(order, now());
        if let Either::Left((answer, done)) = select(call, done).await {
            never_carried(&answer, Conduct::Hangs);
            done.await;
        }
        self.rig.conduct(Conduct::Works).await;
    }
}

/// When the trials are played.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(1_731_974_400_000)
}

fn live(random: &mut Random) -> Scope {
    Scope { environment: Environment::Live, ..random.scope() }
}

/// Has the network the order, and has not ended it? Nothing of a rig is paid before it is told to
/// end so, so that a gateway that says paid beside accepted speaks too early.
pub(crate) const fn is_accepted(reports: &[Report]) -> bool {
    matches!(reports, [Report::Accepted { .. }])
}

/// Does it say how the order ended, or that it never was one?
pub(crate) const fn is_final(report: &Report) -> bool {
    match report {
        Report::Refused(_)
        | Report::Paid
        | Report::Failed(_)
        | Report::Expired
        | Report::NotFound => true,
        Report::Accepted { .. } | Report::Unreachable | Report::Unknown => false,
        // Whatever comes to be one day: until the laws know it, it says something.
        _ => true,
    }
}

/// Nobody knows whether the network has taken the order on: then nothing may be said that would
/// fail it, or send it elsewhere.
pub(crate) fn never_carried(answer: &Answer, conduct: Conduct) {
    for report in &answer.reports {
        let claims = *report == Report::Unreachable || is_final(report);
        assert!(!claims, "{report:?} of an order that may have been taken on ({conduct:?})");
    }
    assert!(
        answer.reports.contains(&Report::Unknown) || is_accepted(&answer.reports),
        "{answer:?} leaves out that nobody knows ({conduct:?})",
    );
}
