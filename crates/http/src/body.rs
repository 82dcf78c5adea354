//! Bodies: how large, of which media type (API §2).

use std::pin::Pin;

use bytes::{Buf, Bytes};
use futures_util::future::poll_fn;
use http::{
    HeaderMap,
    header::{CONTENT_TYPE, EXPECT},
};
use http_body::Body;

use crate::{problem::Failure, route::Verb};

/// How large a body may be.
const LARGEST: usize = 65_536;

/// How much of a body that was refused is let pass.
const PASSED: u64 = 262_144;

/// The whole body of a request. It is JSON where a request has something to say, and not looked at
/// otherwise, but it is never larger than it may be.
pub(crate) async fn read<B: Body>(
    verb: Verb,
    headers: &HeaderMap,
    mut body: Pin<&mut B>,
) -> Result<Bytes, Failure> {
    let wanted = verb == Verb::Post;
    let expected = body.size_hint().lower();
    if wanted && expected > 0 && !is_json(headers) {
        return Err(Failure::ContentType);
    }
    if usize::try_from(expected).map_or(true, |expected| expected > LARGEST) {
        return Err(Failure::BodyTooLarge);
    }
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let frame = frame.map_err(|_| Failure::BodyCutOff)?;
        let Ok(mut data) = frame.into_data() else { continue };
        if wanted && data.has_remaining() && bytes.is_empty() && !is_json(headers) {
            return Err(Failure::ContentType);
        }
        if data.remaining() > LARGEST.saturating_sub(bytes.len()) {
            return Err(Failure::BodyTooLarge);
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            bytes.extend_from_slice(chunk);
            let length = chunk.len();
            data.advance(length);
        }
    }
    Ok(bytes.into())
}

/// Lets pass what is left of a body that was refused: many clients look for an answer only when they
/// have sent all of it, and a connection that is closed before may take the answer with it. Whoever
/// waits to be told to go on sends nothing, and a body that is far too large is not worth it.
pub(crate) async fn let_pass<B: Body>(headers: &HeaderMap, mut body: Pin<&mut B>) {
    let mut left = PASSED;
    if headers.contains_key(EXPECT) || body.size_hint().lower() > left {
        return;
    }
    while !body.is_end_stream() {
        let Some(Ok(frame)) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else { return };
        let length = frame.data_ref().map_or(0, Buf::remaining);
        match left.checked_sub(u64::try_from(length).unwrap_or(u64::MAX)) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// Is it `application/json`, whatever its parameters and its case?
fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(media), None) = (types.next(), types.next()) else { return false };
    let media = media.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    media.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn json_is_known_by_its_media_type() {
        let mut headers = HeaderMap::new();
        assert!(!is_json(&headers));
        for (media, expected) in [
            ("application/json", true),
            ("APPLICATION/JSON", true),
            ("application/json;charset=utf-8", true),
            ("application/json ; a=b; c=d", true),
            ("application/jsonx", false),
            ("application/problem+json", false),
            ("text/json", false),
            ("application/json, text/plain", false),
            ("", false),
        ] {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
            assert_eq!(is_json(&headers), expected, "{media}");
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.append(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        assert!(!is_json(&headers), "which of the two counts?");
    }
}
