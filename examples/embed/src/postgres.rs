//! The shop on Postgres.

use std::sync::Arc;

use cauri::{Caller, Engine, EngineBuilder, Grouped};
use cauri_postgres::{PostgresOptions, PostgresStore};
use sqlx::{PgPool, Postgres};

use crate::shop::{Failure, Order, Placed, Shop, pay};

/// A shop whose tables and cauri's are in one database.
#[derive(Debug)]
pub struct PostgresShop {
    pool: PgPool,
    store: Arc<Grouped<PostgresStore>>,
    engine: Engine,
}

impl PostgresShop {
    /// Opens the database of the shop's own pool, with cauri's tables in a schema of their own and the
    /// shop's where its `search_path` says; `set_up` gives the engine what it needs beside its
    /// store.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses.
    pub async fn open(
        pool: PgPool,
        options: PostgresOptions,
        set_up: impl FnOnce(EngineBuilder) -> EngineBuilder,
    ) -> Result<Self, Failure> {
        let store = Arc::new(Grouped::new(PostgresStore::new(&pool, options).await?));
        let engine = set_up(Engine::builder(store.clone())).build()?;
        sqlx::query(
            "create table if not exists orders (\
             number bigint primary key, price bigint not null, payment text not null)",
        )
        .execute(&pool)
        .await?;
        Ok(Self { pool, store, engine })
    }
}

impl Shop for PostgresShop {
    type Database = Postgres;

    fn engine(&self) -> &Engine {
        &self.engine
    }

    async fn place(&self, caller: Caller, order: &Order) -> Result<Placed<Postgres>, Failure> {
        let within = Arc::new(self.store.inner().within(self.pool.begin().await?));
        let payment = pay(&self.engine.within(within.clone()), caller, order).await?;
        let mut transaction = within.take().await.ok_or("nobody else takes it")?;
        sqlx::query("insert into orders (number, price, payment) values ($1, $2, $3)")
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
