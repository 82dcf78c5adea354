//! The errors of the contract, by status (API §4): what each means, and what its caller does.
//! `docs/errors.md` is written from here.

/// A status, its type, and its codes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Family {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) codes: &'static [Code],
}

/// One error.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "what is for people is read by the document"))]
pub(crate) struct Code {
    pub(crate) word: &'static str,
    /// When it is answered.
    pub(crate) when: &'static str,
    /// What the caller does about it.
    pub(crate) remedy: &'static str,
}

const fn family(status: u16, kind: &'static str, codes: &'static [Code]) -> Family {
    Family { status, kind, codes }
}

const fn code(word: &'static str, when: &'static str, remedy: &'static str) -> Code {
    Code { word, when, remedy }
}

/// All of them.
pub(crate) const FAMILIES: [Family; 13] = [
    family(
        400,
        "invalid_request_error",
        &[
            code(
                "json_invalid",
                "The body is no JSON object, repeats a key, is nested too deep, or did not arrive whole.",
                "Send a JSON object in UTF-8.",
            ),
            code("parameter_missing", "A required parameter is absent.", "Send it."),
            code(
                "parameter_invalid",
                "A parameter has a wrong form; the message says which is wanted.",
                "Correct it.",
            ),
            code(
                "parameter_unknown",
                "There is no such parameter: most often a misspelt one.",
                "Correct its name, or leave it out.",
            ),
            code(
                "parameter_immutable",
                "It cannot be changed once the object is there.",
                "Leave it out; make a new object if need be.",
            ),
            code(
                "related_resource_not_found",
                "The body names an object that does not exist in this account and environment.",
                "Look whether the id is of the same environment as the key.",
            ),
            code(
                "amount_below_minimum",
                "The network does not move so little.",
                "Ask for more; `GET /v1/payment-methods` has the limits.",
            ),
            code(
                "amount_above_maximum",
                "The network does not move so much at once.",
                "Ask for less; `GET /v1/payment-methods` has the limits.",
            ),
            code(
                "currency_not_supported",
                "No currency of ISO 4217, or none that this country or network takes.",
                "Take one that `GET /v1/payment-methods` lists.",
            ),
            code(
                "country_not_supported",
                "No country of ISO 3166-1, or none that is offered.",
                "Take one that `GET /v1/payment-methods` lists.",
            ),
            code(
                "payment_method_not_supported",
                "The country, or the payment link, does not offer this method.",
                "Take another method.",
            ),
            code(
                "network_not_supported",
                "The country does not offer this network.",
                "Take one that `GET /v1/payment-methods` lists.",
            ),
            code("payin_not_supported", "The network takes no payments.", "Take another network."),
            code("payout_not_supported", "The network makes no payouts.", "Take another network."),
            code(
                "refund_not_supported",
                "The payment was made over a network that gives nothing back.",
                "Return the money by a payout.",
            ),
            code(
                "partial_refund_not_supported",
                "The network gives back only the whole amount.",
                "Leave `amount` out, or return the part by a payout.",
            ),
            code(
                "phone_invalid",
                "Not a number in E.164 form, or not as long as its country wants.",
                "Have the payer correct it.",
            ),
            code(
                "phone_country_mismatch",
                "The number is of another country than `country`.",
                "Correct either, or leave `country` out.",
            ),
            code(
                "refund_amount_exceeds_refundable",
                "More than what is left to refund.",
                "Read the payment's `refundable_amount`.",
            ),
            code(
                "payment_link_amount_mismatch",
                "Amount or currency differ from those of the payment link.",
                "Leave both out: the link says them.",
            ),
            code(
                "event_kind_unknown",
                "There is no such kind of event.",
                "Take one of the kinds of the contract, or `*`.",
            ),
            code(
                "url_not_allowed",
                "Events are not sent to this address: not https in live, or a private one where those are refused.",
                "Give the endpoint a public https URL.",
            ),
            code(
                "webhook_endpoint_limit_reached",
                "There are as many endpoints as there may be.",
                "Delete one that is not needed.",
            ),
            code(
                "scenario_unknown",
                "The sandbox knows no such scenario.",
                "Take one of `GET /v1/sandbox/scenarios`.",
            ),
            code(
                "scenario_not_applicable",
                "The scenario is not one of this kind of object.",
                "Read `applies_to` of the scenario.",
            ),
            code(
                "idempotency_key_invalid",
                "Not 1 to 255 printable ASCII characters without spaces.",
                "Send a UUID.",
            ),
            code(
                "idempotency_key_required",
                "This installation wants an `Idempotency-Key` with every creation.",
                "Send one, a new one for each thing you want to happen once.",
            ),
        ],
    ),
    family(
        401,
        "authentication_error",
        &[
            code(
                "api_key_missing",
                "The request carries no key.",
                "Send `Authorization: Bearer sk_…`.",
            ),
            code(
                "api_key_invalid",
                "No such key.",
                "Look whether it is whole, and of this installation.",
            ),
            code("api_key_revoked", "The key was revoked.", "Take its successor."),
            code("api_key_expired", "The key's time is over.", "Take its successor."),
            code("credentials_conflict", "The request carries two keys.", "Send one."),
        ],
    ),
    family(
        402,
        "balance_error",
        &[code(
            "balance_insufficient",
            "The available balance does not cover the payout, or the refund and what of its fee is not given back.",
            "Wait for money to settle, or ask for less; the same `Idempotency-Key` may be used again.",
        )],
    ),
    family(
        403,
        "permission_error",
        &[
            code(
                "secret_key_required",
                "A public key only reads.",
                "Call from your server, with the secret key.",
            ),
            code(
                "sandbox_only",
                "The route is one of the sandbox, the key one of live.",
                "Use a key of the sandbox.",
            ),
        ],
    ),
    family(
        404,
        "invalid_request_error",
        &[
            code(
                "resource_not_found",
                "There is no such object in this account and environment.",
                "Look whether the id is of the same environment as the key.",
            ),
            code("route_not_found", "There is nothing at this path.", "Correct the path."),
        ],
    ),
    family(
        405,
        "invalid_request_error",
        &[code(
            "method_not_allowed",
            "There is something at this path, but not for this method.",
            "Take a method that `Allow` names.",
        )],
    ),
    family(
        409,
        "state_error",
        &[
            code(
                "payment_not_cancellable",
                "The payment has ended, or its network cannot or would not call it off.",
                "Read the payment; refund it if it succeeded.",
            ),
            code(
                "payment_not_refundable",
                "The payment has no money to give back.",
                "Wait until it has succeeded.",
            ),
            code("payment_already_refunded", "All of it was given back already.", "Nothing."),
            code(
                "payment_link_inactive",
                "The link was switched off.",
                "Switch it on, or take another.",
            ),
            code(
                "payment_link_expired",
                "The link's time is over.",
                "Move `expires_at`, or make a new link.",
            ),
            code(
                "payment_link_already_paid",
                "The link was paid, and can be paid only once.",
                "Make a new link.",
            ),
            code(
                "payment_link_in_use",
                "Somebody is paying through this link.",
                "Try again when that payment has ended, at the latest when it expires.",
            ),
            code(
                "payment_link_locked",
                "The amount is relied on by a payment under way or succeeded.",
                "Make a new link with the other amount.",
            ),
            code(
                "webhook_endpoint_disabled",
                "The endpoint is inactive or gone, so nothing is sent to it.",
                "Switch it on first.",
            ),
            code(
                "webhook_delivery_not_retryable",
                "The delivery has had as many attempts as it may have.",
                "Replay the event: `POST /v1/webhooks/:id/replay`.",
            ),
            code(
                "simulation_not_allowed",
                "The object has a status on which nothing can be played.",
                "Make a new object.",
            ),
        ],
    ),
    family(
        413,
        "invalid_request_error",
        &[code(
            "body_too_large",
            "The body has more than 64 KiB.",
            "Send less, in metadata above all.",
        )],
    ),
    family(
        415,
        "invalid_request_error",
        &[code(
            "content_type_not_supported",
            "The body is not said to be JSON.",
            "Send `Content-Type: application/json`.",
        )],
    ),
    family(
        422,
        "idempotency_error",
        &[code(
            "idempotency_key_reused",
            "The key was used for another request within the last 24 hours.",
            "Take a new key for a new request; a retry must send what was sent before.",
        )],
    ),
    family(
        429,
        "rate_limit_error",
        &[code(
            "rate_limited",
            "The key calls more often than it may.",
            "Wait for `Retry-After` seconds, then send the same request again.",
        )],
    ),
    family(
        500,
        "api_error",
        &[code(
            "internal_error",
            "Our fault; the log names it by the request id.",
            "Send the same request with the same `Idempotency-Key` again, later; then tell us the `Request-Id`.",
        )],
    ),
    family(
        503,
        "api_error",
        &[code(
            "service_unavailable",
            "The store is away, or as much is under way as may be.",
            "Wait for `Retry-After` seconds, then send the same request with the same `Idempotency-Key` again.",
        )],
    ),
];

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use cauri::FailureCode;

    use super::*;

    const HEAD: &str = "\
# Errors

