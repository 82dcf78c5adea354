//! Payments: created, reported on, cancelled, expired, settled (API §9).

use super::draft::{Context, Decision, Draft, Line, Why, touched};
use crate::{
    commit::record::Versioned,
    error::{Error, Problem},
    model::{
        catalogue::{Ask, Catalogue, Offer, Purpose},
        customer::Customer,
        event::EventKind,
        failure::FailureCode,
        ledger::{EntryKind, LedgerAccountKind as Account},
        order::{NextQuestion, Report},
        payment::{NextAction, Payment, PaymentStatus, PaymentStep},
        payment_link::{PaymentLink, PaymentLinkStatus, PaymentLinkStep},
        simulation::Simulation,
        timeline::{Actor, TimelineKind},
    },
    value::{
        country::Country,
        id::OrderId,
        method::{Flow, Network, PaymentMethod},
        money::{Amount, Overflow},
        phone::Phone,
        text::Text,
        time::Timestamp,
    },
    wire::{self, CreatePayment},
};

/// What a new payment refers to, as it was read; `None` where the request names nothing.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "the engine and tests build it")]
pub struct Related {
    /// The customer of the request; the inner `None` when there is no such customer.
    pub customer: Option<Option<Customer>>,
    /// The link of the request; the inner `None` when there is no such link.
    pub link: Option<Option<Versioned<PaymentLink>>>,
}

/// How long to wait before an order that the network did not answer is asked about, in
/// milliseconds.
pub(super) const RESUBMIT_MS: i64 = 5_000;

/// The least time between two questions, in milliseconds, whatever a gateway says.
pub(super) const SOONEST_MS: i64 = 100;

/// A payment with the link it came through: what changes together.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "the engine and tests build it")]
pub struct Case {
    /// The payment.
    pub payment: Versioned<Payment>,
    /// Its link, where it has one.
    pub link: Option<Versioned<PaymentLink>>,
}

