//! What a network is asked to do, and what it says.

use super::{
    failure::FailureCode, offer::Connection, payment::Payment, payout::Payout, refund::Refund,
    simulation::Simulation,
};
use crate::value::{
    country::Country,
    currency::Currency,
    id::{OrderId, PaymentId},
    method::{Network, PaymentMethod},
    money::Amount,
    otp::Otp,
    phone::Phone,
    scope::Scope,
    text::Text,
    time::Timestamp,
    trace_context::TraceContext,
    web_url::WebUrl,
};

/// An order to a network: collect, send or return money.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Order {
    /// Whose.
    pub scope: Scope,
    /// Our id for it, by which the network can tell a repeat.
    pub id: OrderId,
    /// Which connection carries it.
    pub connection: Connection,
    /// How much, in the smallest unit of `currency`.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// Where the payer or the recipient is.
    pub country: Country,
    /// By which method.
    pub method: PaymentMethod,
    /// Over which network; `None` for a card before the payer typed it.
    pub network: Option<Network>,
    /// The payer's or the recipient's phone; `None` for a card.
    pub phone: Option<Phone>,
    /// The payer's pre-authorisation code.
    pub otp: Option<Otp>,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// The payment that a refund returns money of, with that payment's amount.
    pub refund_of: Option<(PaymentId, Amount)>,
    /// When the network accepted it; `None` while it did not.
    pub accepted_at: Option<Timestamp>,
    /// A scenario that the sandbox was told to play; for a refund also what its payment was told.
    pub simulation: Option<Simulation>,
    /// The trace in which the network is talked to, to be passed on to it where its protocol has a
    /// place for it; `None` when nobody traces.
    pub trace: Option<TraceContext>,
}

impl Order {
    /// The order to collect a payment.
    ///
    /// ```
    /// use cauri_core::{Amount, Order, OrderId};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let payment = shop.payment(5_000).value;
    /// let order = Order::payment(&payment);
    /// assert_eq!((order.id, order.amount), (OrderId::Payment(payment.id), Amount::new(5_000)));
    /// assert_eq!(order.accepted_at, None); // the network has not said anything yet
    /// ```
    #[must_use]
    pub fn payment(payment: &Payment) -> Self {
        Self {
            scope: payment.scope,
            id: OrderId::Payment(payment.id),
            connection: payment.connection.clone(),
            amount: payment.amount,
            currency: payment.currency,
            country: payment.country,
            method: payment.method,
            network: payment.network.clone(),
            phone: payment.phone.clone(),
            otp: payment.otp.clone(),
            return_url: payment.return_url.clone(),
            reference: payment.reference.clone(),
            refund_of: None,
            accepted_at: payment.processing_at,
            simulation: payment.simulation,
            trace: None,
        }
    }

    /// The order to send a payout.
    ///
    /// ```
    /// use cauri_core::{Amount, Order};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.settled(5_000);
    /// let order = Order::payout(&shop.payout(1_000).value);
    /// assert_eq!(order.amount, Amount::new(1_000)); // the fee stays with us
    /// ```
    #[must_use]
    pub fn payout(payout: &Payout) -> Self {
        Self {
            scope: payout.scope,
            id: OrderId::Payout(payout.id),
            connection: payout.connection.clone(),
            amount: payout.amount,
            currency: payout.currency,
            country: payout.country,
            method: payout.method,
            network: Some(payout.network.clone()),
            phone: Some(payout.phone.clone()),
            otp: None,
            return_url: None,
            reference: payout.reference.clone(),
            refund_of: None,
            accepted_at: payout.processing_at,
            simulation: payout.simulation,
            trace: None,
        }
    }

