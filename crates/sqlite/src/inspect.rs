//! Looking at a database without changing it.

use sqlx::{
    ConnectOptions as _, Connection as _, Row as _, SqliteConnection, sqlite::SqliteConnectOptions,
};

use crate::error::OpenError;

/// What was found of a database that can be read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// The version of its schema; 0 when there is none.
    pub version: i64,
    /// The newest version that this program knows, to which opening it would bring it.
    pub known: i64,
}

/// Takes the lock of those who write, writes, and takes it back.
pub(crate) async fn inspect(
    options: &SqliteConnectOptions,
    known: i64,
) -> Result<Inspection, OpenError> {
    let mut connection = options.clone().create_if_missing(false).connect().await?;
    let found = look(&mut connection, known).await;
    // It has done what it was for.
    let _ = connection.close().await;
    found
}

async fn look(connection: &mut SqliteConnection, known: i64) -> Result<Inspection, OpenError> {
    let mut transaction = connection.begin_with("begin immediate").await?;
    sqlx::raw_sql("create table cauri_inspection (id integer)").execute(&mut *transaction).await?;
    let there = "select exists (select 1 from sqlite_schema where name = 'cauri_schema')";
    let is_there = sqlx::query(there).fetch_one(&mut *transaction).await?.try_get(0)?;
    let version = if is_there {
        sqlx::query("select coalesce(max(version), 0) from cauri_schema")
            .fetch_one(&mut *transaction)
            .await?
            .try_get(0)?
    } else {
        0
    };
    transaction.rollback().await?;
    Ok(Inspection { version, known })
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
}
