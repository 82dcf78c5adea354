//! Events that are looked up, sent again and replayed (API §22).

use cauri::{
    AttemptError, Call, Caller, DeliveryId, DeliveryStatus, EndpointId, Environment, Error, List,
    Query, Scenario, Scope, retry, signature,
    wire::{self, ReplayEvents, RetryDelivery, query},
};
use serde_json::{Value, json};

use crate::support::{Story, code};

impl Story {
    async fn told(&self, pairs: &[(&str, &str)]) -> (Vec<Value>, i64) {
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let asked = query::events(self.me.scope, &pairs).unwrap();
        let list = self.engine.events(&self.me, &asked).await.unwrap();
        (
            list.data.iter().map(|it| serde_json::from_str(it.as_str()).unwrap()).collect(),
            list.total,
        )
    }

    async fn kinds_of(&self, id: &str) -> Vec<String> {
        let (told, total) = self.told(&[("resource", id), ("limit", "100")]).await;
        assert_eq!(i64::try_from(told.len()).unwrap(), total);
        told.iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect()
    }

    async fn last_delivery(&self) -> wire::WebhookDelivery {
        let query = Query::all(List::Deliveries(self.me.scope));
        self.engine.webhook_deliveries(&self.me, &query).await.unwrap().data.remove(0)
    }

    async fn retry(&self, id: DeliveryId) -> Result<wire::WebhookDelivery, Error> {
        let call = self.call();
        Ok(self.engine.retry_webhook_delivery(&call, id, RetryDelivery).await?.object)
    }

    async fn replay(
        &self,
        endpoint: EndpointId,
        body: Value,
    ) -> Result<wire::WebhookReplay, Error> {
        let ask = self.read(body, ReplayEvents::read)?;
        Ok(self.engine.replay_webhooks(&self.call(), endpoint, ask).await?.object)
    }

    fn sent_ids(&self) -> Vec<String> {
        let sent = self.receiver.sent.lock().unwrap();
        sent.iter().map(|it| it.body["id"].as_str().unwrap().to_owned()).collect()
    }

    fn now_text(&self) -> String {
        cauri::Clock::now(&*self.clock).to_string()
    }
}

#[tokio::test]
async fn the_events_of_an_object_are_found_and_no_others() {
    let story = Story::begin().await;
    story.fund(1_000_000, "XOF").await;
    // Twins made in the same moment share kinds and dates.
    let [one, two] = [story.pay(json!({})).await.unwrap(), story.pay(json!({})).await.unwrap()];
    story.wait(1_000).await;
    for payment in [one.id, two.id] {
        story.simulate(&payment.to_string(), Scenario::Success).await.unwrap();
    }
    let part = story.refund(json!({"payment": one.id, "amount": 100})).await.unwrap();
    let rest = story.refund(json!({"payment": one.id})).await.unwrap();
    story.simulate(&part.id.to_string(), Scenario::Success).await.unwrap();
    story.simulate(&rest.id.to_string(), Scenario::RefundFailure).await.unwrap();
    let payment = [
        "payment.partially_refunded",
        "payment.succeeded",
        "payment.processing",
        "payment.created",
    ];
    assert_eq!(story.kinds_of(&one.id.to_string()).await, payment);
    assert_eq!(story.kinds_of(&two.id.to_string()).await, payment[1..]);
    assert_eq!(story.kinds_of(&part.id.to_string()).await, ["refund.succeeded", "refund.created"]);
    assert_eq!(story.kinds_of(&rest.id.to_string()).await, ["refund.failed", "refund.created"]);

    let body =
        json!({"amount": 500, "currency": "XOF", "network": "mtn", "phone": "+2250500000002"});
    let ask = story.read(body, wire::CreatePayout::read).unwrap();
    let payout = story.engine.create_payout(&story.call(), ask).await.unwrap().object;
    // In the very moment of its creation, so that what follows is told ahead of the clock.
    story.simulate(&payout.id.to_string(), Scenario::Success).await.unwrap();
    assert_eq!(
        story.kinds_of(&payout.id.to_string()).await,
        ["payout.succeeded", "payout.processing", "payout.created"]
    );

    let body = json!({"title": "Invoice", "amount": 700, "currency": "XOF", "country": "CI"});
    let ask = story.read(body, wire::CreatePaymentLink::read).unwrap();
    let link = story.engine.create_payment_link(&story.call(), ask).await.unwrap().object;
    let through = json!({"payment_link": link.id, "amount": null, "currency": null});
    let payment = story.pay(through).await.unwrap_or_else(|error| panic!("{error}"));
    story.simulate(&payment.id.to_string(), Scenario::Success).await.unwrap();
    // What is changed long afterwards does not hide when it was paid.
    story.wait(60_000).await;
    let ask = story.read(json!({"title": "Paid"}), wire::ModifyPaymentLink::read).unwrap();
    story.engine.modify_payment_link(&story.call(), link.id, ask).await.unwrap();
    let link = link.id.to_string();
    assert_eq!(story.kinds_of(&link).await, ["payment_link.paid", "payment_link.created"]);

    let unknown = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c";
    assert_eq!(story.kinds_of(unknown).await, [""; 0]);
    let (all, total) = story.told(&[("limit", "100")]).await;
    let of_one = |it: &&Value| it["data"]["object"]["id"] == one.id.to_string();
    assert_eq!(all.iter().filter(of_one).count(), 4);
    assert_eq!(i64::try_from(all.len()).unwrap(), total);
}

