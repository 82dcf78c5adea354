//! Every statement finds its rows by an index, whatever the server knows of the tables.

#![expect(clippy::unwrap_used, reason = "what goes wrong fails the test")]

#[expect(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod scratch;

use cauri::{
    Changeset, Claim, ClaimKind, Currency, Field, FieldValue, IdempotencyRecord, Key, Lanes,
    LedgerAccountKind, List, Page, Query, Scope, Store as _, Timestamp,
};
use cauri_conformance::fixtures::{self, Random};
use cauri_postgres::PostgresStore;
use scratch::Home;
use sqlx::{AssertSqlSafe, PgConnection, Row as _};

/// So many rows of each table, so that a scan would show.
const ROWS: usize = 3_000;

/// How often everything is done before what was read is counted.
const PLAYS: usize = 8;

fn changes(random: &mut Random, scope: Scope, due: Timestamp) -> Changeset {
    let mut changes = Changeset::new();
    let payment = fixtures::payment(random, scope);
    let mut line = fixtures::timeline_entry(random, scope);
    line.payment = payment.id;
    changes.insert(payment, Some(due));
    changes.insert(line, None);
    changes.insert(fixtures::refund(random, scope), Some(due));
    changes.insert(fixtures::payout(random, scope), Some(due));
    changes.insert(fixtures::customer(random, scope), None);
    changes.insert(fixtures::payment_link(random, scope), None);
    changes.insert(fixtures::event(random, scope), None);
    changes.insert(fixtures::delivery(random, scope), Some(due));
    changes.insert(fixtures::idempotency(random, scope), Some(due));
    let currency: Currency = "XOF".parse().unwrap();
    let accounts = (LedgerAccountKind::Clearing, LedgerAccountKind::MerchantPending);
    changes.post(Some(fixtures::move_money(random, (scope, currency), accounts, 5)));
    changes
}

/// Everything that a store does, on a handful of records.
async fn play(store: &PostgresStore, random: &mut Random, scope: Scope) {
    let now = Timestamp::from_millis(1_700_000_000_000);
    let mut keys = Vec::new();
    for size in [1, 3] {
        let batch: Vec<Changeset> = (0..size).map(|_| changes(random, scope, now)).collect();
        keys.extend(batch.iter().flat_map(Changeset::keys));
        for verdict in store.commit(batch.clone()).await.unwrap() {
            verdict.unwrap();
        }
        // Refused, so that what is there is read; and again, behind other changes.
        assert!(store.commit(batch.clone()).await.unwrap().iter().all(Result::is_err));
        let mut again = batch;
        again.push(changes(random, scope, now));
        assert!(store.commit(again).await.unwrap().iter().any(Result::is_ok));
    }
    let found = store.get(&keys).await.unwrap();
    for held in found.into_iter().flatten().take(12) {
        store.get(&[held.value.key()]).await.unwrap();
        if held.value.kind() != cauri::RecordKind::TimelineEntry {
            let mut update = Changeset::new();
            update.release(held, now);
            store.commit(vec![update]).await.unwrap();
        }
    }
    for list in fixtures::lists(scope) {
        let query = Query::all(list).page(Page::new(40, 2).unwrap_or_default());
        store.list(&query).await.unwrap();
    }
    store.entries(&Query::all(List::Entries(scope))).await.unwrap();
    let customer = random.known_id();
    // A step of a replay, and the search for the events of one object.
    let (from, to) = (Some(Timestamp::EPOCH), Some(Timestamp::EPOCH.plus_seconds(5)));
    let told = Query { created_from: from, created_to: to, ..Query::all(List::Events(scope)) };
    for query in [
        Query::all(List::Payments(scope)).with(Field::Status, FieldValue::Text("failed".into())),
        Query::all(List::Payments(scope)).with(Field::Reference, FieldValue::Text("none".into())),
        Query::all(List::Deliveries(scope)).with(Field::Status, FieldValue::Text("pending".into())),
        Query::all(List::Deliveries(scope)).with(Field::Status, FieldValue::Text("failed".into())),
        Query::all(List::Deliveries(scope))
            .with(Field::Status, FieldValue::Text("succeeded".into())),
        told.clone(),
        told.with(Field::EventKind, FieldValue::Text("payout.created".into())),
    ] {
        store.list(&query).await.unwrap();
    }
    store.balances(scope).await.unwrap();
    store.statistics(scope, customer).await.unwrap();
    for kind in [
        ClaimKind::Payments,
        ClaimKind::Payouts,
        ClaimKind::Refunds,
        ClaimKind::Deliveries,
        ClaimKind::Idempotency,
    ] {
        let lanes = Some(Lanes { cap: 2, held: Vec::new() });
        let waiting = store.backlog(kind, now).await.unwrap();
        assert!(waiting.count > 0 && waiting.oldest.is_some_and(|at| at <= now), "{waiting:?}");
        let claim = Claim { kind, now, until: now.plus_seconds(60), limit: 3, lanes };
        let claimed = store.claim(&claim).await.unwrap();
        assert!(!claimed.is_empty() && claimed.len() <= 3);
        for held in claimed {
            if let Some(record) = held.of::<IdempotencyRecord>() {
                let mut forget = Changeset::new();
                forget.forget(&record);
                store.commit(vec![forget]).await.unwrap()[0].clone().unwrap();
            }
        }
    }
    assert!(matches!(keys.first(), Some(Key::Payment(..))));
}

