//! The way from a commit to the worker of the same process, without a detour through the store.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use cauri_core::{
    Changeset, Delivery, Event, Payment, Payout, Record, Refund, Timestamp, TraceContext,
    Versioned, Write,
};
use tokio::sync::mpsc;

use crate::engine::Engine;

/// For how long a record inserted for its maker is kept from everybody else, in milliseconds.
pub(crate) const HELD_MS: i64 = 20_000;

/// How much may lie in the mailbox before new work is left to whoever claims it.
const ROOM: usize = 8_192;

/// Something that this process made and goes on with at once, and the trace that it is part of.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) what: Made,
    pub(crate) trace: Option<TraceContext>,
}

/// What was made.
#[derive(Debug)]
pub(crate) enum Made {
    Payment(Versioned<Payment>),
    Payout(Versioned<Payout>),
    Refund(Versioned<Refund>),
    Delivery(Versioned<Delivery>, Arc<Event>),
}

/// Where commits put what they hold, while a worker listens.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    sender: Mutex<Option<mpsc::UnboundedSender<Held>>>,
    waiting: Arc<AtomicUsize>,
}

/// The worker's end.
#[derive(Debug)]
pub(crate) struct Inbox {
    receiver: mpsc::UnboundedReceiver<Held>,
    waiting: Arc<AtomicUsize>,
}

impl Mailbox {
    /// Until when a new record may be held; `None` when nobody listens, or too much waits already.
    pub(crate) fn hold(&self, now: Timestamp) -> Option<Timestamp> {
        let open = self.lock().as_ref().is_some_and(|sender| !sender.is_closed());
        (open && self.waiting.load(Ordering::Relaxed) < ROOM).then(|| now.plus_millis(HELD_MS))
    }

    /// Opens the mailbox; whoever listened before hears nothing more.
    pub(crate) fn open(&self) -> Inbox {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.lock() = Some(sender);
        Inbox { receiver, waiting: Arc::clone(&self.waiting) }
    }

    /// Closes the mailbox: from now on nothing is held.
    pub(crate) fn close(&self) {
        *self.lock() = None;
    }

    fn send(&self, held: Held) {
        if let Some(sender) = self.lock().as_ref() {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            // A worker that just went leaves it to whoever claims it when the hold ends.
            let _ = sender.send(held);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<mpsc::UnboundedSender<Held>>> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inbox {
    pub(crate) async fn next(&mut self) -> Option<Held> {
        let held = self.receiver.recv().await;
        if held.is_some() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        held
    }

    pub(crate) fn try_next(&mut self) -> Option<Held> {
        let held = self.receiver.try_recv().ok()?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(held)
    }
}

impl Engine {
    /// Gives the worker of this process what a commit inserted for it.
    pub(crate) fn hand_over(
        &self,
        changes: &Changeset,
        held_until: Option<Timestamp>,
        trace: Option<&TraceContext>,
    ) {
        let Some(until) = held_until else { return };
        let mut events: Vec<Arc<Event>> = Vec::new();
        for write in changes.writes() {
            let Write::Insert { record, due_at } = write else { continue };
            if let Record::Event(event) = record {
                events.push(Arc::new(Event::clone(event)));
            }
            if *due_at != Some(until) {
                continue;
            }
            let what = match record {
                Record::Payment(it) => Made::Payment(born(it, until)),
                Record::Payout(it) => Made::Payout(born(it, until)),
                Record::Refund(it) => Made::Refund(born(it, until)),
                Record::Delivery(it) => {
                    let Some(event) = events.iter().find(|event| event.id == it.event) else {
                        continue;
                    };
                    Made::Delivery(born(it, until), Arc::clone(event))
                }
                _ => continue,
            };
            self.0.mailbox.send(Held { what, trace: trace.cloned() });
        }
    }
}

fn born<T: Clone>(value: &T, until: Timestamp) -> Versioned<T> {
    Versioned { value: value.clone(), version: 1, due_at: Some(until) }
}
