//! What is SQLite's own, beside the laws.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc, time::Duration};

use cauri::{
    Amount, Backlog, Call, Caller, Changeset, Claim, ClaimKind, Engine, Environment, Grouped,
    Id as _, Key, List, Query, Record, RecordKind, Scope, Store, StoreError, Timestamp, wire::Fund,
};
use cauri_conformance::{
    differential,
    fixtures::{self, Random},
    polled,
};
use cauri_memory::MemoryStore;
use cauri_sql::{Dialect, Kind, Table, indexes};
use cauri_sqlite::{OpenError, SqliteOptions, SqliteStore, SqliteTransaction};
use sqlx::{
    Connection as _, Row as _, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};
use tempfile::TempDir;

fn inserting(record: impl Into<Record>, due_at: Option<Timestamp>) -> Changeset {
    let mut changes = Changeset::new();
    changes.insert(record, due_at);
    changes
}

/// So many customers of one scope.
fn customers(random: &mut Random, count: usize) -> (Scope, Vec<Key>, Vec<Changeset>) {
    let scope = random.scope();
    let all: Vec<_> = (0..count).map(|_| fixtures::customer(random, scope)).collect();
    let keys = all.iter().map(|it| Key::Customer(scope, it.id)).collect();
    (scope, keys, all.into_iter().map(|it| inserting(it, None)).collect())
}

async fn raw(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::ZERO);
    SqliteConnection::connect_with(&options).await.expect("a connection of its own")
}

async fn open(path: &Path) -> SqliteStore {
    SqliteOptions::file(path).open().await.expect("the file opens")
}

#[tokio::test(flavor = "multi_thread")]
async fn it_cannot_be_told_from_the_store_in_memory() {
    for seed in 100..104 {
        let sqlite = SqliteStore::open_in_memory().await.unwrap();
        differential(&MemoryStore::new(), &sqlite, seed, 400).await;
        sqlite.close().await;
    }
}

#[tokio::test]
async fn the_schema_is_that_of_the_tables() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let mut connection = raw(store.path()).await;
    let names = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'";
    let rows = sqlx::query(names).fetch_all(&mut connection).await.unwrap();
    let mut found: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let mut expected: Vec<_> = Table::all().map(Table::name).chain(["cauri_schema"]).collect();
    found.sort();
    expected.sort_unstable();
    assert_eq!(found, expected);
    for table in Table::all() {
        let rows = sqlx::query("select name, type, \"notnull\", pk from pragma_table_info(?)")
            .bind(table.name())
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let found: Vec<(String, String, bool, i64)> =
            rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect();
        let word = |kind| match kind {
            Kind::Flag | Kind::Int => "INTEGER",
            Kind::Text => "TEXT",
            Kind::Bytes | Kind::Id => "BLOB",
        };
        let mut names: Vec<&str> = table.key().iter().map(|column| column.name).collect();
        if let Some(at) = names.iter().position(|name| *name == "id") {
            names.rotate_left(at);
        }
        let key = |name| names.iter().position(|it| *it == name);
        let place = |name| key(name).map_or(0, |at| i64::try_from(at).unwrap() + 1);
        let expected: Vec<_> = table
            .columns()
            .iter()
            .map(|it| (it.name.to_owned(), word(it.kind).to_owned(), !it.null, place(it.name)))
            .collect();
        assert_eq!(found, expected, "{}", table.name());
    }
}

