//! Connections: how many, how long, and how they end.

use std::{io, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    time::{sleep, timeout},
};
use tower_service::Service;

use crate::patience::Patience;

/// How long the head of a request may take, and a connection wait for its next one.
const HEAD: Duration = Duration::from_secs(30);

/// How long a body may take.
const BODY: Duration = Duration::from_secs(30);

/// How large the head of a request may be.
const HEAD_BYTES: usize = 65_536;

/// How long to wait when no connection can be had, as when there are no file descriptors left.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until `shutdown` ends, then finishes what is in flight, for no longer than `within`.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    connections_max: u32,
    shutdown: impl Future<Output = ()>,
    within: Duration,
) {
    let slots = usize::try_from(connections_max).unwrap_or(Semaphore::MAX_PERMITS);
    let slots = Arc::new(Semaphore::new(slots.clamp(1, Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES);
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await.map_err(io::Error::other)?;
            let (stream, _) = listener.accept().await?;
            // Answers are small; one that waits for more of it only waits.
            let _ = stream.set_nodelay(true);
            Ok::<_, io::Error>((stream, slot))
        };
        let (stream, slot) = tokio::select! {
            () = &mut shutdown => break,
            accepted = accepted => match accepted {
                Ok(accepted) => accepted,
                Err(error) if is_of_the_peer(&error) => continue,
                Err(error) => {
                    tracing::warn!(%error, "no connection can be accepted");
                    sleep(BREATH).await;
                    continue;
                }
            },
        };
        let app = app.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let request = request.map(|body| Body::new(Patience::with(body, BODY)));
            app.clone().call(request)
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(slot);
        });
    }
    drop(listener);
    if timeout(within, graceful.shutdown()).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
}

/// Did a connection fail before it was one, through no fault of ours?
fn is_of_the_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
