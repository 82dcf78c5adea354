//! The schema: what it is, and how it comes to be.

#![expect(clippy::unwrap_used, reason = "what goes wrong fails the test")]

#[expect(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod scratch;

use cauri::{
    Account, Changeset, Claim, ClaimKind, Id as _, Key, Payment, Store as _, StoreError, Timestamp,
};
use cauri_conformance::fixtures::{self, Random};
use cauri_postgres::{OpenError, PostgresStore};
use cauri_sql::{Dialect, Index, Kind, Table, indexes};
use futures_util::future::join_all;
use scratch::{Home, url};
use sqlx::{AssertSqlSafe, PgPool, Row as _};

fn tables() -> impl Iterator<Item = &'static Table> {
    Table::all().chain([Table::undelivered()])
}

#[tokio::test]
async fn the_tables_are_those_of_cauri_sql() {
    let home = Home::new();
    home.open().await.close().await;
    let mut connection = home.connection().await;
    for table in tables() {
        let rows = sqlx::query(
            "select a.attname::text, t.typname::text, not a.attnotnull, coalesce(c.collname, '')::text \
             from pg_attribute a join pg_type t on t.oid = a.atttypid \
             left join pg_collation c on c.oid = a.attcollation \
             where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped \
             order by a.attnum",
        );
        let rows = rows.bind(table.name()).fetch_all(&mut connection).await.unwrap();
        let found: Vec<(String, String, bool, String)> =
            rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect();
        let expected: Vec<(String, String, bool, String)> = table
            .columns()
            .iter()
            .map(|column| {
                let (kind, collation) = match column.kind {
                    Kind::Flag => ("bool", ""),
                    Kind::Int => ("int8", ""),
                    Kind::Text => ("text", "C"),
                    Kind::Bytes => ("bytea", ""),
                    Kind::Id => ("uuid", ""),
                };
                (column.name.to_owned(), kind.to_owned(), column.null, collation.to_owned())
            })
            .collect();
        assert_eq!(found, expected, "{}", table.name());
        let mut key: Vec<&str> = table.key().iter().map(|column| column.name).collect();
        let by_id = key.iter().position(|name| ["id", "payment"].contains(name));
        if let Some(at) = by_id.filter(|_| table != Table::undelivered()) {
            // The id first, so that no other index can be mistaken for this one; a line of a
            // timeline has its payment's. What was not received is also listed by this index, and
            // no other of its table can be mistaken for it.
            key.rotate_left(at);
        }
        let key = key.join(", ");
        let definition = format!(" ({key})");
        let row = sqlx::query(
            "select pg_get_indexdef(indexrelid) from pg_index \
             where indrelid = $1::regclass and indisprimary",
        );
        let row = row.bind(table.name()).fetch_one(&mut connection).await.unwrap();
        assert!(row.get::<String, _>(0).ends_with(&definition), "{}", table.name());
    }
    let rows = sqlx::query(
        "select relname::text from pg_class where relkind = 'r' and relnamespace = $1::regnamespace order by 1",
    );
    let schema = format!("\"{}\"", home.schema);
    let rows = rows.bind(schema).fetch_all(&mut connection).await.unwrap();
    let mut names: Vec<String> = tables().map(|table| table.name().to_owned()).collect();
    names.push("cauri_schema".to_owned());
    names.sort();
    assert_eq!(rows.iter().map(|row| row.get::<String, _>(0)).collect::<Vec<_>>(), names);
}

