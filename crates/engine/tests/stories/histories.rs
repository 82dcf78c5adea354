//! Random histories: whatever is done, in whatever order, the books add up, every transition told
//! one event, and nothing moves without reason.

use std::collections::HashMap;

use cauri::{
    Amount, EventKind, List, PaymentStatus, Query, RefundStatus, Scenario, StoreExt, Versioned,
    wire,
};
use cauri_conformance::fixtures::Random;
use serde_json::json;

use crate::support::Story;

const SUFFIXES: [&str; 10] =
    ["0000", "0002", "0101", "0106", "0201", "0301", "0302", "0303", "0401", "0402"];

struct History {
    story: Story,
    random: Random,
    payments: Vec<cauri::PaymentId>,
    objects: Vec<String>,
}

impl History {
    fn pick<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        (!of.is_empty()).then(|| self.random.pick(of).clone())
    }

    async fn step(&mut self) {
        match self.random.below(12) {
            0..=2 => self.pay().await,
            3 => self.pay_by_card().await,
            4 => {
                self.story.fund(i64::try_from(self.random.below(20_000)).unwrap() + 1, "XOF").await
            }
            5 | 6 => self.refund().await,
            7 => self.payout().await,
            8 | 9 => self.simulate().await,
            10 => self.cancel().await,
            _ => {
                let millis = i64::try_from(self.random.below(5_000)).unwrap();
                self.story.wait(millis).await;
            }
        }
    }

    async fn pay(&mut self) {
        let suffix = self.pick(&SUFFIXES).unwrap();
        let network = self.pick(&["mtn", "orange", "moov", "wave"]).unwrap();
        let amount = self.random.below(10_000) + 100;
        let phone = format!("+225050000{suffix}");
        let paid = self.story.pay(json!({"phone": phone, "network": network, "amount": amount}));
        let id = paid.await.unwrap().id;
        self.payments.push(id);
        self.objects.push(id.to_string());
    }

    async fn pay_by_card(&mut self) {
        let amount = self.pick(&[10_900, 10_911, 10_931, 10_933, 10_941, 10_942, 777]).unwrap();
        let paid = self.story.pay(json!({
            "amount": amount, "payment_method": "card", "network": null, "phone": null,
            "country": "CI",
        }));
        let id = paid.await.unwrap().id;
        self.payments.push(id);
        self.objects.push(id.to_string());
    }

    async fn refund(&mut self) {
        let payments = self.payments.clone();
        let Some(payment) = self.pick(&payments) else { return };
        let amount = self.random.below(6_000) + 1;
        let ask = if self.random.below(3) == 0 {
            json!({ "payment": payment })
        } else {
            json!({"payment": payment, "amount": amount})
        };
        if let Ok(refund) = self.story.refund(ask).await {
            self.objects.push(refund.id.to_string());
        }
    }

    async fn payout(&mut self) {
        let suffix = self.pick(&["0000", "0002", "0201", "0202", "0301", "0501"]).unwrap();
        let amount = i64::try_from(self.random.below(5_000)).unwrap() + 100;
        let sent = self.story.payout(&format!("+22177000{suffix}"), amount).await;
        if let Ok(payout) = sent {
            self.objects.push(payout.id.to_string());
        }
    }

    async fn simulate(&mut self) {
        let objects = self.objects.clone();
        let scenario = self.pick(Scenario::ALL).unwrap();
        if let Some(id) = self.pick(&objects) {
            // Most of it is refused; what is not must leave sound books behind.
            let _ = self.story.simulate(&id, scenario).await;
        }
    }

    async fn cancel(&mut self) {
        let payments = self.payments.clone();
        if let Some(id) = self.pick(&payments) {
            let ask = wire::CancelPayment::default();
            let _ = self.story.engine.cancel_payment(&self.story.call(), id, ask).await;
        }
    }

    async fn events(&self) -> HashMap<EventKind, usize> {
        let query = Query::all(List::Events(self.story.me.scope));
        let events: Vec<cauri::Event> = self.story.engine.store().all(query).await.unwrap();
        let mut counts = HashMap::new();
        for event in events {
            *counts.entry(event.kind).or_default() += 1;
        }
        counts
    }

    /// What must be true after every step: the books add up, and what payments say of their own
    /// pending money is what the ledger says of all of it.
    async fn check_money(&self) {
        self.story.sound().await;
        let list = List::Payments(self.story.me.scope);
        let payments: Vec<cauri::Payment> =
            self.story.engine.store().all(Query::all(list)).await.unwrap();
        let pending: i64 = payments.iter().map(|it| it.pending_amount.units()).sum();
        assert_eq!(self.story.balance("XOF").await.1, pending);
    }

    /// What must be true whenever nothing is under way.
    async fn check(&self) {
        self.story.sound().await;
        let scope = self.story.me.scope;
        let store = self.story.engine.store();
        let payments: Vec<cauri::Payment> =
            store.all(Query::all(List::Payments(scope))).await.unwrap();
        let refunds: Vec<cauri::Refund> =
            store.all(Query::all(List::Refunds(scope))).await.unwrap();
        for payment in &payments {
            let of = |status: RefundStatus| {
                refunds
                    .iter()
                    .filter(|it| it.payment == payment.id && it.status == status)
                    .fold(Amount::ZERO, |sum, it| sum.plus(it.amount).unwrap())
            };
            assert_eq!(payment.refunded_amount, of(RefundStatus::Succeeded));
            assert_eq!(payment.refunding_amount, of(RefundStatus::Created));
            assert!(payment.pending_amount >= Amount::ZERO);
            assert!(payment.fee_returned_amount <= payment.fee_amount);
            if payment.status == PaymentStatus::Refunded {
                assert_eq!(payment.fee_returned_amount, payment.fee_amount, "{payment:?}");
            }
        }
        let events = self.events().await;
        let count = |kind| events.get(&kind).copied().unwrap_or_default();
        let with = |f: fn(&cauri::Payment) -> bool| payments.iter().filter(|it| f(it)).count();
        assert_eq!(count(EventKind::PaymentCreated), payments.len());
        assert_eq!(count(EventKind::PaymentProcessing), with(|it| it.processing_at.is_some()));
        assert_eq!(count(EventKind::PaymentSucceeded), with(|it| it.succeeded_at.is_some()));
        assert_eq!(count(EventKind::PaymentFailed), with(|it| it.failed_at.is_some()));
        assert_eq!(count(EventKind::PaymentExpired), with(|it| it.expired_at.is_some()));
        assert_eq!(count(EventKind::PaymentCancelled), with(|it| it.cancelled_at.is_some()));
        let succeeded = refunds.iter().filter(|it| it.status == RefundStatus::Succeeded).count();
        assert_eq!(count(EventKind::RefundSucceeded), succeeded);
        assert_eq!(
            count(EventKind::PaymentRefunded) + count(EventKind::PaymentPartiallyRefunded),
            succeeded
        );
        let sent = self.story.receiver.sent.lock().unwrap().len();
        assert_eq!(sent, events.values().sum::<usize>(), "each event is delivered once");
    }
}

