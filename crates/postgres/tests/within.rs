//! The store within a transaction of the host's.

#![expect(clippy::unwrap_used, reason = "what goes wrong fails the test")]

#[expect(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod scratch;

use std::sync::Arc;

use cauri::{
    Amount, Call, Caller, Changeset, Customer, Engine, Environment, Key, Refusal, Scope,
    Store as _, StoreError, wire::Fund,
};
use cauri_conformance::{
    fixtures::{self, Random},
    polled,
};
use scratch::{Home, url};
use sqlx::{PgPool, Postgres, Row as _, Transaction, postgres::PgPoolOptions};

fn insert(customer: &Customer) -> Changeset {
    let mut changes = Changeset::new();
    changes.insert(customer.clone(), None);
    changes
}

async fn order(transaction: &mut Transaction<'static, Postgres>) {
    let text = "insert into host_orders values ('an order')";
    sqlx::query(text).execute(&mut **transaction).await.unwrap();
}

#[tokio::test]
async fn what_the_host_commits_is_there_with_its_own_rows_and_what_it_rolls_back_is_not() {
    let home = Home::new();
    let store = home.open().await;
    let mut own = home.connection().await;
    sqlx::raw_sql("create table host_orders (name text)").execute(&mut own).await.unwrap();
    let pool = PgPool::connect(&url()).await.unwrap();
    let mut random = Random::new(4);
    let scope: Scope = random.scope();
    let customer = fixtures::customer(&mut random, scope);
    let key = Key::Customer(scope, customer.id);
    for commits in [false, true] {
        let mut transaction = pool.begin().await.unwrap();
        let path = format!("set local search_path = \"{}\"", home.schema);
        sqlx::raw_sql(sqlx::AssertSqlSafe(path)).execute(&mut *transaction).await.unwrap();
        order(&mut transaction).await;
        let within = store.within(transaction);
        assert_eq!(within.commit(vec![insert(&customer)]).await.unwrap(), [Ok(())]);
        // A conflict is found out behind a savepoint, and leaves the transaction as it was.
        let again = within.commit(vec![insert(&customer)]).await.unwrap();
        assert_eq!(again, [Err(Refusal::Exists(key.clone()))]);
        assert!(within.get(std::slice::from_ref(&key)).await.unwrap()[0].is_some());
        assert!(store.get(std::slice::from_ref(&key)).await.unwrap()[0].is_none());
        let mut transaction = within.take().await.unwrap();
        assert!(matches!(within.get(&[]).await, Err(StoreError::Unavailable(_))));
        order(&mut transaction).await;
        if commits {
            transaction.commit().await.unwrap();
        } else {
            transaction.rollback().await.unwrap();
        }
        let there = store.get(std::slice::from_ref(&key)).await.unwrap()[0].is_some();
        assert_eq!(there, commits);
        let orders = sqlx::query("select count(*) from host_orders");
        let orders: i64 = orders.fetch_one(&mut own).await.unwrap().get(0);
        assert_eq!(orders, if commits { 2 } else { 0 });
    }
}

#[tokio::test]
async fn a_call_that_is_not_awaited_to_its_end_takes_the_transaction_along() {
    let home = Home::new();
    let store = home.open().await;
    let mut own = home.connection().await;
    sqlx::raw_sql("create table host_orders (name text)").execute(&mut own).await.unwrap();
    let pool = PgPoolOptions::new().max_connections(1).connect(&url()).await.unwrap();
    let mut random = Random::new(5);
    let scope: Scope = random.scope();
    let (mut lost, mut kept) = (0, 0);
    for round in 0..200 {
        let customer = fixtures::customer(&mut random, scope);
        let mut transaction = pool.begin().await.unwrap();
        let path = format!("set local search_path = \"{}\"", home.schema);
        sqlx::raw_sql(sqlx::AssertSqlSafe(path)).execute(&mut *transaction).await.unwrap();
        order(&mut transaction).await;
        let within = store.within(transaction);
        let commit = within.commit(vec![insert(&customer)]);
        let is_done = polled(commit, round % 50 + 1).await.is_some();
        let left = within.take().await;
        assert_eq!(left.is_some(), is_done);
        if let Some(mut transaction) = left {
            order(&mut transaction).await;
            transaction.commit().await.unwrap();
            kept += 1;
        } else {
            lost += 1;
        }
        let found = store.get(&[Key::Customer(scope, customer.id)]).await.unwrap();
        assert_eq!(found[0].is_some(), is_done);
        let orders = sqlx::query("select count(*) from host_orders");
        let orders: i64 = orders.fetch_one(&mut own).await.unwrap().get(0);
        assert_eq!(orders, kept * 2, "of a transaction both or none");
    }
    assert!(lost > 0 && kept > 0, "{lost} lost, {kept} kept");
}

#[tokio::test]
async fn a_use_case_that_is_not_awaited_to_its_end_leaves_nothing_in_the_hosts_transaction() {
    let home = Home::new();
    let store = home.open().await;
    let pool = PgPoolOptions::new().max_connections(1).connect(&url()).await.unwrap();
    let engine = Engine::builder(Arc::new(home.open().await)).build().unwrap();
    let account = engine.create_account().await.unwrap().id;
    let me = Caller::secret(Scope { account, environment: Environment::Sandbox });
    let ask = Fund { amount: Amount::new(100), currency: "XOF".parse().unwrap() };
    let (mut lost, mut funded) = (0, 0);
    for round in 0..200 {
        let within = Arc::new(store.within(pool.begin().await.unwrap()));
        let call = Call::by(me);
        let inner = engine.within(within.clone());
        let is_done = polled(inner.fund(&call, ask), round % 50 + 1).await.is_some();
        // What is left of it somewhere, if anything is, has its time.
        engine.accounts().await.unwrap();
        let left = within.take().await;
        assert!(left.is_some() || !is_done);
        match left {
            Some(transaction) => transaction.commit().await.unwrap(),
            None => lost += 1,
        }
        funded += i64::from(is_done);
        let balance = engine.balance(&me, None).await.unwrap().available;
        let balance = balance.first().map_or(0, |it| it.amount.units());
        assert_eq!(balance, funded * 100, "only what the host heard of");
    }
    assert!(lost > 0 && funded > 0, "{lost} lost, {funded} funded");
}
