//! What is told to `tracing`, and which trace goes out with it.
//!
//! A binary of its own: where one test told `tracing` of a subscriber of its thread alone, what
//! other tests of the process had met without one stayed silent.

#![allow(clippy::unwrap_used, reason = "a story that goes wrong should stop")]

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, Once},
};

use async_trait::async_trait;
use cauri::{
    Answer, Attempt, AttemptError, Call, Caller, Catalogue, Connection, Engine, Environment,
    FailureCode, FeeSchedule, Gateway, Grouped, Measured, Meter, Notifier, Observed, Order,
    OrderId, Receipt, Report, Scope, Timestamp, TraceContext, Tracer, Worker,
    decide::{Offers, Terms},
    wire::{CreatePayment, CreatePayout, CreateRefund, CreateWebhookEndpoint, Form},
};
use cauri_conformance::{ManualClock, SeededEntropy};
use cauri_memory::MemoryStore;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tracing::{
    Event, Id, Level, Span, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Record},
};
use tracing_subscriber::{
    layer::{Context, Layer, SubscriberExt as _},
    registry::LookupSpan,
};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A span as it was told.
#[derive(Debug, Clone, Default)]
struct Told {
    name: &'static str,
    parent: Option<u64>,
    linked: Vec<u64>,
    fields: BTreeMap<&'static str, String>,
}

impl Told {
    fn is(&self, name: &str, field: &str, value: &str) -> bool {
        self.name == name && self.fields.get(field).is_some_and(|it| it == value)
    }
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

/// Keeps every span, by its id and in order.
#[derive(Debug, Clone, Default)]
struct Spans(Arc<Mutex<Vec<(u64, Told)>>>);

thread_local! {
    /// The spans of the test that this thread runs, with everything that it awaits.
    static HERE: RefCell<Spans> = RefCell::default();
    /// And what went wrong meanwhile.
    static ERRORS: RefCell<Vec<Told>> = RefCell::default();
}

impl Spans {
    /// Those of this thread from now on.
    fn of_this_thread() -> Self {
        let spans = Self::default();
        HERE.with_borrow_mut(|here| here.clone_from(&spans));
        spans
    }

    fn with(&self, id: &Id, change: impl FnOnce(&mut Told)) {
        let mut spans = self.0.lock().unwrap();
        // Ids are used again once their spans are closed.
        let found = spans.iter_mut().rev().find(|(it, _)| *it == id.into_u64());
        // What a test before this one began on the thread may end during this one.
        if let Some((_, told)) = found {
            change(told);
        }
    }

    /// The one span with this value of a field, and its number.
    #[track_caller]
    fn one(&self, name: &str, field: &str, value: &str) -> (usize, Told) {
        let spans = self.0.lock().unwrap();
        let mut found = spans.iter().enumerate().filter(|(_, (_, it))| it.is(name, field, value));
        let (at, (_, span)) =
            found.next().unwrap_or_else(|| panic!("no {name} of {value} in {spans:#?}"));
        assert!(found.next().is_none(), "several {name} of {value}: {spans:#?}");
        (at, span.clone())
    }

    /// The span, told before this one, that has this id.
    fn before(&self, at: usize, id: u64) -> Told {
        let spans = self.0.lock().unwrap();
        spans[..at].iter().rev().find(|(it, _)| *it == id).unwrap().1.clone()
    }

    /// From the one span to its oldest ancestor.
    fn path(&self, name: &str, field: &str, value: &str) -> Vec<&'static str> {
        let (at, mut span) = self.one(name, field, value);
        let mut path = vec![span.name];
        while let Some(parent) = span.parent {
            span = self.before(at, parent);
            path.push(span.name);
        }
        path
    }
}

/// The one subscriber of the process: hands each span to the thread that it is told on.
#[derive(Debug)]
struct ByThread;

impl ByThread {
    /// Before a test meets its first span: what was met without a subscriber may stay silent.
    fn listen() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let subscriber = tracing_subscriber::registry().with(Self);
            tracing::subscriber::set_global_default(subscriber).unwrap();
        });
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for ByThread {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let parent = match attributes.is_contextual() {
            true => context.current_span().id().map(Id::into_u64),
            false => attributes.parent().map(Id::into_u64),
        };
        let mut told = Told { name: attributes.metadata().name(), parent, ..Told::default() };
        attributes.record(&mut told);
        HERE.with_borrow(|here| here.0.lock().unwrap().push((id.into_u64(), told)));
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() == Level::ERROR {
            let mut told = Told::default();
            event.record(&mut told);
            ERRORS.with_borrow_mut(|errors| errors.push(told));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        HERE.with_borrow(|here| here.with(id, |told| values.record(told)));
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, _: Context<'_, S>) {
        HERE.with_borrow(|here| here.with(id, |told| told.linked.push(follows.into_u64())));
    }
}

