//! Every route of the API, asked and answered.

use std::collections::BTreeSet;

use cauri_client::{
    Amount, Client, DeliveryStatus, OrderId, Patch, PaymentMethod, PaymentStatus, Scenario,
    ScenarioKind, filter, wire,
};
use serde_json::Value;

use crate::stage::{Seen, Stage, payment};

#[tokio::test]
async fn every_route_is_asked_and_answered() {
    let stage = Stage::new().await;
    let client = stage.client();
    let endpoint = endpoints(&client).await;
    customers(&client).await;
    let paid = payments(&client).await;
    links(&client).await;
    money(&client, &paid).await;
    told(&stage, &client, endpoint).await;
    let description = client.description().await.unwrap();
    let description: Value = serde_json::from_str(description.get()).unwrap();
    let asked: BTreeSet<String> = stage.seen().iter().map(route).collect();
    assert_eq!(asked, routes(&description));
}

async fn endpoints(client: &Client) -> wire::WebhookEndpoint {
    let url = "http://127.0.0.1:9/hooks".parse().unwrap();
    let made = client.webhooks().create(&wire::CreateWebhookEndpoint::at(url)).await.unwrap();
    assert!(made.secret.as_ref().is_some_and(|secret| secret.as_str().starts_with("whsec_")));
    assert!(!format!("{made:?}").contains("whsec_"), "no secret in what is logged");
    let rotate = wire::ModifyWebhookEndpoint {
        rotate_secret: Some(60),
        description: Patch::Set("mine".parse().unwrap()),
        ..wire::ModifyWebhookEndpoint::default()
    };
    let rotated = client.webhooks().modify(made.id, &rotate).await.unwrap();
    assert!(rotated.secret.is_some() && rotated.secret != made.secret);
    let second = wire::CreateWebhookEndpoint::at("https://a.example/".parse().unwrap());
    let second = client.webhooks().create(&second).await.unwrap().id;
    let deleted = client.webhooks().delete(second).await.unwrap();
    assert!(deleted.deleted && deleted.id == second);
    let listed = client.webhooks().list(&filter::Any::default()).await.unwrap();
    let [only] = listed.data.as_slice() else { panic!("{listed:?}") };
    assert_eq!(only.description.as_ref().map(|it| it.as_str()), Some("mine"));
    made
}

async fn customers(client: &Client) {
    let ask = wire::CreateCustomer {
        name: "Awa Diop".parse().ok(),
        email: "awa@example.com".parse().ok(),
        ..wire::CreateCustomer::default()
    };
    let made = client.customers().create(&ask).await.unwrap();
    let change = wire::ModifyCustomer { email: Patch::Clear, ..wire::ModifyCustomer::default() };
    let changed = client.customers().modify(made.id, &change).await.unwrap();
    assert!(changed.email.is_none() && changed.name == made.name);
    let retrieved = client.customers().retrieve(made.id).await.unwrap();
    assert_eq!(retrieved.statistics.map(|it| it.payments_count), Some(0));
    let nobody =
        filter::Customers { email: "awa@example.com".parse().ok(), ..filter::Customers::default() };
    assert_eq!(client.customers().list(&nobody).await.unwrap().total, 0);
}

async fn payments(client: &Client) -> wire::Payment {
    let made = client.payments().create(&payment()).await.unwrap();
    let ask = wire::Simulate { id: OrderId::Payment(made.id), scenario: Scenario::Success };
    let simulated = client.sandbox().simulate(&ask).await.unwrap();
    let wire::Simulated::Payment(paid) = simulated else { panic!("{simulated:?}") };
    assert_eq!(client.payments().retrieve(made.id).await.unwrap(), paid);
    let lines = client.payments().timeline(made.id, &filter::Any::default()).await.unwrap();
    assert!(lines.total >= 3, "{lines:?}");
    let mut other = payment();
    other.network = "wave".parse().ok();
    let other = client.payments().create(&other).await.unwrap();
    let cancel = wire::CancelPayment { reason: "changed their mind".parse().ok() };
    let cancelled = client.payments().cancel(other.id, &cancel).await.unwrap();
    assert_eq!(cancelled.cancellation_reason, cancel.reason);
    let filter =
        filter::Payments { status: Some(PaymentStatus::Succeeded), ..filter::Payments::default() };
    assert_eq!(client.payments().list(&filter).await.unwrap().data, std::slice::from_ref(&paid));
    paid
}

async fn links(client: &Client) {
    let ask = wire::CreatePaymentLink {
        title: "Invoice 42".parse().unwrap(),
        currency: "XOF".parse().unwrap(),
        country: "CI".parse().unwrap(),
        amount: Some(Amount::new(15_000)),
        description: None,
        methods: Some(vec![PaymentMethod::MobileMoney]),
        reusable: false,
        expires_at: None,
        return_url: None,
        reference: None,
        metadata: cauri_client::Metadata::default(),
        active: true,
    };
    let made = client.payment_links().create(&ask).await.unwrap();
    assert_eq!(client.payment_links().retrieve(made.id).await.unwrap(), made);
    let change =
        wire::ModifyPaymentLink { active: Some(false), ..wire::ModifyPaymentLink::default() };
    assert!(!client.payment_links().modify(made.id, &change).await.unwrap().active);
    let inactive = filter::PaymentLinks { active: Some(false), ..filter::PaymentLinks::default() };
    assert_eq!(client.payment_links().list(&inactive).await.unwrap().total, 1);
    let listing = client.payment_links().payments(made.id, &filter::LinkPayments::default());
    assert_eq!(listing.await.unwrap().total, 0);
}

