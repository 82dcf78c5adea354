//! A decision in the making: what every use case needs to write down what it decided.

use serde::Serialize;

use super::terms::Terms;
use crate::{
    commit::{
        changeset::{Changeset, Write},
        record::{Record, Versioned},
    },
    error::Error,
    model::{
        delivery::{Delivery, DeliveryStatus},
        event::{Event, EventKind},
        ledger::{EntryKind, LedgerAccountKind, Posting, PostingHead},
        payment::Payment,
        timeline::{Actor, TimelineEntry, TimelineKind},
        webhook_endpoint::Subscriptions,
    },
    value::{
        currency::Currency,
        env::Env,
        id::{EventId, OrderId, RefundId, TransactionId},
        money::Amount,
        scope::Scope,
        time::Timestamp,
    },
    wire,
};

pub(super) use crate::value::time::touched;

/// What every decision is handed.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "the engine and tests build it")]
pub struct Context<'a> {
    /// Whose command it is.
    pub scope: Scope,
    /// The terms of the installation.
    pub terms: &'a Terms,
    /// The time and chance of this command.
    pub env: &'a mut Env,
    /// Who listens to events of the scope.
    pub subscriptions: &'a Subscriptions,
    /// Until when the caller holds what the decision inserts with something to do; `None` when the
    /// caller does not go on with it, so that it is due at once.
    pub held_until: Option<Timestamp>,
}

impl Context<'_> {
    /// What a request is held against that was built instead of read.
    pub(super) fn form(&self) -> wire::Form<'_> {
        let environment = self.scope.environment;
        let catalogue = &self.terms.offers(environment).catalogue;
        wire::Form { environment, catalogue, now: self.env.now() }
    }
}

/// What was decided.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "the engine takes it apart")]
pub struct Decision<T> {
    /// What the command answers.
    pub value: T,
    /// What is to be committed.
    pub changes: Changeset,
    /// What to answer when a merchant account would fall below nothing.
    pub if_short: Option<Error>,
}

impl<T> Decision<T> {
    /// The same decision with another answer.
    ///
    /// ```
    /// use cauri_core::decide;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let decision = decide::payment_link::create(Shop::ask_link(5_000), &mut shop.context())?;
    /// let writes = decision.changes.writes().len();
    /// let decision = decision.map(|link| link.title.to_string());
    /// assert_eq!((decision.value.as_str(), decision.changes.writes().len()), ("Invoice 42", writes));
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Decision<U> {
        Decision { value: f(self.value), changes: self.changes, if_short: self.if_short }
    }

    /// The records that were inserted for their maker to go on with: those held until `until`.
    ///
    /// ```
    /// use cauri_core::{RecordKind, decide};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.endpoint();
    /// let until = shop.now().plus_seconds(20);
    /// let mut context = shop.context();
    /// context.held_until = Some(until); // whoever commits this goes on with the delivery at once
    /// let decision = decide::payment_link::create(Shop::ask_link(5_000), &mut context)?;
    /// let held: Vec<RecordKind> = decision.held(until).map(|it| it.value.kind()).collect();
    /// assert_eq!(held, [RecordKind::Delivery]);
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    pub fn held(&self, until: Timestamp) -> impl Iterator<Item = Versioned<&Record>> {
        self.changes.writes().iter().filter_map(move |write| match write {
            Write::Insert { record, due_at } if *due_at == Some(until) => {
                let version = record.first_version();
                Some(Versioned { value: record, version, due_at: *due_at })
            }
            Write::Insert { .. } | Write::Update { .. } | Write::Remove { .. } => None,
        })
    }
}

/// Collects what a decision writes.
#[derive(Debug)]
pub(super) struct Draft<'c, 'a> {
    pub(super) cx: &'c mut Context<'a>,
    pub(super) changes: Changeset,
}

impl<'c, 'a> Draft<'c, 'a> {
    pub(super) fn new(cx: &'c mut Context<'a>) -> Self {
        Self { cx, changes: Changeset::new() }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.cx.env.now()
    }

