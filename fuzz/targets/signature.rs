//! A webhook's signature header against a second, plainer reading of what it may say.
//!
//! Input: a header up to the first line feed, then a body.

#![no_main]

use cauri_core::signature::{self, SignatureError, SigningKey, TOLERANCE_SECONDS};
use libfuzzer_sys::fuzz_target;

const SECRETS: [&str; 2] = ["whsec_fuzz_new", "whsec_fuzz_old"];
/// The seeds were signed as of this second, give or take the tolerance.
const NOW: i64 = 1_731_974_400;

fuzz_target!(|input: &[u8]| {
    let cut = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (header, body) = (&input[..cut], input.get(cut + 1..).unwrap_or_default());
    let keys = SECRETS.map(|secret| SigningKey::new(secret).unwrap());

    let answer = signature::verify(body, header, &SECRETS, NOW);
    assert_eq!(answer, signature::verify_with(body, header, &keys, NOW), "one rule, two doors");
    match answer {
        Ok(()) => {
            let t = signed(header, body, &keys).expect("accepted without a signature of ours");
            assert!(t.abs_diff(NOW) <= TOLERANCE_SECONDS);
            assert!(signature::verify(body, header, &["whsec_fuzz_other"], NOW).is_err());
        }
        Err(SignatureError::TimestampOutOfTolerance { timestamp, now }) => {
            assert_eq!((signed(header, body, &keys), now), (Some(timestamp), NOW));
            assert_eq!(signature::verify(body, header, &SECRETS, timestamp), Ok(()));
        }
        Err(SignatureError::SignatureMismatch) => assert_eq!(signed(header, body, &keys), None),
        Err(_) => {}
    }

    // What we would have sent for this body is accepted, and for no other.
    let sent = signature::header(&keys, NOW, body);
    assert_eq!(signature::verify(body, sent.as_bytes(), &SECRETS[1..], NOW), Ok(()));
    let changed = [body, b" "].concat();
    assert_eq!(
        signature::verify(&changed, sent.as_bytes(), &SECRETS, NOW),
        Err(SignatureError::SignatureMismatch),
    );
});

/// The header's `t`, if it also carries what one of the keys makes of it. Every header that `verify`
/// could read at all is read the same here, only with strings and without any limit.
fn signed(header: &[u8], body: &[u8], keys: &[SigningKey]) -> Option<i64> {
    let elements = || {
        str::from_utf8(header)
            .into_iter()
            .flat_map(|header| header.split(','))
            .filter_map(|element| element.trim_matches([' ', '\t']).split_once('='))
    };
    let (_, t) = elements().find(|(key, _)| *key == "t")?;
    let t: i64 = t.parse().ok()?;
    let ours = keys.iter().map(|key| signature::sign(key, t, body)).collect::<Vec<_>>();
    elements().any(|(key, value)| key == "v1" && ours.iter().any(|mac| mac == value)).then_some(t)
}
