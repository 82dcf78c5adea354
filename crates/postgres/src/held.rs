//! Whose rows somebody holds for longer than a commit takes.

use std::collections::BTreeSet;

use cauri::{AccountId, Changeset, Environment, Id as _, Scope, StoreError};
use cauri_sql::{Cell, Kind, Table};
use sqlx::{PgConnection, Row as _};

use crate::{
    bind::{Arguments, Columns},
    error::{Failure, broken},
    sessions::Session,
    text::{Schema, kept},
};

/// The scopes of a batch whose counters somebody has locked, unless nobody else would be spared by
/// leaving them out. Nearly every commit of a scope moves its counters, a host's too.
pub(crate) async fn held(
    session: &mut Session<'_>,
    schema: &Schema,
    batch: &[Changeset],
) -> Result<Vec<Scope>, StoreError> {
    let all: BTreeSet<Scope> = batch.iter().filter_map(Changeset::scope).collect();
    if all.len() < 2 {
        return Ok(Vec::new());
    }
    let mut columns = Columns::new([Kind::Id, Kind::Flag], all.len());
    for scope in &all {
        let live = scope.environment.is_live();
        columns.push([Cell::Id(scope.account.uuid()), Cell::Flag(live)])?;
    }
    let mut arguments = Arguments::default();
    arguments.columns(columns)?;
    let query = sqlx::query_with(kept(text(schema)), arguments.into_inner());
    // What is locked on the way is let go at its end.
    let ask = async |connection: &mut PgConnection| {
        query.fetch_all(connection).await.map_err(Failure::Before)
    };
    let rows = match session.write(ask).await {
        Ok(rows) => rows,
        // It is the table that is locked, for a migration say: that concerns everybody.
        Err(failure) if failure.is_locked() => return Ok(Vec::new()),
        Err(failure) => return Err(failure.into()),
    };
    let held = rows.iter().map(|row| {
        let account = AccountId::from_uuid(row.try_get(0).map_err(broken)?);
        let live: bool = row.try_get(1).map_err(broken)?;
        let environment = if live { Environment::Live } else { Environment::Sandbox };
        Ok(Scope { account, environment })
    });
    let held = held.collect::<Result<Vec<_>, StoreError>>()?;
    Ok(if held.len() < all.len() { held } else { Vec::new() })
}

/// `$1` and `$2` the scopes.
fn text(schema: &Schema) -> String {
    let name = schema.table(Table::counters());
    format!(
        "with asked as materialized (\
         select t.account, t.live from unnest($1::uuid[], $2::boolean[]) as v(c0, c1) \
         join {name} as t on t.account = v.c0 and t.live = v.c1), \
         free as materialized (\
         select t.account, t.live from unnest($1::uuid[], $2::boolean[]) as v(c0, c1) \
         join {name} as t on t.account = v.c0 and t.live = v.c1 \
         for update of t skip locked) \
         select a.account, a.live from asked as a where not exists (\
         select from free as f where f.account = a.account and f.live = a.live)"
    )
}
