//! A payment's life, told from what is heard of it: its statuses, postings, events and timeline.

use super::Case;
use crate::{
    commit::record::Versioned,
    decide::draft::{Context, Decision, Draft, Line, Why, touched},
    error::Error,
    model::{
        event::EventKind,
        failure::FailureCode,
        ledger::{EntryKind, LedgerAccountKind as Account},
        order::Report,
        payment::{NextAction, Payment, PaymentStatus, PaymentStep},
        payment_link::{PaymentLink, PaymentLinkStep},
        timeline::{Actor, TimelineKind},
    },
    value::{
        id::OrderId,
        money::{Amount, Overflow},
        time::Timestamp,
        web_url::WebUrl,
    },
    wire,
};

/// A payment being told on: each thing heard changes it, and what was told of it is remembered.
pub(super) struct Story<'c, 'a> {
    draft: Draft<'c, 'a>,
    pub(super) payment: Payment,
    version: u64,
    link: Option<Versioned<PaymentLink>>,
    link_changed: bool,
    pub(super) actor: Actor,
}

impl<'c, 'a> Story<'c, 'a> {
    pub(super) fn new(case: Case, actor: Actor, cx: &'c mut Context<'a>) -> Self {
        let Case { payment: Versioned { value: payment, version, .. }, link } = case;
        Self { draft: Draft::new(cx), payment, version, link, link_changed: false, actor }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.draft.now()
    }

    pub(super) fn end(mut self) -> Result<Decision<wire::Payment>, Error> {
        let shown = wire::Payment::of(&self.payment)?;
        if let Some(link) = self.link.take_if(|_| self.link_changed) {
            self.draft.changes.update(link.value, link.version, None);
        }
        let due_at = self.payment.due_at();
        self.draft.changes.update(self.payment, self.version, due_at);
        Ok(self.draft.decided(shown))
    }

    pub(super) fn hear(&mut self, report: &Report) -> Result<(), Error> {
        let status = self.payment.status;
        match report {
            Report::Accepted { network, redirect_url } => match status {
                PaymentStatus::Created => {
                    self.payment.network = self.payment.network.take().or_else(|| network.clone());
                    self.accept(redirect_url.as_ref())
                }
                PaymentStatus::Processing => {
                    // Whoever said so first may not have known the page.
                    self.redirect(redirect_url.as_ref());
                    Ok(())
                }
                PaymentStatus::Expired => {
                    // It may be paid yet, and then over a network.
                    if let (None, Some(network)) = (&self.payment.network, network) {
                        self.payment.network = Some(network.clone());
                        self.touch();
                    }
                    Ok(())
                }
                PaymentStatus::Cancelled => {
                    self.ignore("The network accepted a payment that was cancelled.");
                    Ok(())
                }
                _ => Ok(()),
            },
            Report::Refused(code) => match status {
                PaymentStatus::Created => self.fail(*code),
                _ => self.hear(&Report::Failed(*code)),
            },
            Report::Unreachable => match status {
                PaymentStatus::Created => self.fail(FailureCode::NetworkUnavailable),
                _ => Ok(()),
            },
            Report::Paid => match status {
                PaymentStatus::Created => {
                    self.accept(None)?;
                    self.pay()
                }
                PaymentStatus::Processing | PaymentStatus::Expired => self.pay(),
                _ => {
                    self.ignore("The network reported a success again, or too late.");
                    Ok(())
                }
            },
            Report::Failed(code) => match status {
                PaymentStatus::Created => {
                    self.accept(None)?;
                    self.fail(*code)
                }
                PaymentStatus::Processing => self.fail(*code),
                _ => {
                    self.ignore("The network reported a failure after the payment had ended.");
                    Ok(())
                }
            },
            Report::Expired => match status {
                PaymentStatus::Created | PaymentStatus::Processing => self.expire(),
                PaymentStatus::Expired => Ok(()),
                _ => {
                    self.ignore("The network reported an expiry after the payment had ended.");
                    Ok(())
                }
            },
            Report::NotFound | Report::Unknown => Ok(()),
        }
    }

    /// Sends the payer to the network's own page.
    fn redirect(&mut self, page: Option<&WebUrl>) {
        if let (Some(page), Some(NextAction::Redirect { url })) =
            (page.map(WebUrl::as_str), &mut self.payment.next_action)
            && url != page
        {
            page.clone_into(url);
            self.touch();
        }
    }

    fn accept(&mut self, redirect_url: Option<&WebUrl>) -> Result<(), Error> {
        self.step(PaymentStep::Accept)?;
        self.payment.processing_at = Some(self.now());
        self.payment.otp = None;
        self.settle_on_network();
        self.redirect(redirect_url);
        self.tell_event(
            EventKind::PaymentProcessing,
            TimelineKind::Processing,
            "The network accepted the request.",
        )
    }

    /// A visible field has changed.
    fn touch(&mut self) {
        self.payment.updated_at = touched(self.payment.updated_at, self.draft.now());
    }

    /// The network of a card that neither the payer nor the gateway named is the one by whose offer
    /// it was made, since from here on there is one (API §1, R13).
    fn settle_on_network(&mut self) {
        let offers = self.draft.cx.terms.offers(self.payment.scope.environment);
        if self.payment.network.is_none() {
            let offer = self.payment.offer(&offers.catalogue);
            self.payment.network = offer.map(|offer| offer.network.clone());
        }
    }

