//! Connections: how many, how long, and how they end.

use std::{io, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use cauri_http::Api;
use hyper::{
    Request, Response,
    body::Incoming,
    header::{CONNECTION, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use prometheus_client::metrics::counter::Counter;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};
use tokio_io_timeout::TimeoutStream;
use tower_service::Service;

use crate::patience::Patience;

/// How long the head of a request may take, and a connection wait for its next one.
const HEAD: Duration = Duration::from_secs(30);

/// How long a body may take.
const BODY: Duration = Duration::from_secs(30);

/// How long whoever asked may read nothing of what is answered.
const UNREAD: Duration = Duration::from_secs(30);

/// How large the head of a request may be. It is what a connection costs that says nothing of use.
const HEAD_BYTES: usize = 16_384;

/// How many headers it may have.
const HEADERS: usize = 100;

/// How many who come when no connection is left are told so at a time. Beyond them, the system's
/// own queue fills, and then nobody is let in at all.
const TURNED_AWAY: usize = 256;

/// How long whoever is turned away may take to say what for.
const TURNED_AWAY_HEAD: Duration = Duration::from_secs(2);

/// How long it may take to hear the answer.
const TURNED_AWAY_ALL: Duration = Duration::from_secs(4);

/// How long to wait when no connection can be had, as when there are no file descriptors left.
const BREATH: Duration = Duration::from_millis(100);

/// How many connections there may be, and where those beyond are counted.
#[derive(Debug)]
pub(crate) struct Connections {
    pub(crate) most: u32,
    pub(crate) refused: Counter,
}

/// Serves until `shutdown` ends, then finishes what is in flight, for no longer than `within`. Whoever
/// comes when as many connections are open as may be is told by `api` that it is busy.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    api: Api,
    connections: Connections,
    shutdown: impl Future<Output = ()>,
    within: Duration,
) {
    let doors = Doors::new(connections.most);
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).max_buf_size(HEAD_BYTES).max_headers(HEADERS);
    let mut shutdown = pin!(shutdown);
    loop {
        let (stream, place) = tokio::select! {
            () = &mut shutdown => break,
            accepted = doors.next(&listener) => match accepted {
                Ok(accepted) => accepted,
                Err(error) if is_of_the_peer(&error) => continue,
                Err(error) => {
                    tracing::warn!(%error, "no connection can be accepted");
                    sleep(BREATH).await;
                    continue;
                }
            },
        };
        let stream = Box::pin(patient(stream));
        match place {
            Place::Served(slot) => {
                let app = app.clone();
                let service = service_fn(move |request: Request<Incoming>| {
                    let request = request.map(|body| Body::new(Patience::with(body, BODY)));
                    app.clone().call(request)
                });
                http.header_read_timeout(HEAD).keep_alive(true);
                let connection = http.serve_connection(TokioIo::new(stream), service);
                let connection = graceful.watch(connection);
                tokio::spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "a connection ended early");
                    }
                    drop(slot);
                });
            }
            Place::TurnedAway(slot) => {
                connections.refused.inc();
                let api = api.clone();
                let service = service_fn(move |_| {
                    let answer = turned_away(&api);
                    async { Ok::<_, std::convert::Infallible>(answer) }
                });
                http.header_read_timeout(TURNED_AWAY_HEAD).keep_alive(false);
                let connection = http.serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async move {
                    let _ = timeout(TURNED_AWAY_ALL, connection).await;
                    drop(slot);
                });
            }
        }
    }
    drop(listener);
    if timeout(within, graceful.shutdown()).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
}

/// Who is let in.
#[derive(Debug)]
struct Doors {
    served: Arc<Semaphore>,
    turned_away: Arc<Semaphore>,
}

/// What a connection takes up while it is open.
#[derive(Debug)]
enum Place {
    Served(OwnedSemaphorePermit),
    TurnedAway(OwnedSemaphorePermit),
}

impl Doors {
    fn new(connections_max: u32) -> Self {
        let most = usize::try_from(connections_max).unwrap_or(Semaphore::MAX_PERMITS);
        let served = Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
        Self { served, turned_away: Arc::new(Semaphore::new(TURNED_AWAY)) }
    }

    /// The next connection, and its place: there is always one before it is accepted.
    async fn next(&self, listener: &TcpListener) -> io::Result<(TcpStream, Place)> {
        let waiting = Arc::clone(&self.turned_away).acquire_owned().await;
        let waiting = waiting.map_err(io::Error::other)?;
        let (stream, _) = listener.accept().await?;
        // Answers are small; one that waits for more of it only waits.
        let _ = stream.set_nodelay(true);
        let place = match Arc::clone(&self.served).try_acquire_owned() {
            Ok(slot) => Place::Served(slot),
            Err(_) => Place::TurnedAway(waiting),
        };
        Ok((stream, place))
    }
}

/// A stream that breaks when nothing of what is written to it is taken for too long.
fn patient(stream: TcpStream) -> TimeoutStream<TcpStream> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(UNREAD));
    stream
}

/// The answer to whoever is one too many; it ends the connection.
fn turned_away(api: &Api) -> Response<Body> {
    let mut answer = api.busy().map(Body::new);
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
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