async fn money(client: &Client, paid: &wire::Payment) {
    let currency = "XOF".parse().unwrap();
    let ask = wire::Fund { amount: Amount::new(50_000), currency };
    client.sandbox().fund(&ask).await.unwrap();
    let balance = client.balance(Some(currency)).await.unwrap();
    let available: Vec<Amount> = balance.available.iter().map(|it| it.amount).collect();
    assert_eq!(available, [Amount::new(54_900)]);
    let ask = wire::CreateRefund {
        payment: paid.id,
        amount: Some(Amount::new(2_000)),
        reason: Some(cauri_client::RefundReason::RequestedByCustomer),
        description: None,
        reference: None,
        metadata: cauri_client::Metadata::default(),
    };
    let refund = client.refunds().create(&ask).await.unwrap();
    assert_eq!(client.refunds().retrieve(refund.id).await.unwrap(), refund);
    let of = filter::Refunds { payment: Some(paid.id), ..filter::Refunds::default() };
    assert_eq!(client.refunds().list(&of).await.unwrap().data, [refund]);
    let ask = wire::CreatePayout {
        amount: Amount::new(10_000),
        currency,
        method: PaymentMethod::MobileMoney,
        network: "orange".parse().unwrap(),
        phone: "+221770000002".parse().unwrap(),
        country: None,
        recipient_name: "Awa".parse().ok(),
        customer: None,
        reference: None,
        description: None,
        metadata: cauri_client::Metadata::default(),
    };
    let payout = client.payouts().create(&ask).await.unwrap();
    assert_eq!(client.payouts().retrieve(payout.id).await.unwrap(), payout);
    assert_eq!(client.payouts().list(&filter::Payouts::default()).await.unwrap().data, [payout]);
    let held = filter::Ledger {
        kind: Some(cauri_client::EntryKind::PayoutHold),
        ..filter::Ledger::default()
    };
    assert_eq!(client.ledger(&held).await.unwrap().total, 2);
    let filter = filter::PaymentMethods { country: "CI".parse().unwrap(), currency: None };
    let methods = client.payment_methods(&filter).await.unwrap();
    assert_eq!((methods.currency, methods.data.len()), (currency, 2));
    let filter = filter::Scenarios { applies_to: Some(ScenarioKind::Payout) };
    let scenarios = client.sandbox().scenarios(&filter).await.unwrap();
    assert!(scenarios.data.iter().all(|it| it.applies_to.contains(&ScenarioKind::Payout)));
}

async fn told(stage: &Stage, client: &Client, endpoint: wire::WebhookEndpoint) {
    let ask = wire::TestWebhook {
        endpoint: endpoint.id,
        event_kind: cauri_client::EventKind::RefundFailed,
    };
    let test = client.webhooks().test(&ask).await.unwrap();
    assert!(test.test && test.status == DeliveryStatus::Pending);
    stage.after(1).await;
    let all = filter::Deliveries { event: Some(test.event), ..filter::Deliveries::default() };
    let listed = client.webhooks().deliveries(&all).await.unwrap();
    assert_eq!(listed.data.iter().map(|it| it.id).collect::<Vec<_>>(), [test.id]);
    let again = client.webhooks().retry(test.id).await.unwrap();
    assert_eq!(again.id, test.id);
    let event = client.events().retrieve(test.event).await.unwrap();
    assert!(event.as_str().contains(r#""test":true"#));
    let events = client.events().list(&filter::Events::default()).await.unwrap();
    let ask =
        wire::ReplayEvents { since: endpoint.created_at, until: None, after: None, limit: 100 };
    let replay = client.webhooks().replay(endpoint.id, &ask).await.unwrap();
    assert!((1..events.total).contains(&replay.events_count), "all but that of the test");
}

/// What was asked, as the description names it.
fn route(seen: &Seen) -> String {
    let path = seen.path.split('?').next().unwrap_or_default();
    let is_id = |part: &str| part.rsplit_once('_').is_some_and(|(_, bits)| bits.len() == 26);
    let parts: Vec<&str> =
        path.split('/').map(|part| if is_id(part) { "{id}" } else { part }).collect();
    format!("{} {}", seen.method, parts.join("/"))
}

fn routes(description: &Value) -> BTreeSet<String> {
    let paths = description["paths"].as_object().expect("paths");
    let methods = |(path, item): (&String, &Value)| -> Vec<String> {
        let verbs = item.as_object().expect("operations").keys();
        let verbs = verbs.filter(|verb| ["get", "post", "delete"].contains(&verb.as_str()));
        verbs.map(|verb| format!("{} {path}", verb.to_uppercase())).collect()
    };
    paths.iter().flat_map(methods).collect()
}
