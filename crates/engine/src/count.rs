//! What a commit means to whoever counts.

use cauri_core::{Changeset, EventKind, FailureCode, Record, Write};

use crate::{engine::Engine, port::meter::Measured};

impl Engine {
    /// Tells the meter of every event in what was just accepted.
    pub(crate) fn count(&self, changes: &Changeset) {
        let Some(meter) = &self.0.meter else { return };
        for record in changes.writes().iter().filter_map(record) {
            let Record::Event(event) = record else { continue };
            if event.test {
                continue;
            }
            let failure = failure(event.kind, changes);
            let environment = event.scope.environment;
            meter.measured(&Measured::Told { kind: event.kind, environment, failure });
        }
    }
}

/// Why the order failed that an event of this kind, in these changes, is about. No two of one kind
/// fail in one commit.
fn failure(kind: EventKind, changes: &Changeset) -> Option<FailureCode> {
    changes.writes().iter().filter_map(record).find_map(|record| match (kind, record) {
        (EventKind::PaymentFailed, Record::Payment(it)) => it.failure,
        (EventKind::PayoutFailed, Record::Payout(it)) => it.failure,
        (EventKind::RefundFailed, Record::Refund(it)) => it.failure,
        _ => None,
    })
}

const fn record(write: &Write) -> Option<&Record> {
    match write {
        Write::Insert { record, .. } | Write::Update { record, .. } => Some(record),
        Write::Remove { .. } => None,
    }
}
