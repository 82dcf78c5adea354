//! What the fake has been asked for, and what became of it.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::{
    names::{self, Kind},
    wire::{Ask, FailureReason, Found, Taken, Transaction},
};

/// Which way money went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Collected, less what was given back.
    In,
    /// Paid out.
    Out,
}

/// A transaction, and what it moves once it is completed.
#[derive(Debug, Clone)]
struct Line {
    said: Transaction,
    /// In the currency's smallest unit.
    units: i64,
    /// The deposit that a refund gives back.
    of: Option<Uuid>,
    phone: String,
}

impl Line {
    fn is_open(&self) -> bool {
        self.said.status == "PROCESSING"
    }

    fn is_paid(&self) -> bool {
        self.said.status == "COMPLETED"
    }

    fn end(&mut self, reason: Option<&str>) {
        self.said.status = if reason.is_none() { "COMPLETED" } else { "FAILED" }.to_owned();
        self.said.failure_reason = reason.map(because);
    }
}

/// Every transaction, by kind and id.
#[derive(Debug, Default)]
pub(crate) struct Books(BTreeMap<(Kind, Uuid), Line>);

pub(crate) fn because(code: &str) -> FailureReason {
    FailureReason { failure_code: code.to_owned(), failure_message: "As it was told.".to_owned() }
}

pub(crate) fn rejected(code: &str) -> Taken {
    Taken { status: Some("REJECTED".to_owned()), failure_reason: Some(because(code)) }
}

fn taken(status: &str) -> Taken {
    Taken { status: Some(status.to_owned()), failure_reason: None }
}

impl Books {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes an order on, unless it is known by this id already, or cannot be.
    pub(crate) fn take_on(&mut self, kind: Kind, id: Uuid, ask: Ask) -> Taken {
        if self.0.contains_key(&(kind, id)) {
            return taken("DUPLICATE_IGNORED");
        }
        let Ok(currency) = ask.currency.parse() else { return rejected("INVALID_CURRENCY") };
        let Some(amount) = names::amount(&ask.amount, currency) else {
            return rejected("INVALID_AMOUNT");
        };
        let units = amount.units();
        let of = ask.deposit_id.filter(|_| kind == Kind::Refund).and_then(|of| of.parse().ok());
        if let Some(reason) = of.and_then(|of| self.not_refundable(of, units)) {
            return rejected(reason);
        }
        let party = ask.payer.or(ask.recipient);
        let phone = party.map(|party| party.account_details.phone_number).unwrap_or_default();
        let own = |of: Kind| (kind == of).then(|| id.to_string());
        let said = Transaction {
            deposit_id: own(Kind::Deposit),
            payout_id: own(Kind::Payout),
            refund_id: own(Kind::Refund),
            status: "PROCESSING".to_owned(),
            amount: ask.amount,
            currency: ask.currency,
            client_reference_id: ask.client_reference_id,
            metadata: ask.metadata.into_iter().flatten().collect(),
            failure_reason: None,
        };
        self.0.insert((kind, id), Line { said, units, of, phone });
        taken("ACCEPTED")
    }

    /// Why a deposit cannot be given back; `None` when it can.
    fn not_refundable(&self, of: Uuid, units: i64) -> Option<&'static str> {
        let Some(deposit) = self.0.get(&(Kind::Deposit, of)) else { return Some("NOT_FOUND") };
        if !deposit.is_paid() {
            return Some("INVALID_STATE");
        }
        let refunds =
            self.0.values().filter(|it| it.of == Some(of) && (it.is_open() || it.is_paid()));
        let refunded: i64 = refunds.map(|it| it.units).sum();
        (refunded.saturating_add(units) > deposit.units).then_some("AMOUNT_TOO_LARGE")
    }

    /// What it says of an order. `lying`, the opposite of how it ended.
    pub(crate) fn find(&self, kind: Kind, id: Uuid, lying: bool) -> Found {
        let Some(line) = self.0.get(&(kind, id)) else {
            return Found { status: "NOT_FOUND".to_owned(), data: None };
        };
        let mut line = line.clone();
        if lying && !line.is_open() {
            let reason = line.is_paid().then_some("UNSPECIFIED_FAILURE");
            line.end(reason);
        }
        Found { status: "FOUND".to_owned(), data: Some(line.said) }
    }

    /// Ends everything that is open; answers how it ended.
    pub(crate) fn end_all(&mut self, paid: bool) -> Vec<Transaction> {
        let open = self.0.values_mut().filter(|line| line.is_open());
        open.map(|line| {
            line.end((!paid).then_some("UNSPECIFIED_FAILURE"));
            line.said.clone()
        })
        .collect()
    }

    /// Ends an order as its phone says; `None` when the phone does not, or it has ended.
    pub(crate) fn end_by_phone(&mut self, kind: Kind, id: Uuid) -> Option<Transaction> {
        let line = self.0.get_mut(&(kind, id)).filter(|line| line.is_open())?;
        let digits = line.phone.len().saturating_sub(4);
        let reason = match (kind, line.phone.get(digits..)?) {
            (Kind::Refund, _) | (_, "0000") => None,
            (Kind::Deposit, "0001") => Some("INSUFFICIENT_BALANCE"),
            (Kind::Deposit, "0002") => Some("PAYMENT_NOT_APPROVED"),
            (Kind::Payout, "0001") => Some("RECIPIENT_NOT_FOUND"),
            _ => return None,
        };
        line.end(reason);
        Some(line.said.clone())
    }

    /// What it has moved.
    pub(crate) fn moved(&self, sign: Sign) -> i64 {
        let units = |((kind, _), line): (&(Kind, Uuid), &Line)| match (kind, sign) {
            (Kind::Deposit, Sign::In) | (Kind::Payout, Sign::Out) => line.units,
            (Kind::Refund, Sign::In) => line.units.saturating_neg(),
            _ => 0,
        };
        self.0.iter().filter(|(_, line)| line.is_paid()).map(units).sum()
    }
}