#[tokio::test]
async fn the_events_of_an_object_are_filtered_and_paged_like_any_list() {
    let story = Story::begin().await;
    let paid = story.paid("0000").await;
    let id = paid.id.to_string();
    let (all, _) = story.told(&[("resource", &id)]).await;
    assert_eq!(all.len(), 3);
    for (at, event) in all.iter().enumerate() {
        let offset = at.to_string();
        let page = story.told(&[("resource", &id), ("limit", "1"), ("offset", &offset)]).await;
        assert_eq!(page, (vec![event.clone()], 3));
    }
    assert_eq!(story.told(&[("resource", &id), ("offset", "9223372036854775807")]).await.0, [0; 0]);
    let kind = story.told(&[("resource", &id), ("type", "payment.succeeded")]).await;
    assert_eq!(kind, (vec![all[0].clone()], 1));
    let from = all[1]["created"].as_str().unwrap();
    assert_eq!(story.told(&[("resource", &id), ("created_from", from)]).await.1, 2);
    assert_eq!(story.told(&[("resource", &id), ("created_to", from)]).await.1, 1);
}

#[tokio::test]
async fn a_retry_reaches_the_receiver_again_with_a_fresh_signature() {
    let story = Story::begin().await;
    let endpoint = story.listen(json!(["payment.created"])).await;
    story.receiver.script.lock().unwrap().extend(vec![Ok(500); 6]);
    story.pay(json!({})).await.unwrap();
    for seconds in [0, 6, 31, 301, 1801, 7201] {
        story.clock.advance_millis(seconds * 1_000);
        story.settle().await;
    }
    let failed = story.last_delivery().await;
    assert_eq!((failed.status, failed.attempts_count), (DeliveryStatus::Failed, 6));
    story.clock.advance_millis(86_400_000);
    let now = cauri::Clock::now(&*story.clock);
    let again = story.retry(failed.id).await.unwrap();
    assert_eq!((again.status, again.next_attempt_at), (DeliveryStatus::Pending, Some(now)));
    assert_eq!((again.completed_at, again.max_attempts), (None, retry::ATTEMPTS_MAX));
    story.settle().await;
    let sent = story.receiver.sent.lock().unwrap().clone();
    let (first, last) = (&sent[0], &sent[6]);
    assert_eq!((sent.len(), last.number.as_str()), (7, "7"));
    assert_eq!(first.raw, last.raw, "the same event, byte for byte");
    let secret = endpoint.secret.unwrap();
    let verify =
        |at: i64| signature::verify(&last.raw, last.signature.as_bytes(), &[secret.as_str()], at);
    assert!(verify(now.seconds()).is_ok());
    assert!(verify(first.at.seconds()).is_err(), "its timestamp is that of the retry");
    let done = story.last_delivery().await;
    assert_eq!((done.status, done.attempts_count), (DeliveryStatus::Succeeded, 7));
    // What was received can be asked for once more; a miss leads back to the end of the schedule.
    story.receiver.script.lock().unwrap().push_back(Err(AttemptError::Timeout));
    story.retry(done.id).await.unwrap();
    story.wait(10_000_000).await;
    let done = story.last_delivery().await;
    assert_eq!((done.status, done.attempts_count), (DeliveryStatus::Failed, 8));
}

