//! 7. Numbered lists.

use cauri::{
    ClaimKind, Field, FieldValue, List, Page, PaymentId, Query, Record, RecordKind, Scope,
    TimelineEntry, Versioned,
};
use futures_util::future::join_all;

use crate::{
    fixtures::{self, Random},
    subject::{Subject, at, claim, insert, update_due},
};

/// The kinds that are listed and numbered by the store.
const LISTED: [RecordKind; 10] = [
    RecordKind::Account,
    RecordKind::ApiKey,
    RecordKind::Customer,
    RecordKind::PaymentLink,
    RecordKind::Payment,
    RecordKind::Payout,
    RecordKind::Refund,
    RecordKind::WebhookEndpoint,
    RecordKind::Event,
    RecordKind::Delivery,
];

/// Inserts so many records of a kind, in batches of several sizes; answers them, oldest first.
async fn fill(
    subject: &Subject,
    random: &mut Random,
    (kind, scope): (RecordKind, Scope),
    count: usize,
) -> Vec<Record> {
    let records: Vec<Record> = (0..count).map(|_| fixtures::record(random, kind, scope)).collect();
    let mut rest = records.as_slice();
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(random.below(rest.len()).saturating_add(1));
        subject.accept_all(batch.iter().map(|it| insert(it.clone(), None)).collect()).await;
        rest = after;
    }
    records
}

fn list_of(records: &[Record]) -> List {
    records.first().and_then(Record::list).expect("listed records")
}

fn page(limit: u8, offset: i64) -> Page {
    Page::new(limit, offset).expect("a page")
}

/// The page that a query asks for of these records, which are in the list's order.
async fn assert_page(subject: &Subject, query: &Query, ordered: &[Record]) {
    let admitted: Vec<&Record> = ordered.iter().filter(|it| query.admits(it)).collect();
    let listed = subject.list(query).await;
    assert_eq!(i64::try_from(admitted.len()), Ok(listed.total), "{query:?}");
    let offset = usize::try_from(query.page.offset()).expect("an offset");
    let expected = admitted.into_iter().skip(offset).take(query.page.limit().into());
    assert!(listed.items.iter().map(|it| &it.value).eq(expected), "{query:?}");
}

pub(super) async fn law_7_lists_hold_the_newest_first(subject: Subject) {
    let mut random = Random::new(71);
    let scope = random.scope();
    for kind in LISTED {
        let records = fill(&subject, &mut random, (kind, scope), 12).await;
        let listed = subject.list(&Query::all(list_of(&records))).await;
        assert_eq!(listed.total, 12);
        assert!(listed.items.iter().rev().map(|it| &it.value).eq(&records), "{kind:?}");
    }
}

pub(super) async fn law_7_pages_hold_every_record_once(subject: Subject) {
    let mut random = Random::new(72);
    let scope = random.scope();
    let mut records = fill(&subject, &mut random, (RecordKind::Payment, scope), 103).await;
    records.reverse();
    for limit in [1, 2, 7, 25, 99, 100] {
        for offset in (0..=104).step_by(limit.into()) {
            let query = Query::all(List::Payments(scope)).page(page(limit, offset));
            assert_page(&subject, &query, &records).await;
        }
    }
}

pub(super) async fn law_7_a_page_beyond_the_end_is_empty_and_knows_the_total(subject: Subject) {
    let mut random = Random::new(73);
    let scope = random.scope();
    let currency = |query: Query| query.with(Field::Currency, FieldValue::Text("XOF".to_owned()));
    for list in fixtures::lists(scope) {
        for query in [Query::all(list), currency(Query::all(list))] {
            let listed = subject.list(&query).await;
            assert_eq!((listed.items, listed.total), (Vec::new(), 0));
        }
    }
    let records = fill(&subject, &mut random, (RecordKind::Payout, scope), 5).await;
    for offset in [4, 5, 6, 1_000_000, i64::MAX - 1, i64::MAX] {
        let query = Query::all(List::Payouts(scope)).page(page(100, offset));
        let rest: Vec<Record> = records.iter().rev().cloned().collect();
        assert_page(&subject, &query, &rest).await;
        assert_page(&subject, &currency(query), &rest).await;
    }
}

