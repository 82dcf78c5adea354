//! Taking on what is due.

use crate::value::{id::EndpointId, time::Timestamp};

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
/// With lanes, it is the oldest of all endpoints still, passing over those that are full. Which of
/// two goes first that are due at one moment is the store's to say.
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
    /// For deliveries: how many of one endpoint, so that one's backlog costs the others nothing.
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

/// Room per endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores read every field")]
pub struct Lanes {
    /// How many of one endpoint may be held at once.
    pub cap: u16,
    /// How many of these endpoints are held already.
    pub held: Vec<(EndpointId, u16)>,
}

impl Lanes {
    /// How many more of this endpoint may be handed out.
    ///
    /// ```
    /// use cauri_core::{EndpointId, Lanes};
    /// let slow: EndpointId = "whe_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// let idle: EndpointId = "whe_01jd3w8k4f7q2m9x5r6t0v1b3d".parse()?;
    /// let lanes = Lanes { cap: 8, held: vec![(slow, 8)] };
    /// assert_eq!((lanes.room(slow), lanes.room(idle)), (0, 8));
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    #[must_use]
    pub fn room(&self, endpoint: EndpointId) -> u16 {
        let held = self.held.iter().find(|(id, _)| *id == endpoint).map_or(0, |(_, held)| *held);
        self.cap.saturating_sub(held)
    }
}
