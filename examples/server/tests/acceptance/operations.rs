//! Running the server (API §21).

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::check::is_id;
use crate::support::http::Http;
use crate::support::sample;
use crate::support::server::{Account, Place, Server, Store};
use crate::support::shop::{Shop, path_of};
use crate::support::sink::{Answer, Sink};
use crate::support::stories;
use crate::support::time::{SLACK, within};
use crate::support::unread;

stories![
    health_is_asked_without_a_key,
    the_metrics_are_prometheus_text,
    the_description_names_every_route,
    sigterm_ends_the_server_well,
    sigterm_ends_a_server_that_waits_for_its_store,
    no_secret_is_written_down;
    durable:
    data_outlive_the_server,
    an_account_is_made_while_the_server_runs,
    keys_are_listed_without_being_shown,
    a_revoked_key_is_refused_within_a_second,
    a_rolled_key_repeats_what_the_old_one_asked,
    a_migration_can_be_repeated,
    an_audit_of_a_full_day_finds_nothing,
    a_new_store_greets_its_user_once,
    no_account_is_made_where_nobody_reads_its_keys,
    a_server_without_secrets_to_tell_needs_no_reader,
    no_variable_makes_accounts;
    shared:
    two_servers_are_one_service,
    a_store_that_may_only_be_read_is_served_without_a_worker,
];

fn health_is_asked_without_a_key(store: &Store) {
    let shop = store.shop();
    for path in ["/healthz", "/readyz"] {
        assert_eq!(shop.anyone.get(path).status, 200, "{path}");
        assert_eq!(shop.secret.get(path).status, 200, "{path}");
    }
}

fn the_metrics_are_prometheus_text(store: &Store) {
    let shop = store.shop();
    shop.pay(json!({}));
    let metrics = shop.anyone.get("/metrics");
    assert_eq!(metrics.status, 200);
    assert!(metrics.header("Content-Type").unwrap().starts_with("text/plain"));
    let text = metrics.text();
    assert!(text.contains("# TYPE "), "{text}");
    let account = &shop.account;
    for secret in [&account.secret_sandbox, &account.public_sandbox, &account.id] {
        assert!(!text.contains(secret.as_str()), "metrics tell no secrets");
    }
}

fn the_description_names_every_route(store: &Store) {
    let description = store.shop().anyone.get("/v1/openapi.json").ok(200);
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1"), "{description}");
    let paths = description["paths"].as_object().unwrap();
    for path in [
        "payments",
        "payments/{id}",
        "payments/{id}/cancel",
        "payments/{id}/timeline",
        "payment-links",
        "payment-links/{id}",
        "payment-links/{id}/payments",
        "payouts",
        "payouts/{id}",
        "refunds",
        "refunds/{id}",
        "customers",
        "customers/{id}",
        "payment-methods",
        "balance",
        "ledger",
        "webhooks",
        "webhooks/{id}",
        "webhooks/test",
        "webhooks/deliveries",
        "sandbox/simulate",
        "sandbox/fund",
        "sandbox/scenarios",
    ] {
        let named = paths.keys().any(|key| key.trim_start_matches("/v1").trim_matches('/') == path);
        assert!(named, "{path} is missing in {:?}", paths.keys().collect::<Vec<_>>());
    }
}

/// Even while a receiver hangs and callers keep their connections.
fn sigterm_ends_the_server_well(store: &Store) {
    let sink = Sink::scripted(vec![Answer::Hang]);
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    shop.hook(&sink.url(), &["payment_link.created"]);
    shop.link(json!({}));
    sink.awaits(1);
    server.terminate();
    let ended = server.ended(Duration::from_secs(10));
    assert!(ended.success(), "{ended}");
}

/// A pooler whose database is gone may take a connection and say nothing.
fn sigterm_ends_a_server_that_waits_for_its_store(store: &Store) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("postgres://x@{}/x", silent.local_addr().unwrap());
    let place = store.place();
    let mut command = place.command_at(&["serve", "--listen", "127.0.0.1:0", "--store", &at]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let held = silent.accept().expect("it wants in");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::TERM).expect("it waits");
    // Well before it gives up by itself.
    let ended = within(Duration::from_secs(5), || {
        child.try_wait().unwrap().ok_or_else(|| "still running".to_owned())
    });
    assert!(ended.success(), "{ended}");
    drop(held);
}

