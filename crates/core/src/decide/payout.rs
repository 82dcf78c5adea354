//! Payouts: created and reported on (API §10).

use super::{
    draft::{Context, Decision, Draft, Why, touched},
    payment::{RESUBMIT_MS, SOONEST_MS},
};
use crate::{
    arithmetic::fee::FeeKind,
    commit::record::Versioned,
    error::{Error, Faults, Problem},
    model::{
        catalogue::Ask,
        event::EventKind,
        failure::FailureCode,
        ledger::{EntryKind, LedgerAccountKind as Account},
        offer::Purpose,
        order::{NextQuestion, Report},
        payout::{Payout, PayoutStatus, PayoutStep},
        scenario::Scenario,
        simulation::Simulation,
    },
    value::id::OrderId,
    wire::{self, CreatePayout},
};

/// Creates a payout and reserves its money (API §10). `customer_exists` says whether the customer
/// that the request names is there.
///
/// # Errors
/// In this order: wrong parameters, a customer that does not exist, what the catalogue does not offer,
/// and, once committed, [`Error::BalanceInsufficient`].
///
/// ```
/// use cauri_core::{Amount, LedgerAccountKind, Refusal, decide};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let ask = Shop::ask_payout(1_000);
/// let decision = decide::payout::create(ask.clone(), false, &mut shop.context())?;
/// // Whether the balance covers it is known when it is committed: here there is nothing.
/// let needed = decision.if_short.expect("what to answer then");
/// assert_eq!(needed.to_string(), "The balance does not cover 1100 XOF.");
/// assert!(matches!(shop.commit(decision.changes), Err(Refusal::Floor(_))));
///
/// shop.settled(5_000);
/// let decision = decide::payout::create(ask, false, &mut shop.context())?;
/// assert_eq!(shop.commit(decision.changes), Ok(()));
/// assert_eq!(shop.balance(LedgerAccountKind::MerchantReserved), 1_100);
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn create(
    ask: CreatePayout,
    customer_exists: bool,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payout>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
    if ask.customer.is_some() && !customer_exists {
        return Err(Error::fault("customer", Problem::Unrelated));
    }
    let offers = cx.terms.offers(cx.scope.environment);
    let country = cx.form().country_of(ask.country, &ask.phone)?;
    let offer = offers
        .catalogue
        .offer(Ask {
            country,
            method: ask.method,
            network: Some(&ask.network),
            currency: ask.currency,
            amount: ask.amount,
            purpose: Purpose::Payout,
        })
        .map_err(Error::catalogue)?;
    let fee_amount = offers.fees.fee(
        FeeKind::Payout,
        ask.method,
        Some(&ask.network),
        ask.currency,
        ask.amount,
    )?;
    let total = ask.amount.plus(fee_amount)?;

    let now = cx.env.now();
    let id = cx.env.id();
    let payout = Payout {
        id,
        scope: cx.scope,
        status: PayoutStatus::Created,
        amount: ask.amount,
        currency: ask.currency,
        fee_amount,
        method: ask.method,
        network: ask.network,
        country,
        phone: ask.phone,
        recipient_name: ask.recipient_name,
        customer: ask.customer,
        reference: ask.reference,
        description: ask.description,
        metadata: ask.metadata,
        failure: None,
        created_at: now,
        updated_at: now,
        processing_at: None,
        succeeded_at: None,
        failed_at: None,
        connection: cx.terms.connection(cx.scope, offer, OrderId::Payout(id)),
        poll_at: cx.terms.submit_at(cx.scope.environment, now),
        simulation: None,
    };
    let shown = wire::Payout::of(&payout)?;
    let mut draft = Draft::new(cx);
    draft.emit(EventKind::PayoutCreated, now, &shown);
    let why = Why {
        transaction: draft.transaction(),
        kind: EntryKind::PayoutHold,
        source: Some(OrderId::Payout(payout.id)),
        currency: payout.currency,
    };
    draft.post(why, Account::MerchantAvailable, Account::MerchantReserved, total);
    let short = Error::BalanceInsufficient { needed: total, currency: payout.currency };
    let due_at = payout.due_at();
    draft.insert_order(payout, due_at);
    Ok(Decision { if_short: Some(short), ..draft.decided(shown) })
}

