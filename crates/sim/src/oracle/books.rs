//! The books: what was posted, and what the objects say that they must hold.

use std::collections::{BTreeMap, BTreeSet};

use cauri::{Changeset, Key, LedgerAccountKind, PaymentId, Record, RefundStatus, Scope};

use super::{
    Oracle,
    money::{self, Purse, Share},
};

impl Oracle {
    pub(super) fn post(&mut self, changes: &Changeset, purses: &mut BTreeSet<Purse>) {
        for posting in changes.postings() {
            let purse = (posting.scope(), posting.currency());
            purses.insert(purse);
            let share = self.held.entry(purse).or_default();
            let mut sides = [0, 0];
            let mut funds = 0;
            for line in posting.lines() {
                *share.account(line.account) +=
                    line.account.moved(line.direction, line.amount).units();
                let side = usize::from(line.direction == cauri::Direction::Credit);
                sides[side] += line.amount.units();
                let entry = posting.entry(line, cauri::Amount::ZERO);
                if entry.kind == cauri::EntryKind::SandboxFunding
                    && entry.account == LedgerAccountKind::MerchantAvailable
                {
                    funds = line.amount.units();
                }
            }
            if sides[0] != sides[1] {
                self.find("the ledger adds up", format!("a posting of {sides:?}"));
            }
            if funds > 0 {
                let due = self.due.entry(purse).or_default();
                *due = due.plus(Share { clearing: funds, available: funds, ..Share::default() });
                *self.funded.entry((purse.0, funds)).or_default() += 1;
            }
        }
    }

    /// Which payments' books have to be looked at.
    pub(super) fn note(&mut self, record: &Record, payments: &mut BTreeSet<(Scope, PaymentId)>) {
        match record {
            Record::Payment(it) => {
                payments.insert((it.scope, it.id));
            }
            Record::Refund(it) => {
                self.refunds.entry(it.payment).or_default().insert(record.key());
                payments.insert((it.scope, it.payment));
            }
            Record::Payout(it) => {
                self.count(record.key(), (it.scope, it.currency), money::of_payout(it));
            }
            Record::WebhookEndpoint(_)
            | Record::Account(_)
            | Record::Setting(_)
            | Record::ApiKey(_)
            | Record::Customer(_)
            | Record::PaymentLink(_)
            | Record::TimelineEntry(_)
            | Record::Subscriptions(_)
            | Record::Event(_)
            | Record::Delivery(_)
            | Record::Idempotency(_) => {}
        }
    }

    pub(super) fn count(&mut self, key: Key, purse: Purse, share: Share) {
        let before = self.shares.insert(key, (purse, share)).map_or_else(Share::default, |it| it.1);
        let due = self.due.entry(purse).or_default();
        *due = due.plus(share).minus(before);
    }

    /// A payment and its refunds tell one story.
    pub(super) fn refunds_agree(
        &mut self,
        scope: Scope,
        id: PaymentId,
        purses: &mut BTreeSet<Purse>,
    ) {
        let key = Key::Payment(scope, id);
        let Some(Record::Payment(payment)) = self.record(&key).cloned() else {
            self.find("a refund has its payment", format!("{id}"));
            return;
        };
        let purse = (scope, payment.currency);
        purses.insert(purse);
        let (mut open, mut done, mut fees, mut nets) = (0, 0, 0, 0);
        let keys = self.refunds.get(&id).cloned().unwrap_or_default();
        for key in keys {
            let Some(Record::Refund(refund)) = self.record(&key).cloned() else { continue };
            let amount = refund.amount.units();
            match refund.status {
                RefundStatus::Created => open += amount,
                RefundStatus::Succeeded => done += amount,
                RefundStatus::Failed => {}
            }
            if refund.status != RefundStatus::Failed {
                fees += refund.fee_returned_amount.units();
                nets += amount - refund.fee_returned_amount.units();
            }
            self.count(key, purse, money::of_refund(&refund));
        }
        let share = money::of_payment(&payment, nets);
        if payment.pending_amount.units() != share.pending {
            let text = format!("{id} says {}, not {}", payment.pending_amount, share.pending);
            self.find("a payment knows what is pending of it", text);
        }
        self.count(key, purse, share);
        let said = (
            payment.refunding_amount.units(),
            payment.refunded_amount.units(),
            payment.fee_returned_amount.units(),
        );
        if said != (open, done, fees) {
            let text = format!("{id} says {said:?}, its refunds {:?}", (open, done, fees));
            self.find("a payment knows its refunds", text);
        }
        if open + done > payment.amount.units() || fees > payment.fee_amount.units() {
            self.find("no more is refunded than was paid", format!("{id}: {}", open + done));
        }
    }

    /// Would a merchant's account fall below nothing?
    pub(super) fn short(&self, changes: &Changeset) -> bool {
        let mut after = BTreeMap::<Purse, Share>::new();
        for posting in changes.postings() {
            let purse = (posting.scope(), posting.currency());
            let share = after
                .entry(purse)
                .or_insert_with(|| self.held.get(&purse).copied().unwrap_or_default());
            for line in posting.lines() {
                *share.account(line.account) +=
                    line.account.moved(line.direction, line.amount).units();
            }
        }
        after.values().any(|it| it.pending < 0 || it.available < 0 || it.reserved < 0)
    }
}
