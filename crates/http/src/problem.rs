//! Every error, turned outward: the one place that knows which status it has (API §4).

use std::error::Error as StdError;

use bytes::Bytes;
use cauri::{
    AuthError, Error, Fault, Faults, PermissionError, Refused, RequestId, StoreError,
    wire::JsonError,
};
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE},
};
use serde::Serialize;

use crate::catalogue::FAMILIES;

/// In how many seconds the store may be asked again.
const STORE_BACK_S: u64 = 1;

/// Why a request gets no answer of its own.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nothing is at its path.
    NoRoute,
    /// Something is, with other methods.
    NoMethod { allow: HeaderValue },
    /// As much is under way as may be.
    Overloaded,
    /// One request too many.
    RateLimited { retry_after_s: u64 },
    /// The body is larger than it may be.
    BodyTooLarge,
    /// The body is not said to be JSON.
    ContentType,
    /// The body is not the JSON that it should be.
    Json(JsonError),
    /// The body ended before its end.
    BodyCutOff,
    /// The engine refused, or could not answer.
    Engine(Error),
    /// An answer could not be written.
    Unwritable(serde_json::Error),
    /// Whatever answered panicked.
    Panicked,
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Engine(error.into())
    }
}

/// An error as it is answered.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    code: &'static str,
    message: String,
    param: Option<String>,
    details: Option<Vec<Detail>>,
}

#[derive(Debug, Serialize)]
struct Detail {
    code: &'static str,
    param: Option<String>,
    message: String,
}

#[derive(Serialize)]
struct Envelope<'a> {
    error: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    r#type: &'static str,
    code: &'static str,
    message: &'a str,
    param: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a [Detail]>,
    request_id: RequestId,
}

/// How many faults are told of: more than anybody would read, and few enough to be kept in memory
/// for each caller.
const DETAILS_MAX: usize = 100;

