use proptest::prelude::*;

use super::*;

const SECRET: &str = "whsec_test_0123456789abcdefghijklmnopqrstuv";
const BODY: &[u8] = br#"{"id":"evt_01jd3w8k5000000000000000a1","type":"payment.succeeded"}"#;
const NOW: i64 = 1_731_974_400;
const MAC: &str = "7ae203e9a1b70f471f77821b7aeb5d5ba5062ecab0908885f3eea20111d05b2c";

fn key(secret: &str) -> SigningKey {
    SigningKey::new(secret).unwrap()
}

/// Verifies a header over [`BODY`] at [`NOW`].
fn judge(header: impl AsRef<[u8]>) -> Result<(), SignatureError> {
    verify(BODY, header.as_ref(), &[SECRET], NOW)
}

#[test]
fn the_test_vector_of_the_contract_holds() {
    assert_eq!(sign(&key(SECRET), NOW, BODY), MAC);
    assert_eq!(header(&[key(SECRET)], NOW, BODY), format!("t={NOW},v1={MAC}"));
    assert_eq!(judge(format!("t={NOW},v1={MAC}")), Ok(()));
}

#[test]
fn while_rotating_the_new_signature_comes_first_and_either_secret_verifies() {
    let text = header(&[key("whsec_new"), key(SECRET)], NOW, BODY);
    assert_eq!(text, format!("t={NOW},v1={},v1={MAC}", sign(&key("whsec_new"), NOW, BODY)));
    for secrets in [["whsec_new", "x"], ["x", SECRET]] {
        assert_eq!(verify(BODY, text.as_bytes(), &secrets, NOW), Ok(()));
    }
}

#[test]
fn what_may_vary_in_a_header_may_vary() {
    let other = "0".repeat(64);
    for text in [
        format!(" t={NOW}\t,\t v1={MAC} "),
        format!("v1={MAC},t={NOW}"),
        format!("t={NOW},v1={other},v1={MAC}"),
        format!("t={NOW},v1={MAC},v1={other}"),
        format!("t={NOW},v1={MAC},v1={MAC}"),
        format!("t={NOW},v1=short,v1={MAC}"),
        format!("t={NOW},v1={MAC},v0={other},v2=x,T=1,V1=2, t =3,tt=4,=5"),
        format!("t={NOW},v1={MAC},t,v1,x,,, ,\t,"),
        format!("t={NOW},v1={MAC},v1={}", MAC.to_uppercase()),
    ] {
        assert_eq!(judge(&text), Ok(()), "{text:?}");
    }
}

#[test]
fn every_hostile_timestamp_is_refused_even_when_its_text_is_signed() {
    let (missing, repeated, malformed) = (
        SignatureError::TimestampMissing,
        SignatureError::TimestampRepeated,
        SignatureError::TimestampMalformed,
    );
    let now = NOW.to_string();
    for (text, reason) in [
        ("", malformed),
        ("0", malformed),
        ("+1731974400", malformed),
        ("-1731974400", malformed),
        ("01731974400", malformed),
        ("1731974400.0", malformed),
        ("1731974400.9", malformed),
        ("1731974400abc", malformed),
        ("abc", malformed),
        ("NaN", malformed),
        ("inf", malformed),
        ("1e9", malformed),
        ("0x673bd4c0", malformed),
        ("1_731_974_400", malformed),
        ("1731974400 0", malformed),
        (" 1731974400", malformed),
        ("1731974400\n", malformed),
        ("1731974400\0", malformed),
        ("\"1731974400\"", malformed),
        ("1731974400=", malformed),
        ("1731974400=1", malformed),
        ("1000000000000", malformed),
        ("9223372036854775807", malformed),
        ("9223372036854775808", malformed),
        ("99999999999999999999999999999999999999999", malformed),
        ("1731974400,t=1731974400", repeated),
        ("1731974400,t=1", repeated),
        ("1731974400, t=1731974400", repeated),
        ("1731974400,t=", malformed),
        ("1731974400\u{b}", malformed),
    ] {
        let mac = hex(&key(SECRET).mac(text.as_bytes(), BODY));
        assert_eq!(judge(format!("t={text},v1={mac}")), Err(reason), "{text:?}");
        assert_eq!(judge(format!("v1={mac},t={text}")), Err(reason), "{text:?}");
    }
    let signed_over_nan = hex(&key(SECRET).mac(b"NaN", BODY));
    assert_eq!(judge(format!("t=abc,v1={signed_over_nan}")), Err(malformed));
    for text in ["", "v1", "t", "T=1", "t", " t =1", "timestamp=1", "v1=t=1"] {
        assert_eq!(judge(format!("{text},v1={MAC}")), Err(missing), "{text:?}");
    }
    assert_eq!(judge(""), Err(missing));
    assert_eq!(judge(now), Err(missing));
}

