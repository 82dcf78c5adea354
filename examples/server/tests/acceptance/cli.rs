//! The command line: each command run against a real server, and what it says read by a program.

use std::process::{Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::command::{Running, asking, asking_with, failed, good, lines, one, text};
use crate::support::server::{Server, Store};
use crate::support::signature;
use crate::support::sink::{Answer, Sink};
use crate::support::stories;
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
    completions_know_every_command,
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
