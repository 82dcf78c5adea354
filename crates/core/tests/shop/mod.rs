// A shop in the sandbox, in which the examples of this crate play: the terms of the contract, a
// clock that stands still until it is told to go on, and a book that keeps what is committed.

use std::collections::{BTreeMap, HashMap};

use cauri_core::{
    Amount, ApiKey, ApiKeyKind, Changeset, Customer, Delivery, Entity, Entry, Env, Environment,
    Error, Event, Facts, Key, Keyring, LedgerAccount, LedgerAccountKind, NextQuestion, Payment,
    PaymentLink, PaymentMethod, Payout, Record, Refund, Report, Scope, Secret, Subscriptions, Tick,
    Timestamp, Verdict, Versioned, WebhookEndpoint,
    decide::{self, Context, Decision, Terms},
    judge, wire,
};

/// One account in the sandbox, and everything that is kept of it.
#[derive(Debug)]
pub(crate) struct Shop {
    /// Prices and delays; the contract's.
    pub(crate) terms: Terms,
    /// Whose shop it is.
    pub(crate) scope: Scope,
    /// The time and chance of the next decision.
    pub(crate) env: Env,
    /// Who listens.
    pub(crate) subscriptions: Subscriptions,
    /// What seals secrets.
    pub(crate) keys: Keyring,
    /// Every line of the ledger, in its order.
    pub(crate) entries: Vec<Entry>,
    balances: HashMap<LedgerAccount, Amount>,
    records: BTreeMap<Key, Versioned<Record>>,
    order: Vec<Key>,
}

impl Shop {
    /// A new shop, on 19 November 2024.
    pub(crate) fn open() -> Self {
        let now = Timestamp::from_millis(1_731_974_400_000);
        let mut env = Env::new(now, Tick::first(now), [7; 32]);
        let scope = Scope { account: env.id(), environment: Environment::Sandbox };
        Self {
            terms: Terms::default(),
            scope,
            env,
            subscriptions: Subscriptions::none(scope),
            keys: Keyring::new([(1, [9; 32])]).expect("a key that seals"),
            entries: Vec::new(),
            balances: HashMap::new(),
            records: BTreeMap::new(),
            order: Vec::new(),
        }
    }

    /// The present moment.
    pub(crate) fn now(&self) -> Timestamp {
        self.env.now()
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, seconds: i64) {
        let now = self.now().plus_seconds(seconds);
        self.env = Env::new(now, Tick::first(now), [7; 32]);
    }