#[test]
fn what_is_not_ascii_is_refused() {
    for text in [
        format!("t=１７３１９７４４００,v1={MAC}").into_bytes(),
        format!("t=١٧٣١٩٧٤٤٠٠,v1={MAC}").into_bytes(),
        format!("\u{feff}t={NOW},v1={MAC}").into_bytes(),
        format!("t={NOW}\u{a0},v1={MAC}").into_bytes(),
        [format!("t={NOW},v1={MAC},x=").as_bytes(), &[0xff, 0xfe]].concat(),
        [format!("t={NOW},v1={MAC},x=").as_bytes(), &[0x80]].concat(),
    ] {
        assert_eq!(judge(text), Err(SignatureError::HeaderNotAscii));
    }
}

#[test]
fn a_signature_is_64_lower_case_digits_or_it_is_not_there() {
    for value in [
        String::new(),
        MAC.to_uppercase(),
        MAC.replace('a', "A"),
        MAC[..63].to_owned(),
        format!("{MAC}0"),
        format!("{MAC} 0"),
        format!(" {MAC}"),
        format!("0x{}", &MAC[..62]),
        format!("={MAC}"),
        format!("{MAC}="),
        MAC.replace('7', "g"),
        MAC.replace('7', "`"),
        MAC.replace('7', "/"),
        MAC.replace('7', ":"),
        MAC.replace('7', "\0"),
        format!("\"{MAC}\""),
    ] {
        let reason = Err(SignatureError::SignatureMissing);
        assert_eq!(judge(format!("t={NOW},v1={value}")), reason, "{value:?}");
    }
    assert_eq!(judge(format!("t={NOW},V1={MAC}")), Err(SignatureError::SignatureMissing));
    assert_eq!(judge(format!("t={NOW},v0={MAC}")), Err(SignatureError::SignatureMissing));
    assert_eq!(judge(format!("t={NOW}")), Err(SignatureError::SignatureMissing));
}

#[test]
fn sixteen_usable_signatures_are_read_and_seventeen_are_not() {
    let wrong = format!(",v1={}", "0".repeat(64));
    for (before, after) in [(0, 15), (15, 0), (7, 8)] {
        let (before, after) = (wrong.repeat(before), wrong.repeat(after));
        let text = format!("t={NOW}{before},v1={MAC}{after}");
        assert_eq!(judge(&text), Ok(()));
        assert_eq!(SignatureHeader::parse(text.as_bytes()).unwrap().candidates().len(), 16);
    }
    let many = SignatureError::SignaturesTooMany;
    assert_eq!(judge(format!("t={NOW},v1={MAC}{}", wrong.repeat(16))), Err(many));
    assert_eq!(judge(format!("t={NOW}{},v1={MAC}", wrong.repeat(16))), Err(many));
    assert_eq!(judge(format!("t={NOW},v1={MAC}{}", ",v1=x".repeat(500))), Ok(()));
}

#[test]
fn a_header_of_4096_bytes_is_read_and_a_longer_one_is_not() {
    let text = |bytes: usize| {
        let text = format!("t={NOW},v1={MAC}");
        text.clone() + &",".repeat(bytes.saturating_sub(text.len()))
    };
    for bytes in [4_095, 4_096] {
        assert_eq!(judge(text(bytes)), Ok(()));
    }
    for bytes in [4_097, 1 << 20] {
        assert_eq!(judge(text(bytes)), Err(SignatureError::HeaderTooLong { bytes }));
        assert_eq!(judge(",".repeat(bytes)), Err(SignatureError::HeaderTooLong { bytes }));
    }
    assert_eq!(judge(",".repeat(4_096)), Err(SignatureError::TimestampMissing));
}

#[test]
fn another_body_another_time_or_another_secret_does_not_match() {
    let text = format!("t={NOW},v1={MAC}");
    let mismatch = Err(SignatureError::SignatureMismatch);
    let with_bom = ["\u{feff}".as_bytes(), BODY].concat();
    for body in [with_bom.as_slice(), b"", &BODY[1..], &BODY[..BODY.len() - 1]] {
        assert_eq!(verify(body, text.as_bytes(), &[SECRET], NOW), mismatch);
    }
    assert_eq!(judge(format!("t=1731974401,v1={MAC}")), mismatch);
    for secret in [&SECRET["whsec_".len()..], &SECRET[1..], "whsec_"] {
        assert_eq!(verify(BODY, text.as_bytes(), &[secret], NOW), mismatch);
    }
    assert_eq!(judge(format!("t={NOW},v1={}", hex(&key(SECRET).mac(b"", BODY)))), mismatch);
}

#[test]
fn a_secret_must_be_given_and_none_may_be_empty() {
    let text = header(&[key(SECRET)], NOW, BODY);
    let with = |secrets: &[&str]| verify(BODY, text.as_bytes(), secrets, NOW);
    assert_eq!(with(&[]), Err(SignatureError::SecretMissing));
    assert_eq!(verify_with(BODY, text.as_bytes(), &[], NOW), Err(SignatureError::SecretMissing));
    assert_eq!(with(&[""]), Err(SignatureError::SecretEmpty));
    assert_eq!(with(&["", SECRET]), Err(SignatureError::SecretEmpty));
    assert_eq!(with(&[SECRET, ""]), Err(SignatureError::SecretEmpty));
    assert_eq!(with(&[" "]), Err(SignatureError::SignatureMismatch));
}

