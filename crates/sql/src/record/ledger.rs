//! Ledger entries, balances and the last number of each list.

use cauri_core::{
    Amount, Balance, Currency, Direction, Entry, EntryId, EntryKind, LedgerAccount,
    LedgerAccountKind, OrderId, Scope, Timestamp, TransactionId,
};

use super::mapped;

/// An entry with its number.
pub(crate) struct EntryRow {
    scope: Scope,
    number: i64,
    id: EntryId,
    transaction: TransactionId,
    account: LedgerAccountKind,
    direction: Direction,
    amount: Amount,
    currency: Currency,
    kind: EntryKind,
    source: Option<OrderId>,
    balance_after: Amount,
    created_at: Timestamp,
}

impl EntryRow {
    pub(crate) const fn new(entry: &Entry, number: i64) -> Self {
        let Entry {
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
        Self {
            scope,
            number,
            id,
            transaction,
            account,
            direction,
            amount,
            currency,
            kind,
            source,
            balance_after,
            created_at,
        }
    }

    pub(crate) const fn into_entry(self) -> Entry {
        let Self {
            scope,
            number: _,
            id,
            transaction,
            account,
            direction,
            amount,
            currency,
            kind,
            source,
            balance_after,
            created_at,
        } = self;
        Entry {
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
        }
    }
}

mapped! { EntryRow {
    scope: Scope => "account" "live";
    number: i64 => "number";
    id: EntryId => "id";
    transaction: TransactionId => "transaction_id";
    account: LedgerAccountKind => "ledger_account";
    direction: Direction => "direction";
    amount: Amount => "amount";
    currency: Currency => "currency";
    kind: EntryKind => "kind";
    source: Option<OrderId> => "source_kind" "source_id";
    balance_after: Amount => "balance_after";
    created_at: Timestamp => "created_at";
}}

/// A balance.
pub(crate) struct BalanceRow {
    scope: Scope,
    currency: Currency,
    kind: LedgerAccountKind,
    amount: Amount,
}

impl BalanceRow {
    pub(crate) const fn new(balance: &Balance) -> Self {
        let Balance { account: LedgerAccount { scope, currency, kind }, amount } = *balance;
        Self { scope, currency, kind, amount }
    }

    pub(crate) const fn into_balance(self) -> Balance {
        let Self { scope, currency, kind, amount } = self;
        Balance { account: LedgerAccount { scope, currency, kind }, amount }
    }
}

mapped! { BalanceRow {
    scope: Scope => "account" "live";
    currency: Currency => "currency";
    kind: LedgerAccountKind => "ledger_account";
    amount: Amount => "amount";
}}
