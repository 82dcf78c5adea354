//! Commands that open the store themselves: accounts, keys, the audit, and what a look leaves alone.

use std::collections::BTreeSet;
use std::net::TcpListener;

use serde_json::json;

use crate::support::command::{failed, good, lines, one, secret_key, text};
use crate::support::server::{Place, Server, Store};
use crate::support::stories;
use crate::support::unread::{self, nobody};

stories![;
    durable:
    what_is_administered_is_told_in_json,
    a_key_that_nobody_was_shown_is_no_success,
    a_verdict_does_not_depend_on_who_reads_it,
    a_store_that_is_not_there_is_not_made_by_a_look,
    a_look_makes_no_schema,
    an_older_schema_is_left_to_migrate,
];

fn what_is_administered_is_told_in_json(store: &Store) {
    let place = store.place();
    let migrated = || one(&mut place.command(&["migrate"]));
    let (first, second) = (migrated(), migrated());
    assert_eq!((&first["from"], &first["to"]), (&json!(0), &second["to"]));
    assert_eq!((&second["from"], second["to"].as_i64() > Some(0)), (&second["to"], true));
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
