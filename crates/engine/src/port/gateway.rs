//! The rails: how money really moves.

use std::fmt::Debug;

use async_trait::async_trait;
use cauri_core::{Capabilities, Order, Report, Timestamp};

/// A network or an aggregator of networks, plugged in behind a connection key.
///
/// # Laws
/// 1. **Named by us.** An order carries our id; submitting the same order twice must not move money
///    twice. A rail that cannot promise it must answer [`Report::Unknown`] rather than guess.
/// 2. **Unreachable means not sent.** [`Report::Unreachable`] and [`Report::Refused`] are only
///    answered when the network certainly did not take the order on, and never will: another
///    connection may be asked then. A time-out after sending is [`Report::Unknown`].
/// 3. **Asked, never assumed.** An unknown outcome is asked about with `query`; it is never failed
///    by a time-out and never sent again before `query` answered [`Report::NotFound`].
/// 4. **Reports may repeat and contradict.** The engine keeps the first final one. A gateway says
///    what its network says; it does not remember, so that any process can ask.
/// 5. **Declared.** What a gateway can do it says in [`Gateway::capabilities`]; no offer over it may
///    promise more. It answers [`Report::Refused`] to an order beyond them, and `false` to a
///    cancellation.
///
/// A call that is dropped half-way, for it took too long, or that panics is as one whose answer is
/// [`Report::Unknown`]; a cancellation as one that was not confirmed.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Gateway: Debug + Send + Sync + 'static {
    /// What it can do. Asked once, when the engine is built.
    fn capabilities(&self) -> Capabilities;

    /// Sends an order on its way.
    async fn submit(&self, order: &Order, now: Timestamp) -> Answer;

    /// Asks where an order stands.
    async fn query(&self, order: &Order, now: Timestamp) -> Answer;

    /// Asks the network to call an order off; `true` when it confirms that no money will move. `false`
    /// for one that it does not know: what was sent may still arrive. Asked again, later, about what
    /// was cancelled without its confirmation.
    async fn cancel(&self, order: &Order, now: Timestamp) -> bool;
}

/// What a gateway says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "gateways make them")]
pub struct Answer {
    /// What happened, in order.
    pub reports: Vec<Report>,
    /// When to ask again; `None` when the order has ended, or when the end will surely be told
    /// without asking. A callback that may get lost is not surely told. About a payment that has
    /// expired it is asked more and more rarely, and no more after a day.
    pub ask_again_at: Option<Timestamp>,
}

impl Answer {
    /// One report, and no need to ask again.
    #[must_use]
    pub fn final_report(report: Report) -> Self {
        Self { reports: vec![report], ask_again_at: None }
    }

    /// Nothing new until a moment.
    #[must_use]
    pub const fn later(at: Timestamp) -> Self {
        Self { reports: Vec::new(), ask_again_at: Some(at) }
    }
}
