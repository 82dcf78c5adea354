//! Which connection carries an order, and when it is moved to another one.
//!
//! An order is at one connection at any time: the one its record names. It is moved by a commit,
//! before it is sent there, and only when the connection it leaves has certainly not taken it on.

use super::{Context, Decision, Terms};
use crate::{
    commit::{
        changeset::Changeset,
        record::{Entity, Versioned},
    },
    model::{
        failure::FailureCode,
        offer::{Connection, Offer, Purpose},
        order::{Order, Report},
        payment::{Payment, PaymentStatus},
        payout::{Payout, PayoutStatus},
    },
    value::{
        id::OrderId,
        scope::{Environment, Scope},
        time::Timestamp,
    },
};

impl Terms {
    /// The connection that carries a new order first. The sandbox knows no routes.
    pub(super) fn connection(&self, scope: Scope, offer: &Offer, id: OrderId) -> Connection {
        match scope.environment {
            Environment::Live => self.routes.first(&offer.connection, id),
            Environment::Sandbox => offer.connection.clone(),
        }
    }
}

/// The other connections that could carry an order, the best first; none when its connection has no
/// route. A refund has none: only who has the money can give it back.
///
/// ```
/// use cauri_core::{Connection, Environment, Leg, Order, Route, Routes, decide::route::others};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let leg = |name, priority| Leg { connection: Connection::new(name), priority, share: 100 };
/// let route = Route::new([leg("sim_mtn_ci", 1), leg("aggregator", 2)])?;
/// shop.terms.live = shop.terms.sandbox.clone();
/// shop.terms.routes = Routes::default().with(Connection::new("sim_mtn_ci"), route);
///
/// let mut order = Order::payment(&shop.payment(5_000).value);
/// assert!(others(&order, &shop.terms).is_empty(), "the sandbox knows no routes");
/// order.scope.environment = Environment::Live;
/// assert_eq!(others(&order, &shop.terms), [&Connection::new("aggregator")]);
/// # Ok::<(), cauri_core::RouteError>(())
/// ```
#[must_use]
pub fn others<'a>(order: &Order, terms: &'a Terms) -> Vec<&'a Connection> {
    let purpose = match order.id {
        OrderId::Payment(_) => Purpose::Payin,
        OrderId::Payout(_) => Purpose::Payout,
        OrderId::Refund(_) => return Vec::new(),
    };
    if order.scope.environment == Environment::Sandbox {
        return Vec::new();
    }
    let (network, catalogue) = (order.network.as_ref(), &terms.live.catalogue);
    let offer = catalogue.find(order.country, order.method, network, order.currency, purpose);
    let Some(route) = offer.and_then(|offer| terms.routes.of(&offer.connection)) else {
        return Vec::new();
    };
    let ranked = route.ranked(order.id);
    // The terms may be others than those it was created by.
    if !ranked.contains(&&order.connection) {
        return Vec::new();
    }
    ranked.into_iter().filter(|connection| **connection != order.connection).collect()
}

/// Was an order that was sent with this answer certainly not taken on, for a reason that lies with
/// the connection? Then another one may be asked.
///
/// Any other refusal is an answer: another connection to the same network would have to give it
/// too, and asking until somebody says yes is not for us to do.
///
/// ```
/// use cauri_core::{FailureCode, Report, decide::route::was_not_carried};
/// assert!(was_not_carried(&[Report::Unreachable]));
/// assert!(was_not_carried(&[Report::Refused(FailureCode::NetworkUnavailable)]));
/// assert!(!was_not_carried(&[Report::Refused(FailureCode::InsufficientFunds)]));
/// assert!(!was_not_carried(&[Report::Unreachable, Report::Unknown]));
/// assert!(!was_not_carried(&[]));
/// ```
#[must_use]
pub fn was_not_carried(reports: &[Report]) -> bool {
    let not_carried = |report: &Report| {
        matches!(report, Report::Unreachable | Report::Refused(FailureCode::NetworkUnavailable))
    };
    !reports.is_empty() && reports.iter().all(not_carried)
}

/// A kind of order that can be moved.
pub trait Movable: Entity {
    /// Is it still to be sent?
    ///
    /// ```
    /// use cauri_core::{PaymentStatus, decide::route::Movable};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let mut payment = shop.payment(5_000).value;
    /// assert!(payment.is_unsent(shop.now()));
    /// payment.status = PaymentStatus::Processing;
    /// assert!(!payment.is_unsent(shop.now()));
    /// ```
    fn is_unsent(&self, now: Timestamp) -> bool;
    /// Names another connection.
    ///
    /// ```
    /// use cauri_core::{Connection, decide::route::Movable};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut payment = Shop::open().payment(5_000).value;
    /// payment.carry_by(Connection::new("aggregator"));
    /// assert_eq!(payment.connection.as_str(), "aggregator");
    /// ```
    fn carry_by(&mut self, connection: Connection);
}

impl Movable for Payment {
    fn is_unsent(&self, now: Timestamp) -> bool {
        self.status == PaymentStatus::Created && self.expires_at > now
    }

    fn carry_by(&mut self, connection: Connection) {
        self.connection = connection;
    }
}

impl Movable for Payout {
    fn is_unsent(&self, _now: Timestamp) -> bool {
        self.status == PayoutStatus::Created
    }

    fn carry_by(&mut self, connection: Connection) {
        self.connection = connection;
    }
}

/// A move to another connection, of an order that was at the version `asked` when its connection
/// did not take it on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the engine builds it")]
pub struct Move {
    /// Where to.
    pub to: Connection,
    /// The version of the order that was not taken on.
    pub asked: u64,
    /// Until when whoever moves it holds it, to send it there.
    pub held_until: Timestamp,
}

/// Moves an order, and holds it for its mover to send. `None` when it is no longer as it was, or
/// has ended: whoever changed it may have sent it where it was.
///
/// ```
/// use cauri_core::{Connection, decide::route::{Move, reroute}};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let payment = shop.payment(5_000);
/// let held_until = shop.now().plus_seconds(20);
/// let to = Move { to: Connection::new("aggregator"), asked: payment.version, held_until };
/// let moved = reroute(payment.clone(), to.clone(), &shop.context());
/// let now_there = moved.value.expect("nobody has touched it");
/// assert_eq!((now_there.value.connection.as_str(), now_there.version), ("aggregator", 2));
/// assert_eq!(shop.commit(moved.changes), Ok(()));
///
/// // Once somebody else has taken it over, it stays where it is.
/// assert_eq!(reroute(now_there, to, &shop.context()).value, None);
/// ```
#[must_use]
pub fn reroute<T: Movable>(
    order: Versioned<T>,
    to: Move,
    cx: &Context<'_>,
) -> Decision<Option<Versioned<T>>> {
    let Versioned { mut value, version, .. } = order;
    let mut changes = Changeset::new();
    if version != to.asked || !value.is_unsent(cx.env.now()) {
        return Decision { value: None, changes, if_short: None };
    }
    value.carry_by(to.to);
    let due_at = Some(to.held_until);
    changes.update(value.clone(), version, due_at);
    let moved = Versioned { value, version: version.saturating_add(1), due_at };
    Decision { value: Some(moved), changes, if_short: None }
}
