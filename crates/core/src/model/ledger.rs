//! The ledger: double entries that are only ever added to (API §8).

use crate::value::{
    choice::choice,
    currency::Currency,
    env::Env,
    id::{EntryId, OrderId, TransactionId},
    money::{Amount, Overflow},
    scope::Scope,
    time::Timestamp,
};

choice! {
    /// The accounts of a scope and a currency (API §8.1).
    #[expect(clippy::exhaustive_enums, reason = "a new account must stop every match")]
    LedgerAccountKind {
        /// Asset: money held at the networks for us.
        Clearing = "clearing",
        /// Liability: collected, not yet available.
        MerchantPending = "merchant_pending",
        /// Liability: may be paid out or refunded.
        MerchantAvailable = "merchant_available",
        /// Liability: held for payouts and refunds in flight.
        MerchantReserved = "merchant_reserved",
        /// Revenue: fees charged.
        Fees = "fees",
    }
}

choice! {
    /// The two sides.
    #[expect(clippy::exhaustive_enums, reason = "there are two sides")]
    Direction {
        /// Left.
        Debit = "debit",
        /// Right.
        Credit = "credit",
    }
}

choice! {
    /// Why money moved (API §8.2).
    #[non_exhaustive]
    EntryKind {
        /// A payment succeeded.
        Payment = "payment",
        /// Its fee.
        PaymentFee = "payment_fee",
        /// A payment's money became available.
        Settlement = "settlement",
        /// A refund was created.
        RefundHold = "refund_hold",
        /// A refund succeeded.
        Refund = "refund",
        /// The share of the fee it gives back.
        RefundFeeReturn = "refund_fee_return",
        /// A refund failed.
        RefundRelease = "refund_release",
        /// A payout was created.
        PayoutHold = "payout_hold",
        /// A payout succeeded.
        Payout = "payout",
        /// Its fee.
        PayoutFee = "payout_fee",
        /// A payout failed.
        PayoutRelease = "payout_release",
        /// Test money.
        SandboxFunding = "sandbox_funding",
    }
}

impl LedgerAccountKind {
    /// May it never fall below nothing? True for what is owed to the merchant.
    ///
    /// ```
    /// use cauri_core::LedgerAccountKind;
    /// assert!(LedgerAccountKind::MerchantAvailable.has_floor());
    /// assert!(!LedgerAccountKind::Clearing.has_floor());
    /// ```
    #[must_use]
    pub const fn has_floor(self) -> bool {
        matches!(self, Self::MerchantPending | Self::MerchantAvailable | Self::MerchantReserved)
    }

    /// By how much a line moves the account's balance: up on its own side, down on the other.
    ///
    /// ```
    /// use cauri_core::{Amount, Direction, LedgerAccountKind};
    /// let moved = |account: LedgerAccountKind, direction| account.moved(direction, Amount::new(5));
    /// assert_eq!(moved(LedgerAccountKind::Clearing, Direction::Debit), Amount::new(5));
    /// assert_eq!(moved(LedgerAccountKind::MerchantPending, Direction::Debit), Amount::new(-5));
    /// ```
    #[must_use]
    pub fn moved(self, direction: Direction, amount: Amount) -> Amount {
        let grows = match self {
            Self::Clearing => Direction::Debit,
            Self::MerchantPending
            | Self::MerchantAvailable
            | Self::MerchantReserved
            | Self::Fees => Direction::Credit,
        };
        if direction == grows { amount } else { Amount::new(amount.units().saturating_neg()) }
    }
}

/// One account of one scope and currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "an account is just these three")]
pub struct LedgerAccount {
    /// Whose.
    pub scope: Scope,
    /// In which currency.
    pub currency: Currency,
    /// Which of the five.
    pub kind: LedgerAccountKind,
}

/// What an account holds: the sum of its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an account and a sum")]
pub struct Balance {
    /// Which account.
    pub account: LedgerAccount,
    /// The sum, in the smallest unit of the currency.
    pub amount: Amount,
}

