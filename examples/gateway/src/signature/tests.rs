use std::sync::OnceLock;

use super::*;

const BODY: &[u8] = br#"{"depositId":"f4401bd2-1568-4140-bf2d-eb77d2b2b639","status":"COMPLETED"}"#;

fn now() -> Timestamp {
    Timestamp::from_millis(1_731_974_400_000)
}

fn signer() -> &'static Signer {
    static SIGNER: OnceLock<Signer> = OnceLock::new();
    SIGNER.get_or_init(|| Signer::generate("key-1").unwrap())
}

fn keys() -> Keys {
    Keys::default().with("key-1", &signer().public_key()).unwrap()
}

fn plain() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers
}

fn message<'a>(headers: &'a HeaderMap, body: &'a [u8]) -> Message<'a> {
    Message { method: "POST", authority: "shop.example", path: "/callbacks", headers, body }
}

fn signed() -> HeaderMap {
    signer().sign(&message(&plain(), BODY), now()).unwrap()
}

fn verified(headers: &HeaderMap) -> Result<(), SignatureError> {
    keys().verify(&message(headers, BODY), now())
}

#[test]
fn what_is_signed_is_believed_for_as_long_as_it_says() {
    let headers = signed();
    assert_eq!(verified(&headers), Ok(()));
    for (seconds, believed) in [(-61, false), (-60, true), (60, true), (120, true), (121, false)] {
        let at = now().plus_seconds(seconds);
        let said = keys().verify(&message(&headers, BODY), at);
        assert_eq!(said.is_ok(), believed, "after {seconds} s: {said:?}");
    }
}

#[test]
fn whatever_is_changed_on_the_way_is_noticed() {
    let headers = signed();
    let right = message(&headers, BODY);
    let wrong = |message: &Message<'_>| keys().verify(message, now()).unwrap_err();
    let other = br#"{"depositId":"f4401bd2-1568-4140-bf2d-eb77d2b2b639","status":"FAILED"}"#;
    assert_eq!(wrong(&Message { body: other, ..right }), SignatureError::Digest);
    assert_eq!(wrong(&Message { method: "PUT", ..right }), SignatureError::Signature);
    assert_eq!(wrong(&Message { path: "/other", ..right }), SignatureError::Signature);
    assert_eq!(wrong(&Message { authority: "evil.example", ..right }), SignatureError::Signature);
    let mut moved = headers.clone();
    moved.insert("signature-date", HeaderValue::from_static("2030-01-01T00:00:00Z"));
    assert_eq!(verified(&moved), Err(SignatureError::Signature));
    let mut prolonged = headers.clone();
    let input = headers["signature-input"].to_str().unwrap();
    let input = input.replace("expires=1731974460", "expires=1731974461");
    prolonged.insert("signature-input", input.parse().unwrap());
    assert_eq!(verified(&prolonged), Err(SignatureError::Signature));
}

#[test]
fn what_is_missing_or_there_twice_is_refused() {
    for name in ["content-digest", "signature-input", "signature"] {
        let mut headers = signed();
        headers.remove(name);
        assert_eq!(verified(&headers), Err(SignatureError::Header(name)));
        let mut headers = signed();
        headers.append(name, headers[name].clone());
        assert_eq!(verified(&headers), Err(SignatureError::Header(name)));
    }
    let mut headers = signed();
    headers.remove("signature-date");
    assert_eq!(verified(&headers), Err(SignatureError::Malformed("signature-input")));
}

/// Signed by the right key, but not what has to be signed, or not as it has to be.
fn resigned(parameters: &str) -> Result<(), SignatureError> {
    let mut headers = signed();
    let list = parameters.split_once('(').and_then(|(_, rest)| rest.split_once(')')).unwrap().0;
    let components: Vec<&str> = list.split(' ').map(|name| name.trim_matches('"')).collect();
    let base = base(&message(&headers, BODY), &components, parameters).unwrap();
    let signature = signer().pair.sign(&signer().random, base.as_bytes()).unwrap();
    let signature = format!("sig-pp=:{}:", BASE64.encode(signature));
    headers.insert("signature", signature.parse().unwrap());
    headers.insert("signature-input", format!("sig-pp={parameters}").parse().unwrap());
    verified(&headers)
}

