//! The books (API §8): the invariants after a full day, and how they are read.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::support::check::{ENTRY, assert_id, declares};
use crate::support::server::Store;
use crate::support::shop::{Shop, texts};
use crate::support::{sample, stories};

stories![
    every_transaction_balances,
    every_balance_follows_from_the_one_before,
    the_balance_is_the_sum_of_its_entries,
    entries_are_filtered,
    an_entry_never_changes,
    an_environment_has_its_own_books,
];

/// A day on which everything happens.
fn day(shop: &Shop) {
    shop.fund(500_000, "XOF");
    shop.fund(5000, "KWD");
    for amount in [100, 5000, 9999, 12_345] {
        let paid = shop.paid_patiently(json!({"amount": amount}));
        let part = shop.refund(&paid, Some(amount / 3)).ok(201);
        shop.simulate(&part["id"], "success").ok(200);
        let refused = shop.refund(&paid, Some(1)).ok(201);
        shop.simulate(&refused["id"], "refund_failure").ok(200);
        shop.refund(&paid, None).ok(201);
    }
    let card = shop.paid_by_card(10_005, "KWD", "KW");
    let refund = shop.refund(&card, Some(5000)).ok(201);
    shop.simulate(&refund["id"], "success").ok(200);
    let failed = shop.pay(json!({}));
    shop.simulate(&failed["id"], "user_rejected").ok(200);
    let late = shop.pay(json!({}));
    shop.simulate(&late["id"], "timeout").ok(200);
    shop.simulate(&late["id"], "success").ok(200);
    let payouts = [0; 3].map(|_| shop.pay_out(json!({})).ok(201));
    shop.simulate(&payouts[0]["id"], "success").ok(200);
    shop.simulate(&payouts[1]["id"], "recipient_rejected").ok(200);
}

fn number(entry: &Value, field: &str) -> i64 {
    entry[field].as_i64().unwrap_or_else(|| panic!("no {field}: {entry}"))
}

fn name(entry: &Value, field: &str) -> String {
    entry[field].as_str().unwrap_or_else(|| panic!("no {field}: {entry}")).to_owned()
}

/// Assets grow on debits, everything else on credits.
fn signed(entry: &Value) -> i64 {
    let grows = if entry["account"] == "clearing" { "debit" } else { "credit" };
    if entry["direction"] == grows { number(entry, "amount") } else { -number(entry, "amount") }
}

fn every_transaction_balances(store: &Store) {
    let shop = store.shop();
    day(&shop);
    let mut transactions: HashMap<String, (i64, HashSet<String>)> = HashMap::new();
    let entries = shop.list("/v1/ledger");
    let distinct: HashSet<String> = texts(&entries, "id").into_iter().collect();
    assert_eq!(distinct.len(), entries.len(), "no entry twice");
    for entry in &entries {
        declares(entry, ENTRY);
        assert_id("led", &entry["id"]);
        assert_id("ltx", &entry["transaction"]);
        assert_eq!(entry["object"], "ledger_entry");
        assert!(number(entry, "amount") > 0, "zero lines are not written: {entry}");
        let amount = number(entry, "amount");
        let debit = if entry["direction"] == "debit" { amount } else { -amount };
        let transaction = transactions.entry(name(entry, "transaction")).or_default();
        transaction.0 += debit;
        transaction.1.insert(name(entry, "currency"));
    }
    for (id, (sum, currencies)) in transactions {
        assert_eq!((sum, currencies.len()), (0, 1), "{id}");
    }
}

