//! The catalogue of errors.

use std::fmt;

use serde::Deserialize;

macro_rules! codes {
    ($($name:ident = $word:literal,)+) => {
        /// What a refusal is about: the catalogue of API §4 and §22.
        ///
        /// ```
        /// use cauri_client::Code;
        /// assert_eq!(Code::from("balance_insufficient"), Code::BalanceInsufficient);
        /// assert_eq!(Code::from("made_up_later").as_str(), "made_up_later");
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
        #[serde(from = "String")]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`", $word, "`.")] $name,)+
            /// One that a later server made up (API §18).
            Other(Box<str>),
        }

        impl Code {
            /// The word as it travels.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for Code {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$name,)+
                    _ => Self::Other(word.into()),
                }
            }
        }
    };
}

codes! {
    JsonInvalid = "json_invalid",
    ParameterMissing = "parameter_missing",
    ParameterInvalid = "parameter_invalid",
    ParameterUnknown = "parameter_unknown",
    ParameterImmutable = "parameter_immutable",
    RelatedResourceNotFound = "related_resource_not_found",
    AmountBelowMinimum = "amount_below_minimum",
    AmountAboveMaximum = "amount_above_maximum",
    CurrencyNotSupported = "currency_not_supported",
    CountryNotSupported = "country_not_supported",
    PaymentMethodNotSupported = "payment_method_not_supported",
    NetworkNotSupported = "network_not_supported",
    PayinNotSupported = "payin_not_supported",
    PayoutNotSupported = "payout_not_supported",
    RefundNotSupported = "refund_not_supported",
    PartialRefundNotSupported = "partial_refund_not_supported",
    PhoneInvalid = "phone_invalid",
    PhoneCountryMismatch = "phone_country_mismatch",
    RefundAmountExceedsRefundable = "refund_amount_exceeds_refundable",
    PaymentLinkAmountMismatch = "payment_link_amount_mismatch",
    EventKindUnknown = "event_kind_unknown",
    UrlNotAllowed = "url_not_allowed",
    WebhookEndpointLimitReached = "webhook_endpoint_limit_reached",
    ScenarioUnknown = "scenario_unknown",
    ScenarioNotApplicable = "scenario_not_applicable",
    IdempotencyKeyInvalid = "idempotency_key_invalid",
    IdempotencyKeyRequired = "idempotency_key_required",
    ApiKeyMissing = "api_key_missing",
    ApiKeyInvalid = "api_key_invalid",
    ApiKeyRevoked = "api_key_revoked",
    ApiKeyExpired = "api_key_expired",
    CredentialsConflict = "credentials_conflict",
    BalanceInsufficient = "balance_insufficient",
    SecretKeyRequired = "secret_key_required",
    SandboxOnly = "sandbox_only",
    ResourceNotFound = "resource_not_found",
    RouteNotFound = "route_not_found",
    MethodNotAllowed = "method_not_allowed",
    PaymentNotCancellable = "payment_not_cancellable",
    PaymentNotRefundable = "payment_not_refundable",
    PaymentAlreadyRefunded = "payment_already_refunded",
    PaymentLinkInactive = "payment_link_inactive",
    PaymentLinkExpired = "payment_link_expired",
    PaymentLinkAlreadyPaid = "payment_link_already_paid",
    PaymentLinkInUse = "payment_link_in_use",
    PaymentLinkLocked = "payment_link_locked",
    WebhookEndpointDisabled = "webhook_endpoint_disabled",
    WebhookDeliveryNotRetryable = "webhook_delivery_not_retryable",
    SimulationNotAllowed = "simulation_not_allowed",
    BodyTooLarge = "body_too_large",
    ContentTypeNotSupported = "content_type_not_supported",
    IdempotencyKeyReused = "idempotency_key_reused",
    RateLimited = "rate_limited",
    InternalError = "internal_error",
    ServiceUnavailable = "service_unavailable",
}

impl From<String> for Code {
    fn from(word: String) -> Self {
        Self::from(word.as_str())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
