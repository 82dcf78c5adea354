//! What must be true when all has come to rest.

use std::collections::BTreeMap;

use cauri::{
    DeliveryStatus, Environment, Key, OrderId, PaymentStatus, PayoutStatus, Record, RefundStatus,
    Scope, TimelineKind,
};

use super::{Oracle, money};
use crate::{
    rails::{Rails, Standing},
    receiver::Receivers,
};

/// What the end of a run counts beside violations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Books {
    /// Payments that the merchant called off while they were on their way, and that were paid all
    /// the same: the contract lets them be, with a line in their timeline.
    pub(crate) stray: u64,
}

impl Oracle {
    /// How much still waits, apart from answers that are kept.
    pub(crate) fn waiting(&self) -> usize {
        let waits = |it: &&cauri::Versioned<Record>| {
            it.due_at.is_some() && !matches!(it.value, Record::Idempotency(_))
        };
        self.records.values().filter(waits).count()
    }

    /// Answers that are still kept.
    pub(crate) fn kept(&self) -> usize {
        self.records.values().filter(|it| matches!(it.value, Record::Idempotency(_))).count()
    }

    /// Everything has ended, and all books agree.
    pub(crate) fn at_rest(&mut self, rails: &Rails, receivers: &Receivers) -> Books {
        let mut books = Books::default();
        let records: Vec<Record> = self.records.values().map(|it| it.value.clone()).collect();
        for held in self.records.clone().into_values() {
            if held.due_at.is_some() && !matches!(held.value, Record::Idempotency(_)) {
                self.find("nothing waits for ever", format!("{:?} is still due", held.value.key()));
            }
        }
        for record in &records {
            self.has_ended(record);
            self.money_agrees(record, rails, &mut books);
            self.was_delivered(record, receivers);
        }
        self.links_agree(&records);
        for rail in rails.all() {
            if rail.moved != 0 && rail.standing != Some(Standing::Paid) {
                let text = format!("{:?} at the network itself", rail.order.id);
                self.find("money is never moved twice", text);
            }
        }
        books
    }

    fn has_ended(&mut self, record: &Record) {
        let open = match record {
            Record::Payment(it) => {
                it.status.is_open() || it.is_unsettled() || it.refunding_amount.is_positive()
            }
            Record::Payout(it) => it.status.is_open(),
            Record::Refund(it) => it.status == RefundStatus::Created,
            Record::Delivery(it) => it.status == DeliveryStatus::Pending,
            _ => false,
        };
        if open {
            self.find("nothing waits for ever", format!("{:?} has not ended", record.key()));
        }
    }

    /// What the network really moved is what we say.
    fn money_agrees(&mut self, record: &Record, rails: &Rails, books: &mut Books) {
        let (scope, id, amount, ours) = match record {
            Record::Payment(it) => {
                (it.scope, OrderId::Payment(it.id), it.amount, it.succeeded_at.is_some())
            }
            Record::Payout(it) => {
                let done = it.status == PayoutStatus::Succeeded;
                (it.scope, OrderId::Payout(it.id), it.amount, done)
            }
            Record::Refund(it) => {
                let done = it.status == RefundStatus::Succeeded;
                (it.scope, OrderId::Refund(it.id), it.amount, done)
            }
            _ => return,
        };
        if scope.environment == Environment::Sandbox {
            return;
        }
        let moved: i64 = rails.of_order(id).map(|rail| rail.moved).sum();
        let said = if ours { amount.units() } else { 0 };
        if moved == said {
            self.calm_orders(rails, id);
            return;
        }
        if let Record::Payment(it) = record
            && it.status == PaymentStatus::Cancelled
            && it.processing_at.is_none()
        {
            books.stray += 1;
            let heard = rails.of_order(id).any(|rail| rail.heard);
            if heard && !self.has_line(scope, it.id, TimelineKind::NetworkReportIgnored) {
                self.find("what is ignored is written down", format!("{}", it.id));
            }
            return;
        }
        let text = format!("{id:?}: the network moved {moved}, our books say {said}");
        self.find("money is never created, lost or paid twice", text);
    }

    /// Where nothing fails, an order is sent once.
    fn calm_orders(&mut self, rails: &Rails, id: OrderId) {
        if self.calm && rails.of_order(id).any(|rail| rail.submits > 1) {
            self.find("where nothing fails, an order is sent once", format!("{id:?}"));
        }
    }

    fn has_line(&self, scope: Scope, payment: cauri::PaymentId, kind: TimelineKind) -> bool {
        (1..)
            .map_while(|number| self.record(&Key::TimelineEntry(scope, payment, number)))
            .any(|line| matches!(line, Record::TimelineEntry(it) if it.kind == kind))
    }

    /// What a delivery says of its attempts is what the receiver saw.
    fn was_delivered(&mut self, record: &Record, receivers: &Receivers) {
        let Record::Delivery(it) = record else { return };
        let name = money::name(it.id);
        let got = receivers.got(&name);
        for attempt in &it.attempts {
            let Some(status) = attempt.http_status else { continue };
            if !got.is_some_and(|got| got.answered.contains(&status)) {
                self.find("no receipt for what was not sent", format!("{name}: {status}"));
            }
        }
        // The last may have been made and never written down, where the endpoint was gone by then.
        let numbers = got.map(|got| got.numbers.clone()).unwrap_or_default();
        let last = it.attempts.len();
        if !(1..=last).all(|number| numbers.contains(&number))
            || numbers.iter().any(|number| *number > last + 1)
        {
            let text = format!("{name} has {last} attempts, and was tried as {numbers:?}");
            self.find("attempts are counted up", text);
        }
        let tried = got.map_or(0, |got| got.tried);
        let attempts = u64::try_from(it.attempts.len()).unwrap_or(u64::MAX);
        if tried < attempts || (self.calm && tried > attempts) {
            let text = format!("{name} has {attempts} attempts, and was tried {tried} times");
            self.find("each attempt is made once", text);
        }
        let Some(Record::Event(event)) = self.record(&Key::Event(it.scope, it.event)) else {
            self.find("a delivery has its event", name);
            return;
        };
        let altered =
            got.is_some_and(|got| !got.body.is_empty() && got.body != event.payload.as_bytes());
        if altered {
            self.find("what is delivered is the event", name);
        }
    }

    /// A link counts its payments, and closes once.
    fn links_agree(&mut self, records: &[Record]) {
        let mut counts = BTreeMap::<_, (i64, i64, i64, i64)>::new();
        for record in records {
            let Record::Payment(it) = record else { continue };
            let Some(link) = it.payment_link else { continue };
            let count = counts.entry((it.scope, link)).or_default();
            count.0 += 1;
            count.1 += i64::from(it.status.is_open());
            if it.succeeded_at.is_some() {
                count.2 += 1;
                count.3 += it.amount.units();
            }
        }
        for record in records {
            let Record::PaymentLink(it) = record else { continue };
            let count = counts.get(&(it.scope, it.id)).copied().unwrap_or_default();
            let said = (
                it.payments_count,
                it.open_payments_count,
                it.succeeded_payments_count,
                it.collected_amount.units(),
            );
            if said != count {
                self.find(
                    "a link counts its payments",
                    format!("{}: {said:?}, not {count:?}", it.id),
                );
            }
        }
    }
}
