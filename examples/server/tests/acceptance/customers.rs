//! Customer records (API §13).

use serde_json::{Value, json};

use crate::support::check::{CUSTOMER, assert_id, declares};
use crate::support::server::Store;
use crate::support::shop::{Shop, path_of, texts};
use crate::support::stories;
use crate::support::time::millis;

stories![
    a_customer_has_a_name_an_email_or_a_phone,
    a_customer_is_kept_as_given,
    a_change_merges,
    one_way_to_name_a_customer_must_stay,
    each_field_has_its_form,
    statistics_are_shown_on_one_customer_alone,
    statistics_count_exactly,
    customers_are_filtered,
    a_public_key_sees_a_masked_customer,
    a_customer_is_not_deleted,
];

fn a_customer_has_a_name_an_email_or_a_phone(store: &Store) {
    let shop = store.shop();
    for body in [json!({}), json!({"country": "CI"}), json!({"name": null, "reference": "U-9"})] {
        shop.post("/v1/customers", &body).missing("name");
    }
    for body in [
        json!({"name": "A"}),
        json!({"email": "a@example.com"}),
        json!({"phone": "+2250500000000"}),
    ] {
        shop.post("/v1/customers", &body).ok(201);
    }
    assert_eq!(shop.total("/v1/customers"), 3);
}

fn awa(shop: &Shop) -> Value {
    shop.customer(json!({
        "name": "Awa Diop", "email": "Awa@example.com", "phone": "+2250500000000",
        "metadata": {"a": "1", "b": "2"}
    }))
}

fn a_customer_is_kept_as_given(store: &Store) {
    let shop = store.shop();
    let given = json!({
        "name": "Awa Diop", "email": "awa@example.com", "phone": "+2250500000000",
        "country": "CI", "reference": "U-9", "metadata": {"a": "1", "b": "2"}
    });
    let response = shop.post("/v1/customers", &given);
    let customer = response.ok(201);
    declares(&customer, CUSTOMER);
    assert_id("cus", &customer["id"]);
    assert_eq!(customer["object"], "customer");
    assert_eq!(response.header("Location"), Some(path_of(&customer["id"]).as_str()));
    for (name, value) in given.as_object().unwrap() {
        assert_eq!(&customer[name], value, "{name}");
    }
    shop.post("/v1/customers", &given).ok(201);
}

fn a_change_merges(store: &Store) {
    let shop = store.shop();
    let customer = awa(&shop);
    let path = path_of(&customer["id"]);
    let change = json!({"metadata": {"a": null, "c": "3"}, "email": null});
    let changed = shop.post(&path, &change).ok(200);
    declares(&changed, CUSTOMER);
    assert_eq!(changed["metadata"], json!({"b": "2", "c": "3"}));
    assert_eq!((&changed["email"], &changed["name"]), (&Value::Null, &json!("Awa Diop")));
    assert_eq!(changed["phone"], "+2250500000000");
    assert!(millis(&changed["updated_at"]) > millis(&customer["updated_at"]));
    assert_eq!(changed["created_at"], customer["created_at"]);
    assert_eq!(shop.post(&path, &json!({})).ok(200)["metadata"], json!({"b": "2", "c": "3"}));
    assert_eq!(shop.post(&path, &json!({"metadata": null})).ok(200)["metadata"], json!({}));
    let named = shop.post(&path, &json!({"name": "Awa Ndiaye", "country": "SN"})).ok(200);
    assert_eq!((&named["name"], &named["country"]), (&json!("Awa Ndiaye"), &json!("SN")));
}

fn one_way_to_name_a_customer_must_stay(store: &Store) {
    let shop = store.shop();
    let customer = shop.customer(json!({"name": "Awa", "email": "awa@example.com"}));
    let path = path_of(&customer["id"]);
    shop.post(&path, &json!({"name": null})).ok(200);
    shop.post(&path, &json!({"email": null})).missing("name");
    let seen = shop.see(&customer["id"]);
    assert_eq!((&seen["name"], &seen["email"]), (&Value::Null, &json!("awa@example.com")));
    shop.post(&path, &json!({"email": null, "phone": "+2250500000000"})).ok(200);
}

fn each_field_has_its_form(store: &Store) {
    let shop = store.shop();
    let customer = awa(&shop);
    let path = path_of(&customer["id"]);
    for (field, values) in [
        ("name", vec![json!(""), json!(5), json!("x".repeat(101))]),
        (
            "email",
            vec![json!("nope"), json!(""), json!("a@"), json!("@b.c"), json!("a b@example.com")],
        ),
        ("country", vec![json!("ci"), json!("CIV"), json!("")]),
        ("reference", vec![json!(""), json!("x".repeat(101))]),
        ("metadata", vec![json!([]), json!("x")]),
    ] {
        for value in values {
            let mut body = json!({"name": "A"});
            body[field] = value.clone();
            shop.post("/v1/customers", &body).invalid(field);
            shop.post(&path, &json!({ field: value })).invalid(field);
        }
    }
    for phone in ["0500000000", "+225 05", "", "+0123456789"] {
        let error = shop.post("/v1/customers", &json!({"phone": phone})).refusal(400);
        assert_eq!(error["param"], "phone");
        let code = error["code"].as_str().unwrap();
        assert!(["phone_invalid", "parameter_invalid"].contains(&code), "{error}");
    }
}

