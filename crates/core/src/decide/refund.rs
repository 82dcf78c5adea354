//! Refunds: created and reported on (API §11).

use super::{
    draft::{Context, Decision, Draft, Line, Why, touched},
    payment::{RESUBMIT_MS, SOONEST_MS},
    terms::RefundFeePolicy,
};
use crate::{
    arithmetic::fee::refund_share,
    commit::record::Versioned,
    error::{Error, Faults, Problem},
    model::{
        event::EventKind,
        failure::FailureCode,
        ledger::{EntryKind, LedgerAccountKind as Account},
        order::{NextQuestion, Report},
        payment::{Payment, PaymentStatus, PaymentStep},
        refund::{Refund, RefundStatus, RefundStep},
        scenario::Scenario,
        simulation::Simulation,
        timeline::{Actor, TimelineKind},
    },
    value::{
        id::OrderId,
        money::{Amount, Overflow},
    },
    wire::{self, CreateRefund},
};

/// A refund with the payment whose money it returns: what changes together.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "the engine and tests build it")]
pub struct Case {
    /// The refund.
    pub refund: Versioned<Refund>,
    /// Its payment.
    pub payment: Versioned<Payment>,
}

/// Creates a refund and holds its money (API §11). `payment` is `None` when there is no such
/// payment.
///
/// # Errors
/// In this order: wrong parameters, an unknown payment, a status that allows no refund, a network that
/// cannot refund (in parts), more than is left, and [`Error::BalanceInsufficient`].
///
/// ```
/// use cauri_core::{Amount, decide, wire::CreateRefund};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let payment = shop.settled(5_000);
/// let ask = CreateRefund {
///     payment: payment.value.id,
///     amount: Some(Amount::new(2_000)),
///     reason: None,
///     description: None,
///     reference: None,
///     metadata: Default::default(),
/// };
/// let refund = decide::refund::create(ask, Some(payment), &mut shop.context())?.value;
/// assert_eq!(refund.fee_returned_amount, Amount::new(40)); // its share of the fee of 100
/// assert_eq!(refund.net_amount, Amount::new(1_960));
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn create(
    ask: CreateRefund,
    payment: Option<Versioned<Payment>>,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Refund>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
    let Some(Versioned { value: mut payment, version, .. }) = payment else {
        return Err(Error::fault("payment", Problem::Unrelated));
    };
    let amount = refundable(&ask, &payment, cx)?;
    let fee_returned_amount = match cx.terms.refund_fee_policy {
        RefundFeePolicy::Keep => Amount::ZERO,
        RefundFeePolicy::Proportional => refund_share(
            payment.amount,
            payment.fee_amount,
            payment.refunded_amount.plus(payment.refunding_amount)?,
            payment.fee_returned_amount,
            amount,
        )?,
    };
    let net = amount.minus(fee_returned_amount)?;
    let short = Error::BalanceInsufficient { needed: net, currency: payment.currency };
    let bucket = bucket(&payment);
    if payment.is_unsettled() {
        // Only a payment's own pending money may return to its payer: another's is not yet the
        // merchant's to give. With proportional fees it always suffices.
        if net > payment.pending_amount {
            return Err(short);
        }
        payment.pending_amount = payment.pending_amount.minus(net)?;
    }

    let now = cx.env.now();
    let refund = Refund {
        id: cx.env.id(),
        scope: cx.scope,
        status: RefundStatus::Created,
        payment: payment.id,
        amount,
        currency: payment.currency,
        fee_returned_amount,
        reason: ask.reason,
        description: ask.description,
        reference: ask.reference,
        metadata: ask.metadata,
        failure: None,
        created_at: now,
        updated_at: now,
        accepted_at: None,
        succeeded_at: None,
        failed_at: None,
        connection: payment.connection.clone(),
        poll_at: None,
        // What the payment was told to play, its refunds go on with (API §17.2).
        simulation: payment.simulation.filter(|simulation| {
            matches!(simulation.scenario, Scenario::RefundFailure | Scenario::RefundPending)
        }),
    };
    payment.refunding_amount = payment.refunding_amount.plus(amount)?;
    payment.fee_returned_amount = payment.fee_returned_amount.plus(fee_returned_amount)?;
    payment.updated_at = touched(payment.updated_at, now);

    let shown = wire::Refund::of(&refund)?;
    let mut draft = Draft::new(cx);
    let event = draft.emit(EventKind::RefundCreated, now, &shown);
    let line = Line::new(TimelineKind::RefundCreated, Actor::Api, "A refund was created.");
    draft.tell(&mut payment, line.refund(refund.id, amount).event(event));
    let why = Why {
        transaction: draft.transaction(),
        kind: EntryKind::RefundHold,
        source: Some(OrderId::Refund(refund.id)),
        currency: refund.currency,
    };
    draft.post(why, bucket, Account::MerchantReserved, net);
    let payment_due = payment.due_at();
    draft.changes.update(payment, version, payment_due);
    let due_at = refund.due_at();
    draft.insert_due(refund, due_at);
    Ok(Decision { if_short: Some(short), ..draft.decided(shown) })
}

