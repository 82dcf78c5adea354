//! What is kept from logs, from files and from answers (API §3.2, §3.4, §16.2).
//!
//! Beside these stories, every answer of every story and the log of every server is searched for
//! every secret: see `support/secrecy.rs`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::server::{Place, Server, Store};
use crate::support::shop::{Shop, path_of};
use crate::support::sink::{Answer, Sink};
use crate::support::{sample, secrecy, stories};

stories![
    a_log_of_everything_holds_no_secret_and_no_person,
    a_password_of_a_store_is_told_nobody;
    durable:
    webhook_secrets_move_to_a_new_key,
    a_key_that_is_missing_is_told,
    webhook_secrets_leave_the_development_key,
];

/// A day with everything in it, at the finest level there is.
fn a_log_of_everything_holds_no_secret_and_no_person(store: &Store) {
    let server = store.serve(&["--log", "trace", "--log-format", "json", "--log-spans"]);
    let shop = Server::next_shop(&server).unwrap();
    let sink = Sink::scripted(vec![Answer::Status(500), Answer::Drop, Answer::Status(204)]);
    let persons = ["+2250566778899", "Aminata Koné-Traoré", "aminata@person.example"];
    let [phone, name, email] = persons;
    let private = ["a private description", "a private value", "https://return.example/private"];
    let [description, value, return_url] = private;
    persons.into_iter().for_each(secrecy::learn_personal);
    private.into_iter().chain(["75318642"]).for_each(secrecy::learn_private);
    // Whoever traces us may have secrets too, and the address of a receiver may be one.
    for text in ["private-state-of-a-vendor", "private-path-of-a-hook"] {
        secrecy::learn_private(text);
    }
    let state = "vendor=private-state-of-a-vendor";
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let traced = shop.secret.with("traceparent", parent).with("tracestate", state);
    let body = json!({"url": sink.url_of("/private-path-of-a-hook"), "events": ["*"]});
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
    let payment = traced.post_once("k2", "/v1/payments", &body).ok(201);
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
    let spans = ["use_case", "gateway", "http_request", "db.operation.name", "server.address"];
    for told in
        ["/v1/payments/{id}", "listening", "TRACE", "\"level\":\"DEBUG\""].into_iter().chain(spans)
    {
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

/// A file of keys, each a number and a digit that it is made of.
fn key_file(place: &Place, keys: &[(u8, &str)]) -> PathBuf {
    let path = place.dir.path().join("keys");
    let line = |(number, digit): &(u8, &str)| format!("{number}:{}\n", digit.repeat(64));
    std::fs::write(&path, keys.iter().map(line).collect::<String>()).unwrap();
    path
}

fn served_with(place: &Arc<Place>, keys: &[(u8, &str)]) -> Arc<Server> {
    let path = key_file(place, keys);
    let server = Server::start(place, 1, &["--secret-key", path.to_str().unwrap()]);
    Arc::new(server)
}

fn reseal(place: &Place) -> String {
    let path = place.dir.path().join("keys");
    place.run(&["secrets", "reseal", "--secret-key", path.to_str().unwrap()])
}

fn end(server: &Server) {
    server.terminate();
    assert!(server.ended(Duration::from_secs(10)).success());
}

/// The next delivery is signed by these, and by nothing else.
fn signed_by(shop: &Shop, sink: &Sink, secrets: &[&Value]) {
    let count = sink.hits().len();
    shop.link(json!({}));
    let hit = sink.awaits(count + 1).remove(count);
    assert!(secrets.iter().all(|secret| hit.is_signed_by(secret)));
    assert_eq!(hit.signatures(), secrets.len());
}

fn webhook_secrets_move_to_a_new_key(store: &Store) {
    let (place, sink) = (store.place(), Sink::open());
    let server = served_with(&place, &[(1, "a")]);
    let shop = Server::next_shop(&server).unwrap();
    let body = json!({"url": sink.url(), "events": ["payment_link.created"]});
    let created = shop.post_once("k1", "/v1/webhooks", &body).ok(201);
    let rotation = json!({"rotate_secret": true, "previous_secret_expires_in": 3600});
    let rotated = shop.post(&path_of(&created["id"]), &rotation).ok(200);
    let secrets = [&rotated["secret"], &created["secret"]];
    signed_by(&shop, &sink, &secrets);
    end(&server);

    // The new key in front; the old one still opens, also what is kept to be repeated.
    let server = served_with(&place, &[(2, "b"), (1, "a")]);
    let shop = Shop::new(&server, &shop.account);
    signed_by(&shop, &sink, &secrets);
    let again = shop.post_once("k1", "/v1/webhooks", &body);
    assert_eq!(again.ok(201)["secret"], created["secret"]);
    let said = reseal(&place);
    assert!(said.contains("Endpoints: 1, sealed anew: 1."), "{said}");
    let said = reseal(&place);
    assert!(said.contains("Endpoints: 1, sealed anew: 0."), "{said}");
    signed_by(&shop, &sink, &secrets);
    end(&server);

    // The old key is gone.
    let server = served_with(&place, &[(2, "b")]);
    signed_by(&Shop::new(&server, &shop.account), &sink, &secrets);
    let path = key_file(&place, &[(3, "c")]);
    let arguments = ["secrets", "reseal", "--secret-key", path.to_str().unwrap()];
    let output = place.command(&arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("unknown key 2"), "{said}");
    signed_by(&Shop::new(&server, &shop.account), &sink, &secrets);
}

fn a_key_that_is_missing_is_told(store: &Store) {
    let (place, sink) = (store.place(), Sink::open());
    let server = served_with(&place, &[(2, "b")]);
    Server::next_shop(&server).unwrap().hook(&sink.url(), &["payment_link.created"]);
    end(&server);
    let path = key_file(&place, &[(2, "b")]).display().to_string();
    let doctor = |options: &[&str]| {
        let mut doctor = place.command(&["doctor", "--json", "--listen", "127.0.0.1:0"]);
        let said = doctor.args(options).output().unwrap();
        (said.status.code(), String::from_utf8_lossy(&said.stdout).into_owned())
    };
    let with_file = ["--secret-key", &path];
    assert_eq!(doctor(&with_file).0, Some(0));
    let told = |options: &[&str]| {
        let (code, said) = doctor(options);
        assert!(code == Some(1) && said.contains("sealed with key 2"), "{options:?}: {said}");
        let before = place.log_text(usize::MAX).matches("sealed with key 2").count();
        end(&Server::start(&place, 0, options));
        let after = place.log_text(usize::MAX).matches("sealed with key 2").count();
        assert_eq!(after, before + 1, "{options:?}");
    };
    told(&[]);
    key_file(&place, &[(1, "b")]);
    told(&with_file);
    key_file(&place, &[(2, "c")]);
    told(&with_file);
    key_file(&place, &[(1, "c"), (2, "b")]);
    assert_eq!(doctor(&with_file).0, Some(0));
}

fn webhook_secrets_leave_the_development_key(store: &Store) {
    let (server, sink) = (store.serve(&[]), Sink::open());
    let shop = Server::next_shop(&server).unwrap();
    let endpoint = shop.hook(&sink.url(), &["payment_link.created"]);
    end(&server);
    let server = served_with(&server.place, &[(1, "a")]);
    let shop = Shop::new(&server, &shop.account);
    signed_by(&shop, &sink, &[&endpoint["secret"]]);
    let said = reseal(&server.place);
    assert!(said.contains("sealed anew: 1."), "{said}");
    signed_by(&shop, &sink, &[&endpoint["secret"]]);
}
