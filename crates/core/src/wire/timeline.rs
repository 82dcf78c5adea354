//! Timeline lines as they travel (API §9.7).

use serde::{Deserialize, Serialize};

use super::{private::Mask, tag};
use crate::{
    model::{payment::PaymentStatus, timeline as model},
    value::{
        id::{EventId, RefundId},
        money::{Amount, Overflow},
        scope::Environment,
        time::Timestamp,
    },
};

/// A line of a payment's timeline (API §9.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimelineEntry {
    /// `timeline_entry`.
    pub object: tag::TimelineEntry,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// What it tells of.
    #[serde(rename = "type")]
    pub kind: model::TimelineKind,
    /// The payment's status after it.
    pub status: PaymentStatus,
    /// Who made it happen.
    pub actor: model::Actor,
    /// A sentence for people.
    pub message: String,
    /// The refund's amount.
    pub amount: Option<Amount>,
    /// The refund.
    pub refund: Option<RefundId>,
    /// The event that told of it.
    pub event: Option<EventId>,
    /// When.
    pub created_at: Timestamp,
}

impl TimelineEntry {
    /// What is shown of a line.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::{TimelineKind, wire::TimelineEntry};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.paid(5_000);
    /// let line = TimelineEntry::of(&shop.last().value)?;
    /// assert_eq!(line.kind, TimelineKind::Succeeded);
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    pub fn of(entry: &model::TimelineEntry) -> Result<Self, Overflow> {
        let model::TimelineEntry {
            scope,
            payment: _,
            number: _,
            kind,
            status,
            actor,
            message,
            amount,
            refund,
            event,
            created_at,
        } = entry;
        Ok(Self {
            object: tag::TimelineEntry,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            kind: *kind,
            status: *status,
            actor: *actor,
            message: message.clone(),
            amount: *amount,
            refund: *refund,
            event: *event,
            created_at: *created_at,
        })
    }
}

impl Mask for TimelineEntry {
    fn masked(self) -> Self {
        self
    }
}
