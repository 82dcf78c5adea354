//! What follows from the laws: an engine's books are what the network moved, whatever the network
//! did on the way.

use std::{sync::Arc, time::Duration};

use cauri::{
    Call, Caller, Catalogue, Clock, CountryOffer, Engine, Environment, FeeSchedule, Key, List,
    Offer, Payment, PaymentStatus, Phone, Query, Scope, Store, StoreExt, Worker, WorkerOptions,
    decide::{Offers, Terms},
    wire::{CreatePayment, Form},
};
use cauri_memory::MemoryStore;
use serde_json::{Map, Value, json};
use tokio::{sync::oneshot, task::JoinHandle, time::sleep};

use crate::{
    ManualClock, SeededEntropy,
    fixtures::Random,
    gateway::{
        rig::{Conduct, End, Place},
        subject::{Subject, now},
    },
};

pub(super) async fn consequence_the_books_are_what_the_network_moved_one(subject: Subject) {
    play(&subject, 101).await;
}

pub(super) async fn consequence_the_books_are_what_the_network_moved_two(subject: Subject) {
    play(&subject, 102).await;
}

pub(super) async fn consequence_the_books_are_what_the_network_moved_three(subject: Subject) {
    play(&subject, 103).await;
}

pub(super) async fn consequence_the_books_are_what_the_network_moved_four(subject: Subject) {
    play(&subject, 104).await;
}

/// How the network behaves in a history. Hanging is left out: it would take real time.
const CONDUCTS: &[Conduct] = &[
    Conduct::Works,
    Conduct::Works,
    Conduct::Down,
    Conduct::Refuses,
    Conduct::HangsUp,
    Conduct::HangsUpAfterwards,
    Conduct::Garbles,
];

async fn play(subject: &Subject, seed: u64) {
    let mut random = Random::new(seed);
    let place = subject.rig.place();
    let clock = Arc::new(ManualClock::at(now()));
    let store = Arc::new(MemoryStore::new());
    let engine = Engine::builder(store.clone())
        .clock(clock.clone())
        .entropy(Arc::new(SeededEntropy::new(seed)))
        .terms(terms(&place, subject))
        .gateway(place.offer.connection.clone(), subject.gateway().await)
        .build()
        .expect("the offer promises what the gateway declares");
    let account = engine.create_account().await.expect("an account");
    let scope = Scope { account: account.id, environment: Environment::Live };
    let worker = Worker::new(engine.clone());
    let maker = Maker::at_work(&engine);

    for _ in 0..30 {
        subject.rig.conduct(*random.pick(CONDUCTS)).await;
        if random.chance(50) {
            let ask = payment(&place, &engine, clock.as_ref());
            let call = Call::by(Caller::secret(scope));
            let made = engine.create_payment(&call, ask).await.expect("a payment").object;
            sent(&store, &worker, Key::Payment(scope, made.id)).await;
        }
        if random.chance(25) {
            subject.rig.end(if random.flag() { End::Paid } else { End::Failed }).await;
        }
        worker.tick().await.expect("the worker works");
        clock.advance_millis(random.within(100..=60_000));
    }
    maker.rest().await;
    subject.rig.conduct(Conduct::Works).await;
    for end in [End::Paid, End::Paid, End::Failed] {
        for _ in 0..5 {
            worker.tick().await.expect("the worker works");
            clock.advance_millis(300_000);
        }
        subject.rig.end(end).await;
    }
    for _ in 0..20 {
        worker.tick().await.expect("the worker works");
        clock.advance_millis(300_000);
    }
    agree(subject, store.as_ref(), scope).await;
    let audit = engine.audit().await.expect("an audit");
    assert_eq!(audit.violations, []);
}

/// A process that sends at once what it makes, and does nothing else: the worker of the history
/// asks about all of it.
struct Maker {
    stop: oneshot::Sender<()>,
    work: JoinHandle<()>,
}

impl Maker {
    fn at_work(engine: &Engine) -> Self {
        let mut options = WorkerOptions::default();
        options.period_ms = 3_600_000;
        let (stop, stopped) = oneshot::channel::<()>();
        let work = Worker::with(engine.clone(), options).run(async {
            let _ = stopped.await;
        });
        let work = tokio::spawn(work);
        Self { stop, work }
    }

    async fn rest(self) {
        let _ = self.stop.send(());
        self.work.await.expect("the worker works");
    }
}

/// Waits until what came of sending a payment is written down.
async fn sent(store: &MemoryStore, worker: &Worker, key: Key) {
    for _ in 0..5_000 {
        let found = store.find::<Payment>(key.clone()).await.expect("it is read");
        if found.is_some_and(|found| found.version > 1) {
            return;
        }
        // Created before the maker listened, it is nobody's.
        worker.tick().await.expect("the worker works");
        sleep(Duration::from_millis(2)).await;
    }
    panic!("what came of sending {key:?} is never written down");
}

async fn agree(subject: &Subject, store: &MemoryStore, scope: Scope) {
    let all = store.list(&Query::all(List::Payments(scope))).await.expect("the payments");
    assert!(all.total > 0, "a history without payments says nothing");
    let mut paid = 0;
    for found in all.items {
        let key = found.value.key();
        let found = store.find::<Payment>(key).await.expect("it is read").expect("it is there");
        let payment = found.value;
        assert!(!payment.status.is_open(), "{} is still {}", payment.id, payment.status);
        if payment.status == PaymentStatus::Succeeded {
            paid += payment.amount.units();
        }
    }
    assert!(paid > 0, "a history in which nothing is paid says nothing");
    assert_eq!(paid, subject.rig.collected().await, "what we say, and what the network moved");
}

fn terms(place: &Place, subject: &Subject) -> Terms {
    let mut terms = Terms::default();
    let offer = Offer { capabilities: subject.declared, ..place.offer.clone() };
    let country = Catalogue::sandbox()
        .country(place.country)
        .cloned()
        .unwrap_or_else(|| CountryOffer::new(place.country, 999, 1..=14, place.offer.currency));
    let catalogue = Catalogue::empty()
        .with_country(country)
        .without_offers()
        .with_offer(place.country, offer)
        .expect("the rig's offer fits its country");
    terms.live = Offers { catalogue, fees: FeeSchedule::sandbox() };
    terms
}

fn payment(place: &Place, engine: &Engine, clock: &dyn Clock) -> CreatePayment {
    let form = Form {
        environment: Environment::Live,
        catalogue: &engine.terms().live.catalogue,
        now: clock.now(),
    };
    let mut body = json!({
        "amount": place.offer.min.units(),
        "currency": place.offer.currency.code(),
        "payment_method": place.offer.method.as_str(),
        "country": place.country.to_string(),
        "network": place.offer.network.as_str(),
    });
    let fields: &mut Map<String, Value> = body.as_object_mut().expect("an object");
    if let Some(phone) = &place.phone {
        fields.insert("phone".to_owned(), Value::from(Phone::as_str(phone)));
    }
    CreatePayment::read(fields, &form).expect("what the rig's offer allows")
}