    /// What a decision is handed.
    pub(crate) fn context(&mut self) -> Context<'_> {
        Context {
            scope: self.scope,
            terms: &self.terms,
            env: &mut self.env,
            subscriptions: &self.subscriptions,
            held_until: None,
        }
    }

    /// What a request is read with.
    pub(crate) fn form(&self) -> wire::Form<'_> {
        wire::Form {
            environment: Environment::Sandbox,
            catalogue: &self.terms.sandbox.catalogue,
            now: self.now(),
        }
    }

    /// Keeps what was decided, as a store would.
    pub(crate) fn commit(&mut self, changes: Changeset) -> Verdict {
        let versions = self.records.iter().map(|(key, record)| (key.clone(), record.version));
        let facts = Facts {
            versions: versions.collect(),
            balances: self.balances.clone(),
            balances_unread: false,
        };
        let (verdicts, writes) = judge(vec![changes], &facts);
        for (key, _) in &writes.removes {
            self.records.remove(key);
        }
        for row in writes.inserts.into_iter().chain(writes.updates.into_iter().map(|it| it.0)) {
            let key = row.record.key();
            let kept = Versioned { value: row.record, version: row.version, due_at: row.due_at };
            if self.records.insert(key.clone(), kept).is_none() {
                self.order.push(key);
            }
        }
        for entry in &writes.entries {
            self.balances.insert(entry.ledger_account(), entry.balance_after);
        }
        self.entries.extend(writes.entries);
        verdicts.into_iter().collect()
    }

    /// Commits a decision and answers what it decided.
    pub(crate) fn done<T>(&mut self, decision: Result<Decision<T>, Error>) -> T {
        let Decision { value, changes, .. } = decision.expect("a command that is possible");
        self.commit(changes).expect("a commit that is accepted");
        value
    }

    /// The newest record of a kind.
    pub(crate) fn last<T: Entity>(&self) -> Versioned<T> {
        let records = self.order.iter().rev().filter_map(|key| self.records.get(key).cloned());
        records.filter_map(Versioned::of).next().expect("a record of this kind")
    }

    /// What an account of the ledger holds, in XOF.
    pub(crate) fn balance(&self, kind: LedgerAccountKind) -> i64 {
        let account = LedgerAccount { scope: self.scope, currency: xof(), kind };
        self.balances.get(&account).map_or(0, |amount| amount.units())
    }

    /// A payment of mobile money, just created.
    pub(crate) fn payment(&mut self, units: i64) -> Versioned<Payment> {
        let ask = wire::CreatePayment {
            amount: Some(Amount::new(units)),
            currency: Some(xof()),
            network: Some("mtn".parse().expect("a network")),
            phone: Some("+2250500000000".parse().expect("a phone")),
            reference: Some("ORDER-1".parse().expect("a reference")),
            ..wire::CreatePayment::by(PaymentMethod::MobileMoney)
        };
        let decision = decide::payment::create(ask, Default::default(), &mut self.context());
        self.done(decision);
        self.last()
    }

    /// Applies what a network says of the newest payment.
    pub(crate) fn hear(&mut self, reports: &[Report]) -> Versioned<Payment> {
        let case = decide::payment::Case { payment: self.last(), link: None };
        let actor = cauri_core::Actor::Network;
        let next = NextQuestion::Never;
        let decision = decide::payment::report(case, reports, next, actor, &mut self.context());
        self.done(decision);
        self.last()
    }

    /// A payment that succeeded; its money is pending.
    pub(crate) fn paid(&mut self, units: i64) -> Versioned<Payment> {
        let settlement_ms = std::mem::replace(&mut self.terms.mobile_money_settlement_ms, 60_000);
        self.payment(units);
        let payment = self.hear(&[Report::accepted(), Report::Paid]);
        self.terms.mobile_money_settlement_ms = settlement_ms;
        payment
    }

    /// A payment whose money is available, a minute later.
    pub(crate) fn settled(&mut self, units: i64) -> Versioned<Payment> {
        self.paid(units);
        self.wait(60);
        let case = decide::payment::Case { payment: self.last(), link: None };
        let decision = decide::payment::settle(case, &mut self.context());
        self.done(decision);
        self.last()
    }

    /// A refund of the newest payment, just created.
    pub(crate) fn refund(&mut self, units: i64) -> Versioned<Refund> {
        let payment = self.last::<Payment>();
        let ask = wire::CreateRefund {
            payment: payment.value.id,
            amount: Some(Amount::new(units)),
            reason: None,
            description: None,
            reference: None,
            metadata: Default::default(),
        };
        let decision = decide::refund::create(ask, Some(payment), &mut self.context());
        self.done(decision);
        self.last()
    }

    /// What is asked for to pay out.
    pub(crate) fn ask_payout(units: i64) -> wire::CreatePayout {
        wire::CreatePayout {
            amount: Amount::new(units),
            currency: xof(),
            method: PaymentMethod::MobileMoney,
            network: "mtn".parse().expect("a network"),
            phone: "+2250500000000".parse().expect("a phone"),
            country: None,
            recipient_name: None,
            customer: None,
            reference: None,
            description: None,
            metadata: Default::default(),
        }
    }

    /// A payout, just created.
    pub(crate) fn payout(&mut self, units: i64) -> Versioned<Payout> {
        let ask = Self::ask_payout(units);
        let decision = decide::payout::create(ask, false, &mut self.context());
        self.done(decision);
        self.last()
    }

    /// What is asked for to make a payment link.
    pub(crate) fn ask_link(units: i64) -> wire::CreatePaymentLink {
        wire::CreatePaymentLink {
            title: "Invoice 42".parse().expect("a title"),
            currency: xof(),
            country: "CI".parse().expect("a country"),
            amount: Some(Amount::new(units)),
            description: None,
            methods: None,
            reusable: false,
            expires_at: None,
            return_url: None,
            reference: None,
            metadata: Default::default(),
            active: true,
        }
    }

    /// A payment link, just created.
    pub(crate) fn link(&mut self, units: i64) -> Versioned<PaymentLink> {
        let ask = Self::ask_link(units);
        let decision = decide::payment_link::create(ask, &mut self.context());
        self.done(decision);
        self.last()
    }

    /// A customer of this name.
    pub(crate) fn customer(&mut self, name: &str) -> Versioned<Customer> {
        let name = Some(name.parse().expect("a name"));
        let ask = wire::CreateCustomer { name, ..Default::default() };
        let decision = decide::customer::create(ask, &mut self.context());
        self.done(decision);
        self.last()
    }

    /// A webhook endpoint for every event; what happens from now on is delivered to it.
    pub(crate) fn endpoint(&mut self) -> Versioned<WebhookEndpoint> {
        let url = "https://shop.example.com/hooks".parse().expect("a URL");
        let ask = wire::CreateWebhookEndpoint::at(url);
        let keys = self.keys.clone();
        let decision = decide::webhook_endpoint::create(ask, None, &keys, &mut self.context());
        self.done(decision);
        self.subscriptions = self.last::<Subscriptions>().value;
        self.last()
    }

    /// An event and its delivery to an endpoint: a payment was created.
    pub(crate) fn delivery(&mut self) -> (Event, Versioned<Delivery>) {
        self.endpoint();
        self.payment(5_000);
        (self.last().value, self.last())
    }

    /// An API key and its clear text.
    pub(crate) fn key(&mut self) -> (Versioned<ApiKey>, Secret) {
        let (scope, kind) = (self.scope, ApiKeyKind::Secret);
        let (new, changes) = decide::api_key::create(scope, kind, None, None, &mut self.env);
        self.commit(changes).expect("a commit that is accepted");
        (self.last(), new.clear)
    }
}

/// The currency of the shop.
pub(crate) fn xof() -> cauri_core::Currency {
    "XOF".parse().expect("a currency")
}
