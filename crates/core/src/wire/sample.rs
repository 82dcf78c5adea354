//! Fictive objects for `POST /v1/webhooks/test` (API §16.4).

use std::str::FromStr;

use serde::Serialize;

use super::{Payment, PaymentLink, Payout, Refund};
use crate::{
    model::{
        event::EventKind,
        failure::FailureCode,
        offer::Connection,
        payment::{self, NextAction, PaymentStatus},
        payment_link::{self, PaymentLinkStatus},
        payout::{self, PayoutStatus},
        refund::{self, RefundReason, RefundStatus},
    },
    value::{
        env::Env, id::PaymentLinkId, metadata::Metadata, method::PaymentMethod, money::Amount,
        scope::Scope, time::Timestamp,
    },
};

/// An object that exists nowhere else, whose status is what its event tells of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Sample(Option<Object>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Object {
    Payment(Box<Payment>),
    Payout(Box<Payout>),
    Refund(Box<Refund>),
    PaymentLink(Box<PaymentLink>),
}

/// A fictive object for an event of this kind, last changed now.
///
/// ```
/// use cauri_core::{Env, Environment, EventKind, Scope, Tick, Timestamp, wire};
/// let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// let scope = Scope { account, environment: Environment::Sandbox };
/// let mut env = Env::new(Timestamp::EPOCH, Tick::first(Timestamp::EPOCH), [0; 32]);
/// let sample = serde_json::to_value(wire::sample(EventKind::PayoutFailed, &mut env, scope))?;
/// assert_eq!((&sample["object"], &sample["status"]), (&"payout".into(), &"failed".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn sample(kind: EventKind, env: &mut Env, scope: Scope) -> Sample {
    // `None` if a constant below were misspelt, which a test makes sure none is.
    Sample(object(kind, env, scope))
}

fn object(kind: EventKind, env: &mut Env, scope: Scope) -> Option<Object> {
    Some(match kind {
        EventKind::PaymentCreated => payment(PaymentStatus::Created, env, scope)?,
        EventKind::PaymentProcessing => payment(PaymentStatus::Processing, env, scope)?,
        EventKind::PaymentSucceeded => payment(PaymentStatus::Succeeded, env, scope)?,
        EventKind::PaymentFailed => payment(PaymentStatus::Failed, env, scope)?,
        EventKind::PaymentCancelled => payment(PaymentStatus::Cancelled, env, scope)?,
        EventKind::PaymentExpired => payment(PaymentStatus::Expired, env, scope)?,
        EventKind::PaymentRefunded => payment(PaymentStatus::Refunded, env, scope)?,
        EventKind::PaymentPartiallyRefunded => {
            payment(PaymentStatus::PartiallyRefunded, env, scope)?
        }
        EventKind::PayoutCreated => payout(PayoutStatus::Created, env, scope)?,
        EventKind::PayoutProcessing => payout(PayoutStatus::Processing, env, scope)?,
        EventKind::PayoutSucceeded => payout(PayoutStatus::Succeeded, env, scope)?,
        EventKind::PayoutFailed => payout(PayoutStatus::Failed, env, scope)?,
        EventKind::RefundCreated => refund(RefundStatus::Created, env, scope)?,
        EventKind::RefundSucceeded => refund(RefundStatus::Succeeded, env, scope)?,
        EventKind::RefundFailed => refund(RefundStatus::Failed, env, scope)?,
        EventKind::PaymentLinkCreated => payment_link(PaymentLinkStatus::Created, env, scope)?,
        EventKind::PaymentLinkPaid => payment_link(PaymentLinkStatus::Paid, env, scope)?,
    })
}

fn constant<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// The moments of a fictive object: made a while ago, taken on in between, changed now.
struct Moments {
    created: Timestamp,
    accepted: Timestamp,
    now: Timestamp,
}

impl Moments {
    fn of(env: &Env, is_new: bool, seconds: i64) -> Self {
        let now = env.now();
        if is_new {
            return Self { created: now, accepted: now, now };
        }
        let created = now.plus_seconds(seconds.saturating_neg());
        Self { created, accepted: created.plus_seconds(1), now }
    }
}