#[tokio::test]
async fn a_retry_brings_a_waiting_attempt_forward_and_leaves_one_under_way_alone() {
    let story = Story::begin().await;
    story.listen(json!(["payment.created"])).await;
    story.receiver.script.lock().unwrap().extend([Ok(500), Ok(500)]);
    story.pay(json!({})).await.unwrap();
    let due = story.last_delivery().await;
    assert_eq!(story.retry(due.id).await.unwrap(), due, "it is due already");
    story.settle().await;
    let waiting = story.last_delivery().await;
    let brought = story.retry(waiting.id).await.unwrap();
    assert!(brought.next_attempt_at < waiting.next_attempt_at);
    story.settle().await;
    // The schedule goes on from there: the third attempt 30 s after the second.
    let second = story.last_delivery().await;
    let ended = second.attempts[1].ended_at();
    assert_eq!(second.next_attempt_at, Some(ended.plus_seconds(30)));
    // A worker that holds it would be refused if it were changed under its hands.
    story.clock.advance_millis(30_010);
    let now = cauri::Clock::now(&*story.clock);
    let lease = cauri::Claim {
        kind: cauri::ClaimKind::Deliveries,
        now,
        until: now.plus_seconds(20),
        limit: 10,
        lanes: None,
    };
    let held = story.engine.store().claim(&lease).await.unwrap();
    assert_eq!(held.len(), 1);
    story.clock.advance_millis(1);
    let seen = story.retry(second.id).await.unwrap();
    assert_eq!(seen, story.last_delivery().await);
    let key = held[0].value.key();
    let after = story.engine.store().get(&[key]).await.unwrap().remove(0).unwrap();
    assert_eq!(after.version, held[0].version, "nothing was written");
}

#[tokio::test]
async fn a_retry_of_what_cannot_arrive_is_refused() {
    let story = Story::begin().await;
    let endpoint = story.listen(json!(["payment.created"])).await;
    story.pay(json!({})).await.unwrap();
    story.settle().await;
    let done = story.last_delivery().await;
    let ask = story.read(json!({"active": false}), wire::ModifyWebhookEndpoint::read).unwrap();
    story.engine.modify_webhook_endpoint(&story.call(), endpoint.id, ask).await.unwrap();
    assert_eq!(code(story.retry(done.id).await), "webhook_endpoint_disabled");
    let since = json!({"since": "2024-11-19T00:00:00Z"});
    assert_eq!(code(story.replay(endpoint.id, since.clone()).await), "webhook_endpoint_disabled");
    story.engine.delete_webhook_endpoint(&story.me, endpoint.id).await.unwrap();
    assert_eq!(code(story.retry(done.id).await), "webhook_endpoint_disabled");
    assert_eq!(code(story.replay(endpoint.id, since).await), "resource_not_found");
    assert_eq!(story.last_delivery().await, done, "what is refused changes nothing");
}