#[tokio::test]
async fn the_indexes_are_those_that_were_reasoned_about() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let mut connection = raw(store.path()).await;
    let text = "select sql from sqlite_schema where type = 'index' and sql is not null";
    let rows = sqlx::query(text).fetch_all(&mut connection).await.unwrap();
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let found: BTreeSet<String> = rows.iter().map(|row| plain(row.get(0))).collect();
    let expected = indexes(Dialect::Sqlite).map(|it| {
        let unique = if it.unique { "unique " } else { "" };
        let only = it.only.map_or_else(String::new, |only| format!(" where {only}"));
        let columns = it.columns.join(", ");
        format!("create {unique}index {} on {} ({columns}){only}", it.name, it.table)
    });
    assert_eq!(found, expected.collect());
    // What the planner is told is about indexes that are there.
    let told = sqlx::query("select idx from sqlite_stat1").fetch_all(&mut connection).await;
    for row in told.unwrap() {
        let name: String = row.get(0);
        let is_key =
            name.starts_with("sqlite_autoindex_") || Table::all().any(|table| table.name() == name);
        assert!(is_key || indexes(Dialect::Sqlite).any(|index| index.name == name), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_share_a_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("shared.db");
    // Both find no schema, and one of them makes it.
    let (one, two) = tokio::join!(open(&path), open(&path));
    let (one, two) = (Arc::new(Grouped::new(one)), Arc::new(Grouped::new(two)));
    let mut random = Random::new(1);
    let (scope, keys, changes) = customers(&mut random, 400);
    let mut tasks = Vec::new();
    for (at, changes) in changes.into_iter().enumerate() {
        let store = Arc::clone(if at % 2 == 0 { &one } else { &two });
        tasks.push(tokio::spawn(async move { store.commit(vec![changes]).await }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), [Ok(())]);
    }
    for store in [&one, &two] {
        assert!(store.get(&keys).await.unwrap().iter().all(Option::is_some));
        let list = store.list(&Query::all(List::Customers(scope))).await.unwrap();
        assert_eq!(list.total, 400);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_two_stores_claim_the_same() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("claims.db");
    let (one, two) = tokio::join!(open(&path), open(&path));
    let mut random = Random::new(2);
    let scope = random.scope();
    let at = Timestamp::from_millis(1_000);
    let payments = (0..200).map(|_| inserting(fixtures::payment(&mut random, scope), Some(at)));
    one.commit(payments.collect()).await.unwrap();
    let claim = Claim {
        kind: ClaimKind::Payments,
        now: at,
        until: at.plus_seconds(60),
        limit: 7,
        lanes: None,
    };
    let all = async |store: &SqliteStore| {
        let mut keys = Vec::new();
        loop {
            let claimed = store.claim(&claim).await.unwrap();
            if claimed.is_empty() {
                return keys;
            }
            assert!(claimed.iter().all(|it| it.version == 2 && it.due_at == Some(claim.until)));
            keys.extend(claimed.into_iter().map(|it| it.value.key()));
        }
    };
    let (mut keys, others) = tokio::join!(all(&one), all(&two));
    keys.extend(others);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 200);
}

#[tokio::test]
async fn opening_again_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("again.db");
    let mut random = Random::new(3);
    let (_, keys, changes) = customers(&mut random, 3);
    let store = open(&path).await;
    store.commit(changes).await.unwrap();
    store.close().await;
    for _ in 0..2 {
        let store = open(&path).await;
        assert!(store.get(&keys).await.unwrap().iter().all(Option::is_some));
        let mut connection = raw(&path).await;
        let versions = sqlx::query("select version from cauri_schema").fetch_all(&mut connection);
        assert_eq!(versions.await.unwrap().len(), 1);
        store.close().await;
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("newer.db");
    open(&path).await.close().await;
    let mut connection = raw(&path).await;
    sqlx::query("insert into cauri_schema values (1000)").execute(&mut connection).await.unwrap();
    let error = SqliteOptions::file(&path).open().await.unwrap_err();
    assert!(matches!(error, OpenError::NewerSchema { found: 1000, known } if known < 1000));
    let text = "the database has schema 1000; this program knows schemas up to 1";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn what_is_no_database_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("text");
    fs::write(&path, "This is not a database. ".repeat(100)).unwrap();
    let opened = SqliteOptions::file(&path).open().await;
    assert!(matches!(opened, Err(OpenError::Unavailable(_))));
    let opened = SqliteOptions::file(folder.path().join("none/cauri.db")).open().await;
    assert!(matches!(opened, Err(OpenError::Unavailable(_))));
    let opened = SqliteStore::open("sqlite:cauri.db?mode=sideways").await;
    assert!(matches!(opened, Err(OpenError::Location(_))));
}

#[tokio::test]
async fn a_location_is_a_path_or_a_url() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("url.db");
    for location in [path.display().to_string(), format!("sqlite://{}", path.display())] {
        let store = SqliteStore::open(&location).await.unwrap();
        assert_eq!(store.path(), path);
        store.close().await;
    }
    let memory = SqliteStore::open("sqlite::memory:").await.unwrap();
    let file = memory.path().to_owned();
    assert!(file.exists());
    memory.close().await;
    drop(memory);
    assert!(!file.exists());
}

