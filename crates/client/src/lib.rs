//! A typed client of cauri's HTTP API.
//!
//! ```
//! # use std::sync::Arc;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (url, key) = server::start().await?;
//! use cauri_client::{Amount, Client, PaymentMethod, wire::CreatePayment};
//!
//! let client = Client::new(&url, &key)?;
//! let payment = client
//!     .payments()
//!     .create(&CreatePayment {
//!         amount: Some(Amount::new(5_000)),
//!         currency: Some("XOF".parse()?),
//!         network: Some("mtn".parse()?),
//!         phone: Some("+2250500000000".parse()?),
//!         ..CreatePayment::by(PaymentMethod::MobileMoney)
//!     })
//!     .await?;
//! assert_eq!(payment.net_amount, Amount::new(4_900));
//! assert_eq!(client.payments().retrieve(payment.id).await?, payment);
//! # Ok(()) }
//! # mod server {
//! #     use std::{convert::Infallible, sync::Arc};
//! #     use cauri::{ApiKeyKind, Engine, Environment, Scope};
//! #     use hyper::{server::conn::http1, service::service_fn};
//! #     use tower_service::Service;
//! #     pub async fn start() -> Result<(String, String), Box<dyn std::error::Error>> {
//! #         let engine = Engine::builder(Arc::new(cauri_memory::MemoryStore::new())).build()?;
//! #         let account = engine.create_account().await?.id;
//! #         let scope = Scope { account, environment: Environment::Sandbox };
//! #         let key = engine.create_key(scope, ApiKeyKind::Secret, None, None).await?.clear;
//! #         let api = cauri_http::Api::builder(engine).build();
//! #         let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! #         let url = format!("http://{}", socket.local_addr()?);
//! #         tokio::spawn(async move {
//! #             while let Ok((stream, _)) = socket.accept().await {
//! #                 let api = api.clone();
//! #                 let answer = service_fn(move |request| api.clone().call(request));
//! #                 let stream = hyper_util::rt::TokioIo::new(stream);
//! #                 tokio::spawn(http1::Builder::new().serve_connection(stream, answer));
//! #             }
//! #         });
//! #         Ok((url, key.reveal().to_owned()))
//! #     }
//! # }
//! ```
//!
//! # Once, however often it is tried
//!
//! A call that gets no answer, 429 or a 5xx is tried again: see [`Retry`]. Every attempt of it
//! carries the same `Idempotency-Key`, so that a payment whose answer was lost is not made twice.
//! Whoever may have to go on after a crash of their own names the key: [`Call::idempotency_key`].
//! A call that ends with an error although it may have acted tells the key to repeat it with:
//! [`Error::idempotency_key`]. One that the caller gives up, by a timeout of their own, tells nothing:
//! keep its [`Call::key`] before it is awaited.
//!
//! # Errors
//!
//! [`Error::Refused`] holds what the API said: a [`Code`] of the catalogue, a sentence, every
//! parameter that is wrong, and the `Request-Id` under which the server logged it. A payment that
//! the payer or the network declines is no error: it is a payment that becomes `failed`.
//!
//! # Lists
//!
//! [`Listing::page`] is one page, [`Listing::items`] a stream of everything.
//!
//! # Events
//!
//! [`Events::follow`] tells what happens to whoever cannot be reached by webhooks, a laptop for
//! one. Who can be verifies them with [`signature`].
//!
//! # Words that are not known yet
//!
//! Later servers may add fields, which are ignored, and words to open lists such as failure codes
//! (API §18). An answer with a word that this version does not know is [`Error::Unreadable`];
//! [`Call::raw`] and [`Listing::raw`] hand out any answer as it came.

mod call;
mod client;
mod code;
mod error;
pub mod filter;
mod follow;
mod growth;
mod listing;
mod resource;
mod retry;
mod transport;

pub use call::{Answer, Call};
pub use cauri_core::{
    Amount, Country, Currency, CustomerId, DeliveryId, DeliveryStatus, Direction, Email,
    EndpointId, EntryKind, Environment, EventId, EventKind, FailureCode, IdempotencyKey,
    LedgerAccountKind, Metadata, MetadataPatch, Network, OrderId, Page, Patch, PaymentId,
    PaymentLinkId, PaymentLinkStatus, PaymentMethod, PaymentStatus, PayoutId, PayoutStatus, Phone,
    RefundId, RefundReason, RefundStatus, ResourceId, Scenario, ScenarioKind, Subscription, Text,
    Timestamp, TransactionId, WebUrl, signature, wire,
};
pub use client::{Client, ClientBuilder};
pub use code::Code;
pub use error::{BuildError, Detail, Error, Refused};
pub use follow::Follow;
pub use listing::Listing;
pub use resource::{
    Customers, Events, PaymentLinks, Payments, Payouts, Refunds, Sandbox, Webhooks,
};
pub use retry::Retry;
