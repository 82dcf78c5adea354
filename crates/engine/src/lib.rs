//! The payment core that platforms embed: ports, use cases, worker.
//!
//! Decide purely, commit atomically, act afterwards: an [`Engine`] loads records, lets a pure
//! function of `cauri-core` decide, commits one changeset, and only then is a network or a receiver
//! touched, by the [`Worker`].
//!
//! # What to reach for
//!
//! | To | Use |
//! |---|---|
//! | put it together | [`Engine::builder`], [`Worker::new`] |
//! | take a payment, pay out, refund | [`Engine::create_payment`], [`create_payout`], [`create_refund`] |
//! | let something happen once, however often it is asked | [`Call::idempotent`] |
//! | do it within a transaction of your own | [`Engine::within`] |
//! | tell what a network said on its own | [`Engine::report`] |
//! | make accounts and keys | [`Engine::create_account`], [`Engine::create_key`] |
//! | look whether the books are right | [`Engine::audit`] |
//! | plug in a database, a network, a way to send webhooks | [`Store`], [`Gateway`], [`Notifier`] |
//! | let many callers share a transaction | [`Grouped`] |
//! | own the time and the chance, in tests | [`Clock`], [`Entropy`] |
//! | see what it does | [`Tracer`], [`Meter`] |
//!
//! [`create_payout`]: Engine::create_payout
//! [`create_refund`]: Engine::create_refund
//!
//! # From an account to a payment
//!
//! ```
//! use std::sync::Arc;
//! use cauri::{
//!     Amount, Call, Caller, Engine, Environment, PaymentMethod, PaymentStatus, Scope, Worker,
//!     wire::CreatePayment,
//! };
//! use cauri_memory::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::builder(Arc::new(MemoryStore::new())).build()?;
//! let account = engine.create_account().await?.id;
//! let caller = Caller::secret(Scope { account, environment: Environment::Sandbox });
//!
//! let ask = CreatePayment {
//!     amount: Some(Amount::new(5_000)),
//!     currency: Some("XOF".parse()?),
//!     network: Some("mtn".parse()?),
//!     phone: Some("+2250500000000".parse()?),
//!     ..CreatePayment::by(PaymentMethod::MobileMoney)
//! };
//! let payment = engine.create_payment(&Call::by(caller), ask).await?.object;
//! assert_eq!(payment.status, PaymentStatus::Created);
//!
//! // Whatever is due is done by a worker: here the network is asked, and the receivers are told.
//! tokio::spawn(Worker::new(engine).run(std::future::pending()));
//! # Ok(())
//! # }
//! ```

mod ambient;
mod auth;
mod bounded;
mod cache;
mod call;
mod caught;
mod count;
mod engine;
mod error;
mod gateway;
mod grouped;
mod mailbox;
mod observed;
mod port;
mod rail;
mod recent;
mod renew;
mod run;
mod store_ext;
mod trace;
mod use_case;
mod worker;

pub use ambient::{OsEntropy, SystemClock};
pub use call::{Call, Caller, Replay, Reply};
/// Why a command was refused: the error of `cauri-core`.
pub use cauri_core::Error as Refused;
pub use cauri_core::*;
pub use engine::{Engine, EngineBuilder, Options};
pub use error::{AuthError, BuildError, Error, PermissionError};
pub use gateway::{
    breaker::{BreakerOptions, BreakerState},
    sandbox::SandboxGateway,
};
pub use grouped::{Grouped, GroupedOptions, GroupedStats, QueueFull};
pub use observed::Observed;
pub use port::{
    bell::Bell,
    clock::Clock,
    entropy::Entropy,
    gateway::{Answer, Gateway},
    meter::{GatewayCall, Measured, Meter},
    notifier::{Attempt, Notifier, Receipt},
    store::{ScopesHeld, Store, StoreError},
    tracer::Tracer,
};
#[cfg(any(test, feature = "mock"))]
pub use port::{
    gateway::MockGateway, meter::MockMeter, notifier::MockNotifier, store::MockStore,
    tracer::MockTracer,
};
pub use store_ext::StoreExt;
pub use use_case::{Audit, AuditProgress, Resealed, Violation};
pub use worker::{Ticked, Worker, WorkerOptions};
