//! Which of several connections carries an order.

use std::collections::BTreeMap;

use super::offer::Connection;
use crate::value::id::OrderId;

/// One of the connections that a route may take.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "embedders write it as a literal")]
pub struct Leg {
    /// Who is asked to move the money.
    pub connection: Connection,
    /// Legs of a lower number go first; those of a higher one only carry what these could not.
    pub priority: u8,
    /// How much of what its priority carries goes here first: a percentage when the shares of the
    /// priority add up to a hundred. One of 0 carries only what the others could not.
    pub share: u16,
}

/// Why legs are no route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// There is none.
    #[error("a route needs a leg")]
    Empty,
    /// One connection is there twice.
    #[error("the connection {0} is in the route twice")]
    Twice(Connection),
}

/// Several connections that can carry the same orders, and which is asked first.
///
/// An order's id decides, so that every node and every retry decide the same, and the shares come
/// out over many orders.
///
/// ```
/// use cauri_core::{Connection, Leg, OrderId, Route};
/// let leg = |connection, priority, share| Leg {
///     connection: Connection::new(connection), priority, share,
/// };
/// let route = Route::new([leg("direct", 1, 90), leg("pilot", 1, 10), leg("spare", 2, 100)])?;
/// let id: OrderId = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// assert_eq!(route.ranked(id), route.ranked(id));
/// assert_eq!(route.ranked(id).last().map(|it| it.as_str()), Some("spare"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// At least one, by priority.
    legs: Vec<Leg>,
}

impl Route {
    /// A route over these legs.
    ///
    /// # Errors
    /// [`RouteError`] when there is no leg, or one connection twice.
    ///
    /// ```
    /// use cauri_core::{Connection, Leg, Route, RouteError};
    /// let leg = Leg { connection: Connection::new("direct"), priority: 1, share: 100 };
    /// assert!(Route::new([leg.clone()]).is_ok());
    /// assert_eq!(Route::new([]), Err(RouteError::Empty));
    /// assert_eq!(Route::new([leg.clone(), leg]), Err(RouteError::Twice(Connection::new("direct"))));
    /// ```
    pub fn new(legs: impl IntoIterator<Item = Leg>) -> Result<Self, RouteError> {
        let mut legs: Vec<Leg> = legs.into_iter().collect();
        legs.sort_by_key(|leg| leg.priority);
        for (at, leg) in legs.iter().enumerate() {
            if legs.iter().skip(at.saturating_add(1)).any(|it| it.connection == leg.connection) {
                return Err(RouteError::Twice(leg.connection.clone()));
            }
        }
        if legs.is_empty() { Err(RouteError::Empty) } else { Ok(Self { legs }) }
    }

    /// Its legs, by priority.
    ///
    /// ```
    /// use cauri_core::{Connection, Leg, Route};
    /// let leg = |name, priority| Leg { connection: Connection::new(name), priority, share: 100 };
    /// let route = Route::new([leg("spare", 2), leg("direct", 1)])?;
    /// assert_eq!(route.legs().first().map(|leg| leg.connection.as_str()), Some("direct"));
    /// # Ok::<(), cauri_core::RouteError>(())
    /// ```
    #[must_use]
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// The connections in the order in which they may carry this order: by priority, and within one
    /// as the order's id and the shares decide.
    ///
    /// ```
    /// use cauri_core::{Connection, Leg, OrderId, Route};
    /// let leg = |name, share| Leg { connection: Connection::new(name), priority: 1, share };
    /// let route = Route::new([leg("direct", 100), leg("spare", 0)])?;
    /// let id: OrderId = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// assert_eq!(route.ranked(id), [&Connection::new("direct"), &Connection::new("spare")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ranked(&self, id: OrderId) -> Vec<&Connection> {
        let mut dice = Dice::of(id);
        let mut ranked = Vec::with_capacity(self.legs.len());
        for legs in self.legs.chunk_by(|a, b| a.priority == b.priority) {
            let mut left: Vec<&Leg> = legs.iter().collect();
            while !left.is_empty() {
                let leg = left.remove(drawn(&left, &mut dice));
                ranked.push(&leg.connection);
            }
        }
        ranked
    }
}

/// Which of the legs is next, each as likely as its share says; without shares, the first.
fn drawn(legs: &[&Leg], dice: &mut Dice) -> usize {
    let total = legs.iter().fold(0_u64, |sum, leg| sum.saturating_add(leg.share.into()));
    let mut left = dice.below(total);
    let holds = |leg: &&Leg| {
        let share = u64::from(leg.share);
        let hit = left < share;
        left = left.saturating_sub(share);
        hit
    };
    legs.iter().position(holds).unwrap_or(0)
}

/// Numbers that follow from an order's id alone: the same on every machine, and for ever.
struct Dice(u64);

impl Dice {
    fn of(id: OrderId) -> Self {
        let (high, low) = id.uuid().as_u64_pair();
        Self(high.rotate_left(32) ^ low)
    }

    /// A number below `bound`; 0 when there is none. (This is `SplitMix64`.)
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)).checked_rem(bound).unwrap_or(0)
    }
}

