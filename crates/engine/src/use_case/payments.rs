//! Payments (API §9).

use cauri_core::{
    Error as Refused, Key, List as Listing, Order, Payment, PaymentId, Query, TimelineEntry,
    decide::payment::{self, Case, Related},
    wire::{self, CancelPayment, CreatePayment, List},
};

use crate::{
    call::{Call, Caller, Reply},
    engine::Engine,
    error::Error,
    run::Shape,
    store_ext::StoreExt,
    worker::order::NETWORK_TIMEOUT,
};

/// How often a cancellation follows a payment from state to state.
const CANCEL_MAX: usize = 4;

impl Engine {
    /// `POST /v1/payments`: creates a payment.
    ///
    /// # Errors
    /// What API §9.2 names, or [`Error::Store`].
    pub async fn create_payment(
        &self,
        call: &Call,
        ask: CreatePayment,
    ) -> Result<Reply<wire::Payment>, Error> {
        call.caller.may_write()?;
        let scope = call.caller.scope;
        let mut keys = Vec::new();
        let customer_at = ask.customer.map(|id| {
            keys.push(Key::Customer(scope, id));
            keys.len().saturating_sub(1)
        });
        let link_at = ask.payment_link.map(|id| {
            keys.push(Key::PaymentLink(scope, id));
            keys.len().saturating_sub(1)
        });
        let shape = Shape::created("create_payment", |it: &wire::Payment| {
            format!("/v1/payments/{}", it.id)
        });
        self.run(call, shape, keys, |mut loaded, cx| {
            let related = Related {
                customer: customer_at.map(|at| loaded.take(at).map(|it| it.value)),
                link: link_at.map(|at| loaded.take(at)),
            };
            payment::create(ask.clone(), related, cx)
        })
        .await
    }

    /// `GET /v1/payments/:id`.
    ///
    /// # Errors
    /// [`Refused::NotFound`], or [`Error::Store`].
    pub async fn payment(&self, caller: &Caller, id: PaymentId) -> Result<wire::Payment, Error> {
        let key = Key::Payment(caller.scope, id);
        self.shown(caller, key, "payment", "payment", wire::Payment::of).await
    }

    /// `GET /v1/payments`, and any list of payments.
    ///
    /// # Errors
    /// [`Error::OtherList`], or [`Error::Store`].
    pub async fn payments(
        &self,
        caller: &Caller,
        query: &Query,
    ) -> Result<List<wire::Payment>, Error> {
        let of = Listing::Payments(caller.scope);
        self.listed(caller, "payments", of, query, wire::Payment::of).await
    }

    /// `GET /v1/payments/:id/timeline`. The query is one of `wire::query::timeline`.
    ///
    /// # Errors
    /// [`Refused::NotFound`], [`Error::OtherList`], or [`Error::Store`].
    pub async fn payment_timeline(
        &self,
        caller: &Caller,
        id: PaymentId,
        query: &Query,
    ) -> Result<List<wire::TimelineEntry>, Error> {
        self.existing_payment(caller, id).await?;
        let of = Listing::Timeline(caller.scope, id);
        self.listed(caller, "payment_timeline", of, query, |it: &TimelineEntry| {
            wire::TimelineEntry::of(it)
        })
        .await
    }

    /// `POST /v1/payments/:id/cancel`: asks the network first where it has the payment already.
    ///
    /// # Errors
    /// [`Refused::NotFound`], [`Refused::PaymentNotCancellable`], or [`Error::Store`].
    pub async fn cancel_payment(
        &self,
        call: &Call,
        id: PaymentId,
        ask: CancelPayment,
    ) -> Result<Reply<wire::Payment>, Error> {
        call.caller.may_write()?;
        let mut found = self.existing_payment(&call.caller, id).await?;
        for _ in 0..CANCEL_MAX {
            let confirmed = self.called_off(call, &found).await?;
            let cancelled = self.cancel_as(call, &found, &ask, confirmed).await;
            let Err(Error::Refused(Refused::PaymentNotCancellable(status))) = cancelled else {
                return cancelled;
            };
            let now = self.existing_payment(&call.caller, id).await?;
            // Refused only because the network accepted it meanwhile? Then the network is asked.
            if status == found.status || now.status != status {
                return cancelled;
            }
            found = now;
        }
        Err(Error::Contended)
    }

    /// Does the network call off a payment that it has? Not asked on behalf of a repeat, whose
    /// answer is known.
    async fn called_off(&self, call: &Call, found: &Payment) -> Result<bool, Error> {
        let catalogue = &self.0.terms.offers(found.scope.environment).catalogue;
        if !payment::is_cancellable_by_network(found, catalogue)
            || self.replayed(call).await?.is_some()
        {
            return Ok(false);
        }
        let mut order = Order::payment(found);
        order.trace = call.trace.clone();
        let rail = self.rail(&order);
        let asked = rail.cancel(self.now());
        Ok(tokio::time::timeout(NETWORK_TIMEOUT, asked).await.unwrap_or(false))
    }

    async fn cancel_as(
        &self,
        call: &Call,
        found: &Payment,
        ask: &CancelPayment,
        confirmed: bool,
    ) -> Result<Reply<wire::Payment>, Error> {
        self.run(call, Shape::done("cancel_payment"), keys_of(found), |mut loaded, cx| {
            let payment = loaded.take::<Payment>(0).ok_or(Refused::NotFound("payment"))?;
            // Only what was confirmed for this very state counts.
            let confirmed = confirmed && payment.value.status == found.status;
            let case = Case { payment, link: loaded.take(1) };
            payment::cancel(case, ask.reason.clone(), confirmed, cx)
        })
        .await
    }

    pub(super) async fn existing_payment(
        &self,
        caller: &Caller,
        id: PaymentId,
    ) -> Result<Payment, Error> {
        let found = self.0.store.find::<Payment>(Key::Payment(caller.scope, id)).await?;
        Ok(found.ok_or(Refused::NotFound("payment"))?.value)
    }
}

/// A payment and its link, which change together.
pub(crate) fn keys_of(payment: &Payment) -> Vec<Key> {
    let link = payment.payment_link.map(|id| Key::PaymentLink(payment.scope, id));
    std::iter::once(Key::Payment(payment.scope, payment.id)).chain(link).collect()
}