    /// The order to return money of a payment.
    ///
    /// ```
    /// use cauri_core::{Amount, Order};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let payment = shop.settled(5_000).value;
    /// let order = Order::refund(&shop.refund(2_000).value, &payment);
    /// assert_eq!(order.amount, Amount::new(2_000));
    /// assert_eq!(order.refund_of, Some((payment.id, Amount::new(5_000))));
    /// ```
    #[must_use]
    pub fn refund(refund: &Refund, payment: &Payment) -> Self {
        Self {
            scope: refund.scope,
            id: OrderId::Refund(refund.id),
            connection: refund.connection.clone(),
            amount: refund.amount,
            currency: refund.currency,
            country: payment.country,
            method: payment.method,
            network: payment.network.clone(),
            phone: payment.phone.clone(),
            otp: None,
            return_url: None,
            reference: refund.reference.clone(),
            refund_of: Some((payment.id, payment.amount)),
            accepted_at: refund.accepted_at,
            simulation: refund.simulation,
            trace: None,
        }
    }
}

/// When a network is to be asked about an order next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a plan is one of these")]
pub enum NextQuestion {
    /// As it was planned: what was said came on its own, or was asked of an earlier state.
    AsPlanned,
    /// At a moment.
    At(Timestamp),
    /// At a moment, unless something else is planned already.
    AtUnlessPlanned(Timestamp),
    /// Not at all: the network reports by itself, or there is nothing left to say.
    Never,
}

/// After how long somebody else takes over an order that nobody has planned anything for, in
/// milliseconds: as long as the hold of whoever made it.
const TAKEN_OVER_MS: i64 = 20_000;

impl NextQuestion {
    /// The plan after this.
    #[must_use]
    pub(crate) fn after(self, planned: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
        // A plan whose time has come is being seen to by whoever holds the order.
        let planned = planned.filter(|at| *at > now);
        match self {
            // Whoever holds it loses the hold by this, and may die before it has told its answer.
            Self::AsPlanned => Some(planned.unwrap_or(now.plus_millis(TAKEN_OVER_MS))),
            Self::At(at) => Some(at),
            Self::AtUnlessPlanned(at) => Some(planned.unwrap_or(at)),
            Self::Never => None,
        }
    }
}

impl From<Option<Timestamp>> for NextQuestion {
    fn from(at: Option<Timestamp>) -> Self {
        at.map_or(Self::Never, Self::At)
    }
}

/// What a network says of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Report {
    /// It took the order on.
    Accepted {
        /// The network that will carry it, where the order left it open.
        network: Option<Network>,
        /// Where the payer has to go: a page of the network's own, as a browser is sent to.
        redirect_url: Option<WebUrl>,
    },
    /// It refused the order; nothing was sent.
    Refused(FailureCode),
    /// It could not be reached; nothing was sent.
    Unreachable,
    /// The money moved.
    Paid,
    /// The money will not move.
    Failed(FailureCode),
    /// The payer's time ran out at the network.
    Expired,
    /// It has no such order: it may be submitted.
    NotFound,
    /// It did not say; ask again.
    Unknown,
}

impl Report {
    /// It took the order on, and there is nothing more to say.
    ///
    /// ```
    /// use cauri_core::{PaymentStatus, Report};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.payment(5_000);
    /// assert_eq!(shop.hear(&[Report::accepted()]).value.status, PaymentStatus::Processing);
    /// ```
    #[must_use]
    pub const fn accepted() -> Self {
        Self::Accepted { network: None, redirect_url: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_plan_to_come_until_there_is_nothing_left_to_ask() {
        let now = Timestamp::from_millis(1_731_974_400_000);
        let (past, soon, late) = (now.plus_millis(-1), now.plus_seconds(1), now.plus_seconds(60));
        let taken_over = Some(now.plus_millis(TAKEN_OVER_MS));
        for overdue in [None, Some(past), Some(now)] {
            assert_eq!(NextQuestion::AsPlanned.after(overdue, now), taken_over);
            assert_eq!(NextQuestion::AtUnlessPlanned(late).after(overdue, now), Some(late));
        }
        for next in [NextQuestion::AsPlanned, NextQuestion::AtUnlessPlanned(late)] {
            assert_eq!(next.after(Some(soon), now), Some(soon));
        }
        assert_eq!(NextQuestion::At(late).after(Some(soon), now), Some(late));
        assert_eq!(NextQuestion::Never.after(Some(soon), now), None);
    }
}