    fn fail(&mut self, code: FailureCode) -> Result<(), Error> {
        self.payment.failure = Some(code);
        self.close(
            PaymentStep::Fail,
            TimelineKind::Failed,
            EventKind::PaymentFailed,
            code.message(),
        )
    }

    pub(super) fn expire(&mut self) -> Result<(), Error> {
        self.close(
            PaymentStep::Expire,
            TimelineKind::Expired,
            EventKind::PaymentExpired,
            "The payment was not made in time.",
        )
    }

    /// An end without money.
    pub(super) fn close(
        &mut self,
        step: PaymentStep,
        line: TimelineKind,
        event: EventKind,
        message: &str,
    ) -> Result<(), Error> {
        self.step(step)?;
        let now = Some(self.now());
        match step {
            PaymentStep::Cancel => self.payment.cancelled_at = now,
            PaymentStep::Expire => self.payment.expired_at = now,
            _ => self.payment.failed_at = now,
        }
        self.payment.next_action = None;
        self.payment.otp = None;
        if step != PaymentStep::Expire {
            self.payment.poll_at = None;
        }
        if let Some(link) = &mut self.link {
            link.value.open_payments_count = link.value.open_payments_count.saturating_sub(1);
            self.link_changed = true;
        }
        self.tell_event(event, line, message)
    }

    /// The money is there, in time or late: it is booked and announced.
    fn pay(&mut self) -> Result<(), Error> {
        let late = self.payment.status == PaymentStatus::Expired;
        self.step(PaymentStep::Pay)?;
        self.settle_on_network();
        let now = self.now();
        let delay = self.draft.cx.terms.settlement_ms(self.payment.method);
        self.payment.succeeded_at = Some(now);
        self.payment.available_at = Some(now.plus_millis(delay));
        self.payment.next_action = None;
        self.payment.otp = None;
        self.payment.poll_at = None;
        let (kind, message) = if late {
            (TimelineKind::LateSuccess, "The network reported the payment after it had expired.")
        } else {
            (TimelineKind::Succeeded, "The network confirmed the payment.")
        };
        self.tell_event(EventKind::PaymentSucceeded, kind, message)?;
        self.book()?;
        self.count_on_link(late)?;
        if delay <= 0 {
            self.settle();
        }
        Ok(())
    }

    /// Posting L1.
    fn book(&mut self) -> Result<(), Overflow> {
        let transaction = self.draft.transaction();
        let payment = &mut self.payment;
        payment.pending_amount = payment.net_amount()?;
        let why = Why {
            transaction,
            kind: EntryKind::Payment,
            source: Some(OrderId::Payment(payment.id)),
            currency: payment.currency,
        };
        self.draft.post(why, Account::Clearing, Account::MerchantPending, payment.amount);
        let why = Why { kind: EntryKind::PaymentFee, ..why };
        self.draft.post(why, Account::MerchantPending, Account::Fees, payment.fee_amount);
        Ok(())
    }

    /// Posting L2. Changes no visible field (API §19.5).
    pub(super) fn settle(&mut self) {
        let why = Why {
            transaction: self.draft.transaction(),
            kind: EntryKind::Settlement,
            source: Some(OrderId::Payment(self.payment.id)),
            currency: self.payment.currency,
        };
        let amount = self.payment.pending_amount;
        self.draft.post(why, Account::MerchantPending, Account::MerchantAvailable, amount);
        self.payment.pending_amount = Amount::ZERO;
        self.payment.settled_at = Some(self.now());
        // All of it may have been returned before.
        if amount.is_positive() {
            let line =
                Line::new(TimelineKind::Settled, Actor::System, "The money became available.");
            self.draft.tell(&mut self.payment, line);
        }
    }

    fn count_on_link(&mut self, late: bool) -> Result<(), Error> {
        let now = self.now();
        let Some(link) = &mut self.link else { return Ok(()) };
        self.link_changed = true;
        let link = &mut link.value;
        if !late {
            link.open_payments_count = link.open_payments_count.saturating_sub(1);
        }
        link.succeeded_payments_count = link.succeeded_payments_count.saturating_add(1);
        link.collected_amount = link.collected_amount.plus(self.payment.amount)?;
        link.updated_at = touched(link.updated_at, now);
        if link.reusable {
            return Ok(());
        }
        // A link that another payment closed already stays as it is.
        if let Ok(status) = link.status.after(PaymentLinkStep::Pay) {
            link.status = status;
            link.paid_at = Some(now);
            let shown = wire::PaymentLink::of(link)?;
            let at = link.updated_at;
            self.draft.emit(EventKind::PaymentLinkPaid, at, &shown);
        }
        Ok(())
    }

    fn ignore(&mut self, message: &str) {
        let line = Line::new(TimelineKind::NetworkReportIgnored, self.actor, message);
        self.draft.tell(&mut self.payment, line);
    }

    fn step(&mut self, step: PaymentStep) -> Result<(), Error> {
        // Every caller looked at the status before: the table cannot refuse here, and if it did,
        // the command must not go on.
        self.payment.status = self.payment.status.after(step).map_err(|_| Error::Impossible)?;
        self.touch();
        Ok(())
    }

    fn tell_event(
        &mut self,
        event: EventKind,
        line: TimelineKind,
        message: &str,
    ) -> Result<(), Error> {
        let shown = wire::Payment::of(&self.payment)?;
        let event = self.draft.emit(event, self.payment.updated_at, &shown);
        let line = Line::new(line, self.actor, message).event(event);
        self.draft.tell(&mut self.payment, line);
        Ok(())
    }
}
