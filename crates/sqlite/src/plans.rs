//! How SQLite means to run our statements: none reads through what grows.

use cauri::{
    AccountId, ClaimKind, CustomerId, Environment, Field, FieldValue, Id as _, Key, KeyHash, List,
    PaymentId, Query, RecordKind, Scope, Timestamp,
};
use cauri_sql::{Dialect, Listing, Table};
use sea_query::SelectStatement;
use sqlx::{Row as _, SqliteConnection};
use uuid::Uuid;

use crate::{
    bind::select,
    claim,
    open::SqliteOptions,
    read,
    text::{Verb, kept, text},
};

/// Every filter of the contract.
fn filters() -> Vec<(List, Vec<Field>)> {
    use Field as F;
    let transfers = [F::Status, F::Currency, F::Country, F::Network, F::Customer, F::Reference];
    let payments = [F::PaymentMethod, F::PaymentLink];
    let entries = [F::Currency, F::LedgerAccount, F::Direction, F::EntryKind];
    vec![
        (List::Customers(scope()), vec![F::Email, F::Phone, F::Reference]),
        (List::PaymentLinks(scope()), vec![F::Status, F::Active, F::Currency, F::Reference]),
        (List::Payments(scope()), transfers.into_iter().chain(payments).collect()),
        (List::Payouts(scope()), transfers.to_vec()),
        (List::Refunds(scope()), vec![F::Status, F::Currency, F::Payment, F::Reference]),
        (List::WebhookEndpoints(scope()), vec![F::Deleted]),
        (List::Events(scope()), vec![F::EventKind]),
        (List::Deliveries(scope()), vec![F::Status, F::Endpoint, F::Event, F::EventKind]),
        (List::Entries(scope()), entries.into_iter().chain([F::Source, F::Transaction]).collect()),
    ]
}

fn scope() -> Scope {
    Scope { account: AccountId::from_uuid(Uuid::nil()), environment: Environment::Live }
}

fn value(list: List, field: Field) -> FieldValue {
    let values =
        [FieldValue::Text("x".into()), FieldValue::Id(Uuid::nil()), FieldValue::Flag(false)];
    let fits = |value: &FieldValue| {
        let query = Query::all(list).with(field, value.clone());
        !matches!(Listing::of(&query, Dialect::Sqlite), Listing::Nothing)
    };
    values.into_iter().find(fits).unwrap_or_else(|| panic!("{field:?} of {list:?} has no column"))
}

fn dated(query: Query) -> Query {
    let at = Some(Timestamp::EPOCH);
    Query { created_from: at, created_to: at, ..query }
}

async fn plan(connection: &mut SqliteConnection, text: &str) -> Vec<String> {
    let explain = kept(format!("explain query plan {text}"));
    let rows = sqlx::query(explain).fetch_all(connection).await.unwrap();
    rows.iter().map(|row| row.get::<String, _>("detail")).collect()
}

async fn plan_of(connection: &mut SqliteConnection, statement: &SelectStatement) -> Vec<String> {
    plan(connection, select(statement).unwrap().0.as_str()).await
}

/// No table is read through, and no scope of one row by row.
fn assert_narrow(asked: &str, plan: &[String]) {
    for step in plan {
        let reads = |table: &Table| step.split(' ').nth(1) == Some(table.name());
        let is_scan = step.starts_with("SCAN") && Table::all().any(reads);
        let is_scope = step.ends_with("(account=? AND live=?)") && !step.contains("COVERING");
        // At most sixteen of a scope are present; a scope has one record of subscribers, and few
        // balances.
        let is_small = ["_present ", "SEARCH subscriptions ", "SEARCH t USING PRIMARY KEY"];
        let is_small = is_small.iter().any(|few| step.contains(few));
        assert!(!is_scan && (!is_scope || is_small), "{asked}: {plan:#?}");
    }
}

