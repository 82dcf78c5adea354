//! Taking on what is due.

use crate::{
    model::offer::Connection,
    value::{id::EndpointId, time::Timestamp},
};

/// What can be due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new kind must stop every store from compiling")]
pub enum ClaimKind {
    /// Payments: to submit, to ask about, to expire, to settle.
    Payments,
    /// Payouts: to submit, to ask about.
    Payouts,
    /// Refunds: to submit, to ask about.
    Refunds,
    /// Deliveries: to attempt.
    Deliveries,
    /// Idempotency records: to purge.
    Idempotency,
}

/// Asks for what is due, oldest first. Each record handed out has its `due_at` moved to `until`
/// and its version raised, so that the version is the token of the lease: whoever still holds an
/// older one is refused when it writes.
///
/// With lanes, it is the oldest of all lanes still, passing over those that are full. Which of two
/// goes first that are due at one moment is the store's to say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores read every field")]
pub struct Claim {
    /// Which kind.
    pub kind: ClaimKind,
    /// Due at this moment or before.
    pub now: Timestamp,
    /// The end of the lease.
    pub until: Timestamp,
    /// How many at most.
    pub limit: u16,
    /// How many of one [lane](crate::Record::lane), so that one's backlog costs the others nothing.
    /// Means nothing for idempotency records, which have no lanes.
    pub lanes: Option<Lanes>,
}

/// What is due of one kind and nobody has taken on.
///
/// Not a part of the contract between the engine and a store: the stores here tell it for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "stores make it")]
pub struct Backlog {
    /// How much, counted up to [`Backlog::MAX`].
    pub count: u16,
    /// Since when the oldest has been due.
    pub oldest: Option<Timestamp>,
}

impl Backlog {
    /// As far as is counted: more is too much in any case, and counting it would cost what there is.
    pub const MAX: u16 = 1_000;
}

/// What waits for somebody outside is apart by whom it waits for: who does not answer keeps up nobody
/// but what is in the same lane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new lane must stop every store from compiling")]
pub enum Lane {
    /// What this process does by itself: the orders of the sandbox, and payments that only have to be
    /// settled.
    Inside,
    /// Live orders over one connection.
    Connection(Connection),
    /// Deliveries to one endpoint.
    Endpoint(EndpointId),
}

/// Room per lane.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores read every field")]
pub struct Lanes {
    /// How many of one lane may be held at once.
    pub cap: u16,
    /// How many of these lanes are held already. Lanes of another kind of record than is claimed mean
    /// nothing.
    pub held: Vec<(Lane, u16)>,
}

impl Lanes {
    /// How many more of this lane may be handed out.
    ///
    /// ```
    /// use cauri_core::{Connection, Lane, Lanes};
    /// let [slow, idle] = ["a", "b"].map(|name| Lane::Connection(Connection::new(name)));
    /// let lanes = Lanes { cap: 8, held: vec![(slow.clone(), 8)] };
    /// assert_eq!((lanes.room(&slow), lanes.room(&idle)), (0, 8));
    /// ```
    #[must_use]
    pub fn room(&self, lane: &Lane) -> u16 {
        let held = self.held.iter().find(|(of, _)| of == lane).map_or(0, |(_, held)| *held);
        self.cap.saturating_sub(held)
    }
}