Printed from the code by a test in `crates/http/src/catalogue.rs`; `UPDATE_DOCS=1 cargo test -p cauri-http catalogue` writes it anew.

Every error has one envelope: `type`, `code`, `message`, `param` and `request_id`, and for wrong parameters `details` with all of them. **`code` is the contract**; `message` is for people and may change.

What to send again, and what not:

- **429, 500, 503, and no answer at all**: the same request with the same `Idempotency-Key`, after `Retry-After` or with growing pauses. It happens once, however often it is sent.
- **402**: the same request, when there is money.
- **Every other 4xx**: not before something was changed.

";

    const FAILURES: &str = "\
## Failures of the payer or the network

They are never HTTP errors: the object is created (201) and later becomes `failed`, with one of these as its `failure_code`. More may be added. A payment, payout or refund that failed moved no money; to try again is to create a new one, with a new `Idempotency-Key`.

| `failure_code` | Message |
|---|---|
";

    fn page() -> String {
        let mut page = HEAD.to_owned();
        for Family { status, kind, codes } in &FAMILIES {
            let _ = write!(page, "## {status} {kind}\n\n| Code | When | Do |\n|---|---|---|\n");
            for Code { word, when, remedy } in *codes {
                let _ = writeln!(page, "| `{word}` | {when} | {remedy} |");
            }
            page.push('\n');
        }
        page.push_str(FAILURES);
        for code in FailureCode::ALL {
            let _ = writeln!(page, "| `{code}` | {} |", code.message());
        }
        page
    }

    #[test]
    fn the_document_is_what_the_code_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, page()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(written == page(), "docs/errors.md is not what the code says");
    }

    #[test]
    fn every_code_is_told_apart_and_explained() {
        let codes: Vec<&Code> = FAMILIES.iter().flat_map(|family| family.codes).collect();
        for (at, code) in codes.iter().enumerate() {
            assert!(
                codes.iter().skip(at + 1).all(|other| other.word != code.word),
                "{}",
                code.word
            );
            let sentences = [code.when, code.remedy];
            assert!(sentences.iter().all(|it| it.ends_with('.')), "{}", code.word);
        }
    }
}
