//! The payment core that platforms embed: ports, use cases, worker.
//!
//! Decide purely, commit atomically, act afterwards: an [`Engine`] loads records, lets a pure
//! function of `cauri-core` decide, commits one changeset, and only then is a network or a receiver
//! touched, by the [`Worker`].

mod ambient;
mod auth;
mod cache;
mod call;
mod engine;
mod error;
mod gateway;
mod grouped;
mod mailbox;
mod port;
mod recent;
mod run;
mod store_ext;
mod use_case;
mod worker;

pub use ambient::{OsEntropy, SystemClock};
pub use call::{Call, Caller, Replay, Reply};
/// Why a command was refused: the error of `cauri-core`.
pub use cauri_core::Error as Refused;
pub use cauri_core::*;
pub use engine::{Engine, EngineBuilder, Options};
pub use error::{AuthError, Error, PermissionError};
pub use gateway::sandbox::SandboxGateway;
pub use grouped::{Grouped, GroupedOptions, GroupedStats, QueueFull};
pub use port::{
    bell::Bell,
    clock::Clock,
    entropy::Entropy,
    gateway::{Answer, Gateway},
    notifier::{Attempt, Notifier, Receipt},
    store::{Store, StoreError},
};
#[cfg(any(test, feature = "mock"))]
pub use port::{gateway::MockGateway, notifier::MockNotifier, store::MockStore};
pub use store_ext::StoreExt;
pub use use_case::{Audit, Resealed, Violation};
pub use worker::{Ticked, Worker, WorkerOptions};