/// Takes every order on and remembers in which trace.
#[derive(Debug)]
struct Rail(mpsc::UnboundedSender<Option<TraceContext>>);

#[async_trait]
impl Gateway for Rail {
    fn capabilities(&self) -> cauri::Capabilities {
        cauri::Capabilities::ALL
    }

    async fn submit(&self, order: &Order, _: Timestamp) -> Answer {
        self.0.send(order.trace.clone()).unwrap();
        Answer::final_report(Report::Paid)
    }

    async fn query(&self, _: &Order, _: Timestamp) -> Answer {
        Answer::final_report(Report::Unknown)
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

/// Takes every attempt and hands on its headers.
#[derive(Debug)]
struct Receiver(mpsc::UnboundedSender<BTreeMap<&'static str, String>>);

#[async_trait]
impl Notifier for Receiver {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        self.0.send(attempt.headers.iter().cloned().collect()).unwrap();
        Receipt { outcome: Ok(204), duration_ms: 10 }
    }

    async fn vet(&self, _: &str, _: Environment) -> Result<(), AttemptError> {
        Ok(())
    }
}

/// Records spans under the trace that they were told of, and under their own ids.
#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<(u64, TraceContext)>>);

impl Tracer for Recorder {
    fn adopt(&self, span: &Span, parent: &TraceContext) {
        let id = span.id().unwrap().into_u64();
        self.0.lock().unwrap().push((id, parent.clone()));
    }

    fn context(&self, span: &Span) -> Option<TraceContext> {
        TraceContext::new(7, span.id()?.into_u64(), TraceContext::SAMPLED, None)
    }
}

/// Everything that was measured, in words.
#[derive(Debug, Default)]
struct Words(Mutex<Vec<String>>);

impl Meter for Words {
    fn measured(&self, what: &Measured<'_>) {
        let word = match what {
            Measured::Told { kind, failure, .. } => format!("{kind} {failure:?}"),
            Measured::Gateway { connection, call, outcome, .. } => {
                format!("{connection} {} {outcome}", call.as_str())
            }
            Measured::Delivery { outcome, .. } => format!("delivery {outcome:?}"),
            _ => return,
        };
        self.0.lock().unwrap().push(word);
    }
}

struct Stage {
    engine: Engine,
    me: Caller,
    asked: mpsc::UnboundedReceiver<Option<TraceContext>>,
    sent: mpsc::UnboundedReceiver<BTreeMap<&'static str, String>>,
    meter: Arc<Words>,
}

impl Stage {
    async fn set(tracer: Option<Arc<dyn Tracer>>) -> Self {
        ByThread::listen();
        let (rail, asked) = mpsc::unbounded_channel();
        let (receiver, sent) = mpsc::unbounded_channel();
        let meter = Arc::new(Words::default());
        let mut terms = Terms::default();
        terms.live = Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() };
        let store = Grouped::new(Observed::new(MemoryStore::new(), "memory"));
        let mut builder = Engine::builder(Arc::new(store))
            .clock(Arc::new(ManualClock::at(start())))
            .entropy(Arc::new(SeededEntropy::new(7)))
            .terms(terms)
            .meter(meter.clone())
            .notifier(Arc::new(Receiver(receiver)))
            .gateway(Connection::new("sim_mtn_ci"), Arc::new(Rail(rail)));
        if let Some(tracer) = tracer {
            builder = builder.tracer(tracer);
        }
        let engine = builder.build().unwrap();
        let account = engine.create_account().await.unwrap();
        let me = Caller::secret(Scope { account: account.id, environment: Environment::Live });
        Self { engine, me, asked, sent, meter }
    }

    fn read<T>(
        &self,
        body: &Value,
        read: impl Fn(&serde_json::Map<String, Value>, &Form<'_>) -> Result<T, cauri::Faults>,
    ) -> T {
        let environment = Environment::Live;
        let catalogue = &self.engine.terms().live.catalogue;
        read(body.as_object().unwrap(), &Form { environment, catalogue, now: start() }).unwrap()
    }

    /// A payment that is paid at once, with its three events delivered; the worker has ended then.
    async fn live(&mut self, trace: Option<TraceContext>) -> Lived {
        let ask = json!({"url": "https://shop.example.com/hooks?k=private", "events": ["*"]});
        let ask = self.read(&ask, CreateWebhookEndpoint::read);
        self.engine.create_webhook_endpoint(&Call::by(self.me), ask).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let worker = tokio::spawn(Worker::new(self.engine.clone()).run(async move {
            let _ = stopped.await;
        }));
        // It listens from its first turn on.
        tokio::task::yield_now().await;
        let ask = json!({
            "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
            "phone": "+2250500000000", "description": "private",
        });
        let ask = self.read(&ask, CreatePayment::read);
        self.engine.create_payment(&Call::by(self.me).traced(trace), ask).await.unwrap();
        let asked = self.asked.recv().await.unwrap();
        let mut sent = Vec::new();
        for _ in 0..3 {
            sent.push(self.sent.recv().await.unwrap());
        }
        stop.send(()).unwrap();
        worker.await.unwrap();
        Lived { asked, sent }
    }
}

struct Lived {
    asked: Option<TraceContext>,
    sent: Vec<BTreeMap<&'static str, String>>,
}

fn start() -> Timestamp {
    Timestamp::from_millis(1_731_974_400_000)
}

fn trace(state: Option<&str>) -> Option<TraceContext> {
    TraceContext::read(PARENT, state)
}

#[tokio::test]
async fn a_payments_life_is_told_in_spans() {
    let spans = Spans::of_this_thread();
    let mut stage = Stage::set(None).await;
    stage.live(trace(None)).await;

    let (at, created) = spans.one("use_case", "otel.name", "create_payment");
    assert_eq!(created.fields["cauri.environment"], "live");
    // It asks who listens, and commits; the batch that it went in is linked to it.
    let told = spans.0.lock().unwrap()[at..].to_vec();
    let [(case, _), (_, read), (commit_id, commit), (batch_id, batch), (_, store), ..] = &told[..]
    else {
        panic!("too little was told: {told:#?}")
    };
    assert_eq!((read.name, read.parent), ("store", Some(*case)));
    assert_eq!(read.fields["db.operation.name"], "get");
    assert_eq!((commit.name, commit.parent), ("commit", Some(*case)));
    assert_eq!((batch.name, batch.parent, &batch.linked[..]), ("batch", None, &[*commit_id][..]));
    assert_eq!((store.name, store.parent), ("store", Some(*batch_id)));
    assert_eq!(store.fields["db.system.name"], "memory");
    assert_eq!(store.fields["db.operation.name"], "commit");
    assert_eq!(store.fields["otel.kind"], "client");

    assert_eq!(spans.path("gateway", "otel.name", "submit"), ["gateway", "order"]);
    let (_, gateway) = spans.one("gateway", "otel.name", "submit");
    assert_eq!(gateway.fields["cauri.connection"], "sim_mtn_ci");
    assert_eq!(gateway.fields["cauri.outcome"], "paid");
    assert_eq!(spans.path("use_case", "otel.name", "report_payment"), ["use_case", "order"]);
    for kind in ["payment.created", "payment.processing", "payment.succeeded"] {
        let (_, delivery) = spans.one("delivery", "cauri.event.type", kind);
        assert_eq!(delivery.fields["http.response.status_code"], "204");
        assert_eq!(delivery.parent, None);
    }
    let all = format!("{:?}", spans.0.lock().unwrap());
    for private in ["private", "+22505", "shop.example.com", "whsec_", "t=17319"] {
        assert!(!all.contains(private), "{private} was told: {all}");
    }
}

#[tokio::test]
async fn a_trace_goes_to_the_network_and_to_receivers_as_it_came() {
    let mut stage = Stage::set(None).await;
    let Lived { asked, sent } = stage.live(trace(Some("vendor=value"))).await;
    assert_eq!(asked, trace(Some("vendor=value")));
    assert_eq!(sent.len(), 3);
    for headers in sent {
        assert_eq!(headers["traceparent"], PARENT);
        assert_eq!(headers["tracestate"], "vendor=value");
    }
}

#[tokio::test]
async fn without_a_trace_none_goes_out() {
    let mut stage = Stage::set(None).await;
    let Lived { asked, sent } = stage.live(None).await;
    assert_eq!(asked, None);
    assert!(sent.iter().all(|headers| !headers.contains_key("traceparent")), "{sent:?}");
}

#[tokio::test]
async fn a_tracer_passes_on_the_span_of_the_call() {
    let spans = Spans::of_this_thread();
    let recorder = Arc::new(Recorder::default());
    let mut stage = Stage::set(Some(recorder.clone())).await;
    let Lived { asked, sent } = stage.live(trace(None)).await;
    let id = |name, field, value| {
        let (at, _) = spans.one(name, field, value);
        spans.0.lock().unwrap()[at].0
    };
    let asked = asked.unwrap();
    assert_eq!((asked.trace_id(), asked.parent_id()), (7, id("gateway", "otel.name", "submit")));
    for headers in &sent {
        let parent = TraceContext::read(&headers["traceparent"], None).unwrap();
        let delivery = id("delivery", "cauri.event.type", &headers["X-Webhook-Event"]);
        assert_eq!((parent.trace_id(), parent.parent_id()), (7, delivery));
    }
    // What came from outside is the parent of the use case, and that of what follows.
    let adopted = recorder.0.lock().unwrap().clone();
    assert_eq!(adopted[0], (id("use_case", "otel.name", "create_payment"), trace(None).unwrap()));
    let of = |id| adopted.iter().find(|(it, _)| *it == id).map(|(_, parent)| parent.trace_id());
    let (at, _) = spans.one("gateway", "otel.name", "submit");
    let order = spans.0.lock().unwrap()[at].1.parent.unwrap();
    assert_eq!(of(order), Some(7));
}

#[tokio::test]
async fn what_happens_is_measured() {
    let mut stage = Stage::set(None).await;
    stage.live(None).await;
    let mut words = stage.meter.0.lock().unwrap().clone();
    words.sort();
    let expected = [
        "delivery Ok(204)",
        "delivery Ok(204)",
        "delivery Ok(204)",
        "payment.created None",
        "payment.processing None",
        "payment.succeeded None",
        "sim_mtn_ci submit paid",
    ];
    assert_eq!(words, expected);
}

#[tokio::test]
async fn a_network_that_contradicts_itself_is_an_error_in_the_log_whatever_the_order() {
    let stage = Stage::set(None).await;
    let (engine, me) = (&stage.engine, Call::by(stage.me));
    let failed = Report::Failed(FailureCode::NetworkError);
    let errors = async |order: OrderId, report: &Report| {
        ERRORS.take();
        engine.report(stage.me.scope, order, report.clone()).await.unwrap();
        let told = ERRORS.take();
        assert!(told.iter().all(|it| it.fields["order"] == order.to_string()), "{told:?}");
        told.len()
    };
    let payment = json!({
        "amount": 5000, "currency": "XOF", "network": "mtn", "phone": "+2250500000000",
        "payment_method": "mobile_money",
    });
    let ask = stage.read(&payment, CreatePayment::read);
    let payment = engine.create_payment(&me, ask).await.unwrap().object.id;
    let id = OrderId::Payment(payment);
    for (report, told) in [(&Report::Paid, 0), (&Report::Paid, 0), (&failed, 1)] {
        assert_eq!(errors(id, report).await, told, "{report:?}");
    }
    let payout = json!({
        "amount": 1000, "currency": "XOF", "network": "mtn", "phone": "+2250500000000",
    });
    let ask = stage.read(&payout, CreatePayout::read);
    let id = OrderId::Payout(engine.create_payout(&me, ask).await.unwrap().object.id);
    for (report, told) in [(&failed, 0), (&failed, 0), (&Report::Paid, 1)] {
        assert_eq!(errors(id, report).await, told, "{report:?}");
    }
    // Money that went out over a connection that had not taken the order on may go out twice.
    let ask = stage.read(&payout, CreatePayout::read);
    let id = OrderId::Payout(engine.create_payout(&me, ask).await.unwrap().object.id);
    ERRORS.take();
    let other = Connection::new("sim_orange_ci");
    engine.report_from(&other, stage.me.scope, id, failed.clone()).await.unwrap();
    assert_eq!(ERRORS.take().len(), 0, "it has no say");
    engine.report_from(&other, stage.me.scope, id, Report::Paid).await.unwrap();
    assert_eq!(ERRORS.take().len(), 1);
    let refund = json!({ "payment": payment.to_string(), "amount": 1000 });
    let ask = stage.read(&refund, CreateRefund::read);
    let id = OrderId::Refund(engine.create_refund(&me, ask).await.unwrap().object.id);
    for (report, told) in [(&Report::accepted(), 0), (&Report::Paid, 0), (&failed, 1)] {
        assert_eq!(errors(id, report).await, told, "{report:?}");
    }
}