#[tokio::test]
async fn a_replay_sends_each_event_once_a_call_in_their_order() {
    let story = Story::begin().await;
    for _ in 0..3 {
        story.paid("0000").await;
        // Days without anything are passed over quickly.
        story.wait(1_000).await;
        story.clock.advance_millis(10 * 86_400_000);
    }
    let since = story.now_text();
    story.clock.advance_millis(86_400_000);
    story.paid("0000").await;
    story.clock.advance_millis(1);
    let endpoint = story.listen(json!(["*"])).await;
    let body = json!({"webhook_endpoint": endpoint.id});
    let test = story.read(body, wire::TestWebhook::read).unwrap();
    story.engine.test_webhook(&story.call(), test).await.unwrap();
    story.settle().await;
    story.receiver.sent.lock().unwrap().clear();

    let (told, total) = story.told(&[("limit", "100")]).await;
    assert_eq!(total, 13);
    let mut real: Vec<String> = told
        .iter()
        .filter(|it| it["test"] != true)
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect();
    real.reverse();
    let all = story.replay(endpoint.id, json!({"since": "2024-11-19T00:00:00Z"})).await.unwrap();
    assert_eq!((all.events_count, all.deliveries_count, all.has_more), (12, 12, false));
    assert_eq!(all.last_event.unwrap().to_string(), real[11]);
    story.settle().await;
    assert_eq!(story.sent_ids(), real, "each once, oldest first, none of a test");

    // Once more, since a moment.
    story.receiver.sent.lock().unwrap().clear();
    let late = story.replay(endpoint.id, json!({"since": since})).await.unwrap();
    assert_eq!((late.events_count, late.has_more), (3, false));
    story.settle().await;
    assert_eq!(story.sent_ids(), real[9..]);
    let kinds = story.kinds();
    assert_eq!(kinds, ["payment.created", "payment.processing", "payment.succeeded"]);

    // Page by page it is the same.
    story.receiver.sent.lock().unwrap().clear();
    let mut body = json!({"since": "2024-11-19T00:00:00Z", "limit": 5});
    let mut counts = Vec::new();
    loop {
        let page = story.replay(endpoint.id, body.clone()).await.unwrap();
        counts.push(page.events_count);
        body["after"] = json!(page.last_event);
        if !page.has_more {
            break;
        }
    }
    assert_eq!(counts, [5, 5, 2]);
    story.settle().await;
    assert_eq!(story.sent_ids(), real);
    let none = story.replay(endpoint.id, body).await.unwrap();
    assert_eq!((none.events_count, none.last_event, none.has_more), (0, None, false));
}

#[tokio::test]
async fn a_replay_minds_what_the_endpoint_wants_and_the_end_that_it_is_told() {
    let story = Story::begin().await;
    let endpoint = story.listen(json!(["payment.succeeded"])).await;
    let paid = story.paid("0000").await;
    story.settle().await;
    story.clock.advance_millis(10_000);
    let body = json!({"since": "2024-11-19T00:00:00Z"});
    let all = story.replay(endpoint.id, body).await.unwrap();
    assert_eq!((all.events_count, all.deliveries_count), (3, 1));
    story.settle().await;
    let sent = story.sent_ids();
    assert_eq!((sent.len(), &sent[0]), (2, &sent[1]), "the same event in another delivery");
    let query = Query::all(List::Deliveries(story.me.scope));
    let both = story.engine.webhook_deliveries(&story.me, &query).await.unwrap().data;
    assert_eq!((both.len(), both[0].event), (2, both[1].event));
    assert_ne!(both[0].id, both[1].id);
    let until = paid.succeeded_at.unwrap().to_string();
    let body = json!({"since": "2024-11-19T00:00:00Z", "until": until});
    let some = story.replay(endpoint.id, body).await.unwrap();
    assert_eq!((some.events_count, some.deliveries_count), (2, 0));
}

#[tokio::test]
async fn a_crowded_moment_is_replayed_whole() {
    let story = Story::begin().await;
    // More in one millisecond than a page holds.
    for _ in 0..130 {
        story.pay(json!({})).await.unwrap();
    }
    story.clock.advance_millis(100);
    let endpoint = story.listen(json!(["*"])).await;
    let mut body = json!({"since": "2024-11-19T00:00:00Z"});
    let first = story.replay(endpoint.id, body.clone()).await.unwrap();
    assert_eq!((first.events_count, first.has_more), (100, true));
    body["after"] = json!(first.last_event);
    let second = story.replay(endpoint.id, body).await.unwrap();
    assert_eq!((second.events_count, second.has_more), (30, false));
    story.settle().await;
    let mut sent = story.sent_ids();
    assert_eq!(sent.len(), 130);
    sent.sort();
    sent.dedup();
    assert_eq!(sent.len(), 130, "none twice");
}