fn every_balance_follows_from_the_one_before(store: &Store) {
    let shop = store.shop();
    day(&shop);
    let mut balances: HashMap<(String, String), i64> = HashMap::new();
    for entry in shop.list("/v1/ledger").iter().rev() {
        let (account, currency) = (name(entry, "account"), name(entry, "currency"));
        let balance = balances.entry((currency, account.clone())).or_default();
        *balance += signed(entry);
        assert_eq!(number(entry, "balance_after"), *balance, "{entry}");
        assert!(*balance >= 0 || !account.starts_with("merchant_"), "below zero: {entry}");
    }
    for currency in ["XOF", "KWD"] {
        let of = |account: &str| {
            balances.get(&(currency.to_owned(), account.to_owned())).copied().unwrap_or_default()
        };
        let owed = of("merchant_available") + of("merchant_pending") + of("merchant_reserved");
        assert_eq!(of("clearing"), owed + of("fees"), "{currency}");
    }
}

fn the_balance_is_the_sum_of_its_entries(store: &Store) {
    let shop = store.shop();
    day(&shop);
    for currency in ["XOF", "KWD", "GHS"] {
        let sum = |account: &str| -> i64 {
            let path = format!("/v1/ledger?account={account}&currency={currency}");
            shop.list(&path).iter().map(signed).sum()
        };
        let purse = shop.purse(currency);
        assert_eq!(purse.available, sum("merchant_available"), "{currency}");
        assert_eq!(purse.pending, sum("merchant_pending"), "{currency}");
        assert_eq!(purse.reserved, sum("merchant_reserved"), "{currency}");
    }
}

fn entries_are_filtered(store: &Store) {
    let shop = store.shop();
    day(&shop);
    let all = shop.list("/v1/ledger");
    for (field, values) in [
        ("currency", &["XOF", "KWD", "GHS"][..]),
        (
            "account",
            &["clearing", "merchant_pending", "merchant_available", "merchant_reserved", "fees"],
        ),
        ("direction", &["debit", "credit"]),
        (
            "type",
            &[
                "payment",
                "payment_fee",
                "settlement",
                "refund_hold",
                "refund",
                "refund_fee_return",
                "refund_release",
                "payout_hold",
                "payout",
                "payout_fee",
                "payout_release",
                "sandbox_funding",
            ],
        ),
    ] {
        let mut total = 0;
        for value in values {
            let found = shop.list(&format!("/v1/ledger?{field}={value}"));
            assert!(found.iter().all(|entry| entry[field] == *value), "{field}={value}");
            let expected = all.iter().filter(|entry| entry[field] == *value).count();
            assert_eq!(found.len(), expected, "{field}={value}");
            total += found.len();
        }
        assert_eq!(total, all.len(), "{field}");
        shop.get(&format!("/v1/ledger?{field}=x")).invalid(field);
    }
    let both = shop.list("/v1/ledger?account=fees&type=payment_fee&currency=XOF&direction=credit");
    assert_eq!(both.len(), 5);
    assert_eq!(shop.total("/v1/ledger?account=fees&type=payment"), 0);
    let transaction = name(&both[0], "transaction");
    let found = shop.list(&format!("/v1/ledger?transaction={transaction}"));
    assert!(
        found.len() >= 2 && found.iter().all(|entry| entry["transaction"] == transaction.as_str())
    );
    let source = name(&both[0], "source");
    let found = shop.list(&format!("/v1/ledger?source={source}&type=payment_fee"));
    assert_eq!(found.len(), 2);
}

fn an_entry_never_changes(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({}));
    let before = shop.list("/v1/ledger");
    let refund = shop.refund(&paid, None).ok(201);
    shop.simulate(&refund["id"], "refund_failure").ok(200);
    let after = shop.list("/v1/ledger");
    assert_eq!(after[after.len() - before.len()..], before[..]);
    assert_eq!(after.len(), before.len() + 4, "compensated, not erased");
}

fn an_environment_has_its_own_books(store: &Store) {
    let shop = store.shop();
    day(&shop);
    assert_eq!(shop.live.total("/v1/ledger"), 0);
    assert_eq!(shop.live.get("/v1/balance").ok(200)["available"], json!([]));
    let other = store.shop();
    assert_eq!(other.total("/v1/ledger"), 0);
    let mixed = other.post("/v1/refunds", &json!({"payment": sample::unknown("pay")}));
    mixed.refused(400, "related_resource_not_found", Some("payment"));
}
