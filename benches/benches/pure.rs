//! The pure paths: signatures, decisions, judgement, pages, canonical JSON.
//!
//! `cargo bench -p cauri-benches --bench pure`

#![allow(missing_docs, reason = "the macros of criterion write no docs")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be set up should stop")]

use std::{collections::HashMap, hint::black_box};

use cauri::{
    Changeset, Env, Environment, Facts, Page, Report, Scope, Subscriptions, Tick, Timestamp,
    Versioned, Write,
    decide::{self, Context, Terms, payment::Case, payment::Related},
    judge,
    signature::{self, SigningKey},
    wire,
};
use cauri_benches::stage;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const SECRET: &str = "whsec_test_0123456789abcdefghijklmnopqrstuv";
const T: i64 = 1_731_974_400;

fn signatures(c: &mut Criterion) {
    let key = SigningKey::new(SECRET).unwrap();
    let bare = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    let mut group = c.benchmark_group("signature");
    for size in [300_usize, 2_048, 65_536, 1_048_576] {
        let body = vec![b'x'; size];
        let header = signature::header(std::slice::from_ref(&key), T, &body);
        group.throughput(Throughput::Bytes(u64::try_from(size).unwrap()));
        group.bench_with_input(BenchmarkId::new("bare hmac", size), &body, |b, body| {
            b.iter(|| {
                let mut mac = bare.clone();
                mac.update(body);
                black_box(mac.finalize());
            });
        });
        group.bench_with_input(BenchmarkId::new("sign", size), &body, |b, body| {
            b.iter(|| black_box(signature::sign(&key, T, body)));
        });
        group.bench_with_input(BenchmarkId::new("verify", size), &body, |b, body| {
            b.iter(|| {
                let keys = std::slice::from_ref(&key);
                signature::verify_with(body, header.as_bytes(), keys, T).unwrap();
            });
        });
    }
    let commas = vec![b','; 1_048_576];
    group.throughput(Throughput::Elements(1));
    group.bench_function("hostile header", |b| {
        b.iter(|| black_box(signature::SignatureHeader::parse(&commas).is_err()));
    });
    group.finish();
}

struct Scene {
    terms: Terms,
    env: Env,
    subscriptions: Subscriptions,
}

impl Scene {
    fn set() -> Self {
        let now = Timestamp::from_millis(T * 1_000);
        let mut env = Env::new(now, Tick::first(now), [7; 32]);
        let scope = Scope { account: env.id(), environment: Environment::Sandbox };
        Self { terms: Terms::default(), env, subscriptions: Subscriptions::none(scope) }
    }

    fn decide<T>(&self, decide: impl FnOnce(&mut Context<'_>) -> T) -> T {
        let mut env = self.env.clone();
        decide(&mut Context {
            scope: self.subscriptions.scope,
            terms: &self.terms,
            env: &mut env,
            subscriptions: &self.subscriptions,
            held_until: None,
        })
    }

    /// A payment that was just created.
    fn payment(&self) -> cauri::Payment {
        let ask = stage::payment("BENCH").unwrap();
        let decision = self.decide(|cx| decide::payment::create(ask, Related::default(), cx));
        decision
            .unwrap()
            .changes
            .writes()
            .iter()
            .find_map(|write| match write {
                Write::Insert { record: cauri::Record::Payment(it), .. } => Some((**it).clone()),
                _ => None,
            })
            .unwrap()
    }
}

fn decisions(c: &mut Criterion) {
    let scene = Scene::set();
    let payment = scene.payment();
    let case = Case {
        payment: Versioned { value: payment.clone(), version: 1, due_at: None },
        link: None,
    };
    let mut group = c.benchmark_group("decide");
    let ask = stage::payment("BENCH").unwrap();
    group.bench_function("payment create", |b| {
        b.iter(|| {
            scene.decide(|cx| {
                black_box(decide::payment::create(ask.clone(), Related::default(), cx)).is_ok()
            })
        });
    });
    group.bench_function("payment accepted and paid", |b| {
        let reports = [Report::accepted(), Report::Paid];
        b.iter(|| {
            scene.decide(|cx| {
                let actor = cauri::Actor::Network;
                black_box(decide::payment::report(
                    case.clone(),
                    &reports,
                    cauri::NextQuestion::Never,
                    actor,
                    cx,
                ))
                .is_ok()
            })
        });
    });
    let payout = stage::payout("BENCH").unwrap();
    group.bench_function("payout create", |b| {
        b.iter(|| {
            scene.decide(|cx| black_box(decide::payout::create(payout.clone(), true, cx)).is_ok())
        });
    });
    let shown = wire::Payment::of(&payment).unwrap();
    group.bench_function("payment to JSON", |b| {
        b.iter(|| black_box(serde_json::to_string(&shown)).is_ok());
    });
    group.finish();
}

/// Whole payments, each with its own ids.
fn batch(size: usize) -> Vec<Changeset> {
    let mut scene = Scene::set();
    let ask = stage::payment("BENCH").unwrap();
    (0..size)
        .map(|at| {
            let tick =
                Tick::from_bits(Tick::first(scene.env.now()).bits() + u64::try_from(at).unwrap());
            scene.env = Env::new(scene.env.now(), tick, [7; 32]);
            scene
                .decide(|cx| decide::payment::create(ask.clone(), Related::default(), cx))
                .unwrap()
                .changes
        })
        .collect()
}

fn judgement(c: &mut Criterion) {
    let mut group = c.benchmark_group("judge");
    for size in [1_usize, 64, 512] {
        let batch = batch(size);
        group.throughput(Throughput::Elements(u64::try_from(size).unwrap()));
        group.bench_with_input(BenchmarkId::from_parameter(size), &batch, |b, batch| {
            let facts = Facts {
                versions: HashMap::new(),
                balances: HashMap::new(),
                balances_unread: false,
            };
            b.iter_batched(
                || batch.clone(),
                |batch| black_box(judge(batch, &facts)),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn requests(c: &mut Criterion) {
    let body = br#"{"amount":5000,"currency":"XOF","payment_method":"mobile_money","network":"mtn","phone":"+2250500009999","reference":"ORDER-1","metadata":{"cart":"77","user":"9"}}"#;
    let parsed = wire::parse_object(body).unwrap();
    let terms = Terms::default();
    let form = wire::Form {
        environment: Environment::Sandbox,
        catalogue: &terms.sandbox.catalogue,
        now: Timestamp::from_millis(T * 1_000),
    };
    let mut group = c.benchmark_group("request");
    group.bench_function("parse", |b| b.iter(|| black_box(wire::parse_object(body)).is_ok()));
    group.bench_function("fingerprint", |b| {
        b.iter(|| black_box(wire::fingerprint("POST", "/v1/payments", &parsed)));
    });
    group.bench_function("read payment", |b| {
        b.iter(|| black_box(wire::CreatePayment::read(&parsed, &form)).is_ok());
    });
    group.bench_function("page of ten million", |b| {
        let page = Page::new(25, 9_999_000).unwrap();
        b.iter(|| black_box(black_box(page).numbers(10_000_000, false)));
    });
    group.finish();
}

criterion_group!(benches, signatures, decisions, judgement, requests);
criterion_main!(benches);
