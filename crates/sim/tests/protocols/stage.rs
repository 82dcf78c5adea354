//! What is stored, and commands that read, decide and commit, each step by itself.

use std::{collections::BTreeMap, fmt, rc::Rc, sync::LazyLock};

use cauri::{
    Amount, Catalogue, Changeset, Entity, Env, Environment, Facts, FeeSchedule, Key, LedgerAccount,
    LedgerAccountKind, Payment, PaymentMethod, Record, Refusal, Refused, Scope, Subscriptions,
    Tick, Timestamp, Verdict, Versioned, Write,
    decide::{self, Context, Decision, Offers, Terms},
    judge,
    wire::{CreatePayment, CreatePayout, CreateRefund},
};

/// What may be left out, to see that it is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftOut {
    Nothing,
    /// Updates look at the version that is there.
    Versions,
    /// Merchant accounts do not fall below nothing.
    Floors,
    /// What only this protocol has.
    Own,
}

/// Everything that is stored.
#[derive(Clone, Default)]
pub(crate) struct Stored {
    pub(crate) records: BTreeMap<Key, Versioned<Record>>,
    pub(crate) balances: BTreeMap<LedgerAccount, Amount>,
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.records.iter()).entries(self.balances.iter()).finish()
    }
}

impl Stored {
    /// One commit, by the real `judge`.
    pub(crate) fn commit(&mut self, changes: Changeset, left_out: LeftOut) -> Verdict {
        let changes =
            if left_out == LeftOut::Versions { self.whatever_is_there(changes) } else { changes };
        let versions = changes
            .keys()
            .filter_map(|key| self.records.get(&key).map(|it| (key.clone(), it.version)))
            .collect();
        let balances = changes
            .ledger_accounts()
            .filter_map(|account| self.balances.get(&account).map(|it| (account, *it)))
            .collect();
        // With the balances unread, floors are not looked at, and sums count from nothing.
        let floors = left_out != LeftOut::Floors;
        let balances = if floors { balances } else { std::collections::HashMap::new() };
        let facts = Facts { versions, balances, balances_unread: !floors };
        let (verdicts, writes) = judge(vec![changes], &facts);
        for (key, _) in writes.removes {
            self.records.remove(&key);
        }
        for row in writes.inserts.into_iter().chain(writes.updates.into_iter().map(|it| it.0)) {
            let held = Versioned { value: row.record, version: row.version, due_at: row.due_at };
            self.records.insert(held.value.key(), held);
        }
        for (account, movement) in writes.movements {
            let sum = self.balances.entry(account).or_default();
            *sum = sum.plus(movement.total).unwrap();
        }
        verdicts.into_iter().next().unwrap()
    }

    fn whatever_is_there(&self, changes: Changeset) -> Changeset {
        let mut sloppy = Changeset::new();
        for write in changes.writes() {
            match write.clone() {
                Write::Update { record, due_at, .. } => {
                    let there = self.records.get(&record.key()).map_or(0, |it| it.version);
                    sloppy.update(record, there, due_at);
                }
                Write::Insert { record, due_at } if !self.records.contains_key(&record.key()) => {
                    sloppy.insert(record, due_at);
                }
                Write::Insert { .. } | Write::Remove { .. } => {}
            }
        }
        for posting in changes.postings() {
            sloppy.post(Some(posting.clone()));
        }
        sloppy
    }

    pub(crate) fn get(&self, keys: &[Key]) -> Read {
        Read(keys.iter().map(|key| self.records.get(key).cloned()).collect())
    }

    pub(crate) fn all<T: Entity>(&self) -> Vec<T> {
        self.records.values().filter_map(|it| T::from_record(it.value.clone())).collect()
    }

    pub(crate) fn balance(&self, kind: LedgerAccountKind) -> i64 {
        let of = |account: &&LedgerAccount| account.kind == kind;
        let account = self.balances.keys().find(of);
        account.map_or(0, |account| self.balances[account].units())
    }

    /// API §8.2, at every moment.
    pub(crate) fn adds_up(&self) -> Result<(), String> {
        use LedgerAccountKind as Kind;
        let [clearing, pending, available, reserved, fees] = [
            Kind::Clearing,
            Kind::MerchantPending,
            Kind::MerchantAvailable,
            Kind::MerchantReserved,
            Kind::Fees,
        ]
        .map(|kind| self.balance(kind));
        if clearing != pending + available + reserved + fees {
            return Err(format!("clearing {clearing} is not what is owed"));
        }
        if pending < 0 || available < 0 || reserved < 0 {
            return Err(format!("below nothing: {pending} {available} {reserved}"));
        }
        Ok(())
    }

