//! Answers as they leave.

use bytes::Bytes;
use cauri::{Replay, Reply, RequestId, Success};
use http::{
    HeaderName, HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION},
};
use http_body_util::Full;
use serde::Serialize;

use crate::{
    problem::{Failure, Problem},
    rate::Rate,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// A success.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    location: Option<String>,
    replayed: bool,
    body: Bytes,
}

impl Answer {
    /// Shows something.
    pub(crate) fn show(object: &impl Serialize) -> Result<Self, Failure> {
        Ok(Self::text(written(object)?))
    }

    /// What was written before.
    pub(crate) const fn text(body: Bytes) -> Self {
        Self { status: StatusCode::OK, location: None, replayed: false, body }
    }

    /// Answers a command: with the very bytes that are kept, where some are.
    pub(crate) fn reply<T: Serialize>(reply: Reply<T>) -> Result<Self, Failure> {
        let body = match reply.body {
            Some(text) => text.into(),
            None => written(&reply.object)?,
        };
        let status = status(reply.success);
        Ok(Self { status, location: reply.location, replayed: reply.replayed, body })
    }

    /// Answers a command as it was answered before.
    pub(crate) fn replay(replay: Replay) -> Self {
        let status = status(replay.success);
        Self { status, location: replay.location, replayed: true, body: replay.body.into() }
    }
}

pub(crate) const fn status(success: Success) -> StatusCode {
    match success {
        Success::Created => StatusCode::CREATED,
        Success::Done => StatusCode::OK,
        Success::Accepted => StatusCode::ACCEPTED,
    }
}

fn written(object: &impl Serialize) -> Result<Bytes, Failure> {
    serde_json::to_vec(object).map(Bytes::from).map_err(Failure::Unwritable)
}

/// Whatever the outcome, with the headers that every response has.
pub(crate) fn respond(
    outcome: Result<Answer, Failure>,
    request_id: RequestId,
    rate: Option<&Rate>,
    prefix: &str,
) -> Response<Full<Bytes>> {
    let mut response = match outcome {
        Ok(answer) => success(answer, prefix),
        Err(failure) => {
            let problem = Problem::from(failure);
            let mut response = Response::new(Full::new(problem.body(request_id)));
            *response.status_mut() = problem.status;
            *response.headers_mut() = problem.headers;
            response
        }
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::try_from(request_id.to_string()) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(rate) = rate {
        headers.insert(RATE_LIMIT_POLICY, rate.policy.clone());
        headers.insert(RATE_LIMIT, rate.left.clone());
    }
    response
}

fn success(answer: Answer, prefix: &str) -> Response<Full<Bytes>> {
    let Answer { status, location, replayed, body } = answer;
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if let Some(Ok(location)) =
        location.map(|path| HeaderValue::try_from(format!("{prefix}{path}")))
    {
        headers.insert(LOCATION, location);
    }
    if replayed {
        headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    }
    response
}
