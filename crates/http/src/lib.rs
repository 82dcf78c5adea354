//! The HTTP API of cauri as a [`tower::Service`](tower_service::Service): whatever speaks `http`
//! can serve it.
//!
//! [`Api`] answers every route of the contract: it knows who calls, how often they may, what a
//! request must look like, and which status an error has. What a payment is, it leaves to the
//! [`Engine`](cauri::Engine).
//!
//! # Mounting it
//!
//! ```
//! use std::sync::Arc;
//!
//! use axum::Router;
//! use cauri::Engine;
//! use cauri_http::Api;
//! use cauri_memory::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::builder(Arc::new(MemoryStore::new())).build()?;
//! let app: Router = Router::new().fallback_service(Api::new(engine));
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! # let serving = tokio::spawn(async move {
//! axum::serve(listener, app).await?;
//! # Ok::<(), std::io::Error>(())
//! # });
//! # serving.abort();
//! # Ok(())
//! # }
//! ```
//!
//! # What is left to the server
//!
//! A service never sees the connection. How long a request may take to arrive, how many
//! connections there may be, limits for callers without a key, and TLS are the server's.
//!
//! # An embedder's own authentication
//!
//! A [`Caller`](cauri::Caller) among the request's extensions is believed, and no API key is
//! looked at: a layer in front may know its users from a session or a certificate.

mod api;
mod ask;
mod auth;
mod body;
mod catalogue;
mod handler;
mod idempotency;
mod log;
mod openapi;
mod problem;
mod query;
mod rate;
mod respond;
mod route;
mod slots;
mod trace;

pub use api::{Api, ApiBuilder};
pub use log::MatchedRoute;
pub use rate::RateLimit;
