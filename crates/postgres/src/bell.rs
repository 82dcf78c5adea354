//! The bell between processes on one schema: `LISTEN` and `NOTIFY`.

use std::{
    fmt,
    io::ErrorKind,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use cauri::Bell;
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use tokio::{sync::Notify, task::AbortHandle, time::timeout};

/// The channel; what is said on it is the name of a schema.
const CHANNEL: &str = "cauri";

/// What rings it, also within a transaction of the host's: it is heard when that is committed.
pub(crate) const RING: &str = "select pg_notify('cauri', $1)";

/// How long to wait for a server that cannot be reached.
const AGAIN: Duration = Duration::from_secs(1);

/// Wakes the workers of other processes on the same schema; from
/// [`PostgresStore::bell`](crate::PostgresStore::bell).
///
/// It listens on a connection of its own once somebody waits for it, and rings on another. The
/// server takes one lock for all transactions that notify, so nothing rings in a commit of the
/// store: only who leaves work to others rings, and never twice at once.
pub struct PostgresBell {
    pool: PgPool,
    schema: String,
    heard: Arc<Notify>,
    listening: Mutex<Option<AbortHandle>>,
    ringing: tokio::sync::Mutex<()>,
    wanted: AtomicBool,
    patience: Duration,
}

impl PostgresBell {
    pub(crate) fn new(options: PgConnectOptions, schema: &str, patience: Duration) -> Self {
        Self {
            pool: one(options, patience),
            schema: schema.to_owned(),
            heard: Arc::default(),
            listening: Mutex::default(),
            ringing: tokio::sync::Mutex::default(),
            wanted: AtomicBool::new(false),
            patience,
        }
    }

    fn listen(&self) {
        let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if listening.as_ref().is_none_or(AbortHandle::is_finished) {
            let (options, heard) = (self.pool.connect_options(), Arc::clone(&self.heard));
            let task = listen(options, self.schema.clone(), heard, self.patience);
            *listening = Some(tokio::spawn(task).abort_handle());
        }
    }
}

/// At most one connection, opened when it is needed.
fn one(options: PgConnectOptions, patience: Duration) -> PgPool {
    let pool = PgPoolOptions::new().max_connections(1).min_connections(0);
    pool.acquire_timeout(patience).connect_lazy_with(options)
}

async fn listen(
    options: Arc<PgConnectOptions>,
    schema: String,
    heard: Arc<Notify>,
    patience: Duration,
) {
    loop {
        // A pool of its own each time: a connection that died without a word cannot be told
        // goodbye, and keeps its place for as long as the system tries.
        let pool = one((*options).clone(), patience);
        if let Err(error) = hear(&pool, &schema, &heard, patience).await {
            tracing::warn!(%error, "nobody listens for the work of other processes; it is polled for");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn hear(
    pool: &PgPool,
    schema: &str,
    heard: &Notify,
    patience: Duration,
) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    loop {
        // Whatever was said before somebody listened.
        heard.notify_one();
        loop {
            let Ok(said) = timeout(patience, listener.try_recv()).await else {
                // Nobody rings, or the way here is broken and nobody could say so.
                let ask = sqlx::raw_sql("select 1").execute(&mut listener);
                let silent = |_| sqlx::Error::Io(ErrorKind::TimedOut.into());
                timeout(patience, ask).await.map_err(silent)??;
                continue;
            };
            match said? {
                Some(said) if said.payload() == schema => heard.notify_one(),
                Some(_) => {}
                // A connection that was lost and is there again.
                None => break,
            }
        }
    }
}

#[async_trait]
impl Bell for PostgresBell {
    async fn ring(&self) {
        self.wanted.store(true, Ordering::SeqCst);
        // Who finds somebody ringing leaves it to them: they look again before they go.
        while self.wanted.load(Ordering::SeqCst) {
            let Ok(_ringing) = self.ringing.try_lock() else { return };
            while self.wanted.swap(false, Ordering::SeqCst) {
                let ring = sqlx::query(RING).bind(&self.schema).execute(&self.pool);
                match timeout(self.patience, ring).await {
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) => tracing::debug!(%error, "others were not woken"),
                    Err(_) => tracing::debug!("others were not woken in time"),
                }
            }
        }
    }

    async fn rung(&self) {
        self.listen();
        self.heard.notified().await;
    }
}

impl Drop for PostgresBell {
    fn drop(&mut self) {
        let listening = self.listening.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(listening) = listening.take() {
            listening.abort();
        }
    }
}

impl fmt::Debug for PostgresBell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresBell").field("schema", &self.schema).finish_non_exhaustive()
    }
}
