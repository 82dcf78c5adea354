//! Ledger entries and the balance as they travel (API §8.3, §8.4).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{private::Mask, tag};
use crate::{
    model::ledger as model,
    value::{
        currency::Currency,
        id::{EntryId, OrderId, TransactionId},
        money::{Amount, Overflow},
        open::Open,
        scope::{Environment, Scope},
        time::Timestamp,
    },
};

/// One line of a posting (API §8.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// Its id.
    pub id: EntryId,
    /// `ledger_entry`.
    pub object: tag::LedgerEntry,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// The lines that balance with it.
    pub transaction: TransactionId,
    /// Which account.
    pub account: model::LedgerAccountKind,
    /// Which side.
    pub direction: model::Direction,
    /// How much.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// Why.
    #[serde(rename = "type")]
    pub kind: Open<model::EntryKind>,
    /// Because of what.
    pub source: Option<OrderId>,
    /// The account's balance after it.
    pub balance_after: Amount,
    /// When.
    pub created_at: Timestamp,
}

impl LedgerEntry {
    /// What is shown of an entry.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::wire::LedgerEntry;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.paid(5_000);
    /// let shown = serde_json::to_value(LedgerEntry::of(&shop.entries[0])?)?;
    /// assert_eq!((&shown["account"], &shown["type"]), (&"clearing".into(), &"payment".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(entry: &model::Entry) -> Result<Self, Overflow> {
        let model::Entry {
            id,
            scope,
            transaction,
            account,
            direction,
            amount,
            currency,
            kind,
            source,
            balance_after,
            created_at,
        } = *entry;
        Ok(Self {
            id,
            object: tag::LedgerEntry,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            transaction,
            account,
            direction,
            amount,
            currency,
            kind: Open::Known(kind),
            source,
            balance_after,
            created_at,
        })
    }
}

impl Mask for LedgerEntry {
    fn masked(self) -> Self {
        self
    }
}

/// A sum of one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CurrencyAmount {
    /// Which currency.
    pub currency: Currency,
    /// How much.
    pub amount: Amount,
}

/// What the merchant has, by currency (API §8.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BalanceSheet {
    /// `balance`.
    pub object: tag::Balance,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// May be paid out or refunded.
    pub available: Vec<CurrencyAmount>,
    /// Collected, not yet available.
    pub pending: Vec<CurrencyAmount>,
    /// Held for payouts and refunds in flight.
    pub reserved: Vec<CurrencyAmount>,
}

impl BalanceSheet {
    /// The balances of a scope's accounts: one item for each currency that ever had an entry, or
    /// for the one that is asked for. Balances of other scopes are passed over.
    ///
    /// # Errors
    /// [`Overflow`] when an account is named twice and its sums do not fit.
    ///
    /// ```
    /// use cauri_core::{Environment, Overflow, Scope, wire::BalanceSheet};
    /// let scope = Scope {
    ///     account: "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?,
    ///     environment: Environment::Sandbox,
    /// };
    /// assert!(BalanceSheet::of(scope, &[], None)?.available.is_empty());
    /// let xof = BalanceSheet::of(scope, &[], Some("XOF".parse()?))?;
    /// assert_eq!(xof.available[0].amount.units(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(
        scope: Scope,
        balances: &[model::Balance],
        only: Option<Currency>,
    ) -> Result<Self, Overflow> {
        let mut sums: BTreeMap<Currency, [Amount; 3]> = BTreeMap::new();
        if let Some(currency) = only {
            sums.insert(currency, [Amount::ZERO; 3]);
        }
        for model::Balance { account, amount } in balances {
            let model::LedgerAccount { scope: whose, currency, kind } = *account;
            if whose != scope || only.is_some_and(|only| only != currency) {
                continue;
            }
            let [available, pending, reserved] = sums.entry(currency).or_insert([Amount::ZERO; 3]);
            let sum = match kind {
                model::LedgerAccountKind::MerchantAvailable => available,
                model::LedgerAccountKind::MerchantPending => pending,
                model::LedgerAccountKind::MerchantReserved => reserved,
                model::LedgerAccountKind::Clearing | model::LedgerAccountKind::Fees => continue,
            };
            *sum = sum.plus(*amount)?;
        }
        let column = |pick: fn(&[Amount; 3]) -> Amount| {
            sums.iter()
                .map(|(currency, sums)| CurrencyAmount { currency: *currency, amount: pick(sums) })
                .collect()
        };
        Ok(Self {
            object: tag::Balance,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            available: column(|[available, _, _]| *available),
            pending: column(|[_, pending, _]| *pending),
            reserved: column(|[_, _, reserved]| *reserved),
        })
    }
}

impl Mask for BalanceSheet {
    fn masked(self) -> Self {
        self
    }
}
