//! What the API refuses, and what is no answer of it.

use std::error::Error as _;

use cauri_client::{Amount, Client, Code, Error, Metadata, PaymentId, wire::Fund};
use serde_json::Value;

use crate::stage::{Mishap, Stage, payment};

#[tokio::test]
async fn a_refusal_says_everything_that_is_wrong() {
    let stage = Stage::new().await;
    let mut ask = payment();
    ask.amount = Some(Amount::ZERO);
    ask.otp = "12a4".parse().ok();
    ask.metadata = Metadata::of([("k".repeat(41), "v")]).unwrap();
    let error = stage.client().payments().create(&ask).await.unwrap_err();
    let refused = error.refused().expect("a refusal");
    assert_eq!((refused.status, refused.kind.as_str()), (400, "invalid_request_error"));
    assert_eq!(
        (&refused.code, refused.param.as_deref()),
        (&Code::ParameterInvalid, Some("amount"))
    );
    let params: Vec<_> = refused.details.iter().map(|it| it.param.as_deref().unwrap()).collect();
    assert_eq!(params, ["amount", "otp", &format!("metadata.{}", "k".repeat(41))]);
    assert!(refused.request_id.as_deref().is_some_and(|id| id.starts_with("req_")), "{refused:?}");
    let text = error.to_string();
    assert!(text.starts_with("amount must be an integer"), "{text}");
    assert!(
        text.contains("otp must be 4 to 10 digits") && text.contains("(parameter_invalid, req_")
    );
    assert!(!format!("{error:?} {text}").contains("12a4"), "what was asked stays out of it");
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_and_shown_nowhere() {
    let stage = Stage::new().await;
    let client = Client::new(&stage.url, "sk_test_nonsense").unwrap();
    let error = client.balance(None).await.unwrap_err();
    assert_eq!(error.code(), Some(&Code::ApiKeyInvalid));
    assert!(!format!("{error} {error:?} {client:?}").contains("nonsense"));
}

#[tokio::test]
async fn nothing_is_found_where_nothing_is() {
    let stage = Stage::new().await;
    let id: PaymentId = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse().unwrap();
    let error = stage.client().payments().retrieve(id).await.unwrap_err();
    assert_eq!(error.code(), Some(&Code::ResourceNotFound));
    let elsewhere = Client::new(&format!("{}/elsewhere", stage.url), &stage.key).unwrap();
    assert_eq!(elsewhere.balance(None).await.unwrap_err().code(), Some(&Code::RouteNotFound));
}

#[tokio::test]
async fn what_is_no_answer_of_the_api_is_said_to_be_none() {
    let stage = Stage::new().await;
    for (status, body) in [(200, "<h1>Welcome</h1>"), (404, "no such page"), (200, r#"{"a":1}"#)] {
        stage.mishaps(&[Mishap::Answer(status, &[("Request-Id", "req_1")], body)]);
        let error = stage.client().payments().create(&payment()).await.unwrap_err();
        let Error::Unreadable { status: told, request_id, .. } = &error else {
            panic!("{error:?}")
        };
        assert_eq!((*told, request_id.as_deref()), (status, Some("req_1")));
        assert!(error.source().is_some() && !error.is_transient());
    }
}

#[tokio::test]
async fn a_word_of_a_later_server_is_read_raw() {
    let stage = Stage::new().await;
    let later = r#"{"object":"sandbox_funding","environment":"moon","amount":5}"#;
    stage.mishaps(&[Mishap::Answer(201, &[], later), Mishap::Answer(201, &[], later)]);
    let client = stage.client();
    let ask = Fund { amount: Amount::new(5), currency: "XOF".parse().unwrap() };
    let read = client.sandbox().fund(&ask).await;
    assert!(matches!(read, Err(Error::Unreadable { status: 201, .. })), "{read:?}");
    assert_eq!(client.sandbox().fund(&ask).raw().await.unwrap().get(), later);
}

#[tokio::test]
async fn every_code_of_the_catalogue_has_a_name() {
    let stage = Stage::new().await;
    let description = stage.client().description().await.unwrap();
    let description: Value = serde_json::from_str(description.get()).unwrap();
    let mut codes = Vec::new();
    words(&description, &mut codes);
    assert!(codes.len() > 50, "{codes:?}");
    for code in codes {
        let read = Code::from(code);
        assert!(!matches!(read, Code::Other(_)), "{code}");
        assert_eq!(read.as_str(), code);
    }
}

/// Every list of words with the code of a wrong key in it.
fn words<'d>(value: &'d Value, codes: &mut Vec<&'d str>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|value| words(value, codes)),
        Value::Array(items) if items.iter().any(|word| word == "api_key_invalid") => {
            codes.extend(items.iter().filter_map(Value::as_str));
        }
        Value::Array(items) => items.iter().for_each(|value| words(value, codes)),
        _ => {}
    }
}
