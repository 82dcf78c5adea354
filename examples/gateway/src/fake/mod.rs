//! The aggregator, in this process: it keeps books, checks what it is sent, calls back, and is as
//! unreliable as it is told to be.

mod books;
mod server;

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cauri::{Clock, Secret};
use http::StatusCode;
use tokio::{net::TcpSocket, sync::watch};

use crate::signature::{Keys, Signer};
use books::{Books, Sign};

/// How the fake behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever plays with it plays all of them")]
pub enum Mood {
    /// As it should.
    Works,
    /// Nobody can connect.
    Down,
    /// It rejects every order, for the payer's or recipient's sake.
    Rejects,
    /// It rejects every order, because the network behind it is closed.
    Closed,
    /// It hangs up on whoever asks, before it does anything.
    HangsUp,
    /// It does what it is asked, and hangs up instead of answering.
    HangsUpAfterwards,
    /// It does what it is asked, and never answers.
    Hangs,
    /// It does what it is asked, and a proxy in between answers instead.
    Garbles,
    /// It tells the opposite of how an order has ended.
    Contradicts,
    /// It does nothing, and answers with this status and a reason that is not documented: a limit
    /// that was run into, an overload.
    Busy(StatusCode),
}

/// A fake before it listens.
#[derive(Debug)]
#[non_exhaustive]
pub struct FakeOptions {
    /// The token that it lets in.
    pub token: Secret,
    /// Its clock: it signs by it, and refuses what is signed too long ago.
    pub clock: Arc<dyn Clock>,
    /// The keys of who must sign what moves money; `None` when nobody must.
    pub keys: Option<Keys>,
    /// Where it calls back, such as `http://127.0.0.1:8080/callbacks/main`; `None` for not at all.
    pub callback: Option<String>,
    /// After what time it ends orders by itself, as their phones say; `None` when it is told.
    pub after: Option<Duration>,
    /// Does it call back twice, and a third time with the opposite?
    pub chatty: bool,
}

impl FakeOptions {
    /// A quiet one, that ends nothing by itself.
    #[must_use]
    pub fn new(token: Secret, clock: Arc<dyn Clock>) -> Self {
        Self { token, clock, keys: None, callback: None, after: None, chatty: false }
    }
}

/// An aggregator that listens on this machine until it is dropped.
#[derive(Debug)]
pub struct Fake {
    inner: Arc<Inner>,
    /// Keeps the port for us while nobody listens.
    _port: TcpSocket,
}

#[derive(Debug)]
pub(crate) struct Inner {
    address: SocketAddr,
    token: Secret,
    clock: Arc<dyn Clock>,
    keys: Option<Keys>,
    signer: Signer,
    after: Option<Duration>,
    chatty: bool,
    mood: watch::Sender<Mood>,
    callback: Mutex<Option<String>>,
    books: Mutex<Books>,
}

impl Fake {
    /// Begins to listen.
    ///
    /// # Errors
    /// What the system says against it.
    pub async fn begin(options: FakeOptions) -> io::Result<Self> {
        let FakeOptions { token, clock, keys, callback, after, chatty } = options;
        let port = socket(([127, 0, 0, 1], 0).into())?;
        let address = port.local_addr()?;
        let signer = Signer::generate("HTTP_EC_P256_KEY:1").map_err(io::Error::other)?;
        let inner = Arc::new(Inner {
            address,
            token,
            clock,
            keys,
            signer,
            after,
            chatty,
            mood: watch::Sender::new(Mood::Works),
            callback: Mutex::new(callback),
            books: Mutex::default(),
        });
        server::listen(&inner).await?;
        Ok(Self { inner, _port: port })
    }

    /// Where its API is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.inner.address)
    }

    /// The id of the key it signs callbacks with, and the key in PEM: what a dashboard shows.
    #[must_use]
    pub fn key(&self) -> (String, String) {
        (self.inner.signer.id().to_owned(), self.inner.signer.public_key())
    }

    /// What it signs callbacks with, for those who play the aggregator themselves.
    #[must_use]
    pub fn signer(&self) -> &Signer {
        &self.inner.signer
    }

    /// Calls back there from now on.
    pub fn call_back(&self, url: impl Into<String>) {
        *self.inner.callback.lock().unwrap_or_else(PoisonError::into_inner) = Some(url.into());
    }

    /// Behaves so from now on. Once it is down, it is down: nobody can connect any more.
    ///
    /// # Errors
    /// What the system says against listening again.
    pub async fn behave(&self, mood: Mood) -> io::Result<()> {
        let was = self.inner.mood.send_replace(mood);
        match (was, mood) {
            (Mood::Down, Mood::Down) => Ok(()),
            (Mood::Down, _) => server::listen(&self.inner).await,
            (_, Mood::Down) => {
                // The listener goes when it sees this; then there is nobody to receive any more.
                self.inner.mood.closed().await;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends every order that is open, and calls back about each, once heard or given up.
    pub async fn end(&self, paid: bool) {
        let ended = self.inner.books().end_all(paid);
        for said in ended {
            self.inner.tell(said).await;
        }
    }

    /// How many orders it has taken on.
    #[must_use]
    pub fn taken_on(&self) -> usize {
        self.inner.books().len()
    }

    /// What it has collected, less what it has given back, in the smallest unit of the currency.
    #[must_use]
    pub fn collected(&self) -> i64 {
        self.inner.books().moved(Sign::In)
    }

    /// What it has paid out, in the smallest unit of the currency.
    #[must_use]
    pub fn paid_out(&self) -> i64 {
        self.inner.books().moved(Sign::Out)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.inner.mood.send_replace(Mood::Down);
    }
}

impl Inner {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mood(&self) -> Mood {
        *self.mood.borrow()
    }

    fn callback_url(&self) -> Option<String> {
        self.callback.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A socket of this address, which it may share with one that listens there.
fn socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}
