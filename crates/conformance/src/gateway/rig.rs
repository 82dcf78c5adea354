//! A gateway with the network behind it, in the hands of a test.

use std::sync::Arc;

use async_trait::async_trait;
use cauri::{Country, Gateway, Offer, Phone};

/// A gateway and a network behind it that does as it is told.
///
/// A fresh one is made for every trial; rigs must not see one another's orders.
#[async_trait]
pub trait Rig: Send + Sync + 'static {
    /// What the network moves. The laws send orders of its least amount.
    fn place(&self) -> Place;

    /// A gateway to the network, made anew each time: as after a restart, or on another node. It
    /// shares nothing with those made before but the network.
    async fn gateway(&self) -> Arc<dyn Gateway>;

    /// How the network behaves from now on; [`Conduct::Works`] at the beginning.
    async fn conduct(&self, conduct: Conduct);

    /// How every order ends that the network has taken on and not ended yet. Until it is told so,
    /// the network leaves each of them open, however fast the real one is.
    async fn end(&self, end: End);

    /// How many orders the network has taken on, by its own books. One that arrives again under the
    /// same name is one; under another name it is another order.
    async fn taken_on(&self) -> usize;

    /// What the network has collected for payments, less what it gave back, in the currency's
    /// smallest unit, by its own books. Payouts do not count.
    async fn collected(&self) -> i64;
}

/// A network in a country, and somebody who has an account there.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "rigs write it as a literal")]
pub struct Place {
    /// Where.
    pub country: Country,
    /// What is offered there; its `connection` may be any.
    pub offer: Offer,
    /// Who pays, and is paid out to; `None` for cards.
    pub phone: Option<Phone>,
}

/// How a network behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a rig plays all of them")]
pub enum Conduct {
    /// It takes orders on, and answers.
    Works,
    /// Nobody can connect to it.
    Down,
    /// It answers no to every new order.
    Refuses,
    /// It hangs up on whoever asks anything, before it has done anything.
    HangsUp,
    /// It does what it is asked, and hangs up instead of answering.
    HangsUpAfterwards,
    /// It does what it is asked, and never answers.
    Hangs,
    /// It does what it is asked, and answers what is no answer: another format, a proxy's error page.
    Garbles,
    /// It takes orders on and answers, and tells the opposite of how an order has ended.
    Contradicts,
}

impl Conduct {
    /// Those in which nobody learns from an answer what the network did.
    pub(crate) const SILENT: &[Self] = &[Self::HangsUp, Self::HangsUpAfterwards, Self::Garbles];
}

/// How an order ends at its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a rig plays all of them")]
pub enum End {
    /// The money moves.
    Paid,
    /// It does not, and never will.
    Failed,
}