/// Creates a payment (API §9.2).
///
/// # Errors
/// In this order: what the request names and does not exist, amounts that differ from the link's,
/// what the catalogue does not offer, and a link that takes no payment now.
pub fn create(
    ask: CreatePayment,
    related: Related,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payment>, Error> {
    let customer = match related.customer {
        Some(None) => return Err(Error::fault("customer", Problem::Unrelated)),
        Some(found) => found,
        None => None,
    };
    let link = match related.link {
        Some(None) => return Err(Error::fault("payment_link", Problem::Unrelated)),
        Some(found) => found,
        None => None,
    };
    let place = link.as_ref().map(|link| &link.value);
    let amount = agreed(ask.amount, place.and_then(|link| link.amount), "amount")?;
    let currency = agreed(ask.currency, place.map(|link| link.currency), "currency")?;
    let offers = cx.terms.offers(cx.scope.environment);
    let phone = payer_phone(&ask, customer.as_ref())?;
    let country = payer_country(&ask, place, phone.as_ref(), &offers.catalogue)?;
    if place.is_some_and(|link| link.methods.as_ref().is_some_and(|all| !all.contains(&ask.method)))
    {
        return Err(Error::fault(
            "payment_method",
            Problem::Catalogue(
                crate::model::catalogue::CatalogueError::PaymentMethodNotSupported {
                    method: ask.method,
                    country,
                },
            ),
        ));
    }
    let offer = offers
        .catalogue
        .offer(Ask {
            country,
            method: ask.method,
            network: ask.network.as_ref(),
            currency,
            amount,
            purpose: Purpose::Payin,
        })
        .map_err(Error::catalogue)?;
    if let Some(link) = place {
        open_to_payment(link, cx.env.now())?;
    }
    let fee = offers.fees.fee(
        crate::arithmetic::fee::FeeKind::Payment,
        ask.method,
        ask.network.as_ref(),
        currency,
        amount,
    )?;

    let now = cx.env.now();
    let id = cx.env.id();
    let expires_in = i64::from(ask.expires_in.unwrap_or(cx.terms.payment_expiry_s));
    let mut payment = Payment {
        id,
        scope: cx.scope,
        status: PaymentStatus::Created,
        amount,
        currency,
        fee_amount: fee,
        method: ask.method,
        network: ask.network,
        reference: ask.reference,
        country,
        phone,
        otp: ask.otp,
        customer: ask.customer,
        payment_link: ask.payment_link,
        description: ask.description,
        metadata: ask.metadata,
        return_url: ask.return_url.or_else(|| place.and_then(|link| link.return_url.clone())),
        next_action: Some(next_action(offer, &cx.terms.checkout_base_url, id)),
        failure: None,
        cancellation_reason: None,
        refunded_amount: Amount::ZERO,
        refunding_amount: Amount::ZERO,
        fee_returned_amount: Amount::ZERO,
        refunds_count: 0,
        pending_amount: Amount::ZERO,
        settled_at: None,
        expires_at: now.plus_seconds(expires_in),
        created_at: now,
        updated_at: now,
        processing_at: None,
        succeeded_at: None,
        failed_at: None,
        cancelled_at: None,
        expired_at: None,
        available_at: None,
        timeline_count: 0,
        connection: offer.connection.clone(),
        poll_at: cx.terms.submit_at(cx.scope.environment, now),
        simulation: None,
    };
    let shown = wire::Payment::of(&payment)?;
    let mut draft = Draft::new(cx);
    let event = draft.emit(EventKind::PaymentCreated, now, &shown);
    let line = Line::new(TimelineKind::Created, Actor::Api, "The payment was created.");
    draft.tell(&mut payment, line.event(event));
    if let Some(mut link) = link {
        let it = &mut link.value;
        it.payments_count = it.payments_count.saturating_add(1);
        it.open_payments_count = it.open_payments_count.saturating_add(1);
        it.updated_at = touched(it.updated_at, now);
        draft.changes.update(link.value, link.version, None);
    }
    let due_at = payment.due_at();
    draft.insert_order(payment, due_at);
    Ok(draft.decided(shown))
}

/// Applies what a network said, in order (API §9.4). Reports that repeat or contradict a final
/// result change nothing but the timeline. A payment that is still open when its time is over
/// expires, since the network was just asked.
///
/// # Errors
/// [`Error::Overflow`] when a sum does not fit into 64 bits.
pub fn report(
    case: Case,
    reports: &[Report],
    next: NextQuestion,
    actor: Actor,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payment>, Error> {
    let soonest = cx.env.now().plus_millis(SOONEST_MS);
    let mut story = Story::new(case, actor, cx);
    for report in reports {
        story.hear(report)?;
    }
    // Whoever has ended is not asked about any more; an expired payment may still be paid.
    let may_change =
        story.payment.status.is_open() || story.payment.status == PaymentStatus::Expired;
    story.payment.poll_at =
        next.after(story.payment.poll_at).filter(|_| may_change).map(|at| at.max(soonest));
    if story.payment.status.is_open() && story.payment.expires_at <= story.now() {
        // That was the last question; only a late success can follow.
        story.actor = Actor::System;
        story.expire()?;
    } else if story.payment.status == PaymentStatus::Created && story.payment.poll_at.is_none() {
        story.payment.poll_at = Some(story.now().plus_millis(RESUBMIT_MS));
    }
    story.end()
}

/// Cancels a payment (API §9.5). `confirmed` says whether the network called off an order that it
/// had accepted; it does not matter before.
///
/// # Errors
/// [`Error::PaymentNotCancellable`] in any other state, or when the network does not confirm.
pub fn cancel(
    case: Case,
    reason: Option<Text<255>>,
    confirmed: bool,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payment>, Error> {
    let status = case.payment.value.status;
    let possible = match status {
        PaymentStatus::Created => true,
        PaymentStatus::Processing => confirmed,
        PaymentStatus::Succeeded
        | PaymentStatus::Failed
        | PaymentStatus::Cancelled
        | PaymentStatus::Expired
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::Refunded => false,
    };
    if !possible {
        return Err(Error::PaymentNotCancellable(status));
    }
    let mut story = Story::new(case, Actor::Api, cx);
    story.payment.cancellation_reason = reason;
    story.close(
        PaymentStep::Cancel,
        TimelineKind::Cancelled,
        EventKind::PaymentCancelled,
        "The payment was cancelled.",
    )?;
    story.end()
}

/// May the network of this payment be asked to cancel it (API §9.4)?
#[must_use]
pub fn is_cancellable_by_network(payment: &Payment, catalogue: &Catalogue) -> bool {
    payment.status == PaymentStatus::Processing
        && catalogue
            .find(payment.country, payment.method, payment.network.as_ref(), payment.currency)
            .is_some_and(|offer| offer.capabilities.cancel)
}

/// Makes a payment's money available (posting L2) once its time has come.
///
/// # Errors
/// [`Error::Overflow`] when a sum does not fit into 64 bits.
pub fn settle(case: Case, cx: &mut Context<'_>) -> Result<Decision<wire::Payment>, Error> {
    let mut story = Story::new(case, Actor::System, cx);
    let due = story.payment.available_at.is_some_and(|at| at <= story.now());
    if due && story.payment.is_unsettled() {
        story.settle();
    }
    story.end()
}

/// Plays a scenario on a payment at once (API §17.2).
///
/// # Errors
/// [`Error::SimulationNotAllowed`] when the payment's status does not allow it.
pub(super) fn simulate(
    case: Case,
    scenario: crate::model::scenario::Scenario,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payment>, Error> {
    use crate::model::scenario::Scenario;
    let payment = &case.payment.value;
    let id = OrderId::Payment(payment.id);
    let allowed = match payment.status {
        PaymentStatus::Created => true,
        PaymentStatus::Processing => scenario != Scenario::NetworkDown,
        PaymentStatus::Expired => scenario == Scenario::Success,
        PaymentStatus::Succeeded
        | PaymentStatus::Failed
        | PaymentStatus::Cancelled
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::Refunded => false,
    };
    if !allowed {
        return Err(Error::not_simulated_payment(id, payment.status));
    }
    let now = cx.env.now();
    let mut story = Story::new(case, Actor::Sandbox, cx);
    story.payment.poll_at = None;
    story.payment.simulation = Some(Simulation { scenario, since: now });
    if scenario == Scenario::NetworkDown {
        story.hear(&Report::Unreachable)?;
        return story.end();
    }
    if story.payment.status == PaymentStatus::Created {
        story.hear(&Report::accepted())?;
    }
    match scenario {
        Scenario::Pending => {}
        Scenario::SlowSuccess => story.payment.poll_at = Some(now.plus_seconds(30)),
        Scenario::Timeout => story.hear(&Report::Expired)?,
        Scenario::LateSuccessAfterExpiry => {
            story.hear(&Report::Expired)?;
            // As if it had expired by itself: the success is two seconds away.
            story.payment.simulation = Some(Simulation { scenario, since: now.plus_seconds(-2) });
            story.payment.poll_at = Some(now.plus_seconds(2));
        }
        Scenario::DuplicateCallback => {
            story.hear(&Report::Paid)?;
            story.hear(&Report::Paid)?;
        }
        Scenario::ConflictingCallback => {
            story.hear(&Report::Paid)?;
            story.hear(&Report::Failed(FailureCode::NetworkError))?;
        }
        // A refund's scenario on a payment: it succeeds, and its refunds play their part.
        Scenario::RefundFailure | Scenario::RefundPending => story.hear(&Report::Paid)?,
        other => match other.failure_code() {
            Some(code) => story.hear(&Report::Failed(code))?,
            None => story.hear(&Report::Paid)?,
        },
    }
    story.end()
}

/// The request's value and the link's, which must not differ.
fn agreed<T: PartialEq>(
    asked: Option<T>,
    linked: Option<T>,
    param: &'static str,
) -> Result<T, Error> {
    match (asked, linked) {
        (Some(asked), Some(linked)) if asked != linked => {
            Err(Error::fault(param, Problem::LinkMismatch))
        }
        (Some(value), _) | (None, Some(value)) => Ok(value),
        (None, None) => Err(Error::fault(param, Problem::Missing)),
    }
}

fn payer_phone(ask: &CreatePayment, customer: Option<&Customer>) -> Result<Option<Phone>, Error> {
    match ask.method {
        PaymentMethod::Card => Ok(None),
        PaymentMethod::MobileMoney => ask
            .phone
            .clone()
            .or_else(|| customer.and_then(|customer| customer.phone.clone()))
            .map(Some)
            .ok_or_else(|| Error::fault("phone", Problem::Missing)),
    }
}

/// Where the payer is: as the phone, the link and the request say, which must not differ.
fn payer_country(
    ask: &CreatePayment,
    link: Option<&PaymentLink>,
    phone: Option<&Phone>,
    catalogue: &Catalogue,
) -> Result<Country, Error> {
    let named = match (ask.country, link.map(|link| link.country)) {
        (Some(asked), Some(linked)) if asked != linked => {
            return Err(Error::fault("country", Problem::PhoneCountryMismatch));
        }
        (asked, linked) => asked.or(linked),
    };
    let Some(phone) = phone else {
        return named.ok_or_else(|| Error::fault("country", Problem::Missing));
    };
    phone_country(named, phone, catalogue)
}

/// The country of a phone, which must be the named one where one is named.
pub(super) fn phone_country(
    named: Option<Country>,
    phone: &Phone,
    catalogue: &Catalogue,
) -> Result<Country, Error> {
    let of_phone = catalogue.country_of(phone).map(|place| place.country());
    if of_phone.is_some() && !catalogue.national_length_ok(phone) {
        return Err(Error::fault("phone", Problem::PhoneInvalid));
    }
    match (named, of_phone) {
        (Some(named), Some(of_phone)) if named == of_phone => Ok(named),
        (Some(named), None) if catalogue.country(named).is_none() => Ok(named),
        (Some(_), _) => Err(Error::fault("phone", Problem::PhoneCountryMismatch)),
        (None, Some(of_phone)) => Ok(of_phone),
        (None, None) => Err(Error::fault("country", Problem::CountryNotSupported)),
    }
}

fn open_to_payment(link: &PaymentLink, now: Timestamp) -> Result<(), Error> {
    if link.status == PaymentLinkStatus::Paid {
        return Err(Error::PaymentLinkAlreadyPaid);
    }
    if !link.active {
        return Err(Error::PaymentLinkInactive);
    }
    if link.expires_at.is_some_and(|at| at <= now) {
        return Err(Error::PaymentLinkExpired);
    }
    if !link.reusable && link.open_payments_count > 0 {
        return Err(Error::PaymentLinkInUse);
    }
    Ok(())
}

fn next_action(offer: &Offer, base: &str, id: crate::value::id::PaymentId) -> NextAction {
    match offer.flow {
        Flow::Push => NextAction::ApproveOnPhone,
        Flow::Redirect => {
            NextAction::Redirect { url: format!("{}/{id}", base.trim_end_matches('/')) }
        }
    }
}

/// A payment being told on: each thing heard changes it, and what was told of it is remembered.
struct Story<'c, 'a> {
    draft: Draft<'c, 'a>,
    payment: Payment,
    version: u64,
    link: Option<Versioned<PaymentLink>>,
    link_changed: bool,
    actor: Actor,
}

impl<'c, 'a> Story<'c, 'a> {
    fn new(case: Case, actor: Actor, cx: &'c mut Context<'a>) -> Self {
        let Case { payment: Versioned { value: payment, version, .. }, link } = case;
        Self { draft: Draft::new(cx), payment, version, link, link_changed: false, actor }
    }

    fn now(&self) -> Timestamp {
        self.draft.now()
    }

    fn end(mut self) -> Result<Decision<wire::Payment>, Error> {
        let shown = wire::Payment::of(&self.payment)?;
        if let Some(link) = self.link.take_if(|_| self.link_changed) {
            self.draft.changes.update(link.value, link.version, None);
        }
        let due_at = self.payment.due_at();
        self.draft.changes.update(self.payment, self.version, due_at);
        Ok(self.draft.decided(shown))
    }

    fn hear(&mut self, report: &Report) -> Result<(), Error> {
        let status = self.payment.status;
        match report {
            Report::Accepted { network, redirect_url } => match status {
                PaymentStatus::Created => {
                    self.payment.network = self.payment.network.take().or_else(|| network.clone());
                    self.accept(redirect_url.as_deref())
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

    fn accept(&mut self, redirect_url: Option<&str>) -> Result<(), Error> {
        self.step(PaymentStep::Accept)?;
        self.payment.processing_at = Some(self.now());
        self.payment.otp = None;
        if self.payment.network.is_none() {
            self.payment.network = self.first_network();
        }
        if let (Some(url), Some(NextAction::Redirect { .. })) =
            (redirect_url, &self.payment.next_action)
        {
            self.payment.next_action = Some(NextAction::Redirect { url: url.to_owned() });
        }
        self.tell_event(
            EventKind::PaymentProcessing,
            TimelineKind::Processing,
            "The network accepted the request.",
        )
    }

    /// The network of a card that neither the payer nor the gateway named: the first one offered,
    /// since from here on there is one (API §1, R13).
    fn first_network(&self) -> Option<Network> {
        let payment = &self.payment;
        let offers = self.draft.cx.terms.offers(payment.scope.environment);
        offers
            .catalogue
            .find(payment.country, payment.method, None, payment.currency)
            .map(|offer| offer.network.clone())
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

    fn expire(&mut self) -> Result<(), Error> {
        self.close(
            PaymentStep::Expire,
            TimelineKind::Expired,
            EventKind::PaymentExpired,
            "The payment was not made in time.",
        )
    }

    /// An end without money.
    fn close(
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
    fn settle(&mut self) {
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
        let line = Line::new(TimelineKind::Settled, Actor::System, "The money became available.");
        self.draft.tell(&mut self.payment, line);
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
        self.payment.updated_at = touched(self.payment.updated_at, self.now());
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
