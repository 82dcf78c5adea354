//! To whom events go, and how each delivery is attempted.

use std::collections::BTreeMap;

use cauri::{AttemptError, Changeset, Delivery, DeliveryStatus, EndpointId, Key, Record, Write};

use super::{Oracle, money, tables, told::Told};

/// For how long after a change of an endpoint an event may still go by what was before, in
/// milliseconds: a command that was under way has read who listens before it.
const LISTENERS_MS: u64 = 150_000;

/// For how long after an endpoint is switched off or deleted an attempt may still go to it, in
/// milliseconds: whoever holds the delivery has read it before, and clocks step.
const GONE_MS: u64 = 60_000;

impl Oracle {
    /// Who listens gets the event, once, and nobody else.
    pub(super) fn fan_out(&mut self, at: u64, changes: &Changeset, event: &Told<'_>) {
        let mut sent = BTreeMap::<EndpointId, u64>::new();
        for write in changes.writes() {
            if let Write::Insert { record: Record::Delivery(it), .. } = write
                && it.event == event.event.id
            {
                *sent.entry(it.endpoint).or_default() += 1;
            }
        }
        if let Some((endpoint, count)) = sent.iter().find(|(_, count)| **count > 1) {
            self.find("each event goes to each endpoint once", format!("{endpoint}: {count}"));
        }
        if event.test {
            return;
        }
        let (mut missing, mut needless) = (Vec::new(), Vec::new());
        for (id, changed) in &self.endpoints {
            let Some(Record::WebhookEndpoint(it)) =
                self.record(&Key::WebhookEndpoint(event.event.scope, *id))
            else {
                continue;
            };
            let listens = it.active && it.deleted_at.is_none() && it.events.wants(event.kind);
            if listens == sent.contains_key(id) || at.saturating_sub(*changed) < LISTENERS_MS {
                continue;
            }
            if listens { missing.push(*id) } else { needless.push(*id) }
        }
        if !missing.is_empty() || !needless.is_empty() {
            let text = format!(
                "{} of {}: not to {missing:?}, needlessly to {needless:?}",
                event.kind, event.object
            );
            self.find("each event goes to each endpoint that listens", text);
        }
    }

    /// An attempt is about to be made.
    pub(crate) fn attempted(&mut self, at: u64, name: &str, number: usize) {
        let delivery = self.deliveries.get(name).and_then(|key| self.record(key));
        let Some(Record::Delivery(it)) = delivery else {
            self.find("only what was committed is sent", name);
            return;
        };
        // Whoever lost its lease may make one that was made before.
        let next = it.attempts.len() + 1;
        let (scope, endpoint) = (it.scope, it.endpoint);
        if number > next {
            let text = format!("{name} is at {number}, and has {} attempts", next - 1);
            self.find("attempts are counted up", text);
        }
        let Some(Record::WebhookEndpoint(it)) = self.record(&Key::WebhookEndpoint(scope, endpoint))
        else {
            return;
        };
        let receives = it.active && it.deleted_at.is_none();
        let changed = self.endpoints.get(&endpoint).copied().unwrap_or_default();
        if !receives && at.saturating_sub(changed) > GONE_MS {
            let text = format!("{name} to {endpoint}, {} ms later", at.saturating_sub(changed));
            self.find("nothing goes to an endpoint that is gone", text);
        }
    }

    pub(super) fn delivery(
        &mut self,
        node: u64,
        old: Option<&Delivery>,
        new: &Delivery,
        due_at: Option<cauri::Timestamp>,
    ) {
        const WAITS_MS: [i64; 5] = [5_000, 30_000, 300_000, 1_800_000, 7_200_000];
        let name = money::name(new.id);
        let from = old.map_or("", |it| it.status.as_str());
        let to = new.status.as_str();
        // What is given back unchanged, or only held, has taken no step.
        let stepped = old.is_none_or(|old| {
            old.attempts != new.attempts || old.status != new.status || old.ended_by != new.ended_by
        });
        if !stepped {
            return;
        }
        let row = tables::DELIVERY.iter().find(|row| row.1 == from && row.2 == to).copied();
        match row {
            Some(row) => *self.coverage.entry(row).or_default() += 1,
            None => self.find(
                "no state outside the tables",
                format!("{name} goes from {from:?} to {to:?}"),
            ),
        }
        self.told
            .push(format!("node {node}: {name} {from} → {to}, {} attempts", new.attempts.len()));
        let Some(old) = old else {
            self.deliveries.insert(name, Key::Delivery(new.scope, new.id));
            return;
        };
        let gained = new.attempts.len().saturating_sub(old.attempts.len());
        if !new.attempts.starts_with(&old.attempts) || gained > 1 || new.attempts.len() > 6 {
            self.find("attempts are only added, one at a time", name.clone());
        }
        let last = new.attempts.last();
        if last.is_some_and(|it| usize::from(it.number) != new.attempts.len()) {
            self.find("attempts are numbered", name.clone());
        }
        let received =
            last.is_some_and(|it| it.http_status.is_some_and(|it| (200..300).contains(&it)));
        let gone = matches!(
            new.ended_by,
            Some(AttemptError::EndpointDeleted | AttemptError::EndpointInactive)
        );
        let right = match new.status {
            DeliveryStatus::Succeeded => gained == 1 && received,
            DeliveryStatus::Failed => gone || (new.attempts.len() == 6 && !received),
            DeliveryStatus::Pending => gained == 1 && !received,
        };
        if !right {
            let text = format!("{name} is {to} after {} attempts", new.attempts.len());
            self.find("a delivery ends when it is received, or after six attempts", text);
        }
        if new.status == DeliveryStatus::Pending {
            let wait = new.attempts.len().checked_sub(1).and_then(|at| WAITS_MS.get(at));
            let next = last.zip(wait).map(|(last, wait)| last.ended_at().plus_millis(*wait));
            if next != new.next_attempt_at || next != due_at {
                let text =
                    format!("{name}: {:?}, due {due_at:?}, not {next:?}", new.next_attempt_at);
                self.find("attempts follow the schedule", text);
            }
        } else if due_at.is_some() {
            self.find("what has ended is not due", name);
        }
    }
}