/// Neither in the store's own files nor in the log, repeated answers included.
fn no_secret_is_written_down(store: &Store) {
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    let body = json!({"url": "http://127.0.0.1:9/x"});
    let endpoint = shop.post_once("k1", "/v1/webhooks", &body).ok(201);
    let rotation = json!({"rotate_secret": true, "previous_secret_expires_in": 60});
    let rotated = shop.post_once("k2", &path_of(&endpoint["id"]), &rotation).ok(200);
    shop.link(json!({}));
    shop.anyone.with("X-API-Key", &shop.account.secret_live).get("/v1/balance").ok(200);
    server.terminate();
    assert!(server.ended(Duration::from_secs(10)).success());
    let account = &shop.account;
    let secrets = [
        endpoint["secret"].as_str().unwrap(),
        rotated["secret"].as_str().unwrap(),
        &account.secret_sandbox,
        &account.secret_live,
        &account.public_sandbox,
        &account.public_live,
    ];
    for file in std::fs::read_dir(server.place.dir.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for secret in secrets {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} holds {}…", path.display(), &secret[..10]);
        }
    }
}

fn restarted(server: &Arc<Server>) -> Arc<Server> {
    Arc::new(Server::start(&server.place, 1, &[]))
}

fn data_outlive_the_server(store: &Store) {
    let sink = Sink::scripted(vec![Answer::Status(500)]);
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    shop.fund(100_000, "XOF");
    shop.hook(&sink.url(), &["payment_link.created"]);
    let first = shop.post_once("k1", "/v1/payments", &sample::payment(json!({})));
    let payment = first.ok(201);
    let payment = shop.awaits(&payment, "processing");
    let payout = shop.pay_out(json!({})).ok(201);
    shop.awaits(&payout, "processing");
    shop.link(json!({}));
    sink.awaits(1);
    let (purse, entries) = (shop.purse("XOF"), shop.list("/v1/ledger"));
    server.terminate();
    assert!(server.ended(Duration::from_secs(10)).success());
    sink.answer(Answer::Status(204));
    let server = restarted(&server);
    let shop = Shop::new(&server, &shop.account);
    assert_eq!(shop.see(&payment["id"]), payment);
    assert_eq!((shop.purse("XOF"), shop.list("/v1/ledger")), (purse, entries));
    let again = shop.post_once("k1", "/v1/payments", &sample::payment(json!({})));
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
    let hits = sink.awaits_within(Duration::from_secs(10) + SLACK, 2);
    assert_eq!(hits[0].body, hits[1].body, "what was pending goes on");
    assert_eq!(shop.simulate(&payment["id"], "success").ok(200)["status"], "succeeded");
    assert_eq!(shop.simulate(&payout["id"], "success").ok(200)["status"], "succeeded");
}

fn an_account_is_made_while_the_server_runs(store: &Store) {
    let server = store.serve(&[]);
    let said = server.place.run(&["accounts", "create", "--json"]);
    let value: Value = serde_json::from_str(said.trim()).expect("one line of JSON");
    let account = value.get("accounts").map_or(&value, |accounts| &accounts[0]);
    let account = Account::read(account);
    assert!(server.accounts.iter().all(|other| other.id != account.id));
    let shop = Shop::new(&server, &account);
    shop.pay(json!({}));
    assert_eq!(shop.public.total("/v1/payments"), 1);
    assert_eq!(shop.live.total("/v1/payments"), 0);
    assert_eq!(Server::next_shop(&server).unwrap().total("/v1/payments"), 0);
    assert!(!server.place.run(&["accounts", "create"]).is_empty());
}

/// The words of an output that are ids of keys.
fn key_ids(said: &str) -> Vec<&str> {
    let words = said.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| is_id("key", word)).collect()
}

