//! Who asks for a list sees its own, whatever the query names.

use cauri::{Caller, Environment, Error, List, Query, Scope, wire::query::Events};
use serde_json::json;

use crate::support::Story;

/// What each list call answers to the same query, in the order of [`lists`].
async fn asked(story: &Story, me: &Caller, query: &Query) -> Vec<Result<i64, Error>> {
    let engine = &story.engine;
    let events = Events { query: query.clone(), resource: None };
    vec![
        engine.customers(me, query).await.map(|it| it.total),
        engine.payments(me, query).await.map(|it| it.total),
        engine.payment_links(me, query).await.map(|it| it.total),
        engine.payouts(me, query).await.map(|it| it.total),
        engine.refunds(me, query).await.map(|it| it.total),
        engine.webhook_endpoints(me, query).await.map(|it| it.total),
        engine.webhook_deliveries(me, query).await.map(|it| it.total),
        engine.ledger(me, query).await.map(|it| it.total),
        engine.events(me, &events).await.map(|it| it.total),
    ]
}

fn lists(scope: Scope) -> [List; 9] {
    [
        List::Customers(scope),
        List::Payments(scope),
        List::PaymentLinks(scope),
        List::Payouts(scope),
        List::Refunds(scope),
        List::WebhookEndpoints(scope),
        List::Deliveries(scope),
        List::Entries(scope),
        List::Events(scope),
    ]
}

#[tokio::test]
async fn a_list_is_only_answered_to_whom_it_belongs_and_where_it_belongs() {
    let story = Story::begin().await;
    story.listen(json!(["*"])).await;
    let payment = story.paid("0000").await.id;
    let own = story.me.scope;
    let live = Scope { environment: Environment::Live, ..own };
    let other = Scope { account: story.engine.create_account().await.unwrap().id, ..own };
    for (nth, list) in lists(own).into_iter().enumerate() {
        for (place, answer) in asked(&story, &story.me, &Query::all(list)).await.iter().enumerate()
        {
            match answer {
                Ok(_) => assert_eq!(nth, place, "{list:?}"),
                Err(error) => assert!(matches!(error, Error::OtherList) && nth != place),
            }
        }
        for stranger in [live, other] {
            for answer in asked(&story, &Caller::secret(stranger), &Query::all(list)).await {
                assert!(matches!(answer, Err(Error::OtherList)), "{list:?}: {answer:?}");
            }
        }
    }
    let payments = Query::all(List::Payments(own));
    assert_eq!(story.engine.payments(&story.me, &payments).await.unwrap().total, 1);

    let later = story.paid("0000").await.id;
    let timeline = Query::all(List::Timeline(own, payment));
    assert!(story.engine.payment_timeline(&story.me, payment, &timeline).await.unwrap().total > 0);
    let of_another = story.engine.payment_timeline(&story.me, later, &timeline).await;
    assert!(matches!(of_another, Err(Error::OtherList)), "{of_another:?}");
}