    /// Inserts something that has to be seen to: by the caller at once, or else by whoever claims
    /// it first.
    pub(super) fn insert_due(&mut self, record: impl Into<Record>, due_at: Option<Timestamp>) {
        let due_at = due_at.map(|due_at| self.cx.held_until.unwrap_or(due_at));
        self.changes.insert(record, due_at);
    }

    /// Inserts an order for a network: held by the caller like anything else that is due now, but
    /// left to whoever claims it when it is due later.
    pub(super) fn insert_order(&mut self, order: impl Into<Record>, due_at: Option<Timestamp>) {
        if due_at.is_some_and(|at| at > self.now()) {
            self.changes.insert(order, due_at);
        } else {
            self.insert_due(order, due_at);
        }
    }

    /// Tells an event to everyone who listens.
    pub(super) fn emit(
        &mut self,
        kind: EventKind,
        created: Timestamp,
        object: &impl Serialize,
    ) -> EventId {
        let id: EventId = self.cx.env.id();
        let scope = self.cx.scope;
        let payload = wire::event_payload(id, kind, created, scope, false, object);
        self.changes.insert(Event { id, scope, kind, created, payload, test: false }, None);
        let subscriptions = self.cx.subscriptions;
        for subscriber in subscriptions.of(kind) {
            let now = self.now();
            let delivery = Delivery {
                id: self.cx.env.id(),
                scope,
                endpoint: subscriber.id,
                event: id,
                event_kind: kind,
                url: subscriber.url.clone(),
                status: DeliveryStatus::Pending,
                attempts: Vec::new(),
                next_attempt_at: Some(now),
                ended_by: None,
                test: false,
                created_at: now,
                completed_at: None,
            };
            self.insert_due(delivery, Some(now));
        }
        id
    }

    /// Moves money within a ledger transaction of its own.
    pub(super) fn transaction(&mut self) -> TransactionId {
        self.cx.env.id()
    }

    /// Moves money from the debited to the credited account; nothing when it is nothing.
    pub(super) fn post(
        &mut self,
        why: Why,
        debit: LedgerAccountKind,
        credit: LedgerAccountKind,
        amount: Amount,
    ) {
        let Why { transaction, kind, source, currency } = why;
        let head = PostingHead { scope: self.cx.scope, transaction, kind, source, currency };
        self.changes.post(Posting::moving(head, debit, credit, amount, self.cx.env));
    }

    /// Adds a line to a payment's timeline, as it stands now.
    pub(super) fn tell(&mut self, payment: &mut Payment, line: Line<'_>) {
        payment.timeline_count = payment.timeline_count.saturating_add(1);
        self.changes.insert(
            TimelineEntry {
                scope: payment.scope,
                payment: payment.id,
                number: payment.timeline_count,
                kind: line.kind,
                status: payment.status,
                actor: line.actor,
                message: line.message.to_owned(),
                amount: line.refund.map(|(_, amount)| amount),
                refund: line.refund.map(|(id, _)| id),
                event: line.event,
                created_at: self.now(),
            },
            None,
        );
    }

    pub(super) fn decided<T>(self, value: T) -> Decision<T> {
        Decision { value, changes: self.changes, if_short: None }
    }
}

/// Why money moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Why {
    pub(super) transaction: TransactionId,
    pub(super) kind: EntryKind,
    pub(super) source: Option<OrderId>,
    pub(super) currency: Currency,
}

/// A line to be told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) kind: TimelineKind,
    pub(super) actor: Actor,
    pub(super) message: &'a str,
    pub(super) refund: Option<(RefundId, Amount)>,
    pub(super) event: Option<EventId>,
}

impl<'a> Line<'a> {
    pub(super) const fn new(kind: TimelineKind, actor: Actor, message: &'a str) -> Self {
        Self { kind, actor, message, refund: None, event: None }
    }

    pub(super) const fn event(mut self, event: EventId) -> Self {
        self.event = Some(event);
        self
    }

    pub(super) const fn refund(mut self, id: RefundId, amount: Amount) -> Self {
        self.refund = Some((id, amount));
        self
    }
}