#[tokio::test]
async fn the_indexes_are_those_of_cauri_sql() {
    let home = Home::new();
    home.open().await.close().await;
    let mut connection = home.connection().await;
    let rows = sqlx::query(
        "select c.relname::text, t.relname::text, i.indisunique, \
         (select string_agg(a.attname, ', ' order by k.at) \
          from unnest(i.indkey) with ordinality as k(number, at) \
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number), \
         pg_get_expr(i.indpred, i.indrelid) \
         from pg_index i join pg_class c on c.oid = i.indexrelid \
         join pg_class t on t.oid = i.indrelid \
         where not i.indisprimary and c.relnamespace = $1::regnamespace order by 1",
    );
    let schema = format!("\"{}\"", home.schema);
    let rows = rows.bind(schema).fetch_all(&mut connection).await.unwrap();
    let mut expected: Vec<&Index> = indexes(Dialect::Postgres).collect();
    expected.sort_by_key(|index| index.name);
    assert_eq!(rows.len(), expected.len());
    for (row, index) in rows.iter().zip(expected) {
        assert_eq!(row.get::<String, _>(0), index.name);
        assert_eq!(row.get::<String, _>(1), index.table, "{}", index.name);
        assert_eq!(row.get::<bool, _>(2), index.unique, "{}", index.name);
        assert_eq!(row.get::<String, _>(3), index.columns.join(", "), "{}", index.name);
        let only = row.get::<Option<String>, _>(4).map(|it| it.to_lowercase());
        let only = only.map(|it| it.trim_matches(['(', ')']).replace("::text", ""));
        assert_eq!(only.as_deref(), index.only, "{}", index.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_nodes_may_start_at_once() {
    let home = Home::new();
    let stores = join_all((0..8).map(|_| home.open())).await;
    let made: Vec<i64> = stores.iter().map(|store| store.migrated().from).collect();
    assert_eq!(made.iter().filter(|from| **from == 0).count(), 1, "{made:?}");
    assert!(stores.iter().all(|store| store.migrated().to == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waited_for_anothers_migration_sees_it() {
    let home = Home::new();
    let mut holder = home.connection().await;
    let lock = format!("cauri schema {}", home.schema);
    let text = "select pg_advisory_lock(hashtextextended($1, 0))";
    sqlx::query(text).bind(&lock).execute(&mut holder).await.unwrap();
    // All of them have seen that nothing is there, and wait, before one may begin.
    let release = async {
        let waiting = "select count(*) from pg_locks held join pg_locks waits \
             using (locktype, database, classid, objid, objsubid) \
             where held.locktype = 'advisory' and held.granted and not waits.granted \
             and held.pid = pg_backend_pid()";
        loop {
            let row = sqlx::query(waiting).fetch_one(&mut holder).await.unwrap();
            if row.get::<i64, _>(0) == 3 {
                break;
            }
        }
        let text = "select pg_advisory_unlock(hashtextextended($1, 0))";
        sqlx::query(text).bind(&lock).execute(&mut holder).await.unwrap();
    };
    let (stores, ()) = tokio::join!(join_all((0..3).map(|_| home.open())), release);
    let mut made: Vec<i64> = stores.iter().map(|store| store.migrated().from).collect();
    made.sort_unstable();
    assert_eq!(made, [0, 1, 1]);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let home = Home::new();
    home.open().await.close().await;
    let text = "insert into cauri_schema values (1000)";
    sqlx::raw_sql(text).execute(&mut home.connection().await).await.unwrap();
    let refused = PostgresStore::connect_with(&url(), home.options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::NewerSchema { found: 1000, known: 1 }), "{refused}");
    assert_eq!(
        refused.to_string(),
        "the database has schema 1000; this program knows schemas up to 1"
    );
}

#[tokio::test]
async fn a_store_that_may_not_migrate_says_what_it_needs() {
    let home = Home::new();
    let options = || home.options().migrate(false);
    let refused = PostgresStore::connect_with(&url(), options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::OlderSchema { found: 0, known: 1 }), "{refused}");
    home.open().await.close().await;
    let store = PostgresStore::connect_with(&url(), options()).await.unwrap();
    assert_eq!((store.migrated().from, store.migrated().to), (1, 1));
}

#[tokio::test]
async fn a_store_reads_on_and_writes_nothing_while_a_newer_one_has_added_a_column() {
    let home = Home::new();
    let store = home.open().await;
    let mut changes = Changeset::new();
    let id = cauri::AccountId::from_uuid(Default::default());
    let account = Account { id, created_at: Timestamp::EPOCH };
    changes.insert(account.clone(), None);
    let added = "alter table accounts add column later text";
    sqlx::raw_sql(added).execute(&mut home.connection().await).await.unwrap();
    let refused = store.commit(vec![changes.clone()]).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert_eq!(store.get(&[Key::Account(id)]).await.unwrap(), [None]);
    let removed = "alter table accounts drop column later";
    sqlx::raw_sql(removed).execute(&mut home.connection().await).await.unwrap();
    home.open().await.commit(vec![changes]).await.unwrap().remove(0).unwrap();
    let found = store.get(&[Key::Account(id)]).await.unwrap().remove(0).unwrap();
    assert_eq!(found.value, account.into());
}

#[tokio::test]
async fn what_is_due_and_cannot_be_read_keeps_nothing_else_from_being_done() {
    let home = Home::new();
    let store = home.open().await;
    let mut random = Random::new(6);
    let scope = random.scope();
    let at = Timestamp::from_millis(1_000);
    let payments: Vec<_> = (0..3).map(|_| fixtures::payment(&mut random, scope)).collect();
    let inserting = |payment: &Payment| {
        let mut changes = Changeset::new();
        changes.insert(payment.clone(), Some(at));
        changes
    };
    store.commit(payments.iter().map(inserting).collect()).await.unwrap();
    let text = "update payments set status = 'hologram' where id = $1";
    let mut connection = home.connection().await;
    let query = sqlx::query(text).bind(payments[0].id.uuid());
    assert_eq!(query.execute(&mut connection).await.unwrap().rows_affected(), 1);
    let until = at.plus_seconds(20);
    let claim = Claim { kind: ClaimKind::Payments, now: at, until, limit: 10, lanes: None };
    assert_eq!(store.claim(&claim).await.unwrap().len(), 2);
    assert!(store.claim(&claim).await.unwrap().is_empty(), "all three are held");
}

#[tokio::test]
async fn a_role_without_rights_over_the_schema_is_enough_afterwards() {
    let home = Home::new();
    home.open().await.close().await;
    let (schema, role) = (&home.schema, format!("role {}", home.schema));
    let text = format!(
        "create role \"{role}\" login; grant usage on schema \"{schema}\" to \"{role}\"; \
         grant select, insert, update, delete on all tables in schema \"{schema}\" to \"{role}\""
    );
    let mut connection = home.connection().await;
    sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut connection).await.unwrap();
    let options = url().parse::<sqlx::postgres::PgConnectOptions>().unwrap().username(&role);
    let pool = PgPool::connect_with(options).await.unwrap();
    let store = PostgresStore::new(&pool, home.options()).await.unwrap();
    let id = cauri::AccountId::from_uuid(Default::default());
    let mut changes = Changeset::new();
    changes.insert(Account { id, created_at: Timestamp::EPOCH }, None);
    let twice = store.commit(vec![changes.clone(), changes]).await.unwrap();
    assert_eq!(twice, [Ok(()), Err(cauri::Refusal::Exists(Key::Account(id)))]);
    store.close().await;
    pool.close().await;
    let text = format!("drop owned by \"{role}\"; drop role \"{role}\"");
    sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut connection).await.unwrap();
}

#[tokio::test]
async fn the_url_names_the_schema() {
    let home = Home::new();
    let schema = home.schema.replace(' ', "%20");
    let joint = if url().contains('?') { '&' } else { '?' };
    let store = PostgresStore::connect(&format!("{}{joint}schema={schema}", url())).await.unwrap();
    let mut connection = home.connection().await;
    let there = sqlx::query("select to_regclass('payments') is not null");
    assert!(there.fetch_one(&mut connection).await.unwrap().get::<bool, _>(0));
    assert!(!format!("{store:?}").contains("postgres://"));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let nowhere = "postgres://nobody@%2Fnonexistent:1/nothing";
    let error = PostgresStore::connect(nowhere).await.unwrap_err();
    assert!(matches!(error, OpenError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn a_closed_store_is_unavailable() {
    let home = Home::new();
    let store = home.open().await;
    store.close().await;
    let error = store.balances(Random::new(1).scope()).await;
    assert!(matches!(error, Err(StoreError::Unavailable(_))), "{error:?}");
}

#[tokio::test]
async fn a_database_is_looked_at_and_left_as_it_was() {
    let home = Home::new();
    let joint = if url().contains('?') { '&' } else { '?' };
    let place = format!("{}{joint}schema={}", url(), home.schema.replace(' ', "%20"));
    let found = PostgresStore::inspect(&place).await.unwrap();
    assert!(found.version == 0 && found.known > 0 && found.writable, "{found:?}");
    let mut connection = home.connection().await;
    let there = "select exists (select from pg_namespace where nspname = $1)";
    let there = sqlx::query(there).bind(&home.schema).fetch_one(&mut connection).await.unwrap();
    assert!(!there.get::<bool, _>(0), "nothing was made");
    home.open().await.close().await;
    let found = PostgresStore::inspect(&place).await.unwrap();
    assert!(found.version == found.known && found.writable, "{found:?}");
    let reader = format!("{place}&options=-c%20default_transaction_read_only%3Don");
    let found = PostgresStore::inspect(&reader).await.unwrap();
    assert!(!found.writable, "{found:?}");
    assert!(PostgresStore::inspect("postgres://nobody@127.0.0.1:1/x").await.is_err());
}

#[tokio::test]
async fn what_a_user_may_do_is_seen() {
    let home = Home::new();
    home.open().await.close().await;
    let mut connection = home.connection().await;
    let (schema, role) = (&home.schema, home.schema.replace("Scratch ", "clerk-"));
    let mut run = async |text: String| {
        sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut connection).await.unwrap();
    };
    run(format!(
        "drop role if exists \"{role}\"; create role \"{role}\";
         grant usage on schema \"{schema}\" to \"{role}\";
         grant select, insert, update on all tables in schema \"{schema}\" to \"{role}\""
    ))
    .await;
    let joint = if url().contains('?') { '&' } else { '?' };
    let (named, quoted) = (schema.replace(' ', "%20"), format!("-c%20role%3D{role}"));
    let place = format!("{}{joint}schema={named}&options={quoted}", url());
    let may = async || {
        let found = PostgresStore::inspect(&place).await.unwrap();
        (found.writable, found.migratable)
    };
    assert_eq!(may().await, (false, false), "what was answered is never forgotten");
    run(format!("grant delete on \"{schema}\".idempotency to \"{role}\"")).await;
    assert_eq!(may().await, (false, false), "what was received is not forgotten to be looked for");
    run(format!("grant delete on \"{schema}\".undelivered to \"{role}\"")).await;
    assert_eq!(may().await, (true, false), "enough to serve");
    run(format!("grant create on schema \"{schema}\" to \"{role}\"")).await;
    assert_eq!(may().await, (true, false), "the tables are somebody else's");
    let owner = PostgresStore::inspect(&format!("{}{joint}schema={named}", url())).await.unwrap();
    assert!(owner.writable && owner.migratable, "{owner:?}");
    run(format!("drop owned by \"{role}\"; drop role \"{role}\"")).await;
}
