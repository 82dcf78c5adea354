//! Looking at a database without changing it.

use cauri_sql::Table;
use sqlx::{
    ConnectOptions as _, Connection as _, Error as DriverError, Row as _, SqliteConnection,
    sqlite::SqliteConnectOptions,
};

use crate::error::{OpenError, is_of_the_disk};

/// How much is written to see whether there is room: what a large batch takes.
const PROBE_BYTES: i64 = 1_048_576;

/// What was found of a database that can be read and locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// The version of its schema; 0 when there is none.
    pub version: i64,
    /// The newest version that this program knows, to which opening it would bring it.
    pub known: i64,
    /// Did a mebibyte reach its disk? It is taken back. Into a database that has only tables of
    /// others, a few bytes are written, and not as far.
    pub writable: bool,
    /// Are there tables of another program, and none of cauri's? Opening it makes them beside those.
    pub occupied: bool,
    /// Has one of those the name of one of cauri's, so that none can be made?
    pub clashing: bool,
}

/// Takes the lock of those who write, writes, and takes it back.
pub(crate) async fn inspect(
    options: &SqliteConnectOptions,
    known: i64,
) -> Result<Inspection, OpenError> {
    let options = options
        .clone()
        .create_if_missing(false)
        // What is written does not wait in memory until it is taken back.
        .pragma("cache_size", "1")
        .pragma("cache_spill", "1");
    let mut connection = options.connect().await?;
    let found = look(&mut connection, known).await;
    // It has done what it was for.
    let _ = connection.close().await;
    found
}

async fn look(connection: &mut SqliteConnection, known: i64) -> Result<Inspection, OpenError> {
    let mut transaction = connection.begin_with("begin immediate").await?;
    let tables = "select name from sqlite_schema where type = 'table' and name not like 'sqlite%'";
    let tables = sqlx::query_scalar::<_, String>(tables).fetch_all(&mut *transaction).await?;
    let is_there = tables.iter().any(|name| name == "cauri_schema");
    let version = if is_there {
        sqlx::query("select coalesce(max(version), 0) from cauri_schema")
            .fetch_one(&mut *transaction)
            .await?
            .try_get(0)?
    } else {
        0
    };
    let occupied = !is_there && !tables.is_empty();
    let is_ours = |name: &String| Table::all().any(|it| it.name().eq_ignore_ascii_case(name));
    let clashing = occupied && tables.iter().any(is_ours);
    let writable = match write(&mut transaction, if occupied { 1 } else { PROBE_BYTES }).await {
        Ok(()) => true,
        Err(error) if is_of_the_disk(&error) => false,
        Err(error) => return Err(error.into()),
    };
    // A disk that is full has taken it back already.
    let _ = transaction.rollback().await;
    Ok(Inspection { version, known, writable, occupied, clashing })
}

async fn write(connection: &mut SqliteConnection, bytes: i64) -> Result<(), DriverError> {
    sqlx::raw_sql("create table cauri_inspection (probe blob)").execute(&mut *connection).await?;
    let probe = sqlx::query("insert into cauri_inspection values (randomblob(?))").bind(bytes);
    probe.execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::SqliteOptions;

    use super::*;

    #[tokio::test]
    async fn a_database_is_looked_at_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let options = || SqliteOptions::file(&path);
        assert!(options().inspect().await.is_err(), "there is none");
        assert!(!path.exists(), "and none is made");
        std::fs::write(&path, "").unwrap();
        let found = options().inspect().await.unwrap();
        assert_eq!(found.version, 0, "an empty file has no schema");
        assert!(found.writable && !found.occupied && !found.clashing);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0, "and stays empty");
        options().open().await.unwrap().close().await;
        let before = std::fs::read(&path).unwrap();
        let found = options().inspect().await.unwrap();
        assert_eq!(found.version, found.known);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        std::fs::write(&path, [0x55; 8_192]).unwrap();
        assert!(options().inspect().await.is_err(), "no database at all");
    }

    #[tokio::test]
    async fn who_writes_is_waited_for_and_then_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        SqliteOptions::file(&path).open().await.unwrap().close().await;
        let mut other = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
        let writing = other.begin_with("begin immediate").await.unwrap();
        let hasty = SqliteOptions::file(&path).patience(std::time::Duration::from_millis(1));
        assert!(matches!(hasty.inspect().await, Err(OpenError::Unavailable(_))));
        writing.rollback().await.unwrap();
        assert!(hasty.inspect().await.is_ok());
    }

    #[tokio::test]
    async fn what_is_written_reaches_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        // The log stays for as long as somebody has the database open.
        let store = SqliteOptions::file(&path).open().await.unwrap();
        let log = || std::fs::metadata(folder.path().join("x.db-wal")).unwrap().len();
        let before = log();
        assert!(SqliteOptions::file(&path).inspect().await.unwrap().writable);
        let written = log().saturating_sub(before);
        assert!(written * 10 > PROBE_BYTES.unsigned_abs() * 9, "{written} bytes");
        store.close().await;
    }

    #[tokio::test]
    async fn a_disk_without_room_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        SqliteOptions::file(&path).open().await.unwrap().close().await;
        let mut full = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
        // Some pages more than there are: what a full disk says, SQLite says then.
        let pages: i64 =
            sqlx::query_scalar("pragma page_count").fetch_one(&mut full).await.unwrap();
        let most = format!("pragma max_page_count = {}", pages + 10);
        sqlx::raw_sql(sqlx::AssertSqlSafe(most)).execute(&mut full).await.unwrap();
        let found = look(&mut full, 1).await.unwrap();
        assert_eq!((found.version, found.writable), (1, false));
    }

    #[tokio::test]
    async fn a_file_of_another_program_is_told_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (tables, clashing) in
            [("create table theirs (id)", false), ("create table Settings (name)", true)]
        {
            let path = folder.path().join(format!("{clashing}.db"));
            let new = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
            let mut theirs = new.connect().await.unwrap();
            sqlx::raw_sql(tables).execute(&mut theirs).await.unwrap();
            theirs.close().await.unwrap();
            let before = std::fs::read(&path).unwrap();
            let found = SqliteOptions::file(&path).inspect().await.unwrap();
            assert_eq!((found.version, found.occupied, found.clashing), (0, true, clashing));
            assert_eq!(std::fs::read(&path).unwrap(), before);
            assert_eq!(SqliteOptions::file(&path).open().await.is_err(), clashing);
        }
    }
}
