//! Who calls? (API §3)

use cauri::{AuthError, Caller, Engine};
use http::{Extensions, HeaderMap, HeaderName, header::AUTHORIZATION};

use crate::{
    problem::Failure,
    route::{Access, Route},
};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The caller of a request: whom a layer in front has put among its extensions, else who holds
/// its key.
pub(crate) async fn caller(
    engine: &Engine,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<Caller, Failure> {
    if let Some(caller) = extensions.get::<Caller>() {
        return Ok(*caller);
    }
    Ok(engine.authenticate(key(headers)?).await?)
}

/// May this caller use this route? First the kind of key, then the environment.
pub(crate) fn permit(caller: &Caller, route: &Route) -> Result<(), Failure> {
    if route.access == Access::Secret {
        caller.may_write()?;
    }
    if route.sandbox_only {
        caller.may_play()?;
    }
    Ok(())
}

/// The one key that the headers name. A header that names none contradicts one that does.
fn key(headers: &HeaderMap) -> Result<&str, AuthError> {
    let bearer = headers.get_all(AUTHORIZATION).iter().map(|value| bearer(value.as_bytes()));
    let plain = headers.get_all(X_API_KEY).iter().map(|value| Some(value.as_bytes()));
    let mut offered = bearer.chain(plain);
    let first = offered.next().ok_or(AuthError::Missing)?;
    if offered.any(|other| other != first) {
        return Err(AuthError::Conflict);
    }
    let key = first.ok_or(AuthError::Missing)?;
    std::str::from_utf8(key).map_err(|_| AuthError::Invalid)
}

/// What follows the scheme, if it is `Bearer` in any case.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, key) = value.split_at_checked(b"Bearer".len())?;
    let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer");
    let separated = key.is_empty() || key.starts_with(b" ");
    (is_bearer && separated).then(|| key.trim_ascii())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn said(headers: &[(&'static str, &'static [u8])]) -> Result<String, AuthError> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        key(&map).map(str::to_owned)
    }

    #[test]
    fn one_key_may_be_named_in_two_headers() {
        let k: &[u8] = b"k";
        for headers in [
            &[("authorization", &b"Bearer k"[..])][..],
            &[("authorization", b"bearer k")],
            &[("authorization", b"BEARER   k  ")],
            &[("x-api-key", k)],
            &[("authorization", b"Bearer k"), ("x-api-key", k)],
            &[("authorization", b"Bearer k"), ("authorization", b"bEARER k")],
            &[("x-api-key", k), ("x-api-key", k)],
        ] {
            assert_eq!(said(headers), Ok("k".to_owned()), "{headers:?}");
        }
    }

    #[test]
    fn headers_that_differ_contradict_each_other() {
        for headers in [
            &[("authorization", &b"Bearer k"[..]), ("x-api-key", &b"l"[..])][..],
            &[("authorization", b"Bearer k"), ("x-api-key", b"")],
            &[("authorization", b"Bearer k"), ("authorization", b"Bearer l")],
            &[("x-api-key", b"k"), ("x-api-key", b"l")],
            &[("authorization", b"Basic k"), ("x-api-key", b"k")],
        ] {
            assert_eq!(said(headers), Err(AuthError::Conflict), "{headers:?}");
        }
    }

    #[test]
    fn what_is_no_bearer_is_no_key() {
        assert_eq!(said(&[]), Err(AuthError::Missing));
        for value in [&b"Basic k"[..], b"Bearerk", b"Token k", b"k", b"", b"Bearer\tk"] {
            assert_eq!(said(&[("authorization", value)]), Err(AuthError::Missing), "{value:?}");
        }
        // These name a key, though none of a key's form.
        assert_eq!(said(&[("authorization", b"Bearer")]), Ok(String::new()));
        assert_eq!(said(&[("x-api-key", b"")]), Ok(String::new()));
        assert_eq!(said(&[("x-api-key", b"\xff")]), Err(AuthError::Invalid));
    }
}
