//! Connections of the store's own, set up for what it does on them.
//!
//! They are not the embedder's, though opened with the same settings: a session of the store has
//! planner settings that nobody else would want, keeps its prepared statements, and is handed on
//! without the round trips by which a general pool makes sure that it still lives. One that has
//! been idle for a while, or was left in the middle of something, is asked before it is used again.

use std::{
    fmt,
    io::ErrorKind,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cauri::StoreError;
use sqlx::{
    ConnectOptions as _, Connection as _, Error as DriverError, PgConnection, SqlStr,
    postgres::PgConnectOptions,
};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};

use crate::{
    error::{Busy, Closed, Failure, connecting},
    text::kept,
};

/// How long a connection may have been idle to be trusted.
const FRESH: Duration = Duration::from_secs(1);

const ROLLBACK: &str = "rollback";

/// What sessions are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Commits and claims.
    Writing,
    /// Everything else.
    Reading,
}

impl Purpose {
    /// What every session is told first.
    ///
    /// Every statement here finds its rows by an index, one after the other, and how many it finds
    /// is known from its arguments only: a plan made for what the statistics say may scan a table,
    /// or read a whole index to join it. Lists are the exception: what a filter finds differs, so
    /// readers may plan for the arguments.
    fn setup(self, patience: Duration) -> SqlStr {
        let patience = patience.as_millis().clamp(1, 86_400_000);
        // Whoever waits for one lock holds others, for which others wait. So this is several times
        // what a commit takes and no more; who is left has to be patient alone.
        let locks = patience.div_ceil(20).min(500);
        let common = format!(
            "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; \
             set jit = off; set lock_timeout = {locks}; \
             set statement_timeout = {patience}; \
             set idle_in_transaction_session_timeout = {patience}; "
        );
        let own = match self {
            // What was accepted is on the disk, whatever the server's default, and whatever that
            // becomes while the session lasts. It may ask for more.
            Self::Writing => {
                "set plan_cache_mode = force_generic_plan; \
                 set default_transaction_isolation = 'read committed'; \
                 select set_config('synchronous_commit', \
                 case current_setting('synchronous_commit') when 'off' then 'on' \
                 else current_setting('synchronous_commit') end, false)"
            }
            Self::Reading => "set default_transaction_read_only = on",
        };
        kept(common + own)
    }
}

/// The connections of a [`PostgresStore`](crate::PostgresStore), at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostgresSessions {
    /// Those that commit and claim.
    pub writers: SessionCount,
    /// Those that only read.
    pub readers: SessionCount,
}

/// How many connections there are for one purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCount {
    /// Those that something is being done on.
    pub in_use: usize,
    /// Those that are open and wait for something to do.
    pub idle: usize,
    /// How many there may be of both.
    pub max: usize,
}

/// Up to so many connections.
pub(crate) struct Sessions {
    options: PgConnectOptions,
    setup: SqlStr,
    patience: Duration,
    permits: Semaphore,
    most: usize,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: PgConnection,
    since: Instant,
    /// Was it left in the middle of something?
    suspect: bool,
}

impl Sessions {
    pub(crate) fn new(
        options: &PgConnectOptions,
        purpose: Purpose,
        count: u16,
        patience: Duration,
    ) -> Self {
        // Every statement there is, many times over; what is not asked again makes room.
        let options = options.clone().statement_cache_capacity(256).disable_statement_logging();
        Self {
            options,
            setup: purpose.setup(patience),
            patience,
            permits: Semaphore::new(usize::from(count)),
            most: usize::from(count),
            idle: Mutex::default(),
        }
    }

    /// A connection, as soon as there is one.
    pub(crate) async fn get(&self) -> Result<Session<'_>, StoreError> {
        let waited = async {
            let permit = self.permits.acquire().await.map_err(|_| unavailable(Closed))?;
            let connection = match self.alive().await {
                Some(connection) => connection,
                None => self.connect().await.map_err(connecting)?,
            };
            let own = Own {
                sessions: self,
                connection: Some(connection),
                suspect: false,
                _permit: permit,
            };
            Ok(Session::Own(own))
        };
        timeout(self.patience, waited).await.unwrap_or_else(|_| Err(unavailable(Busy)))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> SessionCount {
        let idle = self.lock().len();
        let in_use = self.most.saturating_sub(self.permits.available_permits());
        SessionCount { in_use, idle, max: self.most }
    }

    /// How long an answer may take until the server counts as silent: what it was told to take at
    /// most, and a little for the way.
    const fn silence(&self) -> Duration {
        self.patience.saturating_add(Duration::from_secs(2))
    }

    /// Lets nobody in any more, and closes what is idle.
    pub(crate) async fn close(&self) {
        self.permits.close();
        let idle = std::mem::take(&mut *self.lock());
        for Idle { connection, .. } in idle {
            // What cannot be told goodbye is gone already.
            let _ = connection.close().await;
        }
    }

    async fn connect(&self) -> Result<PgConnection, DriverError> {
        let mut connection = self.options.connect().await?;
        sqlx::raw_sql(self.setup.clone()).execute(&mut connection).await?;
        Ok(connection)
    }