#[tokio::test]
async fn whoever_waits_too_long_is_told_so_and_nothing_was_applied() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("locked.db");
    let options = SqliteOptions::file(&path).patience(Duration::from_millis(50));
    let store = options.open().await.unwrap();
    let mut random = Random::new(4);
    let (_, keys, changes) = customers(&mut random, 1);
    let mut other = raw(&path).await;
    let lock = other.begin_with("begin immediate").await.unwrap();
    let refused = store.commit(changes.clone()).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    // Readers never wait for a writer.
    assert_eq!(store.get(&keys).await.unwrap(), [None]);
    lock.rollback().await.unwrap();
    assert_eq!(store.commit(changes).await.unwrap(), [Ok(())]);
}

#[tokio::test]
async fn a_row_that_is_no_record_is_an_error_that_tells_no_secrets() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let mut random = Random::new(5);
    let (scope, keys, changes) = customers(&mut random, 1);
    store.commit(changes).await.unwrap();
    let mut connection = raw(store.path()).await;
    let text = "update customers set phone = 'whispered'";
    sqlx::query(text).execute(&mut connection).await.unwrap();
    let all = Query::all(List::Customers(scope));
    for error in [store.get(&keys).await.unwrap_err(), store.list(&all).await.unwrap_err()] {
        assert!(matches!(error, StoreError::Broken(_)));
        assert!(!format!("{error:?}").contains("whispered"), "{error:?}");
    }
    assert!(!format!("{store:?}").contains("whispered"));
}

#[tokio::test]
async fn what_is_due_and_cannot_be_read_keeps_nothing_else_from_being_done() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let mut random = Random::new(6);
    let scope = random.scope();
    let at = Timestamp::from_millis(1_000);
    let payments: Vec<_> = (0..3).map(|_| fixtures::payment(&mut random, scope)).collect();
    let changes = payments.iter().map(|it| inserting(it.clone(), Some(at)));
    store.commit(changes.collect()).await.unwrap();
    let text = "update payments set status = 'hologram' where id = ?";
    let strange = payments[0].id.uuid().as_bytes().to_vec();
    let mut connection = raw(store.path()).await;
    let done = sqlx::query(text).bind(strange).execute(&mut connection).await.unwrap();
    assert_eq!(done.rows_affected(), 1);
    let until = at.plus_seconds(20);
    let claim = Claim { kind: ClaimKind::Payments, now: at, until, limit: 10, lanes: None };
    assert_eq!(store.claim(&claim).await.unwrap().len(), 2);
    assert!(store.claim(&claim).await.unwrap().is_empty(), "all three are held");
}

