//! Connections to vetted addresses only.
//!
//! The name is resolved here, every address is judged here, and what was judged is what is
//! connected to: no later lookup can put another address in its place.

use std::{
    error::Error as StdError,
    fmt, io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use http::{Uri, uri::Scheme};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use rustls::ClientConfig;
use tokio::{net::TcpStream, time::timeout};
use tower_service::Service;

use crate::{
    guard::{self, Reach},
    lookup::Lookup,
};

/// Connects, with TLS where the URL says so.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    https: HttpsConnector<Guarded>,
    deadline: Duration,
}

impl Connector {
    pub(crate) fn new(
        reach: Reach,
        lookup: Lookup,
        tls: Arc<ClientConfig>,
        deadline: Duration,
    ) -> Self {
        Self { https: (Guarded { reach, lookup }, tls).into(), deadline }
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = ConnectError;
    type Future = BoxFuture<'static, Result<Stream, ConnectError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        self.https.poll_ready(cx).map_err(ConnectError::from_boxed)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        // The pool may go on with a connection that nobody waits for any more, so that the
        // deadline of the attempt does not reach it.
        let connected = timeout(self.deadline, self.https.call(uri));
        async {
            match connected.await {
                Ok(Ok(io)) => Ok(Stream { io, used: Used::default() }),
                Ok(Err(error)) => Err(ConnectError::from_boxed(error)),
                Err(_) => Err(ConnectError::Timeout),
            }
        }
        .boxed()
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("not allowed")]
    Refused(#[source] guard::UrlRefusal),
    #[error("the host does not resolve")]
    Unresolved(#[source] io::Error),
    #[error("no address could be connected to")]
    Unreachable(#[source] io::Error),
    #[error("no encrypted connection")]
    Tls(#[source] Box<dyn StdError + Send + Sync>),
    #[error("no connection in time")]
    Timeout,
}

impl ConnectError {
    /// What does not come from [`Guarded`] comes from the TLS around it.
    fn from_boxed(error: Box<dyn StdError + Send + Sync>) -> Self {
        error.downcast().map_or_else(Self::Tls, |ours| *ours)
    }
}

/// Connects to vetted addresses, without TLS.
#[derive(Clone, Debug)]
struct Guarded {
    reach: Reach,
    lookup: Lookup,
}

impl Guarded {
    async fn connect(self, uri: Uri) -> Result<TokioIo<TcpStream>, ConnectError> {
        let host = uri.host().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
        let found = match literal {
            Ok(address) => vec![address],
            Err(_) => self.lookup.addresses(host).await.map_err(ConnectError::Unresolved)?,
        };
        let vetted = guard::vet_all(&found, self.reach).map_err(ConnectError::Refused)?;
        let stream = race(&vetted, port(&uri)).await?;
        // Requests are written whole; waiting to fill a packet would only delay them.
        stream.set_nodelay(true).map_err(ConnectError::Unreachable)?;
        Ok(TokioIo::new(stream))
    }
}

impl Service<Uri> for Guarded {
    type Response = TokioIo<TcpStream>;
    type Error = ConnectError;
    type Future = BoxFuture<'static, Result<TokioIo<TcpStream>, ConnectError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        self.clone().connect(uri).boxed()
    }
}

/// Tries the addresses in their order, each with a head start before the next; the first that
/// answers wins.
async fn race(addresses: &[IpAddr], port: u16) -> Result<TcpStream, ConnectError> {
    let mut waiting = addresses.iter().take(ADDRESSES_MAX);
    let mut running = FuturesUnordered::new();
    let mut failed = ConnectError::Unresolved(io::ErrorKind::NotFound.into());
    loop {
        match waiting.next() {
            Some(address) => running.push(TcpStream::connect(SocketAddr::new(*address, port))),
            None if running.is_empty() => return Err(failed),
            None => {}
        }
        match timeout(HEAD_START, running.next()).await {
            Ok(Some(Ok(stream))) => return Ok(stream),
            Ok(Some(Err(error))) => failed = ConnectError::Unreachable(error),
            Ok(None) | Err(_) => {}
        }
    }
}

fn port(uri: &Uri) -> u16 {
    let default = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    uri.port_u16().unwrap_or(default)
}

/// A connection that knows whether it has carried an answer before.
pub(crate) struct Stream {
    io: MaybeHttpsStream<TokioIo<TcpStream>>,
    used: Used,
}

/// Whether a connection has carried an answer before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used(Arc<AtomicBool>);

impl Used {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        self.io.connected().extra(self.used.clone())
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("used", &self.used).finish_non_exhaustive()
    }
}

/// A name with more addresses than this is tried at the first ones only.
const ADDRESSES_MAX: usize = 8;

/// What a connection over one address gets before the next address is tried beside it (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests;