#[tokio::test]
async fn every_filter_is_served_by_an_index() {
    let mut connection = SqliteOptions::migrated().await.unwrap();
    for (list, fields) in filters() {
        let mut queries = vec![];
        for field in fields {
            let query = Query::all(list).with(field, value(list, field));
            queries.extend([query.clone(), dated(query)]);
        }
        if !matches!(list, List::WebhookEndpoints(_)) {
            queries.push(dated(Query::all(list)));
        }
        for query in queries {
            let Listing::Filtered(listing) = Listing::of(&query, Dialect::Sqlite) else {
                panic!("{query:?}")
            };
            for statement in [&listing.page, &listing.total] {
                let plan = plan_of(&mut connection, statement).await;
                assert_narrow(&format!("{query:?}"), &plan);
            }
        }
    }
}

#[tokio::test]
async fn a_facet_is_counted_over_its_index_alone() {
    let mut connection = SqliteOptions::migrated().await.unwrap();
    for (list, field) in [
        (List::Payments(scope()), Field::Status),
        (List::Payments(scope()), Field::Currency),
        (List::Events(scope()), Field::EventKind),
        (List::Deliveries(scope()), Field::Endpoint),
        (List::Entries(scope()), Field::LedgerAccount),
    ] {
        let query = dated(Query::all(list).with(field, value(list, field)));
        let Listing::Filtered(listing) = Listing::of(&query, Dialect::Sqlite) else {
            panic!("{query:?}")
        };
        let plan = plan_of(&mut connection, &listing.total).await.join("; ");
        assert!(plan.contains(&format!("COVERING INDEX {}_facets", list.name())), "{plan}");
        // The dates narrow what is counted.
        let is_dated = plan.contains("created_at>? AND created_at<?");
        assert!(is_dated, "{field:?} {plan}");
    }
}

#[tokio::test]
async fn records_are_found_written_and_claimed_by_an_index() {
    let mut connection = SqliteOptions::migrated().await.unwrap();
    for kind in RecordKind::ALL {
        for verb in [Verb::Find("version"), Verb::Update, Verb::Delete] {
            for rows in [1, 64] {
                let text = text(verb, Table::of(*kind), rows);
                let plan = plan(&mut connection, text.as_str()).await;
                assert_narrow(text.as_str(), &plan);
            }
        }
    }
    for kind in [
        ClaimKind::Payments,
        ClaimKind::Payouts,
        ClaimKind::Refunds,
        ClaimKind::Deliveries,
        ClaimKind::Idempotency,
    ] {
        // How often the index on what is due is gone through, and how it begins.
        let (texts, index) = match Table::lane(kind) {
            Some(lane) => {
                let texts = [claim::heads_text(kind, lane), claim::lanes_text(kind, lane, 3)];
                (
                    texts.map(|text| (text, 3)).to_vec(),
                    format!("{}_due", Table::claimed(kind).name()),
                )
            }
            None => (vec![(claim::oldest_text(kind), 1)], "idempotency_due (due_at".to_owned()),
        };
        for (text, times) in texts {
            let plan = plan(&mut connection, &text).await;
            assert_narrow(&text, &plan);
            let dues: Vec<_> = plan.iter().filter(|step| step.contains(&index)).collect();
            assert_eq!(dues.len(), times, "{plan:#?}");
        }
        let text = claim::backlog_text(kind);
        let plan = plan(&mut connection, &text).await;
        assert_narrow(&text, &plan);
        assert!(plan.iter().any(|step| step.contains("_due (")), "{plan:#?}");
    }
    let statistics = cauri_sql::statistics(scope(), CustomerId::from_uuid(Uuid::nil()));
    let plan = plan_of(&mut connection, &statistics).await.join("; ");
    assert!(plan.contains("payments_customer"), "{plan}");
}

#[tokio::test]
async fn many_keys_of_many_kinds_are_one_statement_of_look_ups() {
    let mut connection = SqliteOptions::migrated().await.unwrap();
    let payment = |bits| Key::Payment(scope(), PaymentId::from_uuid(Uuid::from_u128(bits)));
    let keys = [
        payment(1),
        payment(2),
        payment(3),
        Key::ApiKeyHash(KeyHash::from_bytes([0; 32])),
        Key::Subscriptions(scope()),
    ];
    let text = read::text(&keys);
    let plan = plan(&mut connection, &text).await;
    assert_narrow(&text, &plan);
    assert_eq!(plan.iter().filter(|step| step.starts_with("SEARCH")).count(), 3, "{plan:#?}");
}
