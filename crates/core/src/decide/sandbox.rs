//! The sandbox's tools (API §17).

use super::{
    draft::{Context, Decision},
    payment, payout, refund,
};
use crate::{
    commit::{changeset::Changeset, record::Versioned},
    error::{Error, Faults, Problem},
    model::{
        idempotency::{IdempotencyRecord, RETENTION_MS, StoredBody, Success},
        ledger::{EntryKind, LedgerAccountKind as Account, Posting, PostingHead},
        payout::Payout,
        scenario::{Scenario, ScenarioKind},
    },
    value::{id::TransactionId, method::PaymentMethod, money::Amount},
    wire::{self, Fund},
};

/// Credits test money (posting L9) on top of `available`, what was available when it was read.
///
/// # Errors
/// Wrong parameters; [`Error::Overflow`] when the balance would not fit into 64 bits.
///
/// ```
/// use cauri_core::{Amount, LedgerAccountKind, decide, wire::Fund};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let ask = Fund { amount: Amount::new(10_000), currency: "XOF".parse()? };
/// let decision = decide::sandbox::fund(ask, Amount::ZERO, &mut shop.context());
/// assert_eq!(shop.done(decision).available_amount, Amount::new(10_000));
/// assert_eq!(shop.balance(LedgerAccountKind::MerchantAvailable), 10_000);
/// # Ok::<(), cauri_core::CurrencyError>(())
/// ```
pub fn fund(
    ask: Fund,
    available: Amount,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::SandboxFunding>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
    let available = available.plus(ask.amount)?;
    let head = PostingHead {
        scope: cx.scope,
        transaction: cx.env.id(),
        kind: EntryKind::SandboxFunding,
        source: None,
        currency: ask.currency,
    };
    let posting =
        Posting::moving(head, Account::Clearing, Account::MerchantAvailable, ask.amount, cx.env)
            .ok_or(Error::Impossible)?;
    let credit = posting.lines().last().ok_or(Error::Impossible)?;
    let shown = wire::SandboxFunding::of(&posting.entry(credit, available))?;
    let mut changes = Changeset::new();
    changes.insert(receipt(cx)?, Some(cx.env.now().plus_millis(RETENTION_MS)));
    changes.post(Some(posting));
    Ok(Decision { value: shown, changes, if_short: None })
}

/// A record under an id of its own, so that the same funding sent again after an unknown outcome is
/// refused, like everything else that was applied. Nobody is shown that id, and so nobody comes
/// upon it as a key.
fn receipt(cx: &mut Context<'_>) -> Result<IdempotencyRecord, Error> {
    let (unseen, now): (TransactionId, _) = (cx.env.id(), cx.env.now());
    Ok(IdempotencyRecord {
        scope: cx.scope,
        key: unseen.to_string().parse().map_err(|_| Error::Impossible)?,
        fingerprint: [0; 32],
        success: Success::Created,
        location: None,
        body: StoredBody::Plain(String::new()),
        created_at: now,
        expires_at: now.plus_millis(RETENTION_MS),
    })
}

/// What a scenario is to be played on, as it was read.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "a new kind of order must stop every match")]
pub enum Subject {
    /// A payment.
    Payment(payment::Case),
    /// A payout.
    Payout(Versioned<Payout>),
    /// A refund.
    Refund(refund::Case),
}

/// Plays a scenario at once (API §17.2); answers the changed object.
///
/// # Errors
/// An unknown object, [`Problem::ScenarioNotApplicable`], or [`Error::SimulationNotAllowed`].
///
/// ```
/// use cauri_core::{FailureCode, Scenario, decide::{payment, sandbox}, wire};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let case = payment::Case { payment: shop.payment(5_000), link: None };
/// let subject = Some(sandbox::Subject::Payment(case));
/// let scenario = Scenario::InsufficientFunds;
/// let decision = sandbox::simulate(scenario, subject, &mut shop.context())?;
/// let wire::Simulated::Payment(payment) = decision.value else { panic!("a payment") };
/// assert_eq!(payment.failure_code, Some(FailureCode::InsufficientFunds.into()));
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn simulate(
    scenario: Scenario,
    subject: Option<Subject>,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Simulated>, Error> {
    let subject = subject.ok_or_else(|| Error::fault("id", Problem::Unrelated))?;
    let (kind, method) = match &subject {
        Subject::Payment(case) => (ScenarioKind::Payment, case.payment.value.method),
        Subject::Payout(_) => (ScenarioKind::Payout, PaymentMethod::MobileMoney),
        Subject::Refund(case) => (ScenarioKind::Refund, case.payment.value.method),
    };
    if !applies(scenario, kind, method) {
        return Err(Error::fault("scenario", Problem::ScenarioNotApplicable));
    }
    match subject {
        Subject::Payment(case) => {
            payment::simulate(case, scenario, cx).map(|it| it.map(wire::Simulated::Payment))
        }
        Subject::Payout(it) => {
            payout::simulate(it, scenario, cx).map(|it| it.map(wire::Simulated::Payout))
        }
        Subject::Refund(case) => {
            refund::simulate(case, scenario, cx).map(|it| it.map(wire::Simulated::Refund))
        }
    }
}

/// On a refund only three scenarios can be played, although the list names some for its payment.
fn applies(scenario: Scenario, kind: ScenarioKind, method: PaymentMethod) -> bool {
    match kind {
        ScenarioKind::Refund => {
            matches!(scenario, Scenario::Success | Scenario::RefundFailure | Scenario::Pending)
        }
        ScenarioKind::Payment | ScenarioKind::Payout => scenario.is_applicable(kind, method),
    }
}