/// The routes of an installation: what an offer names may be one of several connections.
///
/// A connection without a route carries everything itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Routes(BTreeMap<Connection, Route>);

impl Routes {
    /// The same, with offers of this connection carried over this route. A leg of it may be named
    /// like the connection itself.
    ///
    /// ```
    /// use cauri_core::{Connection, Leg, Route, Routes};
    /// let mtn = Connection::new("mtn_ci");
    /// let leg = |connection, share| Leg { connection, priority: 1, share };
    /// let route = Route::new([leg(mtn.clone(), 95), leg(Connection::new("aggregator"), 5)])?;
    /// let routes = Routes::default().with(mtn.clone(), route);
    /// assert_eq!(routes.of(&mtn).map(|route| route.legs().len()), Some(2));
    /// # Ok::<(), cauri_core::RouteError>(())
    /// ```
    #[must_use]
    pub fn with(mut self, connection: Connection, route: Route) -> Self {
        self.0.insert(connection, route);
        self
    }

    /// The route of what an offer names.
    ///
    /// ```
    /// use cauri_core::{Connection, Routes};
    /// assert_eq!(Routes::default().of(&Connection::new("mtn_ci")), None);
    /// ```
    #[must_use]
    pub fn of(&self, connection: &Connection) -> Option<&Route> {
        self.0.get(connection)
    }

    /// The connection that is to carry an order first, of what its offer names.
    #[must_use]
    pub(crate) fn first(&self, named: &Connection, id: OrderId) -> Connection {
        let route = self.of(named);
        route.and_then(|route| route.ranked(id).first().copied()).unwrap_or(named).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use uuid::Uuid;

    use super::*;
    use crate::value::id::{Id, PaymentId};

    fn leg(connection: &str, priority: u8, share: u16) -> Leg {
        Leg { connection: Connection::new(connection), priority, share }
    }

    fn ids() -> impl Iterator<Item = OrderId> {
        // As ids are drawn within one millisecond: they only differ in a few bits.
        (0..10_000_u128).map(|n| {
            let bits = Uuid::from_u128((0x0193_0000_0000_7000_8000 << 48) | (n << 3));
            OrderId::Payment(PaymentId::from_uuid(bits))
        })
    }

    fn firsts(route: &Route) -> HashMap<&str, usize> {
        let mut firsts = HashMap::new();
        for id in ids() {
            let count: &mut usize = firsts.entry(route.ranked(id)[0].as_str()).or_default();
            *count = count.saturating_add(1);
        }
        firsts
    }

    #[test]
    fn shares_come_out_over_many_orders() {
        let route = Route::new([leg("a", 1, 70), leg("b", 1, 25), leg("c", 1, 5)]).unwrap();
        let firsts = firsts(&route);
        for (connection, share) in [("a", 7_000), ("b", 2_500), ("c", 500)] {
            let got = firsts[connection];
            assert!(got.abs_diff(share) < 150, "{connection} has {got} of {share}");
        }
    }

    #[test]
    fn every_leg_is_there_once_and_by_priority() {
        let legs = [leg("c", 2, 0), leg("a", 1, 1), leg("d", 2, 0), leg("b", 1, 9)];
        let route = Route::new(legs).unwrap();
        for id in ids().take(100) {
            let ranked: Vec<&str> = route.ranked(id).iter().map(|it| it.as_str()).collect();
            let mut first = ranked[..2].to_vec();
            first.sort_unstable();
            assert_eq!(first, ["a", "b"]);
            assert_eq!(ranked[2..], ["c", "d"], "without shares, as they were given");
        }
    }

    #[test]
    fn a_leg_without_a_share_only_carries_what_others_could_not() {
        let route = Route::new([leg("spare", 1, 0), leg("main", 1, 1)]).unwrap();
        assert_eq!(firsts(&route), HashMap::from([("main", 10_000)]));
        assert_eq!(route.ranked(ids().next().unwrap()).len(), 2);
    }

    #[test]
    fn what_an_id_decides_is_decided_for_ever() {
        let route = Route::new([leg("a", 1, 50), leg("b", 1, 50), leg("c", 1, 50)]).unwrap();
        let id: OrderId = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse().unwrap();
        let ranked: Vec<&str> = route.ranked(id).iter().map(|it| it.as_str()).collect();
        assert_eq!(ranked, ["b", "a", "c"]);
    }

    #[test]
    fn what_is_no_route_is_refused() {
        assert_eq!(Route::new([]), Err(RouteError::Empty));
        let twice = Route::new([leg("a", 1, 1), leg("b", 1, 1), leg("a", 2, 1)]);
        assert_eq!(twice, Err(RouteError::Twice(Connection::new("a"))));
    }

    #[test]
    fn what_has_no_route_carries_itself() {
        let (plain, routed) = (Connection::new("plain"), Connection::new("routed"));
        let route = Route::new([leg("a", 1, 1)]).unwrap();
        let routes = Routes::default().with(routed.clone(), route);
        let id = ids().next().unwrap();
        assert_eq!(routes.first(&plain, id), plain);
        assert_eq!(routes.first(&routed, id).as_str(), "a");
    }
}
