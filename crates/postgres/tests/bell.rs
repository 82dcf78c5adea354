//! Work that one process leaves to others is begun at once, not when they next look.

#![expect(clippy::unwrap_used, reason = "what goes wrong fails the test")]

#[expect(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod scratch;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use cauri::{
    Attempt, AttemptError, Bell, Call, Caller, Engine, Environment, EventKind, Metadata, Notifier,
    Receipt, Scope, Subscription, Worker, WorkerOptions,
    wire::{CreatePaymentLink, CreateWebhookEndpoint},
};
use cauri_postgres::PostgresStore;
use scratch::{Home, url};
use sqlx::{PgPool, postgres::PgConnectOptions};
use tokio::{
    io::copy_bidirectional,
    net::{TcpStream, UnixListener, UnixStream},
    sync::{Notify, mpsc},
    time::timeout,
};

/// Far less than the worker's period, and far more than a ring takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Receives everything.
#[derive(Debug)]
struct Receiver(mpsc::UnboundedSender<String>);

#[async_trait]
impl Notifier for Receiver {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        self.0.send(String::from_utf8_lossy(&attempt.body).into_owned()).unwrap();
        Receipt { outcome: Ok(200), duration_ms: 1 }
    }

    async fn vet(&self, _url: &str, _environment: Environment) -> Result<(), AttemptError> {
        Ok(())
    }
}

fn link() -> CreatePaymentLink {
    CreatePaymentLink {
        title: "Left to others".parse().unwrap(),
        currency: "XOF".parse().unwrap(),
        country: "CI".parse().unwrap(),
        amount: None,
        description: None,
        methods: None,
        reusable: true,
        expires_at: None,
        return_url: None,
        reference: None,
        metadata: Metadata::default(),
        active: true,
    }
}

/// An engine that only makes work, a worker in another process that looks once an hour, and what
/// is delivered.
async fn two(home: &Home) -> (PostgresStore, Engine, Caller, mpsc::UnboundedReceiver<String>) {
    let (maker, other) = (home.open().await, home.open().await);
    let keys = || cauri::Keyring::new([(1, [7; 32])]).unwrap();
    let engine = Engine::builder(Arc::new(home.open().await)).keys(keys());
    let engine = engine.bell(Arc::new(maker.bell())).build().unwrap();
    let account = engine.create_account().await.unwrap().id;
    let me = Caller::secret(Scope { account, environment: Environment::Sandbox });
    let ask = CreateWebhookEndpoint {
        url: "https://shop.test/hooks".parse().unwrap(),
        events: Subscription::Kinds([EventKind::PaymentLinkCreated].into()),
        active: true,
        description: None,
        metadata: Metadata::default(),
    };
    engine.create_webhook_endpoint(&Call::by(me), ask).await.unwrap();

    let (sender, receiver) = mpsc::unbounded_channel();
    let bell = Arc::new(other.bell());
    let working = Engine::builder(Arc::new(other)).keys(keys());
    let working = working.notifier(Arc::new(Receiver(sender))).bell(bell).build().unwrap();
    let mut options = WorkerOptions::default();
    options.period_ms = 3_600_000;
    tokio::spawn(Worker::with(working, options).run(std::future::pending()));
    (maker, engine, me, receiver)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_without_a_worker_commits_is_begun_by_another_at_once() {
    let home = Home::new();
    let (_maker, engine, me, mut received) = two(&home).await;
    for _ in 0..3 {
        let link = engine.create_payment_link(&Call::by(me), link()).await.unwrap().object;
        let body = timeout(PATIENCE, received.recv()).await.expect("it is told").unwrap();
        assert!(body.contains(&link.id.to_string()), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_host_commits_with_its_own_rows_is_begun_by_another_at_once() {
    let home = Home::new();
    let (maker, engine, me, mut received) = two(&home).await;
    let pool = PgPool::connect(&url()).await.unwrap();
    let within = Arc::new(maker.within(pool.begin().await.unwrap()));
    let made = engine.within(within.clone()).create_payment_link(&Call::by(me), link()).await;
    let link = made.unwrap().object;
    assert!(received.try_recv().is_err(), "nothing is sent before the host commits");
    within.take().await.unwrap().commit().await.unwrap();
    let body = timeout(PATIENCE, received.recv()).await.expect("it is told").unwrap();
    assert!(body.contains(&link.id.to_string()), "{body}");
}

/// A way to the server that can break without a word: connections stay open, and nothing more
/// comes through those that are there.
async fn way(folder: &std::path::Path) -> (PgConnectOptions, Arc<Notify>) {
    let real: PgConnectOptions = url().parse().unwrap();
    let file = format!(".s.PGSQL.{}", real.get_port());
    let listener = UnixListener::bind(folder.join(&file)).unwrap();
    let broken = Arc::new(Notify::new());
    let (options, cut) = (real.clone().socket(folder), Arc::clone(&broken));
    tokio::spawn(async move {
        loop {
            let (mut here, _) = listener.accept().await.unwrap();
            let (real, file, cut) = (real.clone(), file.clone(), Arc::clone(&cut));
            tokio::spawn(async move {
                let cut = cut.notified();
                let copied = async {
                    if let Some(socket) = real.get_socket() {
                        let mut there = UnixStream::connect(socket.join(file)).await.unwrap();
                        copy_bidirectional(&mut here, &mut there).await
                    } else {
                        let to = (real.get_host(), real.get_port());
                        let mut there = TcpStream::connect(to).await.unwrap();
                        copy_bidirectional(&mut here, &mut there).await
                    }
                };
                tokio::select! {
                    _ = copied => {}
                    () = cut => std::future::pending::<()>().await,
                }
            });
        }
    });
    (options, broken)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_dies_without_a_word_is_noticed() {
    let (home, folder) = (Home::new(), tempfile::tempdir().unwrap());
    let (options, broken) = way(folder.path()).await;
    let pool = PgPool::connect_with(options).await.unwrap();
    let ringing = home.open().await.bell();
    let store = PostgresStore::new(&pool, home.options().patience(Duration::from_secs(2)));
    let heard = store.await.unwrap().bell();
    timeout(PATIENCE, heard.rung()).await.expect("it begins to listen");
    ringing.ring().await;
    timeout(PATIENCE, heard.rung()).await.expect("a ring is heard");
    broken.notify_waiters();
    ringing.ring().await;
    timeout(PATIENCE, heard.rung()).await.expect("what was said meanwhile is looked for");
    ringing.ring().await;
    timeout(PATIENCE, heard.rung()).await.expect("a ring is heard again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ring_is_for_the_processes_on_the_same_schema() {
    let (home, elsewhere) = (Home::new(), Home::new());
    let (here, there) = (home.open().await, elsewhere.open().await);
    let (heard, other) = (here.bell(), there.bell());
    // What may have been said before anybody listened.
    timeout(PATIENCE, heard.rung()).await.unwrap();
    timeout(PATIENCE, other.rung()).await.unwrap();
    here.bell().ring().await;
    timeout(PATIENCE, heard.rung()).await.expect("a ring on the same schema is heard");
    // The server tells everybody in the same order, so it would have been heard by now.
    there.bell().ring().await;
    timeout(PATIENCE, other.rung()).await.expect("so is one on the other");
    let more = timeout(Duration::ZERO, other.rung()).await;
    assert!(more.is_err(), "and that of the first schema was not");
}
