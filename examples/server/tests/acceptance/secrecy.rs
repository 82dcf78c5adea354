//! What is kept from logs, from files and from answers (API §3.2, §3.4, §16.2).
//!
//! Beside these stories, every answer of every story and the log of every server is searched for
//! every secret: see `support/secrecy.rs`.

use std::time::Duration;

use serde_json::json;

use crate::support::server::{Server, Store};
use crate::support::shop::path_of;
use crate::support::sink::{Answer, Sink};
use crate::support::{sample, secrecy, stories};

stories![a_log_of_everything_holds_no_secret_and_no_person, a_password_of_a_store_is_told_nobody,];

/// A day with everything in it, at the finest level there is.
fn a_log_of_everything_holds_no_secret_and_no_person(store: &Store) {
    let server = store.serve(&["--log", "trace", "--log-format", "json"]);
    let shop = Server::next_shop(&server).unwrap();
    let sink = Sink::scripted(vec![Answer::Status(500), Answer::Drop, Answer::Status(204)]);
    let persons = ["+2250566778899", "Aminata Koné-Traoré", "aminata@person.example"];
    let [phone, name, email] = persons;
    let private = ["a private description", "a private value", "https://return.example/private"];
    let [description, value, return_url] = private;
    persons.into_iter().for_each(secrecy::learn_personal);
    private.into_iter().chain(["75318642"]).for_each(secrecy::learn_private);
    let body = json!({"url": sink.url(), "events": ["*"]});
    let endpoint = shop.post_once("k1", "/v1/webhooks", &body).ok(201);
    shop.post_once("k1", "/v1/webhooks", &body).ok(201);
    let rotation = json!({"rotate_secret": true, "previous_secret_expires_in": 60});
    shop.post(&path_of(&endpoint["id"]), &rotation).ok(200);
    shop.fund(100_000, "XOF");
    let customer = shop.customer(json!({"name": name, "email": email, "phone": phone}));
    let body = sample::payment(json!({
        "phone": phone, "customer": customer["id"], "description": description, "otp": "75318642",
        "metadata": {"k": value}, "return_url": return_url,
    }));
    let payment = shop.post_once("k2", "/v1/payments", &body).ok(201);
    shop.post_once("k2", "/v1/payments", &json!({})).refused(422, "idempotency_key_reused", None);
    shop.simulate(&payment["id"], "success").ok(200);
    shop.refund(&payment, Some(100)).ok(201);
    shop.pay_out(json!({"recipient_name": name, "phone": "+221770000000"})).ok(201);
    for shown in [shop.public.see(&customer["id"]), shop.public.see(&payment["id"])] {
        let text = shown.to_string();
        assert!(persons.iter().all(|it| !text.contains(it)), "{text}");
    }
    // What is refused is not told either.
    let wrong = format!("{}x", shop.account.secret_sandbox);
    Server::caller(&server, &wrong).get("/v1/balance").refused(401, "api_key_invalid", None);
    shop.post("/v1/payments", &json!({"phone": format!("{phone}x"), "otp": 75_318_642}))
        .refusal(400);
    shop.post_text("/v1/customers", format!("{{\"name\": \"{name}\", \"email\": \"{email}\",, }}"))
        .refused(400, "json_invalid", None);
    sink.awaits(6);
    server.terminate();
    assert!(server.ended(Duration::from_secs(10)).success());
    let log = server.place.log_text(usize::MAX);
    // It would hold them, were they written down: it is a log of everything.
    for told in ["/v1/payments/{id}", "listening", "TRACE", "\"level\":\"DEBUG\""] {
        assert!(log.contains(told), "{told} is not in the log");
    }
    secrecy::search(log.as_bytes());
}

fn a_password_of_a_store_is_told_nobody(store: &Store) {
    let place = store.place();
    for location in [
        "postgres://cauri:pass-word-of-the-store@127.0.0.1:1/x",
        "postgres://cauri:pass-word-of-the-store@127.0.0.1:port/x",
        "postgres://cauri:pass-word-of-the-store@[::1/x",
        "postgresql://cauri:pass-word-of-the-store@127.0.0.1:1/x?sslmode=nonsense",
        "mysql://cauri:pass-word-of-the-store@127.0.0.1:1/x",
    ] {
        let command = ["serve", "--listen", "127.0.0.1:0", "--log", "trace", "--store", location];
        let output = place.command_at(&command).output().unwrap();
        assert!(!output.status.success(), "{location}");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(!said.is_empty() && !said.contains("pass-word-of-the-store"), "{said}");
    }
    // Nor by the help that shows what the environment says.
    let mut help = place.command_at(&["serve", "--help"]);
    help.env("CAURI_STORE", "postgres://cauri:pass-word-of-the-store@127.0.0.1:1/x");
    let said = help.output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("CAURI_STORE") && !said.contains("pass-word-of-the-store"), "{said}");
}
