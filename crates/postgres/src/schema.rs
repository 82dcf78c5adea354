//! The tables, and how they come to be.

use std::collections::HashMap;

use cauri::StoreError;
use cauri_sql::{Migrated, Table};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use crate::{
    bind::{RowType, Rows},
    error::{OpenError, broken},
    text::Schema,
};

/// The schema, one script for each version.
const MIGRATIONS: [&str; 1] = [include_str!("../migrations/0001_first.sql")];

/// The table that says which version is there.
const VERSIONS: &str = "cauri_schema";

pub(crate) fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Makes sure that the schema is this program's, without changing it.
pub(crate) async fn check(
    connection: &mut PgConnection,
    schema: &Schema,
) -> Result<Migrated, OpenError> {
    let (found, known) = (version(connection, schema).await?, known());
    match found.cmp(&known) {
        std::cmp::Ordering::Less => Err(OpenError::OlderSchema { found, known }),
        std::cmp::Ordering::Equal => Ok(Migrated::new(found, found)),
        std::cmp::Ordering::Greater => Err(OpenError::NewerSchema { found, known }),
    }
}

/// Brings the schema to the present version, in one transaction that only one node can be in.
pub(crate) async fn migrate(
    connection: &mut PgConnection,
    schema: &Schema,
) -> Result<Migrated, OpenError> {
    // Most starts change nothing, and need neither the lock nor the right to change anything.
    match check(connection, schema).await {
        Err(OpenError::OlderSchema { .. }) => {}
        done => return done,
    }
    let mut transaction = connection.begin().await?;
    sqlx::query("select pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind(format!("cauri schema {}", schema.name()))
        .execute(&mut *transaction)
        .await?;
    let from = version(&mut transaction, schema).await?;
    let to = known();
    if from > to {
        return Err(OpenError::NewerSchema { found: from, known: to });
    }
    if !exists(&mut transaction, schema).await? {
        run(&mut transaction, format!("create schema {}", schema.quoted())).await?;
    }
    let versions = schema.of(VERSIONS);
    if from == 0 {
        run(&mut transaction, format!("create table {versions} (version bigint primary key)"))
            .await?;
    }
    run(&mut transaction, format!("set local search_path = {}", schema.quoted())).await?;
    for (version, script) in (1_i64..).zip(MIGRATIONS) {
        if version > from {
            sqlx::raw_sql(script).execute(&mut *transaction).await?;
            run(&mut transaction, format!("insert into {versions} values ({version})")).await?;
        }
    }
    transaction.commit().await?;
    tracing::info!(from, to, "the schema was migrated");
    Ok(Migrated::new(from, to))
}

/// Which version is there; 0 for none.
pub(crate) async fn version(
    connection: &mut PgConnection,
    schema: &Schema,
) -> Result<i64, OpenError> {
    // Read as rows, of this moment: `to_regclass` may answer from what the session remembers of a
    // moment ago, and another node may have migrated since.
    let there = sqlx::query(
        "select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace \
         where n.nspname = $1 and c.relname = $2)",
    );
    let there = there.persistent(false).bind(schema.name()).bind(VERSIONS);
    if !there.fetch_one(&mut *connection).await?.try_get::<bool, _>(0)? {
        return Ok(0);
    }
    let versions = schema.of(VERSIONS);
    let text = format!("select coalesce(max(version), 0) from {versions}");
    let last = sqlx::query(AssertSqlSafe(text)).persistent(false);
    Ok(last.fetch_one(connection).await?.try_get(0)?)
}

async fn exists(connection: &mut PgConnection, schema: &Schema) -> Result<bool, OpenError> {
    let there = sqlx::query("select exists (select from pg_namespace where nspname = $1)");
    let row = there.persistent(false).bind(schema.name()).fetch_one(connection).await?;
    Ok(row.try_get(0)?)
}

async fn run(connection: &mut PgConnection, text: String) -> Result<(), OpenError> {
    sqlx::raw_sql(AssertSqlSafe(text)).execute(connection).await?;
    Ok(())
}

/// What the server calls the rows of each table.
#[derive(Debug)]
pub(crate) struct Types(HashMap<&'static str, RowType>);

impl Types {
    /// Asks for them. They are as they are for as long as the tables are there.
    pub(crate) async fn read(
        connection: &mut PgConnection,
        schema: &Schema,
    ) -> Result<Self, OpenError> {
        let rows = sqlx::query(
            "select c.relname::text, t.oid, t.typarray from pg_class c \
             join pg_type t on t.oid = c.reltype join pg_namespace n on n.oid = c.relnamespace \
             where n.nspname = $1 and c.relkind in ('r', 'p')",
        );
        let rows = rows.persistent(false).bind(schema.name()).fetch_all(connection).await?;
        let mut types = HashMap::new();
        for row in &rows {
            let name: &str = row.try_get(0)?;
            if let Some(table) = Table::all().find(|table| table.name() == name) {
                let of = RowType { row: row.try_get(1)?, array: row.try_get(2)? };
                types.insert(table.name(), of);
            }
        }
        Ok(Self(types))
    }

    /// An array for so many rows of a table.
    pub(crate) fn rows(&self, table: &Table, count: usize) -> Result<Rows, StoreError> {
        let of = self.0.get(table.name()).ok_or_else(|| broken("a table that is not there"))?;
        Ok(Rows::new(*of, table.columns(), count))
    }
}
