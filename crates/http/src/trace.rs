//! Which trace a request is part of.

use cauri::TraceContext;
use http::{HeaderMap, HeaderName};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The trace that the headers name, as W3C Trace Context has it. Nothing that is wrong with them is
/// worth an error: then there is none.
pub(crate) fn read(headers: &HeaderMap) -> Option<TraceContext> {
    let mut parents = headers.get_all(TRACEPARENT).iter();
    let parent = parents.next()?.to_str().ok()?;
    if parents.next().is_some() {
        return None;
    }
    // The members may be spread over several headers.
    let states = headers.get_all(TRACESTATE).iter().map(|state| state.to_str());
    let states: Vec<&str> = states.collect::<Result<_, _>>().unwrap_or_default();
    let state = (!states.is_empty()).then(|| states.join(","));
    TraceContext::read(parent, state.as_deref())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn said(headers: &[(&'static str, &'static [u8])]) -> Option<(String, Option<String>)> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        let trace = read(&map)?;
        Some((trace.traceparent(), trace.tracestate().map(str::to_owned)))
    }

    #[test]
    fn one_parent_and_all_of_its_state_are_read() {
        let parent = ("traceparent", PARENT.as_bytes());
        let own = |state: Option<&str>| Some((PARENT.to_owned(), state.map(str::to_owned)));
        assert_eq!(said(&[parent]), own(None));
        assert_eq!(said(&[parent, ("tracestate", b"a=b")]), own(Some("a=b")));
        let two = [parent, ("tracestate", b"a=b"), ("tracestate", b"c=d")];
        assert_eq!(said(&two), own(Some("a=b,c=d")));
    }

    #[test]
    fn what_is_wrong_is_no_trace_and_no_error() {
        let parent = ("traceparent", PARENT.as_bytes());
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[("tracestate", b"a=b")]), None);
        assert_eq!(said(&[parent, parent]), None);
        assert_eq!(said(&[("traceparent", b"\xff")]), None);
        assert_eq!(said(&[("traceparent", b"nonsense")]), None);
        let ill = [parent, ("tracestate", b"\xff"), ("tracestate", b"a=b")];
        assert_eq!(said(&ill), Some((PARENT.to_owned(), None)));
    }
}