#[test]
fn a_signature_that_covers_too_little_or_says_something_else_is_refused() {
    let all = r#"("@method" "@authority" "@path" "content-digest")"#;
    let rest = r#";alg="ecdsa-p256-sha256";keyid="key-1";created=1731974400"#;
    assert_eq!(resigned(&format!("{all}{rest}")), Ok(()));
    assert_eq!(resigned(&format!("{all}{rest};expires=1731974460;nonce=\"x\"")), Ok(()));
    for name in COVERED {
        let less = all.replace(&format!("\"{name}\""), "").replace("  ", " ").replace("( ", "(");
        let less = less.replace(" )", ")");
        assert_eq!(resigned(&format!("{less}{rest}")), Err(SignatureError::NotCovered(name)));
    }
    for (from, to, error) in [
        ("ecdsa-p256-sha256", "hmac-sha256", SignatureError::Algorithm),
        ("key-1", "key-2", SignatureError::Key),
        ("created=1731974400", "created=1731974000", SignatureError::Age),
        ("created=1731974400", "created=1731974461", SignatureError::Age),
        ("created=1731974400", "created=1731974400;expires=9999999999", SignatureError::Age),
        (";created=1731974400", "", SignatureError::Malformed("signature-input")),
        (";keyid=\"key-1\"", "", SignatureError::Malformed("signature-input")),
        ("key-1", "key-1\";keyid=\"key-1", SignatureError::Malformed("signature-input")),
        ("key-1\"", "key-1\";other=\"1\"", SignatureError::Malformed("signature-input")),
    ] {
        let parameters = format!("{all}{rest}").replace(from, to);
        assert_eq!(resigned(&parameters), Err(error), "{parameters}");
    }
}

#[test]
fn a_signature_in_der_is_believed_too() {
    let random = SystemRandom::new();
    let algorithm = &ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
    let public = Signer::from_pkcs8("der", document.as_ref()).unwrap().public_key();
    let mut headers = signed();
    let parameters = concat!(
        r#"("@method" "@authority" "@path" "content-digest");"#,
        r#"alg="ecdsa-p256-sha256";keyid="der";created=1731974400"#
    );
    let base = base(&message(&headers, BODY), &COVERED, parameters).unwrap();
    let signature = pair.sign(&random, base.as_bytes()).unwrap();
    let signature = format!("pp=:{}:", BASE64.encode(signature));
    headers.insert("signature", signature.parse().unwrap());
    headers.insert("signature-input", format!("pp={parameters}").parse().unwrap());
    let keys = Keys::default().with("der", &public).unwrap();
    assert_eq!(keys.verify(&message(&headers, BODY), now()), Ok(()));
}

#[test]
fn nonsense_is_refused_and_never_panics() {
    for nonsense in [
        "",
        "=",
        "sig",
        "sig=",
        "sig=(",
        "sig=()",
        "sig=(\"@method\"",
        "sig=(@method);created=1",
        "sig=(\"@method\";sf);created=1",
        "a=(\"x\");created=1, b=(\"x\");created=1",
        ":::",
        "sig=::",
        "sig=:ä:",
        "sha-512=:AAAA:",
        "sha-512=AAAA",
        "md5=:AAAA:",
        ",",
        "sig=(\"@method\"))",
        "sig=(\"@query\");alg=\"ecdsa-p256-sha256\";keyid=\"key-1\";created=1731974400",
    ] {
        for name in ["signature-input", "signature", "content-digest"] {
            let mut headers = signed();
            let Ok(value) = HeaderValue::from_bytes(nonsense.as_bytes()) else { continue };
            headers.insert(HeaderName::from_static(name), value);
            assert!(verified(&headers).is_err(), "{name}: {nonsense}");
        }
    }
}

#[test]
fn a_key_is_a_point_on_the_curve_in_pem() {
    assert_eq!(Keys::default().with("a", "").unwrap_err(), KeyError);
    assert_eq!(Keys::default().with("a", "AAAA").unwrap_err(), KeyError);
    assert_eq!(Keys::default().with("a", "-----BEGIN PUBLIC KEY-----").unwrap_err(), KeyError);
    let mut other = signer().public_key();
    other = other
        .replace("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE", "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAC");
    assert_eq!(Keys::default().with("a", &other).unwrap_err(), KeyError);
    assert!(!format!("{:?}", signer()).contains("pair"));
}