/// One side of a posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores read every field")]
pub struct Line {
    /// The entry it becomes.
    pub id: EntryId,
    /// Which account it moves.
    pub account: LedgerAccountKind,
    /// Which side.
    pub direction: Direction,
    /// By how much; more than nothing.
    pub amount: Amount,
}

/// Lines that balance: what a changeset asks the ledger to write. It can only be made balanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posting {
    scope: Scope,
    transaction: TransactionId,
    kind: EntryKind,
    source: Option<OrderId>,
    currency: Currency,
    lines: Vec<Line>,
    created_at: Timestamp,
}

/// Whose money moves, why and when: what a posting says beside its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "what every posting needs")]
pub struct PostingHead {
    /// Whose.
    pub scope: Scope,
    /// The transaction it belongs to.
    pub transaction: TransactionId,
    /// Why.
    pub kind: EntryKind,
    /// Because of what.
    pub source: Option<OrderId>,
    /// In which currency.
    pub currency: Currency,
}

impl Posting {
    /// Moves `amount` from the debited account to the credited one; `None` when it is nothing,
    /// since zero lines are not written (API §8.2).
    ///
    /// ```
    /// use cauri_core::{Amount, Direction, EntryKind, LedgerAccountKind, Posting, PostingHead};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let head = PostingHead {
    ///     scope: shop.scope,
    ///     transaction: shop.env.id(),
    ///     kind: EntryKind::SandboxFunding,
    ///     source: None,
    ///     currency: "XOF".parse()?,
    /// };
    /// let (from, to) = (LedgerAccountKind::Clearing, LedgerAccountKind::MerchantAvailable);
    /// let posting = Posting::moving(head, from, to, Amount::new(1_000), &mut shop.env).unwrap();
    /// let sides: Vec<_> = posting.lines().iter().map(|line| (line.direction, line.account)).collect();
    /// assert_eq!(sides, [(Direction::Debit, from), (Direction::Credit, to)]);
    /// assert_eq!(Posting::moving(head, from, to, Amount::ZERO, &mut shop.env), None);
    /// # Ok::<(), cauri_core::CurrencyError>(())
    /// ```
    #[must_use]
    pub fn moving(
        head: PostingHead,
        debit: LedgerAccountKind,
        credit: LedgerAccountKind,
        amount: Amount,
        env: &mut Env,
    ) -> Option<Self> {
        if !amount.is_positive() || debit == credit {
            return None;
        }
        let PostingHead { scope, transaction, kind, source, currency } = head;
        let lines = [(debit, Direction::Debit), (credit, Direction::Credit)]
            .map(|(account, direction)| Line { id: env.id(), account, direction, amount })
            .to_vec();
        Some(Self { scope, transaction, kind, source, currency, lines, created_at: env.now() })
    }

    /// Whose money moves.
    ///
    /// ```
    /// use cauri_core::decide;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let decision = decide::payout::create(Shop::ask_payout(1_000), false, &mut shop.context())?;
    /// assert_eq!(decision.changes.postings()[0].scope(), shop.scope);
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    #[must_use]
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// In which currency.
    ///
    /// ```
    /// use cauri_core::decide;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let decision = decide::payout::create(Shop::ask_payout(1_000), false, &mut shop.context())?;
    /// assert_eq!(decision.changes.postings()[0].currency().code(), "XOF");
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    #[must_use]
    pub const fn currency(&self) -> Currency {
        self.currency
    }

    /// The lines, which balance.
    ///
    /// ```
    /// use cauri_core::{Amount, Direction, decide};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let decision = decide::payout::create(Shop::ask_payout(1_000), false, &mut shop.context())?;
    /// let sum = |side| {
    ///     let lines = decision.changes.postings()[0].lines().iter();
    ///     lines.filter(|line| line.direction == side).map(|line| line.amount.units()).sum::<i64>()
    /// };
    /// assert_eq!((sum(Direction::Debit), sum(Direction::Credit)), (1_100, 1_100));
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The account that a line of this posting moves.
    ///
    /// ```
    /// use cauri_core::{LedgerAccountKind, decide};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let decision = decide::payout::create(Shop::ask_payout(1_000), false, &mut shop.context())?;
    /// let posting = &decision.changes.postings()[0];
    /// let account = posting.account(&posting.lines()[0]);
    /// assert_eq!((account.scope, account.kind), (shop.scope, LedgerAccountKind::MerchantAvailable));
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    #[must_use]
    pub const fn account(&self, line: &Line) -> LedgerAccount {
        LedgerAccount { scope: self.scope, currency: self.currency, kind: line.account }
    }

