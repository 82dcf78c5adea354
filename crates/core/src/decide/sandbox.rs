//! The sandbox's tools (API §17).

use super::{
    draft::{Context, Decision},
    payment, payout, refund,
};
use crate::{
    commit::{changeset::Changeset, record::Versioned},
    error::{Error, Problem},
    model::{
        ledger::{EntryKind, LedgerAccountKind as Account, Posting, PostingHead},
        payout::Payout,
        scenario::{Scenario, ScenarioKind},
    },
    value::{method::PaymentMethod, money::Amount},
    wire::{self, Fund},
};

/// Credits test money (posting L9) on top of `available`, what was available when it was read.
///
/// # Errors
/// [`Error::Overflow`] when the balance would not fit into 64 bits.
pub fn fund(
    ask: Fund,
    available: Amount,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::SandboxFunding>, Error> {
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
    changes.post(Some(posting));
    Ok(Decision { value: shown, changes, if_short: None })
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