fn statistics_are_shown_on_one_customer_alone(store: &Store) {
    let shop = store.shop();
    let customer = awa(&shop);
    assert!(customer.get("statistics").is_none());
    let seen = shop.see(&customer["id"]);
    let expected = json!({
        "payments_count": 0, "succeeded_payments_count": 0, "failed_payments_count": 0,
        "refunds_count": 0, "first_payment_at": null, "last_payment_at": null, "by_currency": []
    });
    assert_eq!(seen["statistics"], expected);
    let page = shop.get("/v1/customers").ok(200);
    declares(&page["data"][0], CUSTOMER);
    let changed = shop.post(&path_of(&customer["id"]), &json!({"name": "A"})).ok(200);
    assert!(changed.get("statistics").is_none());
}

fn statistics_count_exactly(store: &Store) {
    let shop = store.shop();
    let customer = awa(&shop);
    let own = |changes: Value| {
        let mut changes = changes;
        changes["customer"] = customer["id"].clone();
        changes
    };
    let first = shop.paid(own(json!({"amount": 5000})));
    let second = shop.paid(own(json!({"amount": 7001})));
    let ghana = json!({
        "amount": 900, "currency": "GHS", "network": "telecel", "phone": "+233540009999"
    });
    let third = shop.paid(own(ghana));
    let rejected = shop.pay(own(json!({})));
    shop.simulate(&rejected["id"], "user_rejected").ok(200);
    let expired = shop.pay(own(json!({})));
    shop.simulate(&expired["id"], "timeout").ok(200);
    shop.pay(own(json!({})));
    shop.paid(json!({}));
    let part = shop.refund(&first, Some(2000)).ok(201);
    shop.simulate(&part["id"], "success").ok(200);
    let refused = shop.refund(&second, Some(10)).ok(201);
    shop.simulate(&refused["id"], "refund_failure").ok(200);
    let all = shop.refund(&third, None).ok(201);
    shop.simulate(&all["id"], "success").ok(200);
    let statistics = shop.see(&customer["id"])["statistics"].clone();
    let expected = json!({
        "payments_count": 6, "succeeded_payments_count": 3, "failed_payments_count": 1,
        "refunds_count": 2, "first_payment_at": first["created_at"],
        "last_payment_at": third["created_at"],
        "by_currency": [
            {"currency": "GHS", "succeeded_payments_count": 1, "paid_amount": 900,
             "refunded_amount": 900, "net_paid_amount": 0, "average_amount": 900},
            {"currency": "XOF", "succeeded_payments_count": 2, "paid_amount": 12_001,
             "refunded_amount": 2000, "net_paid_amount": 10_001, "average_amount": 6000}
        ]
    });
    assert_eq!(statistics, expected);
}

fn customers_are_filtered(store: &Store) {
    let shop = store.shop();
    awa(&shop);
    shop.customer(json!({"name": "Kofi", "email": "kofi@example.com", "reference": "U-1"}));
    shop.customer(json!({"name": "Ama", "reference": "U-1", "phone": "+233540000000"}));
    let found = |query: &str| texts(&shop.list(&format!("/v1/customers?{query}")), "name");
    for email in ["awa@example.com", "Awa@example.com", "AWA@EXAMPLE.COM"] {
        assert_eq!(found(&format!("email={email}")), ["Awa Diop"]);
    }
    assert!(found("email=wa@example.com").is_empty());
    assert_eq!(found("phone=%2B2250500000000"), ["Awa Diop"]);
    assert_eq!(found("reference=U-1"), ["Ama", "Kofi"]);
    assert_eq!(found("reference=U-1&email=kofi@example.com"), ["Kofi"]);
    assert!(found("reference=u-1").is_empty());
    shop.get("/v1/customers?name=Ama").refused(400, "parameter_unknown", Some("name"));
}

fn a_public_key_sees_a_masked_customer(store: &Store) {
    let shop = store.shop();
    let customer = awa(&shop);
    let masked = shop.public.see(&customer["id"]);
    assert_eq!((&masked["name"], &masked["phone"]), (&json!("A***"), &json!("+225********00")));
    let email = masked["email"].as_str().unwrap();
    assert!(email.eq_ignore_ascii_case("a***@example.com"), "{email}");
    assert_eq!(masked["metadata"], json!({}));
    assert!(masked["statistics"].is_object());
    let listed = shop.public.get("/v1/customers").ok(200);
    assert_eq!(listed["data"][0]["name"], "A***");
    let bare = shop.customer(json!({"name": "Ñandú"}));
    let masked = shop.public.see(&bare["id"]);
    assert_eq!(
        (&masked["name"], &masked["email"], &masked["phone"]),
        (&json!("Ñ***"), &Value::Null, &Value::Null)
    );
}

fn a_customer_is_not_deleted(store: &Store) {
    let shop = store.shop();
    let customer = awa(&shop);
    shop.delete(&path_of(&customer["id"])).refused(405, "method_not_allowed", None);
}