    /// How often an event was told.
    pub(crate) fn told(&self, kind: &str) -> usize {
        self.all::<cauri::Event>().iter().filter(|it| it.kind.as_str() == kind).count()
    }
}

/// What a command read.
#[derive(Debug, Clone)]
pub(crate) struct Read(pub(crate) Vec<Option<Versioned<Record>>>);

impl Read {
    pub(crate) fn take<T: Entity>(&mut self, at: usize) -> Option<Versioned<T>> {
        self.0.get_mut(at)?.take()?.of()
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(1_731_974_400_000)
}

pub(crate) fn scope() -> Scope {
    Scope { account: env(0, now()).id(), environment: Environment::Live }
}

/// The time and chance of an actor: the same in every order.
pub(crate) fn env(actor: u8, now: Timestamp) -> Env {
    Env::new(now, Tick::from_bits(Tick::first(now).bits() + u64::from(actor)), [actor; 32])
}

static TERMS: LazyLock<Terms> = LazyLock::new(|| {
    let mut terms = Terms::default();
    terms.live = Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() };
    terms
});

/// What a command says in the end.
pub(crate) type Answer = Result<String, String>;

type Decide = Rc<dyn Fn(Read, &mut Context<'_>) -> Result<Decision<String>, Refused>>;

/// A command that reads some records and decides on them.
#[derive(Clone)]
pub(crate) struct Command {
    pub(crate) keys: Vec<Key>,
    pub(crate) at: Timestamp,
    pub(crate) decide: Decide,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Command")
    }
}

/// Where a command stands.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Begin,
    Loaded(Read),
    /// It was sent, and nobody said what became of it.
    Doubt(Changeset),
    Done(Answer),
}

impl Place {
    pub(crate) const fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Done(answer) => Some(answer),
            Self::Begin | Self::Loaded(_) | Self::Doubt(_) => None,
        }
    }
}

/// Several commands on one store.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) stored: Stored,
    pub(crate) places: Vec<Place>,
    /// How many answers may still be lost.
    pub(crate) losses: u8,
}

impl Scene {
    pub(crate) fn new(stored: Stored, commands: usize, losses: u8) -> Self {
        Self { stored, places: vec![Place::Begin; commands], losses }
    }

    /// Every step that a command may take: reading, and then deciding and committing, whose answer
    /// may be lost with or without the commit having been applied; then the same is sent again.
    pub(crate) fn steps(&self, commands: &[Command], left_out: LeftOut) -> Vec<(String, Self)> {
        let mut steps = Vec::new();
        for (at, command) in commands.iter().enumerate() {
            let mut step = |name: &str, place: Place, stored: Stored, losses: u8| {
                let mut next = Self { stored, losses, ..self.clone() };
                next.places[at] = place;
                steps.push((format!("{at} {name}"), next));
            };
            let stored = self.stored.clone();
            match &self.places[at] {
                Place::Begin => {
                    let read = stored.get(&command.keys);
                    step("reads", Place::Loaded(read), stored, self.losses);
                }
                Place::Loaded(read) => {
                    let mut env = env(u8::try_from(at).unwrap() + 10, command.at);
                    let subscriptions = Subscriptions::none(scope());
                    let mut context = Context {
                        scope: scope(),
                        terms: &TERMS,
                        env: &mut env,
                        subscriptions: &subscriptions,
                        held_until: None,
                    };
                    let decision = match (command.decide)(read.clone(), &mut context) {
                        Ok(decision) => decision,
                        Err(error) => {
                            let done = Place::Done(Err(error.code().to_owned()));
                            step("is refused", done, stored, self.losses);
                            continue;
                        }
                    };
                    if decision.changes.is_empty() {
                        let done = Place::Done(Ok(decision.value));
                        step("has nothing to do", done, stored, self.losses);
                        continue;
                    }
                    if self.losses > 0 {
                        let doubt = || Place::Doubt(decision.changes.clone());
                        step("is lost on the way", doubt(), stored.clone(), self.losses - 1);
                        let mut applied = stored.clone();
                        if applied.commit(decision.changes.clone(), left_out).is_ok() {
                            step("hears no answer", doubt(), applied, self.losses - 1);
                        }
                    }
                    let mut applied = stored;
                    let place = match applied.commit(decision.changes, left_out) {
                        Ok(()) => Place::Done(Ok(decision.value)),
                        Err(Refusal::Exists(_) | Refusal::Stale(_)) => Place::Begin,
                        Err(Refusal::Floor(_) | Refusal::Overflow(_)) => {
                            let short = decision.if_short.unwrap_or(Refused::Impossible);
                            Place::Done(Err(short.code().to_owned()))
                        }
                    };
                    step("commits", place, applied, self.losses);
                }
                Place::Doubt(changes) => {
                    let mut applied = stored;
                    let verdict = applied.commit(changes.clone(), left_out);
                    // Its new records have ids of its own: if they are there, it was applied.
                    let there = |write: &Write| match write {
                        Write::Insert { record, .. } => applied
                            .records
                            .get(&record.key())
                            .is_some_and(|it| it.value == *record || it.version > 1),
                        Write::Update { .. } | Write::Remove { .. } => true,
                    };
                    let inserts =
                        changes.writes().iter().any(|it| matches!(it, Write::Insert { .. }));
                    let ours = inserts && changes.writes().iter().all(there);
                    let place = match verdict {
                        Ok(()) => Place::Done(Ok("sent again".to_owned())),
                        Err(_) if ours => Place::Done(Ok("sent again".to_owned())),
                        Err(_) => Place::Begin,
                    };
                    step("sends again", place, applied, self.losses);
                }
                Place::Done(_) => {}
            }
        }
        steps
    }
}