/// How much may be refunded as asked, or why not.
fn refundable(ask: &CreateRefund, payment: &Payment, cx: &Context<'_>) -> Result<Amount, Error> {
    match payment.status {
        PaymentStatus::Succeeded | PaymentStatus::PartiallyRefunded => {}
        PaymentStatus::Refunded => return Err(Error::PaymentAlreadyRefunded),
        PaymentStatus::Created
        | PaymentStatus::Processing
        | PaymentStatus::Failed
        | PaymentStatus::Cancelled
        | PaymentStatus::Expired => return Err(Error::PaymentNotRefundable(payment.status)),
    }
    let catalogue = &cx.terms.offers(cx.scope.environment).catalogue;
    let capabilities = payment.offer(catalogue).map(|it| it.capabilities).unwrap_or_default();
    if !capabilities.refund {
        return Err(Error::fault("payment", Problem::RefundNotSupported));
    }
    let left = payment.refundable_amount();
    let amount = ask.amount.unwrap_or(left);
    if amount > left || !amount.is_positive() {
        return Err(Error::fault("amount", Problem::RefundTooLarge { left }));
    }
    if amount < payment.amount && !capabilities.partial_refund {
        return Err(Error::fault("amount", Problem::PartialRefundNotSupported));
    }
    Ok(amount)
}

/// Where a payment's money is.
const fn bucket(payment: &Payment) -> Account {
    if payment.settled_at.is_some() { Account::MerchantAvailable } else { Account::MerchantPending }
}

