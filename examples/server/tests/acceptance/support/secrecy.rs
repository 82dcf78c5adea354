//! What nobody may say: every byte that a story is answered, and every byte that a server logs, is
//! searched for every secret known by then.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::http::{Request, Response};

/// A key or a webhook secret without its prefix; also as long as what is drawn at random.
const RANDOM: usize = 40;

/// Enough of a text to be found by.
const START: usize = 8;

#[derive(Debug, Default)]
struct Known {
    /// Never answered, never logged: by their first bytes.
    keys: HashMap<[u8; START], HashSet<String>>,
    /// Answered once, and again where that answer is repeated; never logged.
    webhook_secrets: HashSet<String>,
    /// Phones and addresses: never logged, and never told to a public key.
    personal: HashSet<String>,
    /// Never logged.
    private: HashSet<String>,
    leaks: Vec<String>,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A key that was shown for its only time.
pub(crate) fn learn_key(key: &str) {
    let (_, random) = key.rsplit_once('_').expect("a prefix");
    assert_eq!(random.len(), RANDOM, "{key}");
    known().keys.entry(start_of(random)).or_default().insert(random.to_owned());
}

/// What a person would not want to read in a log.
pub(crate) fn learn_personal(text: &str) {
    assert!(text.len() >= START, "{text}");
    known().personal.insert(text.to_owned());
}

/// What is the merchant's own business.
pub(crate) fn learn_private(text: &str) {
    assert!(text.len() >= START, "{text}");
    known().private.insert(text.to_owned());
}

fn start_of(text: &str) -> [u8; START] {
    text.as_bytes()[..START].try_into().expect("so many bytes")
}

/// Looks at an answer.
pub(crate) fn watch(asked: Option<&Request>, answer: &Response) {
    let mut text = answer.text();
    for (name, value) in &answer.headers {
        text.push_str(&format!("\n{name}: {value}"));
    }
    let public = asked.is_some_and(|request| {
        learn_from(request);
        request.headers.iter().any(|(_, value)| value.contains("pk_"))
    });
    let mut known = known();
    let leaked = known.keys_in(text.as_bytes());
    assert!(leaked.is_empty(), "an answer holds a key: {text}");
    for secret in webhook_secrets(&text) {
        let replayed = answer.header("Idempotent-Replayed").is_some();
        let first = known.webhook_secrets.insert(secret);
        assert!(first || replayed, "a webhook secret was shown again: {text}");
    }
    if public {
        let told = known.personal.iter().find(|it| text.contains(it.as_str()));
        assert_eq!(told, None, "told to a public key: {text}");
    }
}

/// Phones and addresses that go out with a request.
fn learn_from(request: &Request) {
    let Ok(body) = serde_json::from_slice::<serde_json::Value>(&request.body) else { return };
    let phone = body["phone"].as_str().filter(|it| it.starts_with('+') && it.len() >= 12);
    let email = body["email"].as_str().filter(|it| it.contains('@') && it.len() >= START);
    phone.into_iter().chain(email).for_each(learn_personal);
}

/// Every whole webhook secret in a text.
fn webhook_secrets(text: &str) -> impl Iterator<Item = String> + '_ {
    text.match_indices("whsec_").filter_map(|(at, prefix)| {
        let random = text.get(at + prefix.len()..)?.get(..RANDOM)?;
        random.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| random.to_owned())
    })
}

/// Searches a log. What is found is kept until [`leaks`] asks for it, because a server may end long
/// after the story that it was for.
pub(crate) fn search(log: &[u8]) {
    let mut known = known();
    let mut leaks: Vec<String> = known.keys_in(log);
    let text = String::from_utf8_lossy(log);
    let secrets = known.webhook_secrets.iter().chain(&known.personal).chain(&known.private);
    leaks.extend(secrets.filter(|it| text.contains(it.as_str())).cloned());
    leaks.extend(webhook_secrets(&text));
    known.leaks.extend(leaks.iter().map(|leak| {
        let line = text.lines().find(|line| line.contains(leak.as_str())).unwrap_or_default();
        format!("logged: {leak} in {line:.300}")
    }));
}

/// What was found in logs so far, once.
pub(crate) fn leaks() -> Vec<String> {
    std::mem::take(&mut known().leaks)
}

impl Known {
    fn keys_in(&self, text: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        for window in text.windows(START) {
            let start: [u8; START] = window.try_into().expect("so many bytes");
            let Some(keys) = self.keys.get(&start) else { continue };
            let text = String::from_utf8_lossy(text);
            found.extend(keys.iter().filter(|key| text.contains(key.as_str())).cloned());
        }
        found
    }
}