    async fn alive(&self) -> Option<PgConnection> {
        loop {
            let Idle { mut connection, since, suspect } = self.lock().pop()?;
            if !suspect && since.elapsed() < FRESH {
                return Some(connection);
            }
            let is_well = if suspect {
                // Whoever went away may have begun a transaction that the driver knows nothing of.
                sqlx::raw_sql(ROLLBACK).execute(&mut connection).await.map(|_| ())
            } else {
                connection.ping().await
            };
            if is_well.is_ok() {
                return Some(connection);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unavailable(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

/// A connection in use.
pub(crate) enum Session<'a> {
    /// The store's own; given back when dropped.
    Own(Own<'a>),
    /// One on which the host has begun a transaction.
    Host(&'a mut PgConnection),
}

impl Session<'_> {
    /// How long the store waits for a lock; of a host's transaction, the host knows.
    pub(crate) const fn patience(&self) -> Option<Duration> {
        match self {
            Self::Own(own) => Some(own.sessions.patience),
            Self::Host(_) => None,
        }
    }

    /// Does something on the connection that commits nothing.
    pub(crate) async fn read<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match self {
            Self::Own(own) => own.run(work, Failure::Before).await,
            Self::Host(connection) => within(connection, work).await,
        }
    }

    /// Does something on the connection that may have been committed when no answer comes.
    pub(crate) async fn write<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match self {
            Self::Own(own) => own.run(work, Failure::Commit).await,
            Self::Host(connection) => within(connection, work).await,
        }
    }
}

/// Does something within the host's transaction, behind a savepoint: what fails must not take the
/// host's own work with it. Whatever is lost, nothing was committed.
async fn within<T>(
    connection: &mut PgConnection,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut savepoint = connection.begin().await?;
    let done = work(&mut savepoint).await;
    match done {
        Ok(value) => savepoint.commit().await.map(|()| value).map_err(Failure::Before),
        Err(failure) => {
            savepoint.rollback().await?;
            Err(failure.of_host())
        }
    }
}

/// A connection of the store's.
pub(crate) struct Own<'a> {
    sessions: &'a Sessions,
    connection: Option<PgConnection>,
    suspect: bool,
    _permit: SemaphorePermit<'a>,
}

impl Own<'_> {
    /// A failure that leaves the connection of no more use closes it, and so does an answer that
    /// does not come.
    async fn run<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, Failure>,
        failed: fn(DriverError) -> Failure,
    ) -> Result<T, Failure> {
        let gone = || Failure::Before(DriverError::Io(ErrorKind::NotConnected.into()));
        let connection = self.connection.as_mut().ok_or_else(gone)?;
        self.suspect = true;
        let done = timeout(self.sessions.silence(), work(connection)).await;
        let done =
            done.unwrap_or_else(|_| Err(failed(DriverError::Io(ErrorKind::TimedOut.into()))));
        match &done {
            Err(failure) if failure.ends_connection() => self.connection = None,
            Ok(_) | Err(_) => self.suspect = false,
        }
        done
    }
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if self.sessions.permits.is_closed() {
            return;
        }
        let idle = Idle { connection, since: Instant::now(), suspect: self.suspect };
        self.sessions.lock().push(idle);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{Future as _, poll_fn},
        pin::pin,
        sync::atomic::{AtomicBool, Ordering},
        task::Poll,
    };

    use sqlx::Row as _;

    use super::*;

    async fn sessions() -> Sessions {
        let url = std::env::var("CAURI_TEST_POSTGRES");
        let url = url.expect("CAURI_TEST_POSTGRES names no server: run `cargo xtask test`");
        Sessions::new(&url.parse().unwrap(), Purpose::Writing, 1, Duration::from_secs(10))
    }

    async fn ask(sessions: &Sessions, text: &'static str) -> String {
        let ask = async |connection: &mut PgConnection| {
            Ok(sqlx::query(text).fetch_one(connection).await?.get(0))
        };
        sessions.get().await.unwrap().write(ask).await.unwrap()
    }

    #[tokio::test]
    async fn a_transaction_that_the_driver_knows_nothing_of_is_not_gone_on_with() {
        let sessions = sessions().await;
        let is_lost = async || {
            let mut session = sessions.get().await.unwrap();
            let is_begun = AtomicBool::new(false);
            let begin = async |connection: &mut PgConnection| {
                let transaction = connection.begin().await?;
                is_begun.store(true, Ordering::Relaxed);
                transaction.commit().await.map_err(Failure::Commit)
            };
            let mut begin = pin!(session.write(begin));
            // Polled once: the server has been asked, and nobody hears its answer, if that was not
            // faster.
            let polled = poll_fn(|context| Poll::Ready(begin.as_mut().poll(context))).await;
            polled.is_pending() && !is_begun.load(Ordering::Relaxed)
        };
        let mut tries = 0..10_000;
        while !is_lost().await {
            assert!(tries.next().is_some(), "the server always answers before it is asked");
        }
        let transaction = "select txid_current()::text";
        let (one, other) = (ask(&sessions, transaction).await, ask(&sessions, transaction).await);
        assert_ne!(one, other, "both are in one transaction, which nobody will commit");
    }

    #[tokio::test]
    async fn what_writers_accept_stays_durable_while_they_are_connected() {
        let sessions = sessions().await;
        let source = "select source || ' ' || setting from pg_settings \
                      where name = 'synchronous_commit'";
        assert_eq!(ask(&sessions, source).await, "session on", "a default could be changed");
    }

    #[tokio::test]
    async fn what_ends_a_hosts_transaction_is_not_judged_again_within_it() {
        let sessions = sessions().await;
        let mut session = sessions.get().await.unwrap();
        let Session::Own(own) = &mut session else { panic!("its own") };
        let mut transaction = own.connection.as_mut().unwrap().begin().await.unwrap();
        for (code, is_conflict) in [("40001", false), ("40P01", false), ("23505", true)] {
            let raise = format!("do $$ begin raise using errcode = '{code}'; end $$");
            let raise = async |connection: &mut PgConnection| {
                sqlx::raw_sql(kept(raise)).execute(connection).await?;
                Ok(())
            };
            let failure = Session::Host(&mut transaction).write(raise).await.unwrap_err();
            assert_eq!(failure.is_conflict(), is_conflict, "{code}");
            assert!(matches!(failure.into(), StoreError::Unavailable(_)), "{code}");
        }
    }
}
