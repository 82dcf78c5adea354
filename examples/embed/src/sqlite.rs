//! The shop on SQLite.

use std::{path::Path, sync::Arc};

use cauri::{Caller, Engine, EngineBuilder, Grouped};
use cauri_sqlite::{SqliteOptions, SqliteTransaction};
use sqlx::{Sqlite, SqlitePool, sqlite::SqliteConnectOptions};

use crate::shop::{Failure, Order, Placed, Shop, pay};

/// A shop whose tables and cauri's are in one file.
#[derive(Debug)]
pub struct SqliteShop {
    pool: SqlitePool,
    engine: Engine,
}

impl SqliteShop {
    /// Opens the file, with cauri's tables and the shop's own; `set_up` gives the engine what it
    /// needs beside its store.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub async fn open(
        file: &Path,
        set_up: impl FnOnce(EngineBuilder) -> EngineBuilder,
    ) -> Result<Self, Failure> {
        let store = Grouped::new(SqliteOptions::file(file).open().await?);
        let engine = set_up(Engine::builder(Arc::new(store))).build()?;
        let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(file)).await?;
        sqlx::query(
            "create table if not exists orders (\
             number integer primary key, price integer not null, payment text not null)",
        )
        .execute(&pool)
        .await?;
        Ok(Self { pool, engine })
    }
}

impl Shop for SqliteShop {
    type Database = Sqlite;

    fn engine(&self) -> &Engine {
        &self.engine
    }

    async fn place(&self, caller: Caller, order: &Order) -> Result<Placed<Sqlite>, Failure> {
        // SQLite has one writer: who asks for the lock at once waits for it, who asks later may be
        // refused it.
        let transaction = self.pool.begin_with("begin immediate").await?;
        let within = Arc::new(SqliteTransaction::new(transaction));
        let payment = pay(&self.engine.within(within.clone()), caller, order).await?;
        let mut transaction = within.take().await.ok_or("nobody else takes it")?;
        sqlx::query("insert into orders (number, price, payment) values (?, ?, ?)")
            .bind(order.number)
            .bind(order.price.units())
            .bind(payment.id.to_string())
            .execute(&mut *transaction)
            .await?;
        Ok(Placed { transaction, payment })
    }

    async fn orders(&self) -> Result<Vec<(i64, String)>, Failure> {
        let orders = sqlx::query_as("select number, payment from orders order by number");
        Ok(orders.fetch_all(&self.pool).await?)
    }
}