#[test]
fn three_hundred_seconds_either_way_are_tolerated_and_no_more() {
    let text = format!("t={NOW},v1={MAC}");
    for (away, within) in [(-301, false), (-300, true), (0, true), (300, true), (301, false)] {
        let now = NOW + away;
        let answer = verify(BODY, text.as_bytes(), &[SECRET], now);
        let late = SignatureError::TimestampOutOfTolerance { timestamp: NOW, now };
        assert_eq!(answer, if within { Ok(()) } else { Err(late) }, "{away}");
    }
    for now in [i64::MIN, i64::MIN + 300, -1, 0, i64::MAX - 300, i64::MAX] {
        let late = SignatureError::TimestampOutOfTolerance { timestamp: NOW, now };
        assert_eq!(verify(BODY, text.as_bytes(), &[SECRET], now), Err(late), "{now}");
    }
    let last = 999_999_999_999;
    let text = header(&[key(SECRET)], last, BODY);
    assert_eq!(verify(BODY, text.as_bytes(), &[SECRET], last), Ok(()));
}

#[test]
fn a_stranger_learns_nothing_of_the_clock() {
    let text = format!("t=1,v1={}", "0".repeat(64));
    assert_eq!(judge(text), Err(SignatureError::SignatureMismatch));
}

#[test]
fn nothing_of_a_secret_is_printed() {
    let shown = format!("{:?}", key("whsec_sesame"));
    assert_eq!(shown, "SigningKey { .. }");
}

proptest! {
    #[test]
    fn what_was_signed_verifies(
        secret in ".{1,80}", body: Vec<u8>, t in 1..1_000_000_000_000_i64, away in -300..=300_i64,
    ) {
        let text = header(&[key(&secret)], t, &body);
        prop_assert_eq!(verify(&body, text.as_bytes(), &[&secret], t.saturating_add(away)), Ok(()));
        let keys = [key("another"), key(&secret)];
        prop_assert_eq!(verify_with(&body, text.as_bytes(), &keys, t.saturating_add(away)), Ok(()));
    }

    #[test]
    fn one_flipped_bit_is_refused(
        mut body in prop::collection::vec(any::<u8>(), 1..200), at: prop::sample::Index, bit in 0..8_u8,
    ) {
        let mut text = header(&[key(SECRET)], NOW, &body).into_bytes();
        let flip = |bytes: &mut [u8]| bytes[at.index(bytes.len())] ^= 1 << bit;
        flip(&mut text);
        prop_assert!(verify(&body, &text, &[SECRET], NOW).is_err());
        flip(&mut text);
        flip(&mut body);
        prop_assert_eq!(
            verify(&body, &text, &[SECRET], NOW), Err(SignatureError::SignatureMismatch)
        );
    }

    #[test]
    fn no_bytes_panic(body: Vec<u8>, header: Vec<u8>, secret: String, now: i64) {
        prop_assert!(verify(&body, &header, &[&secret], now).is_err());
    }

    #[test]
    fn nothing_that_looks_like_a_header_panics_or_verifies(
        header in "((t|v1|v0|T)?=?[0-9a-f ]{0,14},?|v1=[0-9a-f]{64},){0,20}", now: i64,
    ) {
        prop_assert!(verify(BODY, header.as_bytes(), &[SECRET], now).is_err());
    }
}

fn hex(mac: &[u8; 32]) -> String {
    let mut text = String::new();
    push_hex(&mut text, mac);
    text
}

/// Where a signature as senders write it ends is known without a look at its comma, and nothing
/// depends on that: what is round it says whether it is usable.
#[test]
fn a_signature_is_an_element_of_its_own_whatever_is_round_it() {
    let mac = "ab".repeat(32);
    let usable = |header: String| {
        SignatureHeader::parse(header.as_bytes()).map(|header| header.candidates().len())
    };
    for (around, count) in [
        (format!("t=1,v1={mac}"), 1),
        (format!("v1={mac},t=1"), 1),
        (format!("v1={mac},v1={mac},t=1"), 2),
        (format!("v1={mac} ,\tv1={mac}\t, t=1 "), 2),
        (format!("v1={mac},,t=1,"), 1),
        (format!("v1={mac}0,v1={mac},t=1"), 1),
        (format!("v1={mac}=,v1={mac},t=1"), 1),
        (format!("v1={},v1={mac},t=1", &mac[1..]), 1),
        (format!("v1={},{mac},v1={mac},t=1", &mac[..32]), 1),
        (format!("V1={mac},v1={mac},t=1"), 1),
        (format!("v1= {mac},v1={mac},t=1"), 1),
    ] {
        assert_eq!(usable(around.clone()), Ok(count), "{around}");
    }
}
