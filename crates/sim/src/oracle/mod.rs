//! Whoever looks on: sees every commit and every claim as it truly happened, keeps a store of its
//! own of what must be there by now, and says what is wrong the moment it is.
//!
//! Nothing of what is being watched is used to judge it: tables, fees and sums are written down
//! here a second time.

mod books;
mod delivery;
mod end;
mod money;
pub(crate) mod tables;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use cauri::{
    Changeset, Claim, EndpointId, Key, PaymentId, PaymentMethod, PaymentStatus, Record, Refusal,
    Scope, Verdict, Versioned, Write,
};

use self::{
    money::{Purse, Share},
    tables::Coverage,
    told::{Told, events},
};

type Found = Vec<(&'static str, String)>;

#[derive(Debug)]
pub(crate) struct Oracle {
    calm: bool,
    records: BTreeMap<Key, Versioned<Record>>,
    held: BTreeMap<Purse, Share>,
    due: BTreeMap<Purse, Share>,
    shares: BTreeMap<Key, (Purse, Share)>,
    refunds: BTreeMap<PaymentId, BTreeSet<Key>>,
    endpoints: BTreeMap<EndpointId, u64>,
    /// By the name that an attempt carries.
    deliveries: BTreeMap<String, Key>,
    card_settlement_ms: i64,
    /// Test money, by how much it was at once.
    funded: BTreeMap<(Scope, i64), u64>,
    coverage: Coverage,
    told: Vec<String>,
    found: Found,
}

impl Oracle {
    pub(crate) const fn new(calm: bool, card_settlement_ms: i64) -> Self {
        Self {
            calm,
            records: BTreeMap::new(),
            held: BTreeMap::new(),
            due: BTreeMap::new(),
            shares: BTreeMap::new(),
            refunds: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            deliveries: BTreeMap::new(),
            card_settlement_ms,
            funded: BTreeMap::new(),
            coverage: Coverage::new(),
            told: Vec::new(),
            found: Found::new(),
        }
    }

    pub(crate) fn said(&mut self) -> (Vec<String>, Found) {
        (std::mem::take(&mut self.told), std::mem::take(&mut self.found))
    }

    pub(crate) fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &Versioned<Record>> {
        self.records.values()
    }

    pub(crate) fn record(&self, key: &Key) -> Option<&Record> {
        self.records.get(key).map(|it| &it.value)
    }

    pub(crate) fn funded(&self, scope: Scope, amount: i64) -> u64 {
        self.funded.get(&(scope, amount)).copied().unwrap_or_default()
    }

    fn find(&mut self, law: &'static str, text: impl Into<String>) {
        self.found.push((law, text.into()));
    }

    /// A batch was judged by the store.
    pub(crate) fn committed(
        &mut self,
        at: u64,
        node: u64,
        batch: &[Changeset],
        verdicts: &[Verdict],
    ) {
        if batch.len() != verdicts.len() {
            self.find(
                "one verdict for each changeset",
                format!("{} of {}", verdicts.len(), batch.len()),
            );
        }
        for (changes, verdict) in batch.iter().zip(verdicts) {
            let stale = self.conflict(changes);
            let short = self.short(changes);
            match verdict {
                Ok(()) => {
                    if let Some(text) = stale {
                        self.find("no commit over what another wrote", text);
                    }
                    self.apply(at, node, changes);
                }
                Err(Refusal::Exists(_) | Refusal::Stale(_)) if stale.is_none() => {
                    self.find("nothing is refused without a reason", format!("{verdict:?}"));
                }
                Err(Refusal::Floor(_)) if !short => {
                    self.find("nothing is refused without a reason", format!("{verdict:?}"));
                }
                Err(Refusal::Overflow(_)) => {
                    self.find("nothing is refused without a reason", format!("{verdict:?}"));
                }
                Err(refusal) => self.told.push(format!("node {node} is refused: {refusal}")),
            }
        }
    }

    /// What the store gives back after a commit is what must be there.
    pub(crate) fn compare(&mut self, keys: &[Key], stored: &[Option<Versioned<Record>>]) {
        for (key, stored) in keys.iter().zip(stored) {
            if self.records.get(key) != stored.as_ref() {
                let text = format!("{key:?} is not what was written");
                self.find("what was accepted is there", text);
            }
        }
    }

    /// Records were handed out.
    pub(crate) fn claimed(&mut self, node: u64, claim: &Claim, claimed: &[Versioned<Record>]) {
        for held in claimed {
            let key = held.value.key();
            match self.records.get(&key) {
                None => self.find("a claim hands out what is there", format!("{key:?}")),
                Some(known) => {
                    let due = known.due_at;
                    let next = known.version + 1;
                    let same = known.value == held.value && held.version == next;
                    if due.is_none_or(|at| at > claim.now) {
                        let text = format!("{key:?} is due {due:?}, and claimed at {}", claim.now);
                        self.find("a claim is exclusive for its lease", text);
                    }
                    if !same || held.due_at != Some(claim.until) {
                        let text = format!("{key:?} at {}, not {next}", held.version);
                        self.find("a claim is a new version", text);
                    }
                }
            }
            self.told.push(format!("node {node} claims {}", short_key(&key)));
            self.records.insert(key, held.clone());
        }
    }

    /// Why a changeset must be refused, by the versions it names.
    fn conflict(&self, changes: &Changeset) -> Option<String> {
        let mut versions = BTreeMap::<Key, Option<u64>>::new();
        for write in changes.writes() {
            let (key, expected, next) = match write {
                Write::Insert { record, .. } => (record.key(), None, Some(record.first_version())),
                Write::Update { record, expected, .. } => {
                    (record.key(), Some(*expected), Some(expected + 1))
                }
                Write::Remove { key, expected } => (key.clone(), Some(*expected), None),
            };
            let stored = || self.records.get(&key).map(|it| it.version);
            let there = versions.get(&key).copied().unwrap_or_else(stored);
            if there != expected {
                return Some(format!("{key:?} is at {there:?}, not {expected:?}"));
            }
            versions.insert(key, next);
        }
        None
    }

    fn apply(&mut self, at: u64, node: u64, changes: &Changeset) {
        let events = events(changes);
        let mut purses = BTreeSet::new();
        let mut payments = BTreeSet::new();
        self.post(changes, &mut purses);
        for write in changes.writes() {
            match write {
                Write::Insert { record, due_at } => {
                    self.look(at, node, None, record, &events, *due_at);
                    self.note(record, &mut payments);
                    self.put(record, record.first_version(), *due_at);
                }
                Write::Update { record, expected, due_at } => {
                    let old = self.records.get(&record.key()).map(|it| it.value.clone());
                    self.look(at, node, old.as_ref(), record, &events, *due_at);
                    self.note(record, &mut payments);
                    self.put(record, expected + 1, *due_at);
                }
                Write::Remove { key, .. } => {
                    if !matches!(key, Key::Idempotency(..)) {
                        self.find("nothing but an answer is forgotten", format!("{key:?}"));
                    }
                    self.records.remove(key);
                }
            }
        }
        for event in &events {
            if event.from.get().is_none() && !event.test {
                let text = format!("{} of {}", event.kind, event.object);
                self.find("each event belongs to a transition", text);
            }
            self.fan_out(at, changes, event);
        }
        self.told(changes, &events);
        for (scope, payment) in payments {
            self.refunds_agree(scope, payment, &mut purses);
        }
        for purse in purses {
            let held = self.held.get(&purse).copied().unwrap_or_default();
            let due = self.due.get(&purse).copied().unwrap_or_default();
            if held != due {
                let text =
                    format!("{} holds {held:?}, by its objects it must hold {due:?}", purse.1);
                self.find("the ledger says what the objects say", text);
            }
            if !held.adds_up() {
                self.find("the ledger adds up", format!("{held:?}"));
            }
        }
    }

    fn put(&mut self, record: &Record, version: u64, due_at: Option<cauri::Timestamp>) {
        let held = Versioned { value: record.clone(), version, due_at };
        self.records.insert(record.key(), held);
    }

    /// One record's change, by its own rules.
    fn look(
        &mut self,
        at: u64,
        node: u64,
        old: Option<&Record>,
        new: &Record,
        events: &[Told<'_>],
        due_at: Option<cauri::Timestamp>,
    ) {
        match (old, new) {
            (None, Record::Payment(new)) => {
                let fee = money::payment_fee(new.method, new.amount.units());
                if new.fee_amount.units() != fee {
                    self.find(
                        "fees are as the contract says",
                        format!("{}: {}, not {fee}", new.id, new.fee_amount.units()),
                    );
                }
                self.walk(node, "payment", &money::name(new.id), "", new.status.as_str(), events);
            }
            (Some(Record::Payment(old)), Record::Payment(new)) => {
                let name = money::name(new.id);
                self.walk(node, "payment", &name, old.status.as_str(), new.status.as_str(), events);
                let fixed = (old.amount, old.currency, old.fee_amount, old.created_at, old.method)
                    == (new.amount, new.currency, new.fee_amount, new.created_at, new.method);
                if !fixed {
                    self.find("what was agreed stays", name.clone());
                }
                let moved = old.status != new.status
                    || old.refunding_amount != new.refunding_amount
                    || old.refunded_amount != new.refunded_amount;
                self.later(&name, moved, old.updated_at, new.updated_at);
                if new.settled_at.is_some()
                    && new.available_at.is_none_or(|it| Some(it) > new.settled_at)
                {
                    self.find("money is not available before its time", name.clone());
                }
                let delay = match new.method {
                    PaymentMethod::MobileMoney => 0,
                    PaymentMethod::Card => self.card_settlement_ms,
                };
                if new.available_at != new.succeeded_at.map(|at| at.plus_millis(delay)) {
                    let text = format!("{name}: {:?}, {:?}", new.succeeded_at, new.available_at);
                    self.find("money is available after its delay", text);
                }
                if new.otp.is_some() && new.status != PaymentStatus::Created {
                    self.find("a password is kept until the network has it", name);
                }
            }
            (None, Record::Payout(new)) => {
                let fee = money::payout_fee(new.amount.units());
                if new.fee_amount.units() != fee {
                    self.find(
                        "fees are as the contract says",
                        format!("{}: {}, not {fee}", new.id, new.fee_amount.units()),
                    );
                }
                self.walk(node, "payout", &money::name(new.id), "", new.status.as_str(), events);
            }
            (Some(Record::Payout(old)), Record::Payout(new)) => {
                let name = money::name(new.id);
                self.walk(node, "payout", &name, old.status.as_str(), new.status.as_str(), events);
                self.later(&name, old.status != new.status, old.updated_at, new.updated_at);
                if (old.amount, old.fee_amount) != (new.amount, new.fee_amount) {
                    self.find("what was agreed stays", name);
                }
            }
            (None, Record::Refund(new)) => {
                let payment = self.record(&Key::Payment(new.scope, new.payment)).cloned();
                if let Some(Record::Payment(it)) = payment {
                    let before = it.refunded_amount.units() + it.refunding_amount.units();
                    let whole = (it.amount.units(), it.fee_amount.units());
                    let given = it.fee_returned_amount.units();
                    // The payment may have been written first, with this refund in it already.
                    let sums = [
                        (before, given),
                        (before - new.amount.units(), given - new.fee_returned_amount.units()),
                    ];
                    let right = sums.iter().any(|(before, given)| {
                        money::fee_returned(whole, *before, *given, new.amount.units())
                            == new.fee_returned_amount.units()
                    });
                    if !right {
                        self.find("fees are as the contract says", money::name(new.id));
                    }
                }
                self.walk(node, "refund", &money::name(new.id), "", new.status.as_str(), events);
            }
            (Some(Record::Refund(old)), Record::Refund(new)) => {
                let name = money::name(new.id);
                self.walk(node, "refund", &name, old.status.as_str(), new.status.as_str(), events);
                self.later(&name, old.status != new.status, old.updated_at, new.updated_at);
                if (old.amount, old.fee_returned_amount) != (new.amount, new.fee_returned_amount) {
                    self.find("what was agreed stays", name);
                }
            }
            (old, Record::PaymentLink(new)) => {
                let from = match old {
                    Some(Record::PaymentLink(old)) => old.status.as_str(),
                    _ => "",
                };
                self.walk(
                    node,
                    "payment_link",
                    &money::name(new.id),
                    from,
                    new.status.as_str(),
                    events,
                );
            }
            (old, Record::Delivery(new)) => {
                let old = match old {
                    Some(Record::Delivery(old)) => Some(&**old),
                    _ => None,
                };
                self.delivery(node, old, new, due_at);
            }
            (old, Record::WebhookEndpoint(new)) => {
                let fresh = matches!(old, Some(Record::WebhookEndpoint(old))
                    if (&old.events, old.active, old.deleted_at) == (&new.events, new.active, new.deleted_at));
                if !fresh {
                    self.endpoints.insert(new.id, at);
                }
                if let Some(Record::WebhookEndpoint(old)) = old
                    && old.deleted_at.is_some()
                {
                    self.find("what is deleted stays deleted", money::name(new.id));
                }
            }
            (Some(Record::Event(_) | Record::TimelineEntry(_)), _) => {
                self.find("what was told is never changed", format!("{:?}", new.key()));
            }
            (None, Record::TimelineEntry(new)) => {
                let before = Key::TimelineEntry(new.scope, new.payment, new.number - 1);
                if new.number != 1 && !self.records.contains_key(&before) {
                    self.find(
                        "a timeline has no gap",
                        format!("{} at {}", new.payment, new.number),
                    );
                }
            }
            (Some(Record::Idempotency(old)), Record::Idempotency(new))
                if old.expires_at > new.created_at =>
            {
                self.find("an answer is kept for its time", format!("{:?}", new.key));
            }
            _ => {}
        }
    }

    fn later(
        &mut self,
        name: &str,
        moved: bool,
        before: cauri::Timestamp,
        after: cauri::Timestamp,
    ) {
        if (moved && after <= before) || after < before {
            self.find("updated_at increases with every change", name.to_owned());
        }
    }

    /// The way from one status to another, by the events that were told on the way.
    fn walk(
        &mut self,
        node: u64,
        machine: &'static str,
        name: &str,
        from: &str,
        to: &str,
        events: &[Told<'_>],
    ) {
        let mut at = from.to_owned();
        for event in events.iter().filter(|event| event.object == name && !event.test) {
            let Some(row) = tables::after(machine, &at, event.kind.as_str()) else {
                let text = format!("{name} tells {} while {at:?}", event.kind);
                self.find("no state outside the tables", text);
                return;
            };
            event.from.set(Some(row.1));
            *self.coverage.entry(row).or_default() += 1;
            self.told.push(format!("node {node}: {name} {} → {}", row.1, row.2));
            at = row.2.to_owned();
            if event.status != at {
                let text = format!("{} of {name} shows {:?}, not {at:?}", event.kind, event.status);
                self.find("an event shows the state it tells of", text);
            }
        }
        if at != to {
            let text = format!("{name} goes from {from:?} to {to:?}, and tells of {at:?}");
            self.find("each transition has exactly one event", text);
        }
    }
}

fn short_key(key: &Key) -> String {
    match key {
        Key::Payment(_, id) => id.to_string(),
        Key::Payout(_, id) => id.to_string(),
        Key::Refund(_, id) => id.to_string(),
        Key::Delivery(_, id) => id.to_string(),
        other => format!("{other:?}"),
    }
}
