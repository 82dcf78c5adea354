//! Webhooks into the host's own queue instead of over HTTP: a channel within the process, or NATS.
//!
//! A receipt says what is known: that the queue has the attempt. From then on the host delivers it,
//! or acts on it itself; cauri tries again only what the queue did not take.

mod channel;
#[cfg(feature = "nats")]
mod nats;

pub use channel::ChannelNotifier;
#[cfg(feature = "nats")]
pub use nats::NatsNotifier;
