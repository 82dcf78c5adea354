//! The aggregator's reasons, in the words of the contract (API §4).

use cauri::FailureCode;

use crate::names::Kind;

/// Why an order failed. What has no word in the contract, and what the aggregator may yet invent,
/// is `network_error`: it is never taken for a reason that somebody would act on.
pub(crate) fn code(reason: &str, kind: Kind) -> FailureCode {
    use FailureCode as Code;
    match (reason, kind) {
        ("INSUFFICIENT_BALANCE", Kind::Deposit) => Code::InsufficientFunds,
        ("PAYMENT_NOT_APPROVED", Kind::Deposit) => Code::UserRejected,
        ("PAYER_NOT_FOUND", Kind::Deposit) | ("INVALID_PHONE_NUMBER", Kind::Deposit) => {
            Code::PayerNotFound
        }
        ("PAYER_LIMIT_REACHED" | "WALLET_LIMIT_REACHED", Kind::Deposit) => Code::PayerLimitReached,
        ("PAYMENT_IN_PROGRESS" | "TRANSACTION_ALREADY_IN_PROCESS", Kind::Deposit) => {
            Code::PaymentInProgress
        }
        ("RECIPIENT_NOT_FOUND" | "INVALID_PHONE_NUMBER", Kind::Payout) => Code::RecipientNotFound,
        ("RECIPIENT_LIMIT_REACHED" | "WALLET_LIMIT_REACHED", Kind::Payout) => {
            Code::RecipientLimitReached
        }
        (
            "RECIPIENT_NOT_FOUND"
            | "RECIPIENT_LIMIT_REACHED"
            | "WALLET_LIMIT_REACHED"
            | "AMOUNT_TOO_LARGE"
            | "DEPOSIT_ALREADY_REFUNDED"
            | "INVALID_STATE"
            | "NOT_FOUND",
            Kind::Refund,
        ) => Code::RefundRejected,
        _ => Code::NetworkError,
    }
}

/// Why an order was not taken on. Some reasons lie with the connection alone: the network is closed,
/// our wallet there is empty, our token is not valid. Then another connection may carry it.
pub(crate) fn refusal(reason: &str, kind: Kind) -> FailureCode {
    match reason {
        "PROVIDER_TEMPORARILY_UNAVAILABLE"
        | "PAWAPAY_WALLET_OUT_OF_FUNDS"
        | "NO_AUTHENTICATION"
        | "AUTHENTICATION_ERROR"
        | "AUTHORISATION_ERROR"
        | "HTTP_SIGNATURE_ERROR"
        | "DEPOSITS_NOT_ALLOWED"
        | "PAYOUTS_NOT_ALLOWED"
        | "REFUNDS_NOT_ALLOWED" => FailureCode::NetworkUnavailable,
        _ => code(reason, kind),
    }
}

/// Is it a reason that we have a word for?
pub(crate) fn is_known(reason: &str, kind: Kind) -> bool {
    refusal(reason, kind) != FailureCode::NetworkError
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_the_words_of_their_kind() {
        for (reason, kind, expected) in [
            ("INSUFFICIENT_BALANCE", Kind::Deposit, FailureCode::InsufficientFunds),
            ("INSUFFICIENT_BALANCE", Kind::Payout, FailureCode::NetworkError),
            ("WALLET_LIMIT_REACHED", Kind::Deposit, FailureCode::PayerLimitReached),
            ("WALLET_LIMIT_REACHED", Kind::Payout, FailureCode::RecipientLimitReached),
            ("WALLET_LIMIT_REACHED", Kind::Refund, FailureCode::RefundRejected),
            ("PAYMENT_NOT_APPROVED", Kind::Deposit, FailureCode::UserRejected),
            ("RECIPIENT_NOT_FOUND", Kind::Payout, FailureCode::RecipientNotFound),
        ] {
            assert_eq!(code(reason, kind), expected, "{reason} of a {kind:?}");
        }
    }

    #[test]
    fn a_reason_that_nobody_has_heard_of_is_a_failure_of_the_network() {
        for kind in Kind::ALL {
            for reason in ["", "SOMETHING_NEW", "payer_not_found", "UNSPECIFIED_FAILURE"] {
                assert_eq!(code(reason, kind), FailureCode::NetworkError, "{reason}");
                assert_eq!(refusal(reason, kind), FailureCode::NetworkError, "{reason}");
            }
        }
    }

    #[test]
    fn only_what_lies_with_the_connection_may_go_elsewhere() {
        for kind in Kind::ALL {
            let closed = refusal("PROVIDER_TEMPORARILY_UNAVAILABLE", kind);
            assert_eq!(closed, FailureCode::NetworkUnavailable);
            for reason in ["INVALID_PHONE_NUMBER", "AMOUNT_OUT_OF_BOUNDS", "INSUFFICIENT_BALANCE"] {
                assert_ne!(refusal(reason, kind), FailureCode::NetworkUnavailable, "{reason}");
            }
            // Taken on, and failed on the way: that was no question of the connection.
            let failed = code("PROVIDER_TEMPORARILY_UNAVAILABLE", kind);
            assert_eq!(failed, FailureCode::NetworkError);
        }
    }
}
