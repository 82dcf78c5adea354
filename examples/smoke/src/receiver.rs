//! A merchant's receiver of webhooks.

use std::fmt::Display;

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use serde_json::Value;
use tokio::{net::TcpListener, sync::mpsc};

/// One delivery, as it came.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Delivery {
    pub(crate) fn event(&self) -> Value {
        serde_json::from_slice(&self.body).expect("an event is JSON")
    }
}

/// Answers 204 to everything and keeps it.
#[derive(Debug)]
pub(crate) struct Receiver {
    url: String,
    deliveries: mpsc::UnboundedReceiver<Delivery>,
}

impl Receiver {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hooks", listener.local_addr().expect("an address"));
        let (sender, deliveries) = mpsc::unbounded_channel();
        let take = async move |headers: HeaderMap, body: Bytes| {
            // Nobody may be waiting any more.
            let _ = sender.send(Delivery { headers, body });
            StatusCode::NO_CONTENT
        };
        let app = Router::new().route("/hooks", post(take));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, deliveries }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) async fn next(&mut self) -> Delivery {
        self.deliveries.recv().await.expect("the receiver runs")
    }

    /// Waits for an event about an object.
    pub(crate) async fn awaits(&mut self, kind: &str, id: impl Display) -> Delivery {
        let id = id.to_string();
        loop {
            let delivery = self.next().await;
            let event = delivery.event();
            if event["type"] == kind && event["data"]["object"]["id"] == id {
                return delivery;
            }
        }
    }
}
