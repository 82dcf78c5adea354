//! A receiver's own check of a signature, written from the contract (API §16.2).

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub(crate) fn sign(secret: &str, time: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length will do");
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `t` and the `v1` values of a header, in order.
#[track_caller]
pub(crate) fn parts(header: &str) -> (String, Vec<String>) {
    let mut pairs = header.split(',').map(|pair| pair.split_once('=').expect("key=value"));
    let (key, time) = pairs.next().expect("a first pair");
    assert_eq!(key, "t", "{header}");
    assert!(!time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit()), "{header}");
    let signature = |(key, value): (&str, &str)| {
        assert_eq!(key, "v1", "{header}");
        assert_eq!(value.len(), 64, "{header}");
        assert!(value.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
        value.to_owned()
    };
    (time.to_owned(), pairs.map(signature).collect())
}