/// Scans so far, of a table and of as many entries of its indexes as were read.
async fn scans(connection: &mut PgConnection, home: &Home) -> Vec<(String, i64, i64)> {
    let rows = sqlx::query(
        "select t.relname::text, t.seq_scan, \
         (select sum(i.idx_tup_read)::bigint from pg_stat_user_indexes i where i.relid = t.relid) \
         from pg_stat_user_tables t where t.schemaname = $1 and t.relname <> 'cauri_schema' order by 1",
    );
    let rows = rows.bind(&home.schema).fetch_all(connection).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_statement_scans_a_table_at_any_size_of_the_statistics() {
    let home = Home::new();
    let mut connection = home.connection().await;
    let mut random = Random::new(7);
    let scope = random.scope();
    let others: Vec<Scope> = (0..20).map(|_| random.scope()).collect();
    let now = Timestamp::from_millis(1_700_000_000_000);
    for phase in ["empty", "full", "analyzed"] {
        if phase == "full" {
            let store = home.open().await;
            for _ in 0..ROWS / 100 {
                let batch = (0..100).map(|_| {
                    let scope = if random.flag() { scope } else { *random.pick(&others) };
                    changes(&mut random, scope, now.plus_seconds(3_600))
                });
                store.commit(batch.collect()).await.unwrap();
            }
            store.close().await;
        }
        if phase == "analyzed" {
            sqlx::raw_sql("vacuum analyze").execute(&mut connection).await.unwrap();
        }
        let store = home.open().await;
        if phase == "empty" {
            statistics_stay(&mut connection, &home).await;
        }
        // What a session counts is there for all to see when it has ended.
        settle(&mut connection, &home).await;
        let before = scans(&mut connection, &home).await;
        for _ in 0..PLAYS {
            play(&store, &mut random, scope).await;
        }
        store.close().await;
        settle(&mut connection, &home).await;
        for ((name, scans_before, read_before), (_, scans, read)) in
            before.into_iter().zip(scans(&mut connection, &home).await)
        {
            assert_eq!(scans, scans_before, "{name} was scanned ({phase})");
            // Filters and totals read a part of an index; nothing else reads more than it needs, and
            // all of it comes to less than half of ROWS * PLAYS. A statement that reads all that the
            // account has, each time, adds another half. The quarter between is for dead entries,
            // which are read for as long as a transaction of some other test keeps them.
            let quarters = match name.as_str() {
                // What was received is counted as all there are, less the others; and its page, where
                // nothing is known of the table, is taken from all there are.
                "deliveries" => 5,
                // So the others are counted, and what is pending is read, with whatever else is here: in
                // this test with all there are, since all are due.
                "undelivered" => 9,
                _ => 3,
            };
            let most = i64::try_from(ROWS * PLAYS / 4 * quarters).unwrap();
            assert!(read - read_before < most, "{name}: {} ({phase})", read - read_before);
        }
    }
}

/// The phases say what is known of the tables, not the server in the background: with statistics
/// of a moment when they held a handful of rows, it takes an account's part of any index for short,
/// until it looks again.
async fn statistics_stay(connection: &mut PgConnection, home: &Home) {
    let rows = sqlx::query("select tablename::text from pg_tables where schemaname = $1");
    let tables = rows.bind(&home.schema).fetch_all(&mut *connection).await.unwrap();
    assert!(!tables.is_empty());
    for table in tables {
        let name: String = table.get(0);
        let text = format!("alter table \"{name}\" set (autovacuum_enabled = off)");
        sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut *connection).await.unwrap();
    }
}

async fn settle(connection: &mut PgConnection, home: &Home) {
    let mut last = Vec::new();
    for _ in 0..50 {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        let now = scans(connection, home).await;
        if now == last {
            return;
        }
        last = now;
    }
}