#[tokio::test]
async fn a_batch_that_cannot_be_written_leaves_no_trace() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let mut connection = raw(store.path()).await;
    // Somebody else's rule, which only the last of the batch breaks.
    let text = "create trigger no before insert on customers when new.number = 3 \
                begin select raise(abort, 'no'); end";
    sqlx::query(text).execute(&mut connection).await.unwrap();
    let mut random = Random::new(6);
    let (scope, keys, changes) = customers(&mut random, 3);
    let broken = store.commit(changes).await;
    assert!(matches!(broken, Err(StoreError::Broken(_))), "{broken:?}");
    assert_eq!(store.get(&keys).await.unwrap(), [None, None, None]);
    assert_eq!(store.list(&Query::all(List::Customers(scope))).await.unwrap().total, 0);
    sqlx::query("drop trigger no").execute(&mut connection).await.unwrap();
    let (_, _, changes) = customers(&mut random, 3);
    assert_eq!(store.commit(changes).await.unwrap(), [Ok(()), Ok(()), Ok(())]);
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_no_transaction_behind() {
    let store = Arc::new(SqliteStore::open_in_memory().await.unwrap());
    let mut random = Random::new(7);
    for patience in 0..40 {
        let (_, _, changes) = customers(&mut random, 20);
        let commit = store.commit(changes);
        let _ = tokio::time::timeout(Duration::from_micros(patience * 25), commit).await;
    }
    let (_, keys, changes) = customers(&mut random, 2);
    assert_eq!(store.commit(changes).await.unwrap(), [Ok(()), Ok(())]);
    assert!(store.get(&keys).await.unwrap().iter().all(Option::is_some));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_outlives_a_crash() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("live.db");
    let store = open(&path).await;
    let mut random = Random::new(8);
    let mut accepted = Vec::new();
    for round in 0..30 {
        let (_, keys, changes) = customers(&mut random, 40);
        assert!(store.commit(changes).await.unwrap().iter().all(Result::is_ok));
        accepted.extend(keys);
        if round % 10 == 0 {
            // The files as a crash would leave them: nothing was closed.
            let crashed = folder.path().join(format!("crashed-{round}.db"));
            for end in ["", "-wal"] {
                let name = |path: &Path| format!("{}{end}", path.display());
                fs::copy(name(&path), name(&crashed)).unwrap();
            }
            let found = open(&crashed).await.get(&accepted).await.unwrap();
            assert!(found.iter().all(Option::is_some));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_does_not_grow_for_ever() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.db");
    let store = open(&path).await;
    let mut random = Random::new(9);
    let scope = random.scope();
    for _ in 0..120 {
        let batch: Vec<_> = (0..64)
            .map(|_| {
                let mut event = fixtures::event(&mut random, scope);
                event.payload = "x".repeat(12_000);
                inserting(event, None)
            })
            .collect();
        store.commit(batch).await.unwrap();
    }
    let log = fs::metadata(format!("{}-wal", path.display())).unwrap().len();
    let whole = fs::metadata(&path).unwrap().len();
    assert!(whole > 80_000_000, "{whole}");
    assert!(log < 80_000_000, "{log}");
    store.close().await;
    assert!(!Path::new(&format!("{}-wal", path.display())).exists());
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    store.close().await;
    store.close().await;
    let mut random = Random::new(10);
    let (scope, keys, changes) = customers(&mut random, 1);
    let unavailable = |error: StoreError| matches!(error, StoreError::Unavailable(_));
    assert!(unavailable(store.commit(changes).await.unwrap_err()));
    assert!(unavailable(store.get(&keys).await.unwrap_err()));
    assert!(unavailable(store.balances(scope).await.unwrap_err()));
}

#[tokio::test]
async fn more_keys_than_a_statement_takes_are_one_moment_too() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let mut random = Random::new(11);
    let (_, mut keys, changes) = customers(&mut random, 300);
    store.commit(changes).await.unwrap();
    for kind in RecordKind::ALL {
        let scope = random.scope();
        keys.push(fixtures::record(&mut random, *kind, scope).key());
    }
    let absent: Vec<_> = (0..9_000).map(|at| Key::Setting(format!("{at}"))).collect();
    keys.splice(150..150, absent);
    let found = store.get(&keys).await.unwrap();
    assert_eq!(found.len(), keys.len());
    assert_eq!(found.iter().flatten().count(), 300);
    assert!(found[..150].iter().all(Option::is_some) && found[9_150].is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_thousands_is_one_transaction() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let mut random = Random::new(12);
    let (scope, keys, changes) = customers(&mut random, 3_000);
    let verdicts = store.commit(changes).await.unwrap();
    assert!(verdicts.iter().all(Result::is_ok));
    assert_eq!(store.list(&Query::all(List::Customers(scope))).await.unwrap().total, 3_000);
    assert!(store.get(&keys).await.unwrap().iter().all(Option::is_some));
}

#[tokio::test]
async fn the_host_decides_about_what_was_committed_within_its_transaction() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let options = SqliteConnectOptions::new().filename(store.path());
    let pool = SqlitePool::connect_with(options).await.unwrap();
    let mut random = Random::new(13);
    for keeps in [false, true] {
        let (_, keys, changes) = customers(&mut random, 2);
        let within = SqliteTransaction::new(pool.begin_with("begin immediate").await.unwrap());
        assert_eq!(within.commit(changes.clone()).await.unwrap(), [Ok(()), Ok(())]);
        // Its own are seen, and refused when sent again, while nobody else sees them.
        assert!(within.get(&keys).await.unwrap().iter().all(Option::is_some));
        assert!(within.commit(changes).await.unwrap().iter().all(Result::is_err));
        assert!(store.get(&keys).await.unwrap().iter().all(Option::is_none));
        let transaction = within.take().await.unwrap();
        assert!(within.take().await.is_none());
        assert!(matches!(within.get(&keys).await, Err(StoreError::Unavailable(_))));
        if keeps {
            transaction.commit().await.unwrap();
        } else {
            transaction.rollback().await.unwrap();
        }
        let found = store.get(&keys).await.unwrap();
        assert!(found.iter().all(|it| it.is_some() == keeps));
    }
}

#[tokio::test]
async fn what_waits_is_counted_as_in_memory() {
    let mut random = Random::new(11);
    let (sqlite, memory) = (SqliteStore::open_in_memory().await.unwrap(), MemoryStore::new());
    let scope = random.scope();
    let at = |millis: i64| Timestamp::from_millis(1_700_000_000_000 + millis);
    let one = fixtures::delivery(&mut random, scope);
    let mut batch: Vec<Changeset> = Vec::new();
    for number in 0..1_200 {
        let mut delivery = fixtures::delivery(&mut random, scope);
        // One endpoint has most of them, and the youngest.
        if number >= 100 {
            delivery.endpoint = one.endpoint;
        }
        batch.push(inserting(delivery, Some(at(number))));
    }
    for number in 0..5 {
        batch.push(inserting(fixtures::payment(&mut random, scope), Some(at(number * 10))));
        batch.push(inserting(fixtures::payout(&mut random, scope), None));
    }
    let stores: [&dyn Store; 2] = [&sqlite, &memory];
    for store in stores {
        let verdicts = store.commit(batch.clone()).await.unwrap();
        assert!(verdicts.iter().all(Result::is_ok), "{verdicts:?}");
        let (kind, until) = (ClaimKind::Payments, at(60_000));
        let claim = Claim { kind, now: at(0), until, limit: 10, lanes: None };
        assert_eq!(store.claim(&claim).await.unwrap().len(), 1);
    }
    let kinds = [ClaimKind::Payments, ClaimKind::Payouts, ClaimKind::Refunds];
    for kind in kinds.into_iter().chain([ClaimKind::Deliveries, ClaimKind::Idempotency]) {
        for now in [-1, 0, 25, 150, 2_000].map(at) {
            let found = sqlite.backlog(kind, now).await.unwrap();
            assert_eq!(found, memory.backlog(kind, now), "{kind:?} at {now}");
        }
    }
    let found = sqlite.backlog(ClaimKind::Payments, at(25)).await.unwrap();
    assert_eq!(found, Backlog { count: 2, oldest: Some(at(10)) });
    let found = sqlite.backlog(ClaimKind::Deliveries, at(2_000)).await.unwrap();
    assert_eq!(found, Backlog { count: Backlog::MAX, oldest: Some(at(0)) });
    let found = sqlite.backlog(ClaimKind::Payouts, at(2_000)).await.unwrap();
    assert_eq!(found, Backlog::default());
}

/// A host's pool of one connection, with a table of its own.
async fn host(store: &SqliteStore) -> SqlitePool {
    let options = SqliteConnectOptions::new().filename(store.path());
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await;
    let pool = pool.expect("a connection of its own");
    let table = sqlx::query("create table host_orders (name text)").execute(&pool).await;
    table.expect("a table of its own");
    pool
}

async fn order(connection: &mut SqliteConnection) {
    let order = sqlx::query("insert into host_orders values ('an order')");
    order.execute(connection).await.expect("an order");
}

async fn orders(pool: &SqlitePool) -> i64 {
    let count = sqlx::query("select count(*) from host_orders").fetch_one(pool).await;
    count.expect("a count").get(0)
}

#[tokio::test]
async fn a_call_that_is_not_awaited_to_its_end_takes_the_hosts_transaction_along() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let pool = host(&store).await;
    let mut random = Random::new(9);
    let (mut lost, mut kept) = (0, 0);
    for round in 0..300 {
        let (_, keys, changes) = customers(&mut random, 2);
        let mut transaction = pool.begin_with("begin immediate").await.unwrap();
        order(&mut transaction).await;
        let within = SqliteTransaction::new(transaction);
        let is_done = polled(within.commit(changes), round % 60 + 1).await.is_some();
        let left = within.take().await;
        assert_eq!(left.is_some(), is_done);
        if let Some(mut transaction) = left {
            order(&mut transaction).await;
            transaction.commit().await.unwrap();
            kept += 1;
        } else {
            lost += 1;
        }
        assert_eq!(orders(&pool).await, kept * 2, "of a transaction both or none");
        let found = store.get(&keys).await.unwrap();
        assert!(found.iter().all(|it| it.is_some() == is_done));
    }
    assert!(lost > 0 && kept > 0, "{lost} lost, {kept} kept");
}

