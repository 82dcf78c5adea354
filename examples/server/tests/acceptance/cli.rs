//! The command line: each command run against a real server, and what it says read by a program.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::server::{Place, Server, Store};
use crate::support::shop::Shop;
use crate::support::signature;
use crate::support::sink::{Answer, Sink};
use crate::support::stories;
use crate::support::time::within;
use crate::support::unread::{self, full, nobody};

stories![
    payments_are_made_shown_listed_and_cancelled,
    payouts_and_refunds_are_made_shown_and_listed,
    every_kind_of_event_is_made_to_happen,
    a_refund_is_made_to_happen_whatever_it_costs,
    nothing_is_triggered_in_live,
    events_are_shown_and_followed,
    what_is_listened_to_is_forwarded_and_signed,
    a_receiver_that_fails_is_shown_to_fail,
    a_refusal_and_a_failure_are_told_apart,
    what_may_have_been_done_is_told_with_its_key,
    what_was_done_and_cannot_be_said_is_told_with_its_key,
    what_is_interrupted_is_told_with_its_key,
    a_server_has_room_for_somebody,
    every_error_is_json_for_a_program,
    a_reader_that_is_gone_is_no_failure,
    variables_of_flags_are_read_as_people_write_them,
    what_is_no_terminal_gets_no_colours,
    completions_know_every_command;
    durable:
    what_is_administered_is_told_in_json,
    a_key_that_nobody_was_shown_is_no_success,
    a_verdict_does_not_depend_on_who_reads_it,
    a_store_that_is_not_there_is_not_made_by_a_look,
    a_look_makes_no_schema,
    an_older_schema_is_left_to_migrate,
    a_doctor_has_nothing_to_say_about_what_runs,
    a_doctor_says_what_is_wrong,
];

/// The reference's seventeen.
const EVENTS: [&str; 17] = [
    "payment.created",
    "payment.processing",
    "payment.succeeded",
    "payment.failed",
    "payment.cancelled",
    "payment.expired",
    "payment.refunded",
    "payment.partially_refunded",
    "payout.created",
    "payout.processing",
    "payout.succeeded",
    "payout.failed",
    "refund.created",
    "refund.succeeded",
    "refund.failed",
    "payment_link.created",
    "payment_link.paid",
];

/// A command that asks the server of a shop.
fn asking(shop: &Shop, arguments: &[&str]) -> Command {
    asking_with(shop, &shop.account.secret_sandbox, arguments)
}

