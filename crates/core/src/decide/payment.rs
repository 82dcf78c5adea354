//! Payments: created, reported on, cancelled, expired, settled (API §9).

mod story;

use self::story::Story;
use super::draft::{Context, Decision, Draft, Line, touched};
use crate::{
    arithmetic::fee::FeeKind,
    commit::record::Versioned,
    error::{Error, Faults, Problem},
    model::{
        catalogue::{Ask, Catalogue, CatalogueError},
        customer::Customer,
        event::EventKind,
        failure::FailureCode,
        offer::{Offer, Purpose},
        order::{NextQuestion, Report},
        payment::{NextAction, Payment, PaymentStatus, PaymentStep},
        payment_link::{PaymentLink, PaymentLinkStatus},
        scenario::Scenario,
        simulation::Simulation,
        timeline::{Actor, TimelineKind},
    },
    value::{
        country::Country,
        id::{OrderId, PaymentId},
        method::{Flow, PaymentMethod},
        money::Amount,
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

/// For how long after a payment should have ended its order may still be on its way to the network,
/// in milliseconds: a network that has never heard of it by then never will.
const ON_ITS_WAY_MS: i64 = 90_000;

/// For how long after its end an expired payment of a network that never says what became of it is
/// asked about, in milliseconds. What the network says by itself counts at any time.
const LATE_MS: i64 = 24 * 60 * 60 * 1_000;

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
/// In this order: wrong parameters, what the request names and does not exist, amounts that differ
/// from the link's, what the catalogue does not offer, and a link that takes no payment now.
///
/// ```
/// use cauri_core::{Amount, PaymentMethod, PaymentStatus, decide, wire::CreatePayment};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let ask = CreatePayment {
///     amount: Some(Amount::new(5_000)),
///     currency: Some("XOF".parse()?),
///     network: Some("mtn".parse()?),
///     phone: Some("+2250500000000".parse()?),
///     ..CreatePayment::by(PaymentMethod::MobileMoney)
/// };
/// let decision = decide::payment::create(ask, Default::default(), &mut shop.context())?;
/// assert_eq!(decision.value.status, PaymentStatus::Created);
/// assert_eq!(decision.value.fee_amount, Amount::new(100));
/// assert!(decision.changes.postings().is_empty()); // no money has moved yet
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create(
    ask: CreatePayment,
    related: Related,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payment>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
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
    let country = payer_country(&ask, place, phone.as_ref(), &cx.form())?;
    if place.is_some_and(|link| link.methods.as_ref().is_some_and(|all| !all.contains(&ask.method)))
    {
        return Err(Error::fault(
            "payment_method",
            Problem::Catalogue(CatalogueError::PaymentMethodNotSupported {
                method: ask.method,
                country,
            }),
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
    let fee =
        offers.fees.fee(FeeKind::Payment, ask.method, ask.network.as_ref(), currency, amount)?;

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
        connection: cx.terms.connection(cx.scope, offer, OrderId::Payment(id)),
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
/// expires, since the network was just asked; one that had never heard of it is asked once more when
/// whatever was on its way must have arrived. One that does not know is asked less and less often
/// about a live payment that has expired, for a day.
///
/// # Errors
/// [`Error::Overflow`] when a sum does not fit into 64 bits.
///
/// ```
/// use cauri_core::{Actor, NextQuestion, PaymentStatus, Report, decide::payment};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let payment = shop.payment(5_000);
/// let case = payment::Case { payment, link: None };
/// let (reports, next) = ([Report::accepted(), Report::Paid], NextQuestion::Never);
/// let decision = payment::report(case, &reports, next, Actor::Network, &mut shop.context())?;
/// assert_eq!(decision.value.status, PaymentStatus::Succeeded);
/// assert_eq!(decision.changes.postings().len(), 3); // the payment, its fee, the settlement
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn report(
    case: Case,
    reports: &[Report],
    next: NextQuestion,
    actor: Actor,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payment>, Error> {
    let now = cx.env.now();
    let soonest = now.plus_millis(SOONEST_MS);
    let mut story = Story::new(case, actor, cx);
    let planned = story.payment.poll_at;
    for report in reports {
        story.hear(report)?;
    }
    // Whoever has ended is not asked about any more, but for an expired payment, which may still be
    // paid, and one that is to be called off.
    let goes_on = match story.payment.status {
        PaymentStatus::Expired => planned.is_some() || next != NextQuestion::AsPlanned,
        PaymentStatus::Cancelled => planned.is_some(),
        status => status.is_open(),
    };
    story.payment.poll_at = next.after(planned, now).filter(|_| goes_on).map(|at| at.max(soonest));
    if story.payment.status.is_open() && story.payment.expires_at <= story.now() {
        // Only a late success can follow.
        story.actor = Actor::System;
        story.expire()?;
    } else if story.payment.status == PaymentStatus::Created && story.payment.poll_at.is_none() {
        story.payment.poll_at = Some(story.now().plus_millis(RESUBMIT_MS));
    }
    if story.payment.status == PaymentStatus::Expired {
        story.payment.poll_at = match story.payment.poll_at {
            // Whoever sent it may have given up waiting before it arrived, and it may be paid yet.
            None if reports.contains(&Report::NotFound) => {
                let arrived = story.payment.expires_at.plus_millis(ON_ITS_WAY_MS);
                Some(arrived).filter(|arrived| *arrived > now)
            }
            planned if story.payment.scope.environment.is_live() => {
                planned.and_then(|at| late_question(&story.payment, at, now))
            }
            planned => planned,
        };
    }
    story.end()
}

/// When an expired payment is asked about that would be so at `planned`: each time after twice as
/// long, since the longer its end is past, the less likely it is paid; `None` when that is over.
fn late_question(payment: &Payment, planned: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let since = payment.expired_at.unwrap_or(payment.expires_at);
    let last = since.plus_millis(LATE_MS);
    (now < last).then(|| planned.max(now.plus_millis(now.since(since))).min(last))
}

/// Cancels a payment (API §9.5). `confirmed` says whether the network called off an order that it
/// had accepted; it does not matter before.
///
/// # Errors
/// [`Error::PaymentNotCancellable`] in any other state, or when the network does not confirm.
///
/// Nobody can know of a live payment that it was not sent by now, so it is due at once, to be called
/// off at its network ([`call_off_again`]).
///
/// ```
/// use cauri_core::{Error, PaymentStatus, Report, decide::payment};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let case = |payment| payment::Case { payment, link: None };
/// // Before the network took it on, it can always be cancelled …
/// let created = shop.payment(5_000);
/// let decision = payment::cancel(case(created), None, false, &mut shop.context())?;
/// assert_eq!(decision.value.status, PaymentStatus::Cancelled);
/// // … afterwards only when the network confirms.
/// let processing = shop.hear(&[Report::accepted()]);
/// let refused = payment::cancel(case(processing), None, false, &mut shop.context());
/// assert_eq!(refused.unwrap_err(), Error::PaymentNotCancellable(PaymentStatus::Processing));
/// # Ok::<(), cauri_core::Error>(())
/// ```
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
    if !confirmed && story.payment.scope.environment.is_live() {
        story.payment.poll_at = Some(story.now());
    }
    story.end()
}

/// When a network is asked again to call off a payment that was cancelled, after it did not and
/// reported this; `None` when that is over: the network knows of its end or never will know of it,
/// or no payer can pay any more.
///
/// ```
/// use cauri_core::{Report, decide::payment::call_off_again};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut payment = Shop::open().payment(5_000).value;
/// let cancelled = payment.created_at;
/// payment.cancelled_at = Some(cancelled);
/// let after = |report, seconds| call_off_again(&payment, &[report], cancelled.plus_seconds(seconds));
/// assert_eq!(after(Report::Unknown, 0), Some(cancelled.plus_seconds(5)));
/// assert_eq!(after(Report::Unknown, 60), Some(cancelled.plus_seconds(120)));
/// // What was on its way when it was cancelled may arrive yet, for a while.
/// assert!(after(Report::NotFound, 60).is_some() && after(Report::NotFound, 90).is_none());
/// assert_eq!(after(Report::Expired, 0), None);
/// ```
#[must_use]
pub fn call_off_again(payment: &Payment, reports: &[Report], now: Timestamp) -> Option<Timestamp> {
    let since = payment.cancelled_at.unwrap_or(payment.created_at);
    let is_over = |report: &Report| match report {
        Report::Paid | Report::Failed(_) | Report::Refused(_) | Report::Expired => true,
        Report::NotFound => now >= since.plus_millis(ON_ITS_WAY_MS),
        Report::Accepted { .. } | Report::Unreachable | Report::Unknown => false,
    };
    // Each time after twice as long.
    let again = now.plus_millis(now.since(since).max(RESUBMIT_MS));
    let last = payment.expires_at.plus_millis(ON_ITS_WAY_MS);
    (again <= last && !reports.iter().any(is_over)).then_some(again)
}

/// May the network of this payment be asked to cancel it (API §9.4)?
///
/// ```
/// use cauri_core::{Catalogue, Report, decide::payment};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let catalogue = Catalogue::sandbox();
/// shop.payment(5_000);
/// let mut payment = shop.hear(&[Report::accepted()]).value;
/// assert!(!payment::is_cancellable_by_network(&payment, &catalogue)); // MTN cannot
/// payment.network = Some("wave".parse()?);
/// assert!(payment::is_cancellable_by_network(&payment, &catalogue)); // Wave can
/// # Ok::<(), cauri_core::NetworkError>(())
/// ```
#[must_use]
pub fn is_cancellable_by_network(payment: &Payment, catalogue: &Catalogue) -> bool {
    payment.status == PaymentStatus::Processing
        && payment.offer(catalogue).is_some_and(|offer| offer.capabilities.cancel)
}

/// Makes a payment's money available (posting L2) once its time has come.
///
/// # Errors
/// [`Error::Overflow`] when a sum does not fit into 64 bits.
///
/// ```
/// use cauri_core::{LedgerAccountKind, decide::payment};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// shop.paid(5_000);
/// shop.wait(60);
/// let case = payment::Case { payment: shop.last(), link: None };
/// let decision = payment::settle(case, &mut shop.context());
/// shop.done(decision);
/// assert_eq!(shop.balance(LedgerAccountKind::MerchantPending), 0);
/// assert_eq!(shop.balance(LedgerAccountKind::MerchantAvailable), 4_900);
/// ```
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
    scenario: Scenario,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payment>, Error> {
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
    form: &wire::Form<'_>,
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
    Ok(form.country_of(named, phone)?)
}

fn open_to_payment(link: &PaymentLink, now: Timestamp) -> Result<(), Error> {
    if !link.active {
        return Err(Error::PaymentLinkInactive);
    }
    if link.expires_at.is_some_and(|at| at <= now) {
        return Err(Error::PaymentLinkExpired);
    }
    if link.status == PaymentLinkStatus::Paid {
        return Err(Error::PaymentLinkAlreadyPaid);
    }
    if !link.reusable && link.open_payments_count > 0 {
        return Err(Error::PaymentLinkInUse);
    }
    Ok(())
}

fn next_action(offer: &Offer, base: &str, id: PaymentId) -> NextAction {
    match offer.flow {
        Flow::Push => NextAction::ApproveOnPhone,
        Flow::Redirect => {
            NextAction::Redirect { url: format!("{}/{id}", base.trim_end_matches('/')) }
        }
    }
}