    /// The entry that a line becomes, once the account's balance after it is known.
    ///
    /// ```
    /// use cauri_core::{Amount, EntryKind, decide};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let decision = decide::payout::create(Shop::ask_payout(1_000), false, &mut shop.context())?;
    /// let posting = &decision.changes.postings()[0];
    /// let entry = posting.entry(&posting.lines()[0], Amount::new(3_900));
    /// assert_eq!((entry.kind, entry.balance_after), (EntryKind::PayoutHold, Amount::new(3_900)));
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    #[must_use]
    pub const fn entry(&self, line: &Line, balance_after: Amount) -> Entry {
        Entry {
            id: line.id,
            scope: self.scope,
            transaction: self.transaction,
            account: line.account,
            direction: line.direction,
            amount: line.amount,
            currency: self.currency,
            kind: self.kind,
            source: self.source,
            balance_after,
            created_at: self.created_at,
        }
    }
}

/// A ledger entry as it is stored: one line of a transaction, for ever (API §8.3).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// Whose.
    pub scope: Scope,
    /// The lines that balance with it.
    pub transaction: TransactionId,
    /// Which account.
    pub account: LedgerAccountKind,
    /// Which side.
    pub direction: Direction,
    /// How much; more than nothing.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// Why.
    pub kind: EntryKind,
    /// Because of what; `None` for funding.
    pub source: Option<OrderId>,
    /// The account's balance after it.
    pub balance_after: Amount,
    /// When.
    pub created_at: Timestamp,
}

impl Entry {
    /// By how much it moved its account's balance.
    ///
    /// ```
    /// use cauri_core::Amount;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.paid(5_000);
    /// let moved: Vec<Amount> = shop.entries.iter().map(|entry| entry.moved()).collect();
    /// // clearing and merchant_pending grow by the payment; its fee goes from one to the other.
    /// assert_eq!(moved, [5_000, 5_000, -100, 100].map(Amount::new));
    /// ```
    #[must_use]
    pub fn moved(&self) -> Amount {
        self.account.moved(self.direction, self.amount)
    }

    /// The account it moved.
    ///
    /// ```
    /// use cauri_core::LedgerAccountKind;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.paid(5_000);
    /// assert_eq!(shop.entries[0].ledger_account().kind, LedgerAccountKind::Clearing);
    /// ```
    #[must_use]
    pub const fn ledger_account(&self) -> LedgerAccount {
        LedgerAccount { scope: self.scope, currency: self.currency, kind: self.account }
    }
}

/// Does `clearing = pending + available + reserved + fees` hold for these sums of one currency?
///
/// # Errors
/// [`Overflow`] when a sum does not fit.
///
/// ```
/// use cauri_core::{Amount, LedgerAccountKind, is_in_balance};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// shop.settled(5_000);
/// shop.payout(1_000);
/// let sums: Vec<_> =
///     LedgerAccountKind::ALL.iter().map(|it| (*it, Amount::new(shop.balance(*it)))).collect();
/// assert_eq!(is_in_balance(&sums), Ok(true));
/// assert_eq!(is_in_balance(&sums[1..]), Ok(false)); // without clearing
/// ```
pub fn is_in_balance(sums: &[(LedgerAccountKind, Amount)]) -> Result<bool, Overflow> {
    let mut held = Amount::ZERO;
    let mut owed = Amount::ZERO;
    for (kind, amount) in sums {
        match kind {
            LedgerAccountKind::Clearing => held = held.plus(*amount)?,
            LedgerAccountKind::MerchantPending
            | LedgerAccountKind::MerchantAvailable
            | LedgerAccountKind::MerchantReserved
            | LedgerAccountKind::Fees => owed = owed.plus(*amount)?,
        }
    }
    Ok(held == owed)
}
