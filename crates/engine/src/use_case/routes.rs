//! Orders that are moved from one connection to another.

use cauri_core::{
    Connection, Error as Refused, Key, Order, OrderId, Payment, Payout, Scope, Versioned,
    decide::route::{self, Movable, Move},
};

use crate::{engine::Engine, error::Error, mailbox::HELD_MS};

impl Engine {
    /// Moves an order that its connection certainly has not taken on, and holds it for the caller to
    /// send. `None` when it is no longer at the version `asked`: then somebody else sees to it.
    ///
    /// The move is committed before anything is sent to the new connection, so that every node knows
    /// whom to ask, whatever becomes of this one.
    pub(crate) async fn reroute(
        &self,
        order: &Order,
        asked: u64,
        to: &Connection,
    ) -> Result<Option<Versioned<Order>>, Error> {
        let scope = order.scope;
        let moved = match order.id {
            OrderId::Payment(id) => {
                let moved = self.moved::<Payment>(scope, Key::Payment(scope, id), asked, to);
                moved.await?.map(|it| it.map(|payment| Order::payment(&payment)))
            }
            OrderId::Payout(id) => {
                let moved = self.moved::<Payout>(scope, Key::Payout(scope, id), asked, to);
                moved.await?.map(|it| it.map(|payout| Order::payout(&payout)))
            }
            // Only who has the money can give it back.
            OrderId::Refund(_) => None,
        };
        if moved.is_some() {
            tracing::info!(order = %order.id, from = %order.connection, %to, "takes another way");
        }
        Ok(moved)
    }

    async fn moved<T: Movable>(
        &self,
        scope: Scope,
        key: Key,
        asked: u64,
        to: &Connection,
    ) -> Result<Option<Versioned<T>>, Error> {
        self.transact("move_order", scope, vec![key], |mut loaded, cx| {
            let order = loaded.take::<T>(0).ok_or(Refused::NotFound("order"))?;
            let held_until = cx.env.now().plus_millis(HELD_MS);
            Ok(route::reroute(order, Move { to: to.clone(), asked, held_until }, cx))
        })
        .await
    }
}