fn keys_are_listed_without_being_shown(store: &Store) {
    let server = store.serve(&[]);
    let account = &server.accounts[0];
    let said = server.place.run(&["keys", "list", "--account", &account.id]);
    assert_eq!(key_ids(&said).len(), 4, "{said}");
    assert!(said.lines().all(|line| line.contains(&account.id)), "whose they are: {said}");
    let nobody = format!("{}0000", &account.id[..account.id.len() - 4]);
    let output = server.place.command(&["keys", "list", "--account", &nobody]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(complained.contains("there is no such account"), "{complained}");
    for key in [
        &account.secret_sandbox,
        &account.public_sandbox,
        &account.secret_live,
        &account.public_live,
    ] {
        assert!(!said.contains(key.as_str()), "only a hint: {said}");
        assert!(said.contains(&key[key.len() - 4..]), "the hint of {key}: {said}");
    }
    assert!(!said.contains(&server.accounts[1].secret_sandbox[44..]), "{said}");
}

#[track_caller]
fn refused_within_a_second(server: &Arc<Server>, key: &str) {
    let response = within(Duration::from_secs(1), || {
        let response = Server::caller(server, key).get("/v1/balance");
        if response.status == 401 { Ok(response) } else { Err(response.text()) }
    });
    response.refused(401, "api_key_revoked", None);
    assert_eq!(response.header("WWW-Authenticate"), Some("Bearer"));
}

fn a_revoked_key_is_refused_within_a_second(store: &Store) {
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    shop.get("/v1/balance").ok(200);
    server.place.run(&["keys", "revoke", "--key", &shop.account.secret_sandbox]);
    refused_within_a_second(&server, &shop.account.secret_sandbox);
    shop.public.get("/v1/balance").ok(200);
    let other = Server::next_shop(&server).unwrap();
    let said = server.place.run(&["keys", "list", "--account", &other.account.id]);
    for id in key_ids(&said) {
        server.place.run(&["keys", "revoke", "--key", id]);
    }
    refused_within_a_second(&server, &other.account.public_sandbox);
    refused_within_a_second(&server, &other.account.secret_live);
    shop.public.get("/v1/balance").ok(200);
}

fn a_rolled_key_repeats_what_the_old_one_asked(store: &Store) {
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    let body = sample::payment(json!({}));
    let first = shop.post_once("k1", "/v1/payments", &body);
    first.ok(201);
    let old = &shop.account.secret_sandbox;
    let roll = |key: &str, grace: &str| {
        let said = server.place.run(&["keys", "roll", "--key", key, "--grace-seconds", grace]);
        let mut words = said.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let fresh = words.find(|word| word.starts_with("sk_test_") && word.len() == 48);
        fresh.unwrap_or_else(|| panic!("no new key in {said}")).to_owned()
    };
    let new = roll(old, "3600");
    assert_ne!(&new, old);
    let again = Server::caller(&server, &new).post_once("k1", "/v1/payments", &body);
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
    shop.get("/v1/balance").ok(200);
    let newest = roll(&new, "0");
    let response = within(Duration::from_secs(1), || {
        let response = Server::caller(&server, &new).get("/v1/balance");
        if response.status == 401 { Ok(response) } else { Err(response.text()) }
    });
    let error = response.refusal(401);
    let code = error["code"].as_str().unwrap();
    assert!(["api_key_expired", "api_key_revoked"].contains(&code), "{error}");
    assert_eq!(Server::caller(&server, &newest).total("/v1/payments"), 1);
}

fn a_migration_can_be_repeated(store: &Store) {
    let place = store.place();
    assert!(!place.run(&["migrate"]).is_empty(), "it says what it did");
    place.run(&["migrate"]);
    let server = Arc::new(Server::start(&place, 1, &[]));
    Server::next_shop(&server).unwrap().pay(json!({}));
    place.run(&["migrate"]);
    place.run(&["audit"]);
}

fn an_audit_of_a_full_day_finds_nothing(store: &Store) {
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    server.place.run(&["audit"]);
    shop.fund(100_000, "XOF");
    let paid = shop.paid_patiently(json!({"amount": 9999}));
    let refund = shop.refund(&paid, Some(3333)).ok(201);
    shop.simulate(&refund["id"], "success").ok(200);
    let payout = shop.pay_out(json!({})).ok(201);
    shop.simulate(&payout["id"], "recipient_rejected").ok(200);
    shop.pay_out(json!({})).ok(201);
    shop.paid_by_card(10_005, "KWD", "KW");
    server.place.run(&["audit"]);
    server.terminate();
    assert!(server.ended(Duration::from_secs(10)).success());
    server.place.run(&["audit"]);
}

/// What a server says first when it is started plainly, up to the first line with this in it.
fn greeting(place: &Place, last: &str) -> String {
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    let mut said = String::new();
    while let Ok(line) = told.recv_timeout(Duration::from_secs(5)) {
        said.push_str(&line);
        said.push('\n');
        if line.contains(last) {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

fn a_new_store_greets_its_user_once(store: &Store) {
    let place = store.place();
    let said = greeting(&place, "curl");
    for prefix in ["sk_test_", "pk_test_", "sk_live_", "pk_live_", "curl"] {
        assert!(said.contains(prefix), "{prefix} is missing: {said}");
    }
    let said = greeting(&place, "sk_");
    assert!(!said.contains("sk_test_") && !said.contains("sk_live_"), "once only: {said}");
}

fn no_account_is_made_where_nobody_reads_its_keys(store: &Store) {
    let place = store.place();
    for stdout in unread::KINDS {
        for arguments in [&["serve"][..], &["serve", "--json"], &["serve", "--accounts", "3"]] {
            let mut command = place.command(arguments);
            command.args(["--listen", "127.0.0.1:0"]);
            let output = command.stdout(stdout()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("no account was made"), "{said}");
            assert_eq!(place.run(&["accounts", "list"]), "", "nothing was made");
        }
    }
}

fn a_server_without_secrets_to_tell_needs_no_reader(store: &Store) {
    let place = store.place();
    place.run(&["accounts", "create"]);
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    let mut child = command.stdout(unread::nobody()).stderr(Stdio::piped()).spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let lines = log.map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
    let mut addresses = lines.filter_map(|it| it["fields"]["address"].as_str().map(str::to_owned));
    let address = addresses.next().expect("it says where it listens");
    let health = Http::at(&format!("http://{address}"))
        .answers(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(health.first().map(|answer| answer.status), Some(200));
}

/// A unit file would make some at every start, and its journal would keep their keys.
fn no_variable_makes_accounts(store: &Store) {
    let place = store.place();
    let output = place.command(&["serve", "--help"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("--accounts") && !said.contains("CAURI_ACCOUNTS"), "{said}");
}

/// Callers, a key, and the money do not notice which of two servers they talk to.
fn two_servers_are_one_service(store: &Store) {
    let one = store.serve(&[]);
    let two = Arc::new(Server::start(&one.place, 1, &[]));
    let here = Server::next_shop(&one).unwrap();
    let there = Shop::new(&two, &here.account);
    here.fund(5 * 10_100, "XOF");
    let answers: Vec<_> = thread::scope(|scope| {
        let ask = |number: usize| {
            let shop = if number.is_multiple_of(2) { &here } else { &there };
            let key = format!("k{}", number / 4);
            shop.post_once(&key, "/v1/payouts", &sample::payout(json!({})))
        };
        let threads: Vec<_> = (0..40).map(|number| scope.spawn(move || ask(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(made, 20, "five payouts, each told to four callers");
    assert_eq!((here.total("/v1/payouts"), there.purse("XOF").available), (5, 0));
    let payment = here.pay(json!({}));
    let paid = there.simulate(&payment["id"], "success").ok(200);
    assert_eq!(here.get(&path_of(&payment["id"])).ok(200), paid);
    one.place.run(&["keys", "revoke", "--key", &here.account.secret_sandbox]);
    refused_within_a_second(&one, &here.account.secret_sandbox);
    refused_within_a_second(&two, &here.account.secret_sandbox);
}

/// As on a standby, or for a user who may do no more.
fn a_store_that_may_only_be_read_is_served_without_a_worker(store: &Store) {
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    let link = shop.link(json!({}));
    let at = format!("{}&options[default_transaction_read_only]=on", server.place.store);
    let place = store.place();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--store", &at];
    let refused = place.command_at(&serve).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("lets this user read, but not write"), "{said}");
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("--no-worker"), "{said}");

    let place = Arc::new(Place { store: at, dir: tempfile::tempdir().unwrap() });
    let reader = Arc::new(Server::start(&place, 0, &["--no-worker"]));
    let there = Shop::new(&reader, &shop.account);
    assert_eq!(there.see(&link["id"]), link);
    let refused = there.post("/v1/customers", &json!({ "name": "Awa" }));
    assert_eq!((refused.status, shop.total("/v1/customers")), (503, 0));
}