/// Applies what a network said, in order (API §11). Reports that repeat or contradict a final
/// result change nothing but the payment's timeline.
///
/// # Errors
/// [`Error::Overflow`] when a sum does not fit into 64 bits.
///
/// ```
/// use cauri_core::{Actor, LedgerAccountKind, NextQuestion, Payment, PaymentStatus, Report, decide::refund};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// shop.settled(5_000);
/// shop.refund(2_000);
/// let case = refund::Case { refund: shop.last(), payment: shop.last() };
/// let (reports, next) = ([Report::accepted(), Report::Paid], NextQuestion::Never);
/// let decision = refund::report(case, &reports, next, Actor::Network, &mut shop.context());
/// shop.done(decision);
/// assert_eq!(shop.last::<Payment>().value.status, PaymentStatus::PartiallyRefunded);
/// assert_eq!(shop.balance(LedgerAccountKind::Clearing), 3_000);
/// ```
pub fn report(
    case: Case,
    reports: &[Report],
    next: NextQuestion,
    actor: Actor,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Refund>, Error> {
    let mut story = Story::new(case, actor, cx);
    for report in reports {
        story.hear(report)?;
    }
    let now = story.draft.now();
    let soonest = now.plus_millis(SOONEST_MS);
    story.refund.poll_at = next
        .after(story.refund.poll_at, now)
        .filter(|_| story.refund.status == RefundStatus::Created)
        .map(|at| at.max(soonest));
    let waits = story.refund.status == RefundStatus::Created && story.refund.accepted_at.is_none();
    if waits && story.refund.poll_at.is_none() {
        story.refund.poll_at = Some(now.plus_millis(RESUBMIT_MS));
    }
    story.end()
}

/// Plays a scenario on a refund at once (API §17.2).
///
/// # Errors
/// [`Error::SimulationNotAllowed`] when the refund has ended.
pub(super) fn simulate(
    case: Case,
    scenario: Scenario,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Refund>, Error> {
    let it = &case.refund.value;
    if it.status != RefundStatus::Created {
        return Err(Error::not_simulated_refund(OrderId::Refund(it.id), it.status));
    }
    let now = cx.env.now();
    let mut story = Story::new(case, Actor::Sandbox, cx);
    story.refund.poll_at = None;
    story.refund.simulation = Some(Simulation { scenario, since: now });
    story.hear(&Report::accepted())?;
    match scenario {
        Scenario::Pending => {}
        Scenario::RefundFailure => story.hear(&Report::Failed(FailureCode::RefundRejected))?,
        _ => story.hear(&Report::Paid)?,
    }
    story.end()
}

struct Story<'c, 'a> {
    draft: Draft<'c, 'a>,
    refund: Refund,
    refund_version: u64,
    payment: Payment,
    payment_version: u64,
    payment_changed: bool,
    actor: Actor,
}

impl<'c, 'a> Story<'c, 'a> {
    fn new(case: Case, actor: Actor, cx: &'c mut Context<'a>) -> Self {
        let Case { refund, payment } = case;
        Self {
            draft: Draft::new(cx),
            refund: refund.value,
            refund_version: refund.version,
            payment: payment.value,
            payment_version: payment.version,
            payment_changed: false,
            actor,
        }
    }

    fn end(mut self) -> Result<Decision<wire::Refund>, Error> {
        let shown = wire::Refund::of(&self.refund)?;
        if self.payment_changed {
            let due_at = self.payment.due_at();
            self.draft.changes.update(self.payment, self.payment_version, due_at);
        }
        let due_at = self.refund.due_at();
        self.draft.changes.update(self.refund, self.refund_version, due_at);
        Ok(self.draft.decided(shown))
    }

    fn hear(&mut self, report: &Report) -> Result<(), Error> {
        let open = self.refund.status == RefundStatus::Created;
        match report {
            Report::Accepted { .. } => {
                if open && self.refund.accepted_at.is_none() {
                    self.refund.accepted_at = Some(self.draft.now());
                }
                Ok(())
            }
            Report::Paid if open => self.pay(),
            Report::Refused(code) | Report::Failed(code) if open => self.fail(*code),
            Report::Unreachable if open && self.refund.accepted_at.is_none() => {
                self.fail(FailureCode::NetworkUnavailable)
            }
            Report::Paid | Report::Refused(_) | Report::Failed(_) => {
                let line = Line::new(
                    TimelineKind::NetworkReportIgnored,
                    self.actor,
                    "The network reported on a refund that had ended.",
                )
                .refund(self.refund.id, self.refund.amount);
                self.payment_changed = true;
                self.draft.tell(&mut self.payment, line);
                Ok(())
            }
            Report::Unreachable | Report::Expired | Report::NotFound | Report::Unknown => Ok(()),
        }
    }

    /// Posting L4, and the payment's next status.
    fn pay(&mut self) -> Result<(), Error> {
        self.step(RefundStep::Pay)?;
        let now = self.draft.now();
        self.refund.succeeded_at = Some(now);
        let amount = self.refund.amount;
        let payment = &mut self.payment;
        payment.refunding_amount = payment.refunding_amount.minus(amount)?;
        payment.refunded_amount = payment.refunded_amount.plus(amount)?;
        payment.refunds_count = payment.refunds_count.checked_add(1).ok_or(Overflow)?;
        self.tell(
            EventKind::RefundSucceeded,
            TimelineKind::RefundSucceeded,
            "The network confirmed a refund.",
        )?;
        let (step, line, event, message) = if self.payment.refunded_amount == self.payment.amount {
            (
                PaymentStep::RefundRest,
                TimelineKind::Refunded,
                EventKind::PaymentRefunded,
                "All of the payment is refunded.",
            )
        } else {
            (
                PaymentStep::RefundPart,
                TimelineKind::PartiallyRefunded,
                EventKind::PaymentPartiallyRefunded,
                "Part of the payment is refunded.",
            )
        };
        self.payment.status = self.payment.status.after(step).map_err(|_| Error::Impossible)?;
        self.touch_payment();
        let shown = wire::Payment::of(&self.payment)?;
        let event = self.draft.emit(event, self.payment.updated_at, &shown);
        let line = Line::new(line, self.actor, message).event(event);
        self.draft.tell(&mut self.payment, line.refund(self.refund.id, amount));
        let why = self.why(EntryKind::Refund);
        let net = self.refund.net_amount()?;
        self.draft.post(why, Account::MerchantReserved, Account::Clearing, net);
        let why = Why { kind: EntryKind::RefundFeeReturn, ..why };
        let fee = self.refund.fee_returned_amount;
        self.draft.post(why, Account::Fees, Account::Clearing, fee);
        Ok(())
    }

    /// Posting L5: the money goes back to where the payment's money is by now.
    fn fail(&mut self, code: FailureCode) -> Result<(), Error> {
        self.step(RefundStep::Fail)?;
        self.refund.failure = Some(code);
        self.refund.failed_at = Some(self.draft.now());
        let net = self.refund.net_amount()?;
        let bucket = bucket(&self.payment);
        let payment = &mut self.payment;
        payment.refunding_amount = payment.refunding_amount.minus(self.refund.amount)?;
        payment.fee_returned_amount =
            payment.fee_returned_amount.minus(self.refund.fee_returned_amount)?;
        if payment.is_unsettled() {
            payment.pending_amount = payment.pending_amount.plus(net)?;
        }
        self.touch_payment();
        self.tell(EventKind::RefundFailed, TimelineKind::RefundFailed, code.message())?;
        let why = self.why(EntryKind::RefundRelease);
        self.draft.post(why, Account::MerchantReserved, bucket, net);
        Ok(())
    }

    fn step(&mut self, step: RefundStep) -> Result<(), Error> {
        self.refund.status = self.refund.status.after(step).map_err(|_| Error::Impossible)?;
        self.refund.updated_at = touched(self.refund.updated_at, self.draft.now());
        self.refund.poll_at = None;
        Ok(())
    }

    fn touch_payment(&mut self) {
        self.payment.updated_at = touched(self.payment.updated_at, self.draft.now());
        self.payment_changed = true;
    }

    /// Tells an event of the refund, on the payment's timeline too.
    fn tell(&mut self, event: EventKind, line: TimelineKind, message: &str) -> Result<(), Error> {
        let shown = wire::Refund::of(&self.refund)?;
        let event = self.draft.emit(event, self.refund.updated_at, &shown);
        let line = Line::new(line, self.actor, message).event(event);
        let line = line.refund(self.refund.id, self.refund.amount);
        self.payment_changed = true;
        self.draft.tell(&mut self.payment, line);
        Ok(())
    }

    fn why(&mut self, kind: EntryKind) -> Why {
        Why {
            transaction: self.draft.transaction(),
            kind,
            source: Some(OrderId::Refund(self.refund.id)),
            currency: self.refund.currency,
        }
    }
}
