//! Query strings, decoded strictly.

use cauri::{Fault, Faults, Problem};

/// Names and values in the order in which they came.
pub(crate) type Pairs = Vec<(String, String)>;

/// Several times what the list with the most filters takes.
const PAIRS_MAX: usize = 64;

/// Decodes a query string of the form `application/x-www-form-urlencoded`. What is not
/// percent-encoded UTF-8 is refused rather than repaired: a filter that was garbled on the way
/// must not look for something else.
pub(crate) fn decode(query: Option<&str>) -> Result<Pairs, Faults> {
    let mut pairs = Pairs::new();
    let mut faults: Vec<Fault> = Vec::new();
    if query.unwrap_or_default().split('&').filter(|part| !part.is_empty()).count() > PAIRS_MAX {
        // Each would be told of: a short question would have a very long answer.
        let problem = Problem::invalid("The query has more parameters than any list has.");
        return Err(Fault::overall(problem).into());
    }
    for part in query.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match (unescape(name), unescape(value)) {
            (Some(name), Some(value)) => pairs.push((name, value)),
            (Some(name), None) => {
                let problem = Problem::invalid("must be percent-encoded UTF-8");
                faults.push(Fault::at(name, problem));
            }
            (None, _) => faults.push(Fault::overall(Problem::invalid(
                "The names in the query must be percent-encoded UTF-8.",
            ))),
        }
    }
    Faults::none(faults)?;
    Ok(pairs)
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                high << 4 | low
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_query_is_decoded_or_refused() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        for (query, expected) in [
            ("", vec![]),
            ("&&", vec![]),
            ("a=1", vec![pair("a", "1")]),
            ("a=1&b", vec![pair("a", "1"), pair("b", "")]),
            ("a=1=2&=x", vec![pair("a", "1=2"), pair("", "x")]),
            ("a=x+y%20z%2B", vec![pair("a", "x y z+")]),
            ("%61=%c3%A9", vec![pair("a", "é")]),
            ("a=1&a=2", vec![pair("a", "1"), pair("a", "2")]),
            ("a=\u{fffd}", vec![pair("a", "\u{fffd}")]),
        ] {
            assert_eq!(decode(Some(query)), Ok(expected), "{query}");
        }
        assert_eq!(decode(None), Ok(vec![]));
        for (query, param) in [
            ("a=%ff", Some("a")),
            ("a=%", Some("a")),
            ("a=%4", Some("a")),
            ("a=%zz", Some("a")),
            ("b=1&a=%+1", Some("a")),
            ("%ff=1", None),
        ] {
            let faults = decode(Some(query)).unwrap_err();
            assert_eq!(faults.all().len(), 1, "{query}");
            assert_eq!(faults.all()[0].param.as_deref(), param, "{query}");
            assert_eq!(faults.all()[0].problem.code(), "parameter_invalid");
        }
    }

    #[test]
    fn a_query_of_thousands_is_told_of_once() {
        let many = |part: &str| vec![part; 8_000].join("&");
        for query in [many("%"), many("a"), many("a=%")] {
            let faults = decode(Some(&query)).unwrap_err();
            assert_eq!(faults.all().len(), 1);
        }
        assert_eq!(decode(Some(&vec!["a=1"; PAIRS_MAX].join("&"))).map(|it| it.len()), Ok(64));
    }

    proptest! {
        #[test]
        fn no_query_panics(query: String) {
            let _ = decode(Some(&query));
        }
    }
}