#[tokio::test]
async fn a_use_case_that_is_not_awaited_to_its_end_leaves_nothing_in_the_hosts_transaction() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let pool = host(&store).await;
    let engine = Engine::builder(Arc::new(store)).build().unwrap();
    let account = engine.create_account().await.unwrap().id;
    let me = Caller::secret(Scope { account, environment: Environment::Sandbox });
    let ask = Fund { amount: Amount::new(100), currency: "XOF".parse().unwrap() };
    let (mut lost, mut kept, mut funded) = (0, 0, 0);
    for round in 0..300 {
        let mut transaction = pool.begin_with("begin immediate").await.unwrap();
        order(&mut transaction).await;
        let within = Arc::new(SqliteTransaction::new(transaction));
        let call = Call::by(me);
        let inner = engine.within(within.clone());
        let is_done = polled(inner.fund(&call, ask), round % 60 + 1).await.is_some();
        // What is left of it somewhere, if anything is, has its time.
        engine.accounts().await.unwrap();
        let left = within.take().await;
        assert!(left.is_some() || !is_done);
        if let Some(transaction) = left {
            transaction.commit().await.unwrap();
            kept += 1;
        } else {
            lost += 1;
        }
        assert_eq!(orders(&pool).await, kept, "the host's own rows go with its transaction");
        funded += i64::from(is_done);
        let balance = engine.balance(&me, None).await.unwrap().available;
        let balance = balance.first().map_or(0, |it| it.amount.units());
        assert_eq!(balance, funded * 100, "only what the host heard of");
    }
    assert!(lost > 0 && funded > 0, "{lost} lost, {funded} funded");
}