#[tokio::test]
async fn whatever_happens_the_books_add_up() {
    for seed in 0..40 {
        let story = Story::begin().await;
        story.listen(json!(["*"])).await;
        let random = Random::new(seed);
        let mut history = History { story, random, payments: Vec::new(), objects: Vec::new() };
        for _ in 0..60 {
            history.step().await;
            history.check_money().await;
        }
        // Three days: every card has settled, every payment has ended or waits for nothing.
        history.story.settle().await;
        for _ in 0..3 {
            history.story.clock.advance_millis(86_400_000);
            history.story.settle().await;
        }
        history.check().await;
    }
}

#[tokio::test]
async fn the_events_of_a_commit_are_numbered_in_the_order_in_which_they_are_told() {
    let story = Story::begin().await;
    let payment = story.pay(json!({})).await.unwrap();
    story.simulate(&payment.id.to_string(), Scenario::Success).await.unwrap();
    let query = Query::all(List::Events(story.me.scope));
    let listed = story.engine.store().list(&query).await.unwrap().items;
    let ids: Vec<cauri::EventId> = listed
        .into_iter()
        .filter_map(|Versioned { value, .. }| match value {
            cauri::Record::Event(event) => Some(event.id),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.windows(2).all(|pair| pair[0] > pair[1]), "newest first, and greatest first");
}
