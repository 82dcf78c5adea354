//! Bringing the log into the database, behind the commits.
//!
//! SQLite would do it within the commit that fills the log's first thousand pages, and that commit
//! would wait for two flushes of the disk and a thousand scattered writes: it is where the slowest
//! commits come from. Here a connection of its own does it every few thousand rows, while commits
//! go on. What it cannot do under constant writing is begin the log anew, since there is always a
//! frame more; so at 64 MiB the next commit does the rest, which by then is little, and the one
//! after it begins the log anew.

use sqlx::{ConnectOptions as _, Connection as _, sqlite::SqliteConnectOptions};
use tokio::{sync::mpsc, task::JoinHandle};

/// After how many written rows. A row is up to some ten pages: itself and its indexes.
const ROWS: usize = 1_000;

/// Counts rows and wakes the thread that brings them home.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    rows: usize,
    wake: mpsc::Sender<()>,
    task: JoinHandle<()>,
}

impl Checkpoints {
    pub(crate) fn start(options: SqliteConnectOptions) -> Self {
        let (wake, woken) = mpsc::channel(1);
        Self { rows: 0, wake, task: tokio::spawn(run(options, woken)) }
    }

    /// So many rows were committed.
    pub(crate) fn count(&mut self, rows: usize) {
        self.rows = self.rows.saturating_add(rows);
        // A full channel: it is awake already.
        if self.rows >= ROWS && self.wake.try_send(()).is_ok() {
            self.rows = 0;
        }
    }

    pub(crate) async fn stop(self) {
        let Self { rows: _, wake, task } = self;
        drop(wake);
        // A task that was cancelled with its runtime has nothing left to do.
        let _ = task.await;
    }
}

async fn run(options: SqliteConnectOptions, mut woken: mpsc::Receiver<()>) {
    let mut connection = None;
    while woken.recv().await.is_some() {
        if connection.is_none() {
            connection = options.connect().await.ok();
        }
        if let Some(open) = &mut connection {
            // What fails now is tried again after the next rows, and at 64 MiB by a commit.
            let done = sqlx::raw_sql("pragma wal_checkpoint(passive)").execute(open).await;
            if let Err(error) = done {
                tracing::debug!(%error, "a checkpoint failed");
                connection = None;
            }
        }
    }
    if let Some(open) = connection {
        let _ = open.close().await;
    }
}