fn asking_with(shop: &Shop, key: &str, arguments: &[&str]) -> Command {
    let mut command = shop.server.place.command_at(arguments);
    command.env("CAURI_URL", shop.server.http.url()).env("CAURI_KEY", key);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// What a good end said.
#[track_caller]
fn good(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it runs");
    assert!(status.success(), "{status}\n{}\n{}", text(&stdout), text(&stderr));
    text(&stdout)
}

/// What was said in JSON: an object a line.
#[track_caller]
fn lines(command: &mut Command) -> Vec<Value> {
    let said = good(command.arg("--json"));
    said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The one thing that was said in JSON.
#[track_caller]
fn one(command: &mut Command) -> Value {
    let mut said = lines(command);
    assert_eq!(said.len(), 1, "{said:?}");
    said.remove(0)
}

/// How a command ended that did not end well, and the error that it told in JSON.
#[track_caller]
fn failed(command: &mut Command) -> (i32, Value) {
    let Output { status, stdout, stderr } = command.arg("--json").output().expect("it runs");
    assert_eq!(text(&stdout), "", "what went wrong is told on stderr");
    let told = text(&stderr);
    let told = told.lines().find(|line| line.starts_with(r#"{"error""#)).expect("an error");
    let told: Value = serde_json::from_str(told).expect("JSON");
    (status.code().expect("an end of its own"), told["error"].clone())
}

const CREATE: [&str; 10] = [
    "payments",
    "create",
    "--amount",
    "5000",
    "--currency",
    "XOF",
    "--network",
    "wave",
    "--phone",
    "+2250500000002",
];

fn payments_are_made_shown_listed_and_cancelled(store: &Store) {
    let shop = store.shop();
    let named = ["--metadata", "cart=77", "--reference", "A & B", "--idempotency-key", "order-1"];
    let made = one(asking(&shop, &CREATE).args(named));
    assert_eq!((&made["status"], &made["metadata"]), (&json!("created"), &json!({"cart": "77"})));
    assert_eq!(one(asking(&shop, &CREATE).args(named))["id"], made["id"], "the same key");
    let id = made["id"].as_str().unwrap();
    for _ in 0..2 {
        one(&mut asking(&shop, &CREATE));
    }
    let got = one(&mut asking(&shop, &["payments", "get", id]));
    assert_eq!((&got["id"], &got["amount"]), (&made["id"], &json!(5000)));
    let cancelled = one(&mut asking(&shop, &["payments", "cancel", id, "--reason", "late"]));
    assert_eq!(cancelled["cancellation_reason"], "late");
    let listed = lines(&mut asking(&shop, &["payments", "list", "--status", "cancelled"]));
    assert_eq!(listed, [shop.see(&made["id"])]);
    let ids = |arguments: &[&str]| -> Vec<Value> {
        lines(&mut asking(&shop, arguments)).iter().map(|it| it["id"].clone()).collect()
    };
    let all = ids(&["payments", "list", "--all"]);
    assert_eq!(all.len(), 3);
    assert_eq!(ids(&["payments", "list", "--limit", "1", "--offset", "1"]), all[1..2]);
    let shown = good(&mut asking(&shop, &["payments", "list", "--limit", "2"]));
    assert!(shown.contains("2 of 3; --all shows every one"), "{shown}");
    assert_eq!(shown.lines().count(), 3, "{shown}");
    let whole = good(&mut asking(&shop, &["payments", "get", id]));
    let read: Value = serde_json::from_str(&whole).expect("what people read is JSON too");
    assert_eq!(read, shop.see(&made["id"]));
}

fn payouts_and_refunds_are_made_shown_and_listed(store: &Store) {
    let shop = store.shop();
    shop.fund(100_000, "XOF");
    let create = [
        "payouts",
        "create",
        "--amount",
        "10000",
        "--currency",
        "XOF",
        "--network",
        "mtn",
        "--phone",
        "+2250500000002",
        "--recipient-name",
        "Awa",
    ];
    let payout = one(&mut asking(&shop, &create));
    assert_eq!((&payout["object"], &payout["total_amount"]), (&json!("payout"), &json!(10_100)));
    let id = payout["id"].as_str().unwrap();
    assert_eq!(one(&mut asking(&shop, &["payouts", "get", id]))["id"], payout["id"]);
    assert_eq!(lines(&mut asking(&shop, &["payouts", "list"])).len(), 1);
    let paid = shop.paid(json!({}));
    let payment = paid["id"].as_str().unwrap();
    let create =
        ["refunds", "create", "--payment", payment, "--amount", "2000", "--reason", "other"];
    let refund = one(&mut asking(&shop, &create));
    assert_eq!((&refund["payment"], &refund["reason"]), (&paid["id"], &json!("other")));
    let id = refund["id"].as_str().unwrap();
    assert_eq!(one(&mut asking(&shop, &["refunds", "get", id]))["amount"], 2000);
    let listed = lines(&mut asking(&shop, &["refunds", "list", "--payment", payment]));
    assert_eq!(listed.iter().map(|it| &it["id"]).collect::<Vec<_>>(), [&refund["id"]]);
}

fn every_kind_of_event_is_made_to_happen(store: &Store) {
    let shop = store.shop();
    for kind in EVENTS {
        let event = one(&mut asking(&shop, &["trigger", kind]));
        assert_eq!(event["type"], kind);
        let (noun, _) = kind.split_once('.').unwrap();
        assert_eq!(event["data"]["object"]["object"], noun);
        let told = shop.get(&format!("/v1/events/{}", event["id"].as_str().unwrap())).ok(200);
        assert_eq!(told, event, "it really happened");
        assert!(event.get("test").is_none(), "and was no test");
    }
}

/// Where the platform keeps its fee, a payment alone does not pay for its refund.
fn a_refund_is_made_to_happen_whatever_it_costs(store: &Store) {
    let keeping = store.serve(&["--refund-fee-policy", "keep"]);
    for kind in ["payment.refunded", "refund.failed"] {
        let shop = Server::next_shop(&keeping).expect("an account without money");
        assert_eq!(one(&mut asking(&shop, &["trigger", kind]))["type"], kind);
    }
}

fn nothing_is_triggered_in_live(store: &Store) {
    let shop = store.shop();
    let live = &shop.account.secret_live;
    for kind in EVENTS {
        let (code, error) = failed(&mut asking_with(&shop, live, &["trigger", kind]));
        assert_eq!(code, 2, "{kind}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("sandbox") && message.contains("live"), "{message}");
    }
    let told = lines(&mut asking_with(&shop, live, &["events", "list", "--all"]));
    assert!(told.is_empty(), "nothing was done: {told:?}");
}

fn events_are_shown_and_followed(store: &Store) {
    let shop = store.shop();
    let first = one(&mut asking(&shop, &["trigger", "payment.failed"]));
    let id = first["id"].as_str().unwrap();
    assert_eq!(one(&mut asking(&shop, &["events", "get", id])), first);
    let listed = lines(&mut asking(&shop, &["events", "list", "--type", "payment.failed"]));
    assert_eq!(listed, std::slice::from_ref(&first));
    let payment = first["data"]["object"]["id"].as_str().unwrap();
    let kinds = |events: &[Value]| -> Vec<String> {
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    let all = ["payment.created", "payment.processing", "payment.failed"];
    let told = lines(&mut asking(&shop, &["events", "tail", "--no-follow"]));
    assert_eq!(kinds(&told), all, "oldest first");
    let of = lines(&mut asking(&shop, &["events", "list", "--resource", payment, "--all"]));
    assert_eq!(of.len(), 3);
    let mut tail = Running::start(&mut asking(&shop, &["events", "tail", "-n", "1", "--json"]));
    assert_eq!(tail.next(), first, "the last of what was there");
    let next = one(&mut asking(&shop, &["trigger", "payment_link.created"]));
    assert_eq!(tail.next(), next);
    assert_eq!(tail.end(), Some(0));
}

fn what_is_listened_to_is_forwarded_and_signed(store: &Store) {
    let shop = store.shop();
    one(&mut asking(&shop, &["trigger", "payment.failed"]));
    let sink = Sink::open();
    let kinds = ["--events", "payment.succeeded,payment_link.created", "--json"];
    let mut command = asking(&shop, &["listen", "--forward-to", &sink.url()]);
    let mut listen = Running::start(command.args(kinds));
    let greeting = listen.next();
    let secret = greeting["secret"].as_str().expect("what signs");
    assert!(secret.starts_with("whsec_") && secret.len() == 46);
    assert_eq!(greeting["forward_to"], sink.url());
    let mut told = Vec::new();
    for kind in ["payment.succeeded", "payment_link.created"] {
        told.push(one(&mut asking(&shop, &["trigger", kind])));
        let said = listen.next();
        assert_eq!((&said["event"], &said["http_status"]), (&told[told.len() - 1], &json!(204)));
    }
    let hits = sink.awaits(2);
    assert_eq!(hits.len(), 2, "neither what was before nor what was not wanted");
    for (hit, event) in hits.iter().zip(&told) {
        let (time, signatures) = signature::parts(hit.header("X-Webhook-Signature"));
        assert_eq!(signatures, [signature::sign(secret, &time, &hit.body)]);
        assert_eq!(hit.event(), *event);
        assert_eq!(hit.header("X-Webhook-Event"), event["type"]);
        assert_eq!(hit.header("X-Webhook-Attempt"), "1");
        assert!(hit.header("X-Webhook-Delivery").starts_with("whd_"));
    }
    let shown = shop.get(&format!("/v1/events/{}", told[0]["id"].as_str().unwrap()));
    assert_eq!(hits[0].body, shown.body, "byte for byte");
    assert_eq!(listen.end(), Some(0));
}

fn a_receiver_that_fails_is_shown_to_fail(store: &Store) {
    let shop = store.shop();
    let sink = Sink::scripted(vec![Answer::Status(500), Answer::Drop]);
    let arguments = ["listen", "--forward-to", &sink.url(), "--secret", "whsec_mine", "--json"];
    let mut listen = Running::start(&mut asking(&shop, &arguments));
    assert_eq!(listen.next()["secret"], "whsec_mine");
    shop.link(json!({}));
    assert_eq!(listen.next()["http_status"], 500);
    shop.link(json!({}));
    assert_eq!(listen.next()["error"], "connection_failed");
    assert_eq!(listen.end(), Some(0));
}

fn a_refusal_and_a_failure_are_told_apart(store: &Store) {
    let shop = store.shop();
    let (code, error) = failed(asking(&shop, &CREATE).args(["--expires-in", "5"]));
    assert_eq!((code, &error["code"]), (1, &json!("parameter_invalid")));
    assert_eq!(error["param"], "expires_in");
    assert!(error["request_id"].as_str().unwrap().starts_with("req_"));
    let nothing = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c";
    let (code, error) = failed(&mut asking(&shop, &["payments", "get", nothing]));
    assert_eq!((code, &error["code"]), (1, &json!("resource_not_found")));
    let (code, error) = failed(&mut asking_with(&shop, "sk_test_x", &["payments", "list"]));
    assert_eq!((code, &error["code"]), (1, &json!("api_key_invalid")));
    let away = ["payments", "list", "--url", "http://pay.example.com"];
    let (code, error) = failed(&mut asking(&shop, &away));
    assert_eq!(code, 2);
    assert!(error["message"].as_str().unwrap().contains("in the clear"), "{error}");
    for wrong in [
        &["payments", "get", "cus_01jd3w8k4f7q2m9x5r6t0v1b3c"][..],
        &["payments", "list", "--status", "lost"],
        &["trigger", "payment.lost"],
        &["listen", "--forward-to", "ftp://localhost"],
    ] {
        let output = asking(&shop, wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(text(&output.stderr).contains("invalid value"), "{}", text(&output.stderr));
    }
    for (wrong, clear) in [
        (&["payments", "list", "--offset", "-1"][..], "-1 is not in 0.."),
        (&["serve", "--listen", "localhost:8082"], "an IP address of this machine and a port"),
        (&["serve", "--refund-fee-policy", "all"], "[possible values: proportional, keep]"),
    ] {
        let output = asking(&shop, wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(text(&output.stderr).contains(clear), "{}", text(&output.stderr));
    }
    let negative = ["payments", "create", "--amount", "-5", "--currency", "XOF"];
    let (code, error) = failed(&mut asking(&shop, &negative));
    assert_eq!((code, &error["param"]), (1, &json!("amount")), "{error}");
    let (code, error) =
        failed(asking(&shop, &["payments", "list"]).env("CAURI_URL", "http://127.0.0.1:1/"));
    let said = error["message"].as_str().unwrap();
    assert!(code == 2 && said.contains("asked http://127.0.0.1:1; --url or CAURI_URL"), "{said}");
    let keyless = shop.server.place.command_at(&["payments", "list"]).output().unwrap();
    assert_eq!(keyless.status.code(), Some(2));
    assert!(text(&keyless.stderr).contains("--key"), "{}", text(&keyless.stderr));
}

/// A proxy stands before a server that may have done it all.
fn what_may_have_been_done_is_told_with_its_key(store: &Store) {
    let (shop, proxy) = (store.shop(), Sink::scripted(vec![Answer::Status(502)]));
    let create = |key: &[&str]| {
        let mut command = asking(&shop, &CREATE);
        command.env("CAURI_URL", proxy.url()).args(key);
        command
    };
    let (code, error) = failed(&mut create(&[]));
    let key = error["idempotency_key"].as_str().unwrap_or_else(|| panic!("a key: {error}"));
    assert_eq!(code, 2, "not known is not done: {error}");
    assert!(proxy.hits().iter().all(|hit| hit.header("Idempotency-Key") == key), "{key}");
    let output = create(&["--idempotency-key", "order-7"]).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("--idempotency-key order-7"), "{told}");
    let id = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c";
    let mut cancel = asking(&shop, &["payments", "cancel", id, "--idempotency-key", "undo-7"]);
    let (_, error) = failed(cancel.env("CAURI_URL", proxy.url()));
    assert_eq!(error["idempotency_key"], "undo-7");
    let (_, error) = failed(asking(&shop, &CREATE).args(["--expires-in", "5"]));
    assert!(error.get("idempotency_key").is_none(), "nothing was done: {error}");
}

fn what_was_done_and_cannot_be_said_is_told_with_its_key(store: &Store) {
    let shop = store.shop();
    shop.fund(100_000, "XOF");
    let paid = shop.paid(json!({}));
    let payment = paid["id"].as_str().unwrap();
    let to = ["--amount", "1000", "--currency", "XOF", "--network", "mtn"];
    let payout = [&["payouts", "create", "--phone", "+2250500000002"][..], &to].concat();
    let refund = ["refunds", "create", "--payment", payment, "--amount", "100"];
    for ask in [&CREATE[..], &payout, &refund] {
        for stdout in unread::KINDS {
            let (code, error) = failed(asking(&shop, ask).stdout(stdout()));
            assert_eq!(code, 2, "{error}");
            let key = error["idempotency_key"].as_str().unwrap_or_else(|| panic!("{error}"));
            let again = one(asking(&shop, ask).args(["--idempotency-key", key]));
            assert_eq!(again["id"], error["id"], "done once");
        }
    }
    let made = one(&mut asking(&shop, &CREATE));
    let id = made["id"].as_str().unwrap();
    let undo = ["payments", "cancel", id, "--idempotency-key", "undo-8"];
    let output = asking(&shop, &undo).stdout(full()).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains(id) && told.contains("--idempotency-key undo-8"), "{told}");
}

fn what_is_interrupted_is_told_with_its_key(store: &Store) {
    let (shop, silent) = (store.shop(), Sink::scripted(vec![Answer::Hang]));
    for (count, signal) in [(1, Signal::INT), (2, Signal::TERM)] {
        let mut create = asking(&shop, &CREATE);
        create.env("CAURI_URL", silent.url()).arg("--json");
        let child = create.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let hit = silent.awaits(count).remove(count - 1);
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, signal).expect("it waits");
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        assert_eq!(status.code(), Some(2), "an end of its own");
        let told: Value = serde_json::from_slice(&stderr).expect("JSON");
        assert_eq!(told["error"]["idempotency_key"], hit.header("Idempotency-Key"), "{told}");
    }
}

fn a_server_has_room_for_somebody(store: &Store) {
    let place = store.place();
    for (option, variable) in
        [("--max-requests", "CAURI_MAX_REQUESTS"), ("--max-connections", "CAURI_MAX_CONNECTIONS")]
    {
        let (code, error) = failed(place.command(&["doctor"]).args([option, "0"]));
        assert_eq!(code, 2, "{option}: {error}");
        assert!(error["message"].as_str().unwrap().contains(option), "{error}");
        assert_eq!(failed(place.command(&["doctor"]).env(variable, "0")).0, 2, "{variable}");
    }
}

fn every_error_is_json_for_a_program(store: &Store) {
    let place = store.place();
    for wrong in [&["nonsense"][..], &["payments", "list"], &["trigger", "payment.lost"]] {
        let (code, error) = failed(&mut place.command_at(wrong));
        assert_eq!(code, 2, "{wrong:?}");
        let message = error["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.starts_with("error: "), "{message}");
        let output = place.command_at(wrong).env("CAURI_JSON", "1").output().unwrap();
        let told: Value = serde_json::from_slice(&output.stderr).expect("JSON");
        assert_eq!(told["error"]["message"], message);
        let output = place.command_at(wrong).output().unwrap();
        assert!(text(&output.stderr).starts_with("error: "), "for people: {wrong:?}");
    }
    for asked in ["--help", "--version"] {
        let said = good(place.command_at(&[asked]).env("CAURI_JSON", "1"));
        assert!(said.contains("cauri"), "{said}");
    }
}

fn a_reader_that_is_gone_is_no_failure(store: &Store) {
    let shop = store.shop();
    shop.pay(json!({}));
    let listed = asking(&shop, &["payments", "list"]).stdout(nobody()).status().unwrap();
    assert_eq!(listed.code(), Some(0), "it had enough");
    for json in [&[][..], &["--json"]] {
        let mut refused = asking(&shop, &["payments", "get", "pay_01jd3w8k4f7q2m9x5r6t0v1b3c"]);
        let refused = refused.args(json).stderr(nobody()).status().unwrap();
        assert_eq!(refused.code(), Some(1), "no panic, and the same answer");
    }
    let wrong = shop.server.place.command_at(&["nonsense"]).stderr(nobody()).status().unwrap();
    assert_eq!(wrong.code(), Some(2));
}

fn variables_of_flags_are_read_as_people_write_them(store: &Store) {
    let place = store.place();
    let doctor = |variable: &str, value: &str| {
        let mut command = place.command(&["doctor", "--listen", "127.0.0.1:0"]);
        good(command.env(variable, value))
    };
    for yes in ["1", "true", "yes", "on"] {
        assert!(doctor("CAURI_JSON", yes).starts_with('{'), "{yes}");
    }
    for empty in ["CAURI_LISTEN", "CAURI_LOG", "CAURI_RATE_LIMIT", "CAURI_SECRET_KEY", "CAURI_URL"]
    {
        doctor(empty, "");
    }
    for no in ["0", "false", "no", "off", ""] {
        assert!(!doctor("CAURI_JSON", no).starts_with('{'), "{no}");
    }
    for flag in [
        "CAURI_LOG_SPANS",
        "CAURI_IDEMPOTENCY_REQUIRED",
        "CAURI_ALLOW_PRIVATE_WEBHOOKS",
        "CAURI_REFUSE_PRIVATE_WEBHOOKS",
        "CAURI_NO_WORKER",
        "CAURI_PLAIN_HTTP",
    ] {
        doctor(flag, "1");
        doctor(flag, "0");
    }
    let both = |allow: &str| {
        let mut command = place.command(&["doctor", "--listen", "127.0.0.1:0"]);
        command.env("CAURI_ALLOW_PRIVATE_WEBHOOKS", allow);
        command.env("CAURI_REFUSE_PRIVATE_WEBHOOKS", "1");
        command
    };
    good(&mut both("0"));
    let (code, error) = failed(&mut both("1"));
    assert_eq!(code, 2);
    assert!(error["message"].as_str().unwrap().contains("--refuse-private-webhooks"), "{error}");
}

fn what_is_no_terminal_gets_no_colours(store: &Store) {
    let shop = store.shop();
    let made = good(&mut asking(&shop, &CREATE));
    assert!(made.contains("created") && made.ends_with('\n'), "{made}");
    let listed = good(&mut asking(&shop, &["payments", "list"]));
    assert_eq!(listed.lines().count(), 1);
    assert!(!format!("{made}{listed}").contains('\u{1b}'), "{made}{listed}");
    let none = good(&mut asking(&shop, &["refunds", "list"]));
    assert_eq!(none, "There are none.\n");
}

fn completions_know_every_command(store: &Store) {
    let place = store.place();
    let options = ["payments", "trigger", "doctor", "forward-to"];
    let and_values = ["payments", "trigger", "doctor", "forward-to", "payment_link.paid"];
    for (shell, words) in [
        ("bash", &and_values[..]),
        ("zsh", &and_values),
        ("fish", &and_values),
        ("elvish", &options),
        ("powershell", &options),
    ] {
        let script = good(&mut place.command_at(&["completions", shell]));
        for word in words {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

fn what_is_administered_is_told_in_json(store: &Store) {
    let place = store.place();
    assert!(one(&mut place.command(&["migrate"])).is_object());
    let made = one(&mut place.command(&["accounts", "create"]));
    let second = one(&mut place.command(&["accounts", "create"]));
    let listed = lines(&mut place.command(&["accounts", "list"]));
    let ids: BTreeSet<&str> = listed.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&made, &second].map(|it| it["id"].as_str().unwrap()).into());
    let account = made["id"].as_str().unwrap();
    let keys = lines(&mut place.command(&["keys", "list", "--account", account]));
    assert_eq!(keys.len(), 4);
    assert!(keys.iter().all(|key| key["object"] == "api_key" && key["account"] == account));
    let old = made["keys"]["secret_sandbox"].as_str().unwrap();
    let rolled = one(&mut place.command(&["keys", "roll", "--key", old]));
    let new = rolled["key"].as_str().unwrap();
    assert!(new.starts_with("sk_test_") && new != old);
    let revoked = one(&mut place.command(&["keys", "revoke", "--key", new]));
    assert_eq!((&revoked["id"], revoked["revoked_at"].is_string()), (&rolled["id"], true));
    assert!(revoked.get("key").is_none(), "never again");
    let server = std::sync::Arc::new(Server::start(&place, 1, &[]));
    Server::next_shop(&server).unwrap().paid(json!({}));
    let audit = one(&mut place.command(&["audit"]));
    assert_eq!((&audit["holds"], &audit["violations"]), (&json!(true), &json!([])));
    assert!(audit["entries"].as_i64().unwrap() >= 4 && audit["accounts"] == 3, "{audit}");
    let (code, error) = failed(&mut place.command(&["keys", "revoke", "--key", "sk_test_none"]));
    assert_eq!((code, &error["message"]), (2, &json!("there is no such key")));
}

fn a_key_that_nobody_was_shown_is_no_success(store: &Store) {
    let place = store.place();
    for stdout in unread::KINDS {
        let (code, error) = failed(place.command(&["accounts", "create"]).stdout(stdout()));
        assert_eq!(code, 2, "{error}");
        let listed = lines(&mut place.command(&["accounts", "list"]));
        let made = listed.last().and_then(|it| it["id"].as_str()).expect("an account");
        let said = error["message"].as_str().unwrap();
        assert!(said.contains(made) && said.contains("accounts create"), "{said}");
    }
    let keys = lines(&mut place.command(&["keys", "list"]));
    // One that was rolled is not rolled again.
    for (stdout, key) in unread::KINDS.iter().zip(&keys) {
        let old = key["id"].as_str().unwrap();
        let (code, error) = failed(place.command(&["keys", "roll", "--key", old]).stdout(stdout()));
        let said = error["message"].as_str().unwrap();
        assert!(code == 2 && said.contains("keys roll --key key_"), "{code}: {said}");
    }
}

fn a_verdict_does_not_depend_on_who_reads_it(store: &Store) {
    let place = store.place();
    place.run(&["accounts", "create"]);
    let audit = place.command(&["audit"]).stdout(nobody()).status().unwrap();
    assert_eq!(audit.code(), Some(0));
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = busy.local_addr().unwrap().to_string();
    for json in [&[][..], &["--json"]] {
        let mut doctor = place.command(&["doctor", "--listen", &busy]);
        let doctor = doctor.args(json).stdout(nobody()).status().unwrap();
        assert_eq!(doctor.code(), Some(1), "there is trouble, read or not");
    }
}

fn a_store_that_is_not_there_is_not_made_by_a_look(store: &Store) {
    let place = store.place();
    let path = place.dir.path().join("mistyped.db");
    let at = format!("sqlite:{}", path.display());
    let looks = [&["audit"][..], &["accounts", "list"], &["keys", "list"]];
    for look in looks {
        let (code, error) = failed(place.command_at(look).args(["--store", &at]));
        assert_eq!((code, path.exists()), (2, false), "{look:?}: {error}");
    }
    good(place.command_at(&["accounts", "create"]).args(["--store", &at]));
    for look in looks {
        good(place.command_at(look).args(["--store", &at]));
    }
}

/// An empty file, or database, is what a restore leaves that brought nothing back; a file of another
/// program is what a mistyped name may find.
fn a_look_makes_no_schema(store: &Store) {
    let place = store.place();
    let folder = place.dir.path();
    let (empty, other) = (folder.join("empty.db"), folder.join("other.db"));
    std::fs::write(&empty, "").unwrap();
    let other_place =
        Place { store: format!("sqlite:{}", other.display()), dir: tempfile::tempdir().unwrap() };
    std::fs::write(&other, "").unwrap();
    other_place.sql("create table settings (name text); insert into settings values ('theirs')");
    let key = secret_key(&place, 0o600);
    let looks = [
        &["audit"][..],
        &["accounts", "list"],
        &["keys", "list"],
        &["keys", "roll", "--key", "key_x"],
        &["keys", "revoke", "--key", "key_x"],
        &["secrets", "reseal", "--secret-key", &key],
    ];
    let mut stores = vec![format!("sqlite:{}", empty.display()), other_place.store.clone()];
    if !place.store.starts_with("sqlite:") {
        stores.push(place.store.clone());
    }
    let before = std::fs::read(&other).unwrap();
    // The second round finds whatever the first has made.
    for look in looks.iter().chain(&looks) {
        for at in &stores {
            let (code, error) = failed(place.command_at(look).args(["--store", at]));
            let said = error["message"].as_str().unwrap();
            assert!(
                code == 2 && said.contains("there is no cauri schema here"),
                "{look:?}: {said}"
            );
        }
    }
    assert_eq!(std::fs::metadata(&empty).unwrap().len(), 0);
    assert_eq!(std::fs::read(&other).unwrap(), before);
    let asked = ["doctor", "--listen", "127.0.0.1:0", "--store", &other_place.store, "--json"];
    let report = place.command_at(&asked).output().unwrap();
    assert_eq!(report.status.code(), Some(1));
    assert!(text(&report.stdout).contains("is another program's"), "{}", text(&report.stdout));
    good(&mut place.command(&["migrate"]));
    good(&mut place.command(&["audit"]));
}

fn an_older_schema_is_left_to_migrate(store: &Store) {
    let place = store.place();
    good(&mut place.command(&["migrate"]));
    place.sql("update cauri_schema set version = version - 10");
    let (code, error) = failed(&mut place.command(&["audit"]));
    let said = error["message"].as_str().unwrap();
    assert!(code == 2 && said.contains("run `cauri-server migrate`"), "{code}: {said}");
}

/// What a doctor found, by what it is about.
fn findings(report: &Value) -> Vec<(&str, &str)> {
    let checks = report["checks"].as_array().expect("checks");
    checks
        .iter()
        .map(|check| (check["about"].as_str().unwrap(), check["finding"].as_str().unwrap()))
        .collect()
}

fn secret_key(place: &Place, mode: u32) -> String {
    let path = place.dir.path().join("cauri.key");
    std::fs::write(&path, "5a".repeat(32)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path.display().to_string()
}

fn a_doctor_has_nothing_to_say_about_what_runs(store: &Store) {
    let server = store.serve(&[]);
    let key = secret_key(&server.place, 0o600);
    let account = &server.accounts[0];
    let arguments = ["doctor", "--secret-key", &key, "--listen", "127.0.0.1:0"];
    let report = one(&mut server.place.command(&arguments));
    assert_eq!(report["well"], true, "{report}");
    assert!(findings(&report).iter().all(|(_, word)| *word == "good"), "{report}");
    let abouts: BTreeSet<&str> = findings(&report).iter().map(|(about, _)| *about).collect();
    assert!(abouts.is_superset(&["store", "schema", "secret key", "address"].into()), "{report}");
    let mut asked = server.place.command(&["doctor", "--secret-key", &key]);
    asked.env("CAURI_URL", server.http.url()).env("CAURI_KEY", &account.secret_sandbox);
    let report = one(&mut asked);
    assert!(findings(&report).iter().all(|(_, word)| *word == "good"), "{report}");
    let abouts: BTreeSet<&str> = findings(&report).iter().map(|(about, _)| *about).collect();
    assert!(abouts.is_superset(&["server", "readiness", "clock", "key"].into()), "{report}");
}

fn a_doctor_says_what_is_wrong(store: &Store) {
    let place = store.place();
    let trouble = |arguments: &[&str]| {
        let output = place.command_at(arguments).arg("--json").output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        (output.status.code(), report)
    };
    let nowhere = "sqlite:/nowhere/at/all/cauri.db";
    let key = secret_key(&place, 0o644);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = listener.local_addr().unwrap().to_string();
    let arguments = ["doctor", "--store", nowhere, "--listen", &busy, "--secret-key", &key];
    let (code, report) = trouble(&arguments);
    assert_eq!((code, &report["well"]), (Some(1), &json!(false)));
    let expected = [("store", "trouble"), ("secret key", "warning"), ("address", "trouble")];
    assert_eq!(findings(&report), expected, "{report}");
    let advice = |check: &Value| !check["advice"].as_str().unwrap().is_empty();
    assert!(report["checks"].as_array().unwrap().iter().all(advice), "{report}");
    std::fs::write(place.dir.path().join("cauri.key"), "no key").unwrap();
    let (code, report) =
        trouble(&["doctor", "--store", "memory:", "--listen", "127.0.0.1:0", "--secret-key", &key]);
    assert_eq!(code, Some(1));
    let expected = [("store", "warning"), ("secret key", "trouble"), ("address", "good")];
    assert_eq!(findings(&report), expected, "{report}");
    let away = "http://127.0.0.1:1";
    let (code, report) = trouble(&["doctor", "--store", &place.store, "--url", away]);
    assert_eq!(code, Some(1));
    assert!(findings(&report).contains(&("server", "trouble")), "{report}");
    let other = Sink::scripted(vec![Answer::Status(200)]);
    let (code, report) = trouble(&["doctor", "--store", &place.store, "--url", &other.url()]);
    assert_eq!(code, Some(1), "something answers, but no cauri: {report}");
    assert!(findings(&report).contains(&("server", "trouble")), "{report}");
    let served = place.command(&["serve", "--listen", &busy]).output().unwrap();
    let said = text(&served.stderr);
    assert_eq!(served.status.code(), Some(2), "{said}");
    let sentence = said.lines().last().unwrap_or_default();
    assert!(sentence.contains(&busy) && sentence.contains("--listen"), "{said}");
    assert_eq!(sentence.matches("os error").count(), 1, "{said}");
    let mut served = place.command(&["serve", "--secret-key", &key, "--listen", "127.0.0.1:0"]);
    let said = text(&served.output().unwrap().stderr);
    assert!(said.contains(&key) && said.contains("line 1"), "{said}");
    let gone = "postgres://me:pass-word@127.0.0.1:1/shop";
    for store in [nowhere, gone] {
        let (_, error) = failed(place.command_at(&["serve"]).args(["--store", store]));
        let said = error["message"].as_str().unwrap();
        let place =
            if store == gone { "postgres://127.0.0.1:1/shop" } else { "/nowhere/at/all/cauri.db" };
        assert!(said.starts_with(place) && !said.contains("pass-word"), "{said}");
        assert!(said.matches("os error").count() <= 1, "{said}");
    }
    let text = good(&mut place.command(&["doctor", "--listen", "127.0.0.1:0"]));
    assert!(text.contains("openssl rand -hex 32"), "what to do is said: {text}");
    if let Some(file) = place.store.strip_prefix("sqlite:") {
        good(&mut place.command(&["accounts", "create"]));
        let seen = |mode| {
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
            let (_, report) =
                trouble(&["doctor", "--store", &place.store, "--listen", "127.0.0.1:0"]);
            findings(&report)[0] == ("store", "warning")
        };
        assert!(seen(0o644) && seen(0o660), "others can read it");
        assert!(!seen(0o600), "nobody else can");
    }
}

/// A command that goes on until it is told to end.
struct Running {
    child: Child,
    said: Receiver<String>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let stdout = child.stdout.take().expect("a pipe");
        let (tell, said) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        Self { child, said }
    }

    /// The next line.
    #[track_caller]
    fn next(&mut self) -> Value {
        let line = self.said.recv_timeout(Duration::from_secs(20)).expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    /// How it ends when it is told to.
    fn end(mut self) -> Option<i32> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), Signal::INT).expect("it is there");
        let child = &mut self.child;
        within(Duration::from_secs(10), || {
            child.try_wait().unwrap().ok_or_else(|| "still running".to_owned())
        })
        .code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