/// Applies what a network said, in order (API §10). Reports that repeat or contradict a final
/// result change nothing; an unknown outcome stays as it is until the network answers.
///
/// # Errors
/// [`Error::Overflow`] when a sum does not fit into 64 bits.
///
/// ```
/// use cauri_core::{FailureCode, LedgerAccountKind, NextQuestion, Report, decide::payout};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// shop.settled(5_000);
/// let payout = shop.payout(1_000);
/// let failed = [Report::Failed(FailureCode::NetworkUnavailable)];
/// let decision = payout::report(payout, &failed, NextQuestion::Never, &mut shop.context());
/// shop.done(decision);
/// // What was reserved is available again, the fee included.
/// assert_eq!(shop.balance(LedgerAccountKind::MerchantAvailable), 4_900);
/// ```
pub fn report(
    payout: Versioned<Payout>,
    reports: &[Report],
    next: NextQuestion,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payout>, Error> {
    let mut story = Story::new(payout, cx);
    for report in reports {
        story.hear(report)?;
    }
    let now = story.draft.now();
    let soonest = now.plus_millis(SOONEST_MS);
    story.payout.poll_at = next
        .after(story.payout.poll_at, now)
        .filter(|_| story.payout.status.is_open())
        .map(|at| at.max(soonest));
    if story.payout.status == PayoutStatus::Created && story.payout.poll_at.is_none() {
        story.payout.poll_at = Some(now.plus_millis(RESUBMIT_MS));
    }
    story.end()
}

/// Plays a scenario on a payout at once (API §17.2).
///
/// # Errors
/// [`Error::SimulationNotAllowed`] when the payout's status does not allow it.
pub(super) fn simulate(
    payout: Versioned<Payout>,
    scenario: Scenario,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Payout>, Error> {
    let it = &payout.value;
    let allowed = match it.status {
        PayoutStatus::Created => true,
        PayoutStatus::Processing => scenario != Scenario::NetworkDown,
        PayoutStatus::Succeeded | PayoutStatus::Failed => false,
    };
    if !allowed {
        return Err(Error::not_simulated_payout(OrderId::Payout(it.id), it.status));
    }
    let now = cx.env.now();
    let mut story = Story::new(payout, cx);
    story.payout.poll_at = None;
    story.payout.simulation = Some(Simulation { scenario, since: now });
    if scenario == Scenario::NetworkDown {
        story.hear(&Report::Unreachable)?;
        return story.end();
    }
    if story.payout.status == PayoutStatus::Created {
        story.hear(&Report::accepted())?;
    }
    match (scenario, scenario.failure_code()) {
        (Scenario::Pending, _) => {}
        (Scenario::SlowSuccess, _) => story.payout.poll_at = Some(now.plus_seconds(30)),
        (Scenario::DuplicateCallback, _) => {
            story.hear(&Report::Paid)?;
            story.hear(&Report::Paid)?;
        }
        (_, Some(code)) => story.hear(&Report::Failed(code))?,
        (_, None) => story.hear(&Report::Paid)?,
    }
    story.end()
}

struct Story<'c, 'a> {
    draft: Draft<'c, 'a>,
    payout: Payout,
    version: u64,
}

impl<'c, 'a> Story<'c, 'a> {
    fn new(payout: Versioned<Payout>, cx: &'c mut Context<'a>) -> Self {
        Self { draft: Draft::new(cx), payout: payout.value, version: payout.version }
    }

    fn end(mut self) -> Result<Decision<wire::Payout>, Error> {
        let shown = wire::Payout::of(&self.payout)?;
        let due_at = self.payout.due_at();
        self.draft.changes.update(self.payout, self.version, due_at);
        Ok(self.draft.decided(shown))
    }

    fn hear(&mut self, report: &Report) -> Result<(), Error> {
        match (report, self.payout.status) {
            (Report::Accepted { .. }, PayoutStatus::Created) => self.accept(),
            (Report::Refused(code), PayoutStatus::Created) => self.fail(*code),
            (Report::Unreachable, PayoutStatus::Created) => {
                self.fail(FailureCode::NetworkUnavailable)
            }
            (Report::Paid, PayoutStatus::Created) => {
                self.accept()?;
                self.pay()
            }
            (Report::Paid, PayoutStatus::Processing) => self.pay(),
            (Report::Failed(code), PayoutStatus::Created) => {
                self.accept()?;
                self.fail(*code)
            }
            // Refused after all: it never will be paid.
            (Report::Failed(code) | Report::Refused(code), PayoutStatus::Processing) => {
                self.fail(*code)
            }
            // Nothing new, nothing certain, or the payout has ended.
            (
                Report::Accepted { .. }
                | Report::Refused(_)
                | Report::Unreachable
                | Report::Paid
                | Report::Failed(_)
                | Report::Expired
                | Report::NotFound
                | Report::Unknown,
                _,
            ) => Ok(()),
        }
    }

    fn accept(&mut self) -> Result<(), Error> {
        self.step(PayoutStep::Accept)?;
        self.payout.processing_at = Some(self.draft.now());
        self.emit(EventKind::PayoutProcessing)
    }

    /// Posting L7.
    fn pay(&mut self) -> Result<(), Error> {
        self.step(PayoutStep::Pay)?;
        self.payout.succeeded_at = Some(self.draft.now());
        self.payout.poll_at = None;
        self.emit(EventKind::PayoutSucceeded)?;
        let why = self.why(EntryKind::Payout);
        let (amount, fee) = (self.payout.amount, self.payout.fee_amount);
        self.draft.post(why, Account::MerchantReserved, Account::Clearing, amount);
        let why = Why { kind: EntryKind::PayoutFee, ..why };
        self.draft.post(why, Account::MerchantReserved, Account::Fees, fee);
        Ok(())
    }

    /// Posting L8: a failed payout costs nothing.
    fn fail(&mut self, code: FailureCode) -> Result<(), Error> {
        self.step(PayoutStep::Fail)?;
        self.payout.failure = Some(code);
        self.payout.failed_at = Some(self.draft.now());
        self.payout.poll_at = None;
        self.emit(EventKind::PayoutFailed)?;
        let why = self.why(EntryKind::PayoutRelease);
        let total = self.payout.total_amount()?;
        self.draft.post(why, Account::MerchantReserved, Account::MerchantAvailable, total);
        Ok(())
    }

    fn step(&mut self, step: PayoutStep) -> Result<(), Error> {
        self.payout.status = self.payout.status.after(step).map_err(|_| Error::Impossible)?;
        self.payout.updated_at = touched(self.payout.updated_at, self.draft.now());
        Ok(())
    }

    fn emit(&mut self, kind: EventKind) -> Result<(), Error> {
        let shown = wire::Payout::of(&self.payout)?;
        self.draft.emit(kind, self.payout.updated_at, &shown);
        Ok(())
    }

    fn why(&mut self, kind: EntryKind) -> Why {
        Why {
            transaction: self.draft.transaction(),
            kind,
            source: Some(OrderId::Payout(self.payout.id)),
            currency: self.payout.currency,
        }
    }
}
