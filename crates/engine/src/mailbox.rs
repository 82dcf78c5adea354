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

/// How much may wait, from its commit until it is begun, before new work is left to whoever claims
/// it.
const ROOM: usize = 8_192;

/// Something that this process made and goes on with at once, and the trace that it is part of.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) what: Made,
    pub(crate) trace: Option<TraceContext>,
    pub(crate) place: Place,
}

/// A place among what waits to be begun, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl Place {
    fn taken(waiting: &Arc<AtomicUsize>) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(waiting))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What was made.
#[derive(Debug)]
pub(crate) enum Made {
    Payment(Versioned<Payment>),
    Payout(Versioned<Payout>),
    Refund(Versioned<Refund>),
    Delivery(Versioned<Delivery>, Arc<Event>),
}

impl Made {
    /// The record that was made.
    pub(crate) fn into_record(self) -> Versioned<Record> {
        match self {
            Self::Payment(it) => it.map(Record::from),
            Self::Payout(it) => it.map(Record::from),
            Self::Refund(it) => it.map(Record::from),
            Self::Delivery(it, _) => it.map(Record::from),
        }
    }
}

/// Where commits put what they hold, while a worker listens.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    sender: Mutex<Option<mpsc::UnboundedSender<Held>>>,
    waiting: Arc<AtomicUsize>,
}

/// The worker's end.
#[derive(Debug)]
pub(crate) struct Inbox(mpsc::UnboundedReceiver<Held>);

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
        Inbox(receiver)
    }

    /// Closes the mailbox, unless somebody else listens by now: from now on nothing is held.
    pub(crate) fn close(&self, inbox: &mut Inbox) {
        inbox.0.close();
        self.lock().take_if(|sender| sender.is_closed());
    }

    /// Hands something to the worker; answers with it when none listens any more.
    fn send(&self, what: Made, trace: Option<TraceContext>) -> Option<Made> {
        let held = Held { what, trace, place: Place::taken(&self.waiting) };
        match self.lock().as_ref() {
            Some(sender) => sender.send(held).err().map(|error| error.0.what),
            None => Some(held.what),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<mpsc::UnboundedSender<Held>>> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inbox {
    pub(crate) async fn next(&mut self) -> Option<Held> {
        self.0.recv().await
    }

    pub(crate) fn try_next(&mut self) -> Option<Held> {
        self.0.try_recv().ok()
    }
}

impl Engine {
    /// Gives the worker of this process what a commit inserted for it. One that has just stopped
    /// leaves it to the others.
    pub(crate) fn hand_over(
        &self,
        changes: &Changeset,
        held_until: Option<Timestamp>,
        trace: Option<&TraceContext>,
    ) {
        let Some(until) = held_until else { return };
        let mut events: Vec<Arc<Event>> = Vec::new();
        let mut left = Vec::new();
        for write in changes.writes() {
            let Write::Insert { record, due_at } = write else { continue };
            if let Record::Event(event) = record {
                events.push(Arc::clone(event));
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
            left.extend(self.0.mailbox.send(what, trace.cloned()));
        }
        if !left.is_empty() {
            let engine = self.clone();
            tokio::spawn(async move { engine.give_back(left).await });
        }
    }

    /// Makes due at once what nobody here goes on with.
    async fn give_back(&self, left: Vec<Made>) {
        let now = self.now();
        let release = |made: Made| {
            let mut changes = Changeset::new();
            changes.release(made.into_record(), now);
            changes
        };
        let count = left.len();
        if let Err(error) = self.0.store.commit(left.into_iter().map(release).collect()).await {
            tracing::warn!(%error, count, "what was made could not be given back; its hold ends");
        } else if let Some(bell) = &self.0.bell {
            bell.ring().await;
        }
    }
}

fn born<T: Clone>(value: &T, until: Timestamp) -> Versioned<T> {
    Versioned { value: value.clone(), version: 1, due_at: Some(until) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_listened_before_does_not_close_what_another_has_opened() {
        let mailbox = Mailbox::default();
        let (mut old, mut new) = (mailbox.open(), mailbox.open());
        mailbox.close(&mut old);
        assert!(mailbox.hold(Timestamp::EPOCH).is_some());
        mailbox.close(&mut new);
        assert!(mailbox.hold(Timestamp::EPOCH).is_none());
    }
}