fn payment(status: PaymentStatus, env: &mut Env, scope: Scope) -> Option<Object> {
    use PaymentStatus as S;
    let at = match status {
        // It expires after the 900 seconds it was given.
        S::Expired => Moments::of(env, false, 900),
        _ => Moments::of(env, status == S::Created, 60),
    };
    let paid = matches!(status, S::Succeeded | S::PartiallyRefunded | S::Refunded);
    let accepted = !matches!(status, S::Created | S::Cancelled);
    let paid_at = if status == S::Succeeded { at.now } else { at.accepted };
    let when = |is: bool, moment: Timestamp| is.then_some(moment);
    let refunded = match status {
        S::Refunded => 5_000,
        S::PartiallyRefunded => 2_000,
        _ => 0,
    };
    let payment = payment::Payment {
        id: env.id(),
        scope,
        status,
        amount: Amount::new(5_000),
        currency: constant("XOF")?,
        fee_amount: Amount::new(100),
        method: PaymentMethod::MobileMoney,
        network: Some(constant("mtn")?),
        reference: Some(constant("ORDER-1001")?),
        country: constant("CI")?,
        phone: Some(constant("+2250500000000")?),
        otp: None,
        customer: None,
        payment_link: None,
        description: Some(constant("A fictive payment")?),
        metadata: Metadata::default(),
        return_url: None,
        next_action: status.is_open().then_some(NextAction::ApproveOnPhone),
        failure: (status == S::Failed).then_some(FailureCode::InsufficientFunds),
        cancellation_reason: None,
        refunded_amount: Amount::new(refunded),
        refunding_amount: Amount::ZERO,
        fee_returned_amount: Amount::ZERO,
        refunds_count: 0,
        pending_amount: Amount::ZERO,
        settled_at: when(paid, paid_at),
        expires_at: at.created.plus_seconds(900),
        created_at: at.created,
        updated_at: at.now,
        processing_at: when(accepted, if status == S::Processing { at.now } else { at.accepted }),
        succeeded_at: when(paid, paid_at),
        failed_at: when(status == S::Failed, at.now),
        cancelled_at: when(status == S::Cancelled, at.now),
        expired_at: when(status == S::Expired, at.now),
        available_at: when(paid, paid_at),
        timeline_count: 0,
        connection: Connection::new(""),
        poll_at: None,
        simulation: None,
    };
    Payment::of(&payment).ok().map(Box::new).map(Object::Payment)
}

fn payout(status: PayoutStatus, env: &mut Env, scope: Scope) -> Option<Object> {
    use PayoutStatus as S;
    let at = Moments::of(env, status == S::Created, 60);
    let accepted_at = if status == S::Processing { at.now } else { at.accepted };
    let payout = payout::Payout {
        id: env.id(),
        scope,
        status,
        amount: Amount::new(10_000),
        currency: constant("XOF")?,
        fee_amount: Amount::new(100),
        method: PaymentMethod::MobileMoney,
        network: constant("orange")?,
        country: constant("SN")?,
        phone: constant("+221770000000")?,
        recipient_name: Some(constant("Awa Diop")?),
        customer: None,
        reference: Some(constant("SAL-11")?),
        description: Some(constant("A fictive payout")?),
        metadata: Metadata::default(),
        failure: (status == S::Failed).then_some(FailureCode::RecipientNotFound),
        created_at: at.created,
        updated_at: at.now,
        processing_at: (status != S::Created).then_some(accepted_at),
        succeeded_at: (status == S::Succeeded).then_some(at.now),
        failed_at: (status == S::Failed).then_some(at.now),
        connection: Connection::new(""),
        poll_at: None,
        simulation: None,
    };
    Payout::of(&payout).ok().map(Box::new).map(Object::Payout)
}

fn refund(status: RefundStatus, env: &mut Env, scope: Scope) -> Option<Object> {
    use RefundStatus as S;
    let at = Moments::of(env, status == S::Created, 60);
    let refund = refund::Refund {
        payment: env.id(),
        id: env.id(),
        scope,
        status,
        amount: Amount::new(2_000),
        currency: constant("XOF")?,
        fee_returned_amount: Amount::new(40),
        reason: Some(RefundReason::RequestedByCustomer),
        description: Some(constant("A fictive refund")?),
        reference: None,
        metadata: Metadata::default(),
        failure: (status == S::Failed).then_some(FailureCode::RefundRejected),
        created_at: at.created,
        updated_at: at.now,
        accepted_at: None,
        succeeded_at: (status == S::Succeeded).then_some(at.now),
        failed_at: (status == S::Failed).then_some(at.now),
        connection: Connection::new(""),
        poll_at: None,
        simulation: None,
    };
    Refund::of(&refund).ok().map(Box::new).map(Object::Refund)
}

fn payment_link(status: PaymentLinkStatus, env: &mut Env, scope: Scope) -> Option<Object> {
    let paid = status == PaymentLinkStatus::Paid;
    let at = Moments::of(env, !paid, 3_600);
    let id: PaymentLinkId = env.id();
    let link = payment_link::PaymentLink {
        id,
        scope,
        status,
        active: true,
        url: format!("https://pay.example.com/{id}"),
        title: constant("Invoice 42")?,
        description: Some(constant("A fictive payment link")?),
        amount: Some(Amount::new(15_000)),
        currency: constant("XOF")?,
        country: constant("CI")?,
        methods: None,
        reusable: false,
        expires_at: None,
        return_url: None,
        reference: Some(constant("INV-42")?),
        metadata: Metadata::default(),
        payments_count: i64::from(paid),
        open_payments_count: 0,
        succeeded_payments_count: i64::from(paid),
        collected_amount: if paid { Amount::new(15_000) } else { Amount::ZERO },
        paid_at: paid.then_some(at.now),
        created_at: at.created,
        updated_at: at.now,
    };
    PaymentLink::of(&link).ok().map(Box::new).map(Object::PaymentLink)
}
