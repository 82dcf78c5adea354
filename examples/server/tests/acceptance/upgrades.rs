//! Two versions of the program and one store: what an older one meets when a newer one was there.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::server::{Server, Store};
use crate::support::shop::Shop;
use crate::support::stories;

stories![;
    durable:
    a_newer_schema_is_refused_in_a_clear_sentence,
    an_old_server_reads_on_while_a_newer_one_migrates,
];

fn filled(shop: &Shop) -> (Value, Vec<Vec<Value>>) {
    shop.fund(100_000, "XOF");
    let payment = shop.paid_patiently(json!({}));
    shop.refund(&payment, Some(100)).ok(201);
    shop.customer(json!({"name": "Awa"}));
    shop.link(json!({}));
    let payout = shop.pay_out(json!({})).ok(201);
    shop.awaits(&payout, "processing");
    (payment, everything(shop))
}

fn everything(shop: &Shop) -> Vec<Vec<Value>> {
    ["payments", "payouts", "refunds", "customers", "payment-links", "webhooks", "events", "ledger"]
        .iter()
        .map(|list| shop.list(&format!("/v1/{list}")))
        .collect()
}

fn a_newer_schema_is_refused_in_a_clear_sentence(store: &Store) {
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    let (_, before) = filled(&shop);
    server.terminate();
    assert!(server.ended(Duration::from_secs(10)).success());
    server.place.sql("insert into cauri_schema (version) values (4711)");
    for arguments in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["migrate"],
        &["audit"],
        &["accounts", "create"],
        &["keys", "list"],
    ] {
        let output = server.place.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        let clear = "the database has schema 4711; this program knows schemas up to";
        assert!(said.contains(clear), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    // And nothing was touched.
    server.place.sql("delete from cauri_schema where version = 4711");
    let server = Arc::new(Server::start(&server.place, 0, &[]));
    assert_eq!(everything(&Shop::new(&server, &shop.account)), before);
}

/// A newer version adds a column, an index, a table and its number; the older one has no word of it
/// and reads what it always did.
fn an_old_server_reads_on_while_a_newer_one_migrates(store: &Store) {
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    let (payment, before) = filled(&shop);
    server.place.sql(
        "create table planted (id integer primary key);
         alter table payments add column planted integer not null default 7;
         create index payments_planted on payments (planted);
         insert into cauri_schema (version) values (4711);",
    );
    assert_eq!(everything(&shop), before);
    assert_eq!(shop.see(&payment["id"])["id"], payment["id"]);
    assert!(shop.timeline(&payment).len() > 3);
    assert_eq!(shop.purse("XOF").reserved, 10_100 + 98);
    shop.get("/v1/customers?reference=nothing").ok(200);
    assert_eq!(shop.anyone.get("/readyz").status, 200);
}
