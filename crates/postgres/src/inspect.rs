//! Looking at a database without changing it.

use cauri::Timestamp;
use sqlx::{
    ConnectOptions as _, Connection as _, PgConnection, Row as _, postgres::PgConnectOptions,
};

use crate::{error::OpenError, schema, text::Schema};

/// What was found of a database that lets us in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// The version of its schema; 0 when there is none.
    pub version: i64,
    /// The newest version that this program knows, to which opening it would bring it.
    pub known: i64,
    /// May this user write to it, or, where there is no schema yet, make one? A standby is not
    /// written to.
    pub writable: bool,
    /// May this user change the schema, as bringing it to `known` takes? Of the tables that are
    /// there only their owner may.
    pub migratable: bool,
    /// What time it is at the server.
    pub now: Timestamp,
}

pub(crate) async fn inspect(
    options: &PgConnectOptions,
    schema: &Schema,
) -> Result<Inspection, OpenError> {
    let mut connection = options.clone().disable_statement_logging().connect().await?;
    let found = look(&mut connection, schema).await;
    // It has done what it was for.
    let _ = connection.close().await;
    found
}

async fn look(connection: &mut PgConnection, schema: &Schema) -> Result<Inspection, OpenError> {
    let version = schema::version(connection, schema).await?;
    let general = "select (extract(epoch from clock_timestamp()) * 1000)::bigint,
        not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off',
        coalesce(
            (select has_schema_privilege(oid, 'create') from pg_namespace where nspname = $1),
            has_database_privilege(current_database(), 'create')),
        not exists (
            select from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = $1 and c.relkind in ('r', 'p')
                and not pg_has_role(c.relowner, 'usage'))";
    let general = sqlx::query(general).persistent(false).bind(schema.name());
    let row = general.fetch_one(&mut *connection).await?;
    let now = Timestamp::from_millis(row.try_get(0)?);
    let (open, may_create, owns_all): (bool, bool, bool) =
        (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
    let may_write = if version == 0 {
        may_create
    } else {
        // Nothing is ever removed but what was answered under an idempotency key, and the note that a
        // delivery was not received.
        let rights = "select has_table_privilege($1, 'insert')
            and has_table_privilege($1, 'update') and has_table_privilege($2, 'delete')
            and has_table_privilege($3, 'delete')";
        let rights = sqlx::query(rights)
            .persistent(false)
            .bind(schema.of("payments"))
            .bind(schema.of("idempotency"))
            .bind(schema.of("undelivered"));
        rights.fetch_one(connection).await?.try_get(0)?
    };
    Ok(Inspection {
        version,
        known: schema::known(),
        writable: open && may_write,
        migratable: open && may_create && owns_all,
        now,
    })
}
