//! Sends cauri's signed webhooks over HTTP, behind an address guard.
//!
//! [`HttpNotifier`] is the [`Notifier`](cauri::Notifier) of a platform whose receivers are on the
//! web. Signing and the schedule of attempts are pure and live in core; here is what touches the
//! network: [where an attempt may go](Policy), and how long it may take.

mod connector;
mod guard;
mod lookup;
mod notifier;

pub use guard::{Policy, UrlRefusal, check_url};
pub use notifier::{BuildError, HttpNotifier, HttpNotifierBuilder};
