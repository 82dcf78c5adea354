//! What the ledger must hold, by what the objects say: computed anew, by the contract's words.

use cauri::{
    Currency, Id, LedgerAccountKind, Payment, PaymentMethod, Payout, PayoutStatus, Refund,
    RefundStatus, Scope,
};

/// What one object adds to the five accounts of its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Share {
    pub(crate) clearing: i64,
    pub(crate) pending: i64,
    pub(crate) available: i64,
    pub(crate) reserved: i64,
    pub(crate) fees: i64,
}

impl Share {
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            clearing: self.clearing + other.clearing,
            pending: self.pending + other.pending,
            available: self.available + other.available,
            reserved: self.reserved + other.reserved,
            fees: self.fees + other.fees,
        }
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        Self {
            clearing: self.clearing - other.clearing,
            pending: self.pending - other.pending,
            available: self.available - other.available,
            reserved: self.reserved - other.reserved,
            fees: self.fees - other.fees,
        }
    }

    pub(crate) const fn account(&mut self, kind: LedgerAccountKind) -> &mut i64 {
        match kind {
            LedgerAccountKind::Clearing => &mut self.clearing,
            LedgerAccountKind::MerchantPending => &mut self.pending,
            LedgerAccountKind::MerchantAvailable => &mut self.available,
            LedgerAccountKind::MerchantReserved => &mut self.reserved,
            LedgerAccountKind::Fees => &mut self.fees,
        }
    }

    /// API §8.2: what is held at the networks is owed to somebody.
    pub(crate) const fn adds_up(&self) -> bool {
        self.clearing == self.pending + self.available + self.reserved + self.fees
            && self.pending >= 0
            && self.available >= 0
            && self.reserved >= 0
    }
}

/// Whose money, in which currency.
pub(crate) type Purse = (Scope, Currency);

/// A payment, with what its refunds that have not failed take out of the merchant's share.
pub(crate) fn of_payment(payment: &Payment, returned: i64) -> Share {
    if payment.succeeded_at.is_none() {
        return Share::default();
    }
    let (amount, fee) = (payment.amount.units(), payment.fee_amount.units());
    let left = amount - fee - returned;
    let settled = payment.settled_at.is_some();
    Share {
        clearing: amount,
        fees: fee,
        pending: if settled { 0 } else { left },
        available: if settled { left } else { 0 },
        reserved: 0,
    }
}

pub(crate) fn of_refund(refund: &Refund) -> Share {
    let (amount, fee) = (refund.amount.units(), refund.fee_returned_amount.units());
    match refund.status {
        RefundStatus::Created => Share { reserved: amount - fee, ..Share::default() },
        RefundStatus::Succeeded => Share { clearing: -amount, fees: -fee, ..Share::default() },
        RefundStatus::Failed => Share::default(),
    }
}

pub(crate) fn of_payout(payout: &Payout) -> Share {
    let (amount, fee) = (payout.amount.units(), payout.fee_amount.units());
    match payout.status {
        PayoutStatus::Created | PayoutStatus::Processing => {
            Share { available: -amount - fee, reserved: amount + fee, ..Share::default() }
        }
        PayoutStatus::Succeeded => {
            Share { available: -amount - fee, clearing: -amount, fees: fee, ..Share::default() }
        }
        PayoutStatus::Failed => Share::default(),
    }
}

/// API §7.1, for the built-in prices in XOF.
pub(crate) fn payment_fee(method: PaymentMethod, amount: i64) -> i64 {
    let bps = match method {
        PaymentMethod::MobileMoney => 200,
        PaymentMethod::Card => 350,
    };
    (amount * bps + 5_000) / 10_000
}

/// API §7.1, for the built-in prices in XOF.
pub(crate) fn payout_fee(amount: i64) -> i64 {
    ((amount * 100 + 5_000) / 10_000).clamp(100, 5_000)
}

/// API §7.2, proportional: the share of the fee that a refund gives back, after refunds that took
/// `before` and gave back `given`.
pub(crate) fn fee_returned(payment: (i64, i64), before: i64, given: i64, amount: i64) -> i64 {
    let (whole, fee) = payment;
    if before + amount == whole {
        return fee - given;
    }
    (fee * (before + amount) / whole - fee * before / whole).min(fee - given)
}

/// An id as a text, whatever it names.
pub(crate) fn name(id: impl Id) -> String {
    id.to_string()
}