#[tokio::test]
async fn repeats_of_a_retry_and_a_replay_do_nothing_more() {
    let story = Story::begin().await;
    let endpoint = story.listen(json!(["payment.created"])).await;
    story.pay(json!({})).await.unwrap();
    story.settle().await;
    story.clock.advance_millis(10);
    let done = story.last_delivery().await;
    let keyed = story.keyed("again", 1);
    for replayed in [false, true, true] {
        let reply =
            story.engine.retry_webhook_delivery(&keyed, done.id, RetryDelivery).await.unwrap();
        assert_eq!(reply.replayed, replayed);
        story.settle().await;
    }
    assert_eq!(story.sent_ids().len(), 2);
    let keyed = story.keyed("all", 2);
    for replayed in [false, true, true] {
        let body = json!({"since": "2024-11-19T00:00:00Z"});
        let ask = story.read(body, ReplayEvents::read).unwrap();
        let reply = story.engine.replay_webhooks(&keyed, endpoint.id, ask).await.unwrap();
        assert_eq!((reply.replayed, reply.object.deliveries_count), (replayed, 1));
        story.settle().await;
    }
    assert_eq!(story.sent_ids().len(), 3);
}

#[tokio::test]
async fn who_may_not_finds_nothing() {
    let story = Story::begin().await;
    let endpoint = story.listen(json!(["*"])).await;
    story.pay(json!({})).await.unwrap();
    story.settle().await;
    story.clock.advance_millis(10);
    let delivery = story.last_delivery().await;
    let stranger = story.engine.create_account().await.unwrap().id;
    let scope = |account, environment| Scope { account, environment };
    let since = json!({"since": "2024-11-19T00:00:00Z"});
    let ask = story.read(since, ReplayEvents::read).unwrap();
    let resource = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c";
    let sent = story.sent_ids().len();
    for other in
        [scope(stranger, Environment::Sandbox), scope(story.me.scope.account, Environment::Live)]
    {
        let (engine, caller) = (&story.engine, Caller::secret(other));
        let call = Call::by(caller);
        assert_eq!(code(engine.event(&caller, delivery.event).await), "resource_not_found");
        let retried = engine.retry_webhook_delivery(&call, delivery.id, RetryDelivery).await;
        assert_eq!(code(retried), "resource_not_found");
        let replayed = engine.replay_webhooks(&call, endpoint.id, ask).await;
        assert_eq!(code(replayed), "resource_not_found");
        for pairs in [vec![], vec![("resource".to_owned(), resource.to_owned())]] {
            let asked = query::events(other, &pairs).unwrap();
            assert_eq!(engine.events(&caller, &asked).await.unwrap().total, 0);
        }
        // One's own endpoint does not lead to another's events.
        let body = json!({"url": "https://shop.example.com/hooks"});
        let hook = story.read(body, wire::CreateWebhookEndpoint::read).unwrap();
        let hook = engine.create_webhook_endpoint(&call, hook).await.unwrap().object;
        let nothing = engine.replay_webhooks(&call, hook.id, ask).await.unwrap().object;
        assert_eq!(nothing.events_count, 0);
        let after = ReplayEvents { after: Some(delivery.event), ..ask };
        let unrelated = engine.replay_webhooks(&call, hook.id, after).await;
        assert_eq!(code(unrelated), "related_resource_not_found");
    }
    let public = Caller::public(story.me.scope);
    let asked = query::events(public.scope, &[]).unwrap();
    assert!(matches!(story.engine.events(&public, &asked).await, Err(Error::Forbidden(_))));
    let one = story.engine.event(&public, delivery.event).await;
    assert!(matches!(one, Err(Error::Forbidden(_))));
    let call = Call::by(public);
    let retried = story.engine.retry_webhook_delivery(&call, delivery.id, RetryDelivery).await;
    assert!(matches!(retried, Err(Error::Forbidden(_))));
    let replayed = story.engine.replay_webhooks(&call, endpoint.id, ask).await;
    assert!(matches!(replayed, Err(Error::Forbidden(_))));
    story.settle().await;
    assert_eq!(story.sent_ids().len(), sent);
}
