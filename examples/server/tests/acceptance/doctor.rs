//! The doctor: what it says of what runs, and of what is wrong.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::command::{failed, good, one, secret_key, text};
use crate::support::server::Store;
use crate::support::sink::{Answer, Sink};
use crate::support::stories;

stories![;
    durable:
    a_doctor_has_nothing_to_say_about_what_runs,
    a_doctor_says_what_is_wrong,
];

/// What a doctor found, by what it is about.
fn findings(report: &Value) -> Vec<(&str, &str)> {
    let checks = report["checks"].as_array().expect("checks");
    checks
        .iter()
        .map(|check| (check["about"].as_str().unwrap(), check["finding"].as_str().unwrap()))
        .collect()
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
