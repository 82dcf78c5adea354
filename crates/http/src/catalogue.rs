//! The errors of the contract, by status (API §4).

/// A status, its type, and its codes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Family {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) codes: &'static [&'static str],
}

const fn family(status: u16, kind: &'static str, codes: &'static [&'static str]) -> Family {
    Family { status, kind, codes }
}

/// All of them.
pub(crate) const FAMILIES: [Family; 13] = [
    family(
        400,
        "invalid_request_error",
        &[
            "json_invalid",
            "parameter_missing",
            "parameter_invalid",
            "parameter_unknown",
            "parameter_immutable",
            "related_resource_not_found",
            "amount_below_minimum",
            "amount_above_maximum",
            "currency_not_supported",
            "country_not_supported",
            "payment_method_not_supported",
            "network_not_supported",
            "payin_not_supported",
            "payout_not_supported",
            "refund_not_supported",
            "partial_refund_not_supported",
            "phone_invalid",
            "phone_country_mismatch",
            "refund_amount_exceeds_refundable",
            "payment_link_amount_mismatch",
            "event_kind_unknown",
            "url_not_allowed",
            "webhook_endpoint_limit_reached",
            "scenario_unknown",
            "scenario_not_applicable",
            "idempotency_key_invalid",
            "idempotency_key_required",
        ],
    ),
    family(
        401,
        "authentication_error",
        &[
            "api_key_missing",
            "api_key_invalid",
            "api_key_revoked",
            "api_key_expired",
            "credentials_conflict",
        ],
    ),
    family(402, "balance_error", &["balance_insufficient"]),
    family(403, "permission_error", &["secret_key_required", "sandbox_only"]),
    family(404, "invalid_request_error", &["resource_not_found", "route_not_found"]),
    family(405, "invalid_request_error", &["method_not_allowed"]),
    family(
        409,
        "state_error",
        &[
            "payment_not_cancellable",
            "payment_not_refundable",
            "payment_already_refunded",
            "payment_link_inactive",
            "payment_link_expired",
            "payment_link_already_paid",
            "payment_link_in_use",
            "payment_link_locked",
            "webhook_endpoint_disabled",
            "webhook_delivery_not_retryable",
            "simulation_not_allowed",
        ],
    ),
    family(413, "invalid_request_error", &["body_too_large"]),
    family(415, "invalid_request_error", &["content_type_not_supported"]),
    family(422, "idempotency_error", &["idempotency_key_reused"]),
    family(429, "rate_limit_error", &["rate_limited"]),
    family(500, "api_error", &["internal_error"]),
    family(503, "api_error", &["service_unavailable"]),
];
