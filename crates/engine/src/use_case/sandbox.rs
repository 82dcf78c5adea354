//! The sandbox's tools (API §17).

use cauri_core::{
    Amount, Error as Refused, Key, LedgerAccountKind, Listed, OrderId, Page, Payment, Payout,
    Refund, Scenario, ScenarioKind,
    decide::{
        payment, refund,
        sandbox::{self, Subject},
    },
    wire::{Fund, List, SandboxFunding, SandboxScenario, Simulate, Simulated},
};

use super::payments;
use crate::{
    call::{Call, Caller, Reply},
    engine::Engine,
    error::Error,
    run::{Loaded, Shape},
    store_ext::StoreExt,
};

impl Engine {
    /// `POST /v1/sandbox/fund`: credits test money.
    ///
    /// `available_amount` counts from the balance before the command; commands that move the same
    /// balance at the same moment are not in it.
    ///
    /// # Errors
    /// [`crate::PermissionError::SandboxOnly`], or [`Error::Store`].
    pub async fn fund(&self, call: &Call, ask: Fund) -> Result<Reply<SandboxFunding>, Error> {
        call.caller.may_write()?;
        call.caller.may_play()?;
        let available = self
            .0
            .store
            .balances(call.caller.scope)
            .await?
            .into_iter()
            .find(|it| {
                it.account.kind == LedgerAccountKind::MerchantAvailable
                    && it.account.currency == ask.currency
            })
            .map_or(Amount::ZERO, |it| it.amount);
        let shape = Shape::created("fund", |it: &SandboxFunding| {
            format!("/v1/ledger?transaction={}", it.transaction)
        });
        self.run(call, shape, Vec::new(), |_, cx| sandbox::fund(ask, available, cx)).await
    }

    /// `POST /v1/sandbox/simulate`: forces an outcome.
    ///
    /// # Errors
    /// What API §17.2 names, or [`Error::Store`].
    pub async fn simulate(&self, call: &Call, ask: Simulate) -> Result<Reply<Simulated>, Error> {
        call.caller.may_write()?;
        call.caller.may_play()?;
        let keys = self.subject_keys(&call.caller, ask.id).await?;
        self.run(call, Shape::done("simulate"), keys, |loaded, cx| {
            sandbox::simulate(ask.scenario, subject(ask.id, loaded), cx)
        })
        .await
    }

    /// `GET /v1/sandbox/scenarios`, of one kind of object where one is named.
    ///
    /// # Errors
    /// [`crate::PermissionError::SandboxOnly`].
    pub fn scenarios(
        &self,
        caller: &Caller,
        applies_to: Option<ScenarioKind>,
        page: Page,
    ) -> Result<List<SandboxScenario>, Error> {
        caller.may_play()?;
        let all: Vec<Scenario> = Scenario::ALL
            .iter()
            .copied()
            .filter(|it| applies_to.is_none_or(|kind| it.applies_to().contains(&kind)))
            .collect();
        let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
        let offset = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let items =
            all.into_iter().skip(offset).take(usize::from(page.limit())).collect::<Vec<_>>();
        let list = List::each(Listed { items, total }, page, SandboxScenario::of);
        Ok(list.map_err(Refused::from)?)
    }

    /// The keys of an object and of what changes with it; what it belongs to never changes.
    async fn subject_keys(&self, caller: &Caller, id: OrderId) -> Result<Vec<Key>, Error> {
        let scope = caller.scope;
        let key = Key::order(scope, id);
        Ok(match id {
            OrderId::Payout(_) => vec![key],
            OrderId::Payment(_) => match self.0.store.find::<Payment>(key.clone()).await? {
                Some(found) => payments::keys_of(&found.value),
                None => vec![key],
            },
            OrderId::Refund(_) => match self.0.store.find::<Refund>(key.clone()).await? {
                Some(found) => vec![key, Key::Payment(scope, found.value.payment)],
                None => vec![key],
            },
        })
    }
}

fn subject(id: OrderId, mut loaded: Loaded) -> Option<Subject> {
    match id {
        OrderId::Payment(_) => {
            let payment = loaded.take::<Payment>(0)?;
            Some(Subject::Payment(payment::Case { payment, link: loaded.take(1) }))
        }
        OrderId::Payout(_) => loaded.take::<Payout>(0).map(Subject::Payout),
        OrderId::Refund(_) => {
            let refund = loaded.take::<Refund>(0)?;
            Some(Subject::Refund(refund::Case { refund, payment: loaded.take(1)? }))
        }
    }
}
