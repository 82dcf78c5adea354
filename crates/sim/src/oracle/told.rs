//! What is told of a commit: its events, and the lines of the payments' timelines.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
};

use cauri::{
    Actor, Amount, Changeset, Currency, Event, EventId, EventKind, Key, Record, Scope,
    TimelineEntry, TimelineKind, Write,
};
use serde_json::Value;

use super::{Oracle, money, tables};

/// An event of a changeset, with what it says.
pub(super) struct Told<'a> {
    pub(super) event: &'a Event,
    pub(super) kind: EventKind,
    pub(super) test: bool,
    pub(super) object: String,
    pub(super) status: String,
    /// Where its machine stood before, once its transition is found.
    pub(super) from: Cell<Option<&'static str>>,
    said: Value,
}

impl Told<'_> {
    /// A field of the object that it shows.
    fn field(&self, name: &str) -> &Value {
        &self.said["data"]["object"][name]
    }

    fn shows(&self, name: &str, amount: i64) -> bool {
        self.field(name).as_i64() == Some(amount)
    }
}

pub(super) fn events(changes: &Changeset) -> Vec<Told<'_>> {
    let mut told = Vec::new();
    for write in changes.writes() {
        let Write::Insert { record: Record::Event(event), .. } = write else { continue };
        let said: Value = serde_json::from_str(&event.payload).unwrap_or_default();
        let field = |name| said["data"]["object"][name].as_str().unwrap_or_default().to_owned();
        told.push(Told {
            event,
            kind: event.kind,
            test: event.test,
            object: field("id"),
            status: field("status"),
            from: Cell::new(None),
            said,
        });
    }
    told
}

/// What an object has of money, by the names that the contract gives it.
type Sums = (Scope, Currency, Vec<(&'static str, Amount)>);

fn sums(record: &Record) -> Option<(String, Sums)> {
    let net = |amount: Amount, fee: Amount| Amount::new(amount.units() - fee.units());
    Some(match record {
        Record::Payment(it) => {
            let net = net(it.amount, it.fee_amount);
            let sums =
                vec![("amount", it.amount), ("fee_amount", it.fee_amount), ("net_amount", net)];
            (money::name(it.id), (it.scope, it.currency, sums))
        }
        Record::Payout(it) => {
            let total = Amount::new(it.amount.units() + it.fee_amount.units());
            let sums =
                vec![("amount", it.amount), ("fee_amount", it.fee_amount), ("total_amount", total)];
            (money::name(it.id), (it.scope, it.currency, sums))
        }
        Record::Refund(it) => {
            let fee = it.fee_returned_amount;
            let net = net(it.amount, fee);
            let sums =
                vec![("amount", it.amount), ("fee_returned_amount", fee), ("net_amount", net)];
            (money::name(it.id), (it.scope, it.currency, sums))
        }
        _ => return None,
    })
}

impl Oracle {
    /// Each event shows its object's money as it is written down, and has its line where it is of a
    /// payment's timeline.
    pub(super) fn told(&mut self, changes: &Changeset, events: &[Told<'_>]) {
        let written: Vec<&Record> = changes
            .writes()
            .iter()
            .filter_map(|write| match write {
                Write::Insert { record, .. } | Write::Update { record, .. } => Some(record),
                Write::Remove { .. } => None,
            })
            .collect();
        let objects: BTreeMap<String, Sums> = written.iter().filter_map(|it| sums(it)).collect();
        let lines: Vec<&TimelineEntry> = written
            .iter()
            .filter_map(|record| match record {
                Record::TimelineEntry(line) => Some(&**line),
                _ => None,
            })
            .collect();
        for event in events.iter().filter(|event| !event.test) {
            self.shows_its_object(event, &objects);
            self.has_its_line(event, &lines);
        }
        self.shows_the_refunded(&written, events);
        let known: BTreeSet<EventId> = events.iter().map(|it| it.event.id).collect();
        for line in lines {
            self.names_its_event(line, &known);
            self.expires_in_time(line);
        }
    }

    fn shows_its_object(&mut self, event: &Told<'_>, objects: &BTreeMap<String, Sums>) {
        let Some((scope, currency, sums)) = objects.get(&event.object) else { return };
        let same = event.event.scope == *scope
            && event.field("currency").as_str() == Some(currency.to_string().as_str())
            && sums.iter().all(|(name, amount)| event.shows(name, amount.units()));
        if !same {
            let text = format!("{} shows {}, not {sums:?}", event.kind, event.said);
            self.find("an event shows the money of its object", text);
        }
    }

    /// The last event of a payment knows what is refunded of it.
    fn shows_the_refunded(&mut self, written: &[&Record], events: &[Told<'_>]) {
        for record in written {
            let Record::Payment(it) = record else { continue };
            let name = money::name(it.id);
            let last = events.iter().rfind(|event| event.object == name && !event.test);
            let refunded = it.refunded_amount.units();
            if last.is_some_and(|event| !event.shows("refunded_amount", refunded)) {
                let text = format!("{name}: {refunded} are refunded");
                self.find("an event shows the money of its object", text);
            }
        }
    }

    /// One line for each transition that is a payment's or a refund's, of its kind, with its state.
    fn has_its_line(&mut self, event: &Told<'_>, lines: &[&TimelineEntry]) {
        let late = event.from.get() == Some("expired");
        let Some(kind) = tables::line(event.kind.as_str(), late) else { return };
        let of_it: Vec<_> =
            lines.iter().filter(|line| line.event == Some(event.event.id)).collect();
        let right = match of_it.as_slice() {
            [line] => {
                let refund = line.refund.map(money::name);
                let is_refund = event.kind.as_str().starts_with("refund.");
                let object = if is_refund { refund } else { Some(money::name(line.payment)) };
                let status = is_refund || line.status.as_str() == event.status;
                line.kind.as_str() == kind && object.as_deref() == Some(&event.object) && status
            }
            _ => false,
        };
        if !right {
            let text = format!("{} of {}: {of_it:?}", event.kind, event.object);
            self.find("each transition has one line, which names its event", text);
        }
    }

    fn names_its_event(&mut self, line: &TimelineEntry, known: &BTreeSet<EventId>) {
        let silent =
            matches!(line.kind, TimelineKind::NetworkReportIgnored | TimelineKind::Settled);
        if line.event.is_some_and(|id| known.contains(&id)) == silent {
            let text = format!("{} of {}: {:?}", line.kind, line.payment, line.event);
            self.find("each transition has one line, which names its event", text);
        }
    }

    /// Only a network may say that it is over before its time.
    fn expires_in_time(&mut self, line: &TimelineEntry) {
        if line.kind != TimelineKind::Expired || line.actor != Actor::System {
            return;
        }
        let key = Key::Payment(line.scope, line.payment);
        let Some(Record::Payment(it)) = self.record(&key) else { return };
        if it.expired_at.is_none_or(|at| at < it.expires_at) {
            let text = format!("{} at {:?}, not {}", it.id, it.expired_at, it.expires_at);
            self.find("time ends no payment before its time", text);
        }
    }
}
