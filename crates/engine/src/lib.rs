//! The payment core that platforms embed: ports, use cases, worker.

mod port;

pub use cauri_core::*;
pub use port::{
    clock::Clock,
    entropy::Entropy,
    gateway::{Answer, Gateway},
    notifier::{Attempt, Notifier, Receipt},
    store::{Store, StoreError},
};
#[cfg(any(test, feature = "mock"))]
pub use port::{gateway::MockGateway, notifier::MockNotifier, store::MockStore};