impl Problem {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let headers = HeaderMap::new();
        Self { status, headers, code, message: message.into(), param: None, details: None }
    }

    fn retry_after(mut self, seconds: u64) -> Self {
        self.headers.insert(RETRY_AFTER, seconds.into());
        self
    }

    /// What went wrong is for the log alone.
    fn internal(error: &(dyn StdError + 'static)) -> Self {
        tracing::error!(error = chain(error), "a request failed");
        let message = "Something went wrong on our side. The request id names it in our logs.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message)
    }

    fn unavailable(error: &(dyn StdError + 'static)) -> Self {
        tracing::warn!(error = chain(error), "a request could not be answered for now");
        Self::busy()
    }

    fn busy() -> Self {
        let message = "The service is not available at the moment. Try again.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "service_unavailable", message)
            .retry_after(STORE_BACK_S)
    }

    /// All that is wrong, up to what anybody would read.
    fn faults(faults: &Faults) -> Self {
        let detail = |fault: &Fault| Detail {
            code: fault.problem.code(),
            param: fault.param.as_ref().map(ToString::to_string),
            message: fault.to_string(),
        };
        let details: Vec<Detail> = faults.all().iter().take(DETAILS_MAX).map(detail).collect();
        let (code, param, message) = match details.first() {
            Some(first) => (first.code, first.param.clone(), first.message.clone()),
            None => ("parameter_invalid", None, "A parameter is wrong.".to_owned()),
        };
        let problem = Self::new(StatusCode::BAD_REQUEST, code, message);
        Self { param, details: Some(details), ..problem }
    }

    /// The body that is answered.
    pub(crate) fn body(&self, request_id: RequestId) -> Bytes {
        let Self { status, code, message, param, details, headers: _ } = self;
        let family = FAMILIES.iter().find(|family| family.status == status.as_u16());
        let error = Body {
            r#type: family.map_or("api_error", |family| family.kind),
            code,
            message,
            param: param.as_deref(),
            details: details.as_deref(),
            request_id,
        };
        // Texts and a number of them: it cannot fail to be written.
        serde_json::to_vec(&Envelope { error }).unwrap_or_default().into()
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NoRoute => Self::new(
                StatusCode::NOT_FOUND,
                "route_not_found",
                "There is nothing at this path.",
            ),
            Failure::NoMethod { allow } => {
                let message = "This method is not allowed at this path.";
                let status = StatusCode::METHOD_NOT_ALLOWED;
                let mut problem = Self::new(status, "method_not_allowed", message);
                problem.headers.insert(ALLOW, allow);
                problem
            }
            // Nothing is logged: there will be many of them, and the metrics count them.
            Failure::Overloaded => Self::busy(),
            Failure::RateLimited { retry_after_s } => {
                let message = format!("Too many requests. Try again in {retry_after_s} s.");
                Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
                    .retry_after(retry_after_s)
            }
            Failure::BodyTooLarge => {
                let message = "The body is larger than 64 KiB.";
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
            }
            Failure::ContentType => {
                let message = "The body must be sent as application/json.";
                let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                Self::new(status, "content_type_not_supported", message)
            }
            Failure::Json(error) => {
                Self::new(StatusCode::BAD_REQUEST, "json_invalid", error.to_string())
            }
            Failure::BodyCutOff => {
                let message = "The body did not arrive whole.";
                Self::new(StatusCode::BAD_REQUEST, "json_invalid", message)
            }
            Failure::Engine(error) => Self::from(error),
            Failure::Unwritable(error) => Self::internal(&error),
            Failure::Panicked => Self::internal(&Panic),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match &error {
            Error::Refused(refused) => refusal(refused),
            Error::Unauthenticated(auth) => unauthenticated(*auth),
            Error::Forbidden(permission) => forbidden(*permission),
            Error::Store(StoreError::Unavailable(_) | StoreError::Unknown(_))
            | Error::Contended => Self::unavailable(&error),
            Error::Store(StoreError::Broken(_))
            | Error::OtherList
            | Error::Seal(_)
            | Error::Replay(_) => Self::internal(&error),
            // The engine's errors may grow; what is not known here is ours to mend.
            _ if error.is_transient() => Self::unavailable(&error),
            _ => Self::internal(&error),
        }
    }
}

fn refusal(refused: &Refused) -> Problem {
    let status = match refused {
        Refused::Invalid(faults) => return Problem::faults(faults),
        Refused::NotFound(_) => StatusCode::NOT_FOUND,
        Refused::BalanceInsufficient { .. } => StatusCode::PAYMENT_REQUIRED,
        Refused::PaymentNotCancellable(_)
        | Refused::PaymentNotRefundable(_)
        | Refused::PaymentAlreadyRefunded
        | Refused::PaymentLinkInactive
        | Refused::PaymentLinkExpired
        | Refused::PaymentLinkAlreadyPaid
        | Refused::PaymentLinkInUse
        | Refused::PaymentLinkLocked
        | Refused::WebhookEndpointDisabled
        | Refused::WebhookDeliveryNotRetryable(_)
        | Refused::SimulationNotAllowed { .. } => StatusCode::CONFLICT,
        Refused::IdempotencyKeyReused => StatusCode::UNPROCESSABLE_ENTITY,
        Refused::Overflow(_) | Refused::Impossible | _ => return Problem::internal(refused),
    };
    Problem::new(status, refused.code(), refused.to_string())
}

fn unauthenticated(error: AuthError) -> Problem {
    let code = match error {
        AuthError::Missing => "api_key_missing",
        AuthError::Revoked => "api_key_revoked",
        AuthError::Expired => "api_key_expired",
        AuthError::Conflict => "credentials_conflict",
        AuthError::Invalid | _ => "api_key_invalid",
    };
    let mut problem = Problem::new(StatusCode::UNAUTHORIZED, code, error.to_string());
    problem.headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    problem
}

fn forbidden(error: PermissionError) -> Problem {
    let code = match error {
        PermissionError::SandboxOnly => "sandbox_only",
        PermissionError::SecretKeyRequired | _ => "secret_key_required",
    };
    Problem::new(StatusCode::FORBIDDEN, code, error.to_string())
}

/// The panic was told where it happened.
#[derive(Debug, thiserror::Error)]
#[error("it panicked")]
struct Panic;

/// An error and everything that caused it, in one line.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