#[tokio::test]
async fn a_hosts_transaction_that_a_full_disk_has_ended_is_not_gone_on_with() {
    let store = SqliteStore::open_in_memory().await.unwrap();
    let pool = host(&store).await;
    let mut random = Random::new(10);
    let mut transaction = pool.begin_with("begin immediate").await.unwrap();
    order(&mut transaction).await;
    // No page more than there are: what a full disk says, SQLite says then.
    sqlx::query("pragma max_page_count = 1").execute(&mut *transaction).await.unwrap();
    let within = SqliteTransaction::new(transaction);
    let (_, keys, changes) = customers(&mut random, 200);
    let refused = within.commit(changes.clone()).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    let again = within.commit(changes.clone()).await;
    assert!(matches!(again, Err(StoreError::Unavailable(_))), "{again:?}");
    assert!(within.into_inner().is_none(), "there is nothing to commit");
    assert_eq!(orders(&pool).await, 0);
    assert!(store.get(&keys).await.unwrap().iter().all(Option::is_none));
    // The host's connection is as good as new.
    let mut transaction = pool.begin_with("begin immediate").await.unwrap();
    sqlx::query("pragma max_page_count = 1000000").execute(&mut *transaction).await.unwrap();
    order(&mut transaction).await;
    let within = SqliteTransaction::new(transaction);
    assert_eq!(within.commit(changes).await.unwrap(), vec![Ok(()); 200]);
    within.into_inner().unwrap().commit().await.unwrap();
    assert_eq!(orders(&pool).await, 1);
    assert!(store.get(&keys).await.unwrap().iter().all(Option::is_some));
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_database_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cauri.db");
    let store = open(&path).await;
    let (_, _, changes) = customers(&mut Random::new(11), 1);
    store.commit(changes).await.unwrap();
    for end in ["", "-wal", "-shm"] {
        let file = format!("{}{end}", path.display());
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    // What somebody has set is theirs to say.
    store.close().await;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    open(&path).await.close().await;
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}