pub(crate) fn payment_ask(amount: i64) -> CreatePayment {
    CreatePayment {
        amount: Some(Amount::new(amount)),
        currency: Some("XOF".parse().unwrap()),
        method: PaymentMethod::MobileMoney,
        network: Some("mtn".parse().unwrap()),
        phone: Some("+2250500000000".parse().unwrap()),
        country: None,
        otp: None,
        customer: None,
        payment_link: None,
        reference: None,
        description: None,
        metadata: cauri::Metadata::default(),
        return_url: None,
        expires_in: Some(60),
    }
}

pub(crate) fn payout_ask(amount: i64) -> CreatePayout {
    CreatePayout {
        amount: Amount::new(amount),
        currency: "XOF".parse().unwrap(),
        method: PaymentMethod::MobileMoney,
        network: "mtn".parse().unwrap(),
        phone: "+2250500000000".parse().unwrap(),
        country: None,
        recipient_name: None,
        customer: None,
        reference: None,
        description: None,
        metadata: cauri::Metadata::default(),
    }
}

pub(crate) fn refund_ask(payment: &Payment, amount: i64) -> CreateRefund {
    CreateRefund {
        payment: payment.id,
        amount: Some(Amount::new(amount)),
        reason: None,
        description: None,
        reference: None,
        metadata: cauri::Metadata::default(),
    }
}

/// Does something alone, before the others begin.
pub(crate) fn alone(
    stored: &mut Stored,
    actor: u8,
    decide: impl FnOnce(&Stored, &mut Context<'_>) -> Result<Decision<String>, Refused>,
) {
    let mut env = env(actor, now());
    let subscriptions = Subscriptions::none(scope());
    let mut context = Context {
        scope: scope(),
        terms: &TERMS,
        env: &mut env,
        subscriptions: &subscriptions,
        held_until: None,
    };
    let decision = decide(stored, &mut context).unwrap();
    stored.commit(decision.changes, LeftOut::Nothing).unwrap();
}

/// A payment of so much that its network works on.
pub(crate) fn processing(stored: &mut Stored, amount: i64) -> Payment {
    alone(stored, 1, |_, cx| {
        let made =
            decide::payment::create(payment_ask(amount), decide::payment::Related::default(), cx);
        made.map(|it| it.map(|_| String::new()))
    });
    hear(stored, 2, &[cauri::Report::accepted()]);
    stored.all::<Payment>().remove(0)
}

/// A payment of so much that was paid, its money available.
pub(crate) fn paid(stored: &mut Stored, amount: i64) -> Payment {
    processing(stored, amount);
    hear(stored, 3, &[cauri::Report::Paid]);
    stored.all::<Payment>().remove(0)
}

fn hear(stored: &mut Stored, actor: u8, reports: &[cauri::Report]) {
    alone(stored, actor, |stored, cx| {
        let id = stored.all::<Payment>().remove(0).id;
        let payment = stored.get(&[Key::Payment(scope(), id)]).take::<Payment>(0).unwrap();
        let case = decide::payment::Case { payment, link: None };
        let next = cauri::NextQuestion::Never;
        let told = decide::payment::report(case, reports, next, cauri::Actor::Network, cx);
        told.map(|it| it.map(|_| String::new()))
    });
}