pub(super) async fn law_7_refused_inserts_leave_no_gap(subject: Subject) {
    let mut random = Random::new(74);
    let scope = random.scope();
    for kind in LISTED {
        let mut records = fill(&subject, &mut random, (kind, scope), 1).await;
        let taken = records.first().cloned().expect("one record");
        for _ in 0..5 {
            let [fresh, lost] = [(); 2].map(|()| fixtures::record(&mut random, kind, scope));
            let mut refused = insert(lost, None);
            refused.insert(taken.clone(), None);
            let batch = vec![
                refused.clone(),
                insert(fresh.clone(), None),
                refused,
                insert(taken.clone(), None),
            ];
            let verdicts = subject.commit(batch).await;
            assert_eq!(verdicts.iter().filter(|it| it.is_ok()).count(), 1);
            records.push(fresh);
        }
        records.reverse();
        for offset in 0..7 {
            let query = Query::all(list_of(&records)).page(page(2, offset));
            assert_page(&subject, &query, &records).await;
        }
    }
}

pub(super) async fn law_7_concurrent_inserts_are_numbered_without_gap(subject: Subject) {
    let mut random = Random::new(75);
    let scope = random.scope();
    let tasks = (0..8).map(|_| {
        let batches: Vec<Vec<Record>> = (0..8)
            .map(|_| {
                (0..3).map(|_| fixtures::record(&mut random, RecordKind::Event, scope)).collect()
            })
            .collect();
        let store = subject.store.clone();
        tokio::spawn(async move {
            for batch in &batches {
                let batch = batch.iter().map(|it| insert(it.clone(), None)).collect();
                let verdicts = store.commit(batch).await.expect("the store answers");
                assert_eq!(verdicts, [Ok(()), Ok(()), Ok(())]);
            }
            batches.concat()
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let mut whole: Vec<Record> =
        subject_after(&subject, tasks, scope).await.into_iter().map(|it| it.value).collect();
    whole.reverse();
    assert_eq!(whole.len(), 8 * 8 * 3);
}

/// Waits for the writers, and minds that each one's records are listed in the order in which it
/// wrote them, page by page as well as in one go.
async fn subject_after(
    subject: &Subject,
    writers: Vec<tokio::task::JoinHandle<Vec<Record>>>,
    scope: Scope,
) -> Vec<Versioned<Record>> {
    let written = join_all(writers).await;
    let whole = subject.whole(List::Events(scope)).await;
    for records in written {
        let records = records.expect("a writer ends");
        let listed = whole.iter().rev().map(|it| &it.value).filter(|it| records.contains(it));
        assert!(listed.eq(&records), "records of one writer out of order");
    }
    let ordered: Vec<Record> = whole.iter().map(|it| it.value.clone()).collect();
    for offset in (0..).step_by(7).take(30) {
        let query = Query::all(List::Events(scope)).page(page(7, offset));
        assert_page(subject, &query, &ordered).await;
    }
    whole
}

pub(super) async fn law_7_updates_and_claims_move_nothing(subject: Subject) {
    let mut random = Random::new(76);
    let scope = random.scope();
    let mut records = fill(&subject, &mut random, (RecordKind::Payment, scope), 9).await;
    for place in [4, 0, 8, 4] {
        let record = records.get_mut(place).expect("one of nine");
        let version = subject.read(&record.key()).await.version;
        *record = fixtures::revised(&mut random, record);
        subject.accept(update_due(record.clone(), version, Some(at(0)))).await;
        let claimed = subject.claim(&claim(ClaimKind::Payments, at(1), 9)).await;
        assert_eq!(claimed.len(), 1);
    }
    records.reverse();
    assert_page(&subject, &Query::all(List::Payments(scope)), &records).await;
}

pub(super) async fn law_7_filters_admit_what_the_query_admits(subject: Subject) {
    let mut random = Random::new(77);
    let scope = random.scope();
    for kind in LISTED {
        let mut records = fill(&subject, &mut random, (kind, scope), 60).await;
        records.reverse();
        let list = list_of(&records);
        // Every field on its own, then whatever comes together.
        for field in fixtures::FIELDS {
            for record in records.iter().take(8) {
                if let Some(value) = record.field(*field) {
                    let query = Query::all(list).with(*field, value).page(page(100, 0));
                    assert_page(&subject, &query, &records).await;
                }
            }
        }
        for _ in 0..60 {
            let query = fixtures::query(&mut random, list, &records);
            assert_page(&subject, &query, &records).await;
        }
    }
}

pub(super) async fn law_7_a_reference_is_compared_to_the_letter(subject: Subject) {
    let mut random = Random::new(78);
    let scope = random.scope();
    let references = [
        "ORDER-1", "order-1", "ORDER-1 ", " ORDER-1", "ORDER_1", "ORDER%", "ORDER", "É",
        "E\u{301}", "é", "'", "\\", "NULL", "0", "0.0", "1e3", "👍🏽",
    ];
    for reference in references {
        let reference = Some(reference.parse().expect("a text"));
        let customer = cauri::Customer { reference, ..fixtures::customer(&mut random, scope) };
        subject.insert(customer, None).await;
    }
    for reference in references {
        let value = FieldValue::Text(reference.to_owned());
        let query = Query::all(List::Customers(scope)).with(Field::Reference, value.clone());
        let listed = subject.list(&query).await;
        let found = listed.items.iter().map(|it| it.value.field(Field::Reference));
        assert!(found.eq([Some(value)]), "{reference}: {listed:?}");
        assert_eq!(listed.total, 1);
    }
}

pub(super) async fn law_7_dates_include_their_beginning_and_not_their_end(subject: Subject) {
    let mut random = Random::new(79);
    let scope = random.scope();
    let mut events = Vec::new();
    for millis in [5, 3, 3, 9, 1] {
        let created = at(millis);
        let event = Record::from(cauri::Event { created, ..fixtures::event(&mut random, scope) });
        subject.insert(event.clone(), None).await;
        events.insert(0, event);
    }
    let bounds: Vec<_> = std::iter::once(None).chain((0..11).map(|it| Some(at(it)))).collect();
    for created_from in &bounds {
        for created_to in &bounds {
            let query = Query {
                created_from: *created_from,
                created_to: *created_to,
                ..Query::all(List::Events(scope)).page(page(2, 0))
            };
            assert_page(&subject, &query, &events).await;
            assert_page(&subject, &query.page(page(2, 1)), &events).await;
        }
    }
}

pub(super) async fn law_7_a_field_that_no_record_has_admits_none(subject: Subject) {
    let mut random = Random::new(710);
    let scope = random.scope();
    for kind in LISTED {
        let records = fill(&subject, &mut random, (kind, scope), 3).await;
        for field in fixtures::FIELDS {
            if records.iter().any(|record| record.field(*field).is_some()) {
                continue;
            }
            let value = match field {
                Field::Active | Field::Deleted => FieldValue::Flag(false),
                Field::Customer
                | Field::PaymentLink
                | Field::Payment
                | Field::Endpoint
                | Field::Event
                | Field::Source
                | Field::Transaction => FieldValue::Id(uuid::Uuid::nil()),
                _ => FieldValue::Text("created".to_owned()),
            };
            let listed = subject.list(&Query::all(list_of(&records)).with(*field, value)).await;
            assert_eq!((listed.items, listed.total), (Vec::new(), 0), "{kind:?} by {field:?}");
        }
    }
}

pub(super) async fn law_7_a_timeline_runs_from_its_first_line(subject: Subject) {
    let mut random = Random::new(711);
    let scope = random.scope();
    let other = Scope { account: random.id(), ..scope };
    let payments: [PaymentId; 2] = [random.id(), random.id()];
    let mut timelines = vec![Vec::<Record>::new(); 3];
    // Three timelines grow side by side; two of them are of one id in two scopes.
    let owners = [(scope, payments[0]), (scope, payments[1]), (other, payments[0])];
    for number in 1..=30 {
        let mut batch = Vec::new();
        for ((scope, payment), timeline) in owners.iter().zip(&mut timelines) {
            let line = fixtures::timeline_entry(&mut random, *scope);
            let line = Record::from(TimelineEntry { payment: *payment, number, ..line });
            timeline.push(line.clone());
            batch.push(insert(line, None));
        }
        subject.accept_all(batch).await;
    }
    for ((scope, payment), timeline) in owners.iter().zip(&timelines) {
        let all = Query::all(List::Timeline(*scope, *payment));
        for (limit, offset) in [(100, 0), (1, 0), (1, 29), (7, 0), (7, 28), (7, 30), (9, i64::MAX)]
        {
            assert_page(&subject, &all.clone().page(page(limit, offset)), timeline).await;
        }
        let query = Query { created_from: timeline.first().and_then(Record::created_at), ..all };
        assert_page(&subject, &query.page(page(5, 1)), timeline).await;
    }
}
