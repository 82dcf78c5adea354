//! Why a payment, payout or refund failed, in words that no network owns (API §4).

use crate::value::choice::choice;

choice! {
    /// Why the payer or the network did not do it. New reasons may be added.
    ///
    /// ```
    /// use cauri_core::FailureCode;
    /// assert_eq!("user_rejected".parse(), Ok(FailureCode::UserRejected));
    /// assert_eq!(FailureCode::NetworkError.as_str(), "network_error");
    /// ```
    #[non_exhaustive]
    FailureCode {
        /// The payer has too little. Payments.
        InsufficientFunds = "insufficient_funds",
        /// The payer said no. Payments.
        UserRejected = "user_rejected",
        /// The network does not know the payer. Payments.
        PayerNotFound = "payer_not_found",
        /// The payer may not pay so much. Payments.
        PayerLimitReached = "payer_limit_reached",
        /// Another payment of the payer waits for approval. Payments.
        PaymentInProgress = "payment_in_progress",
        /// A wrong PIN, one-time password or 3-D Secure answer. Payments.
        AuthenticationFailed = "authentication_failed",
        /// The issuer said no. Card payments.
        CardDeclined = "card_declined",
        /// The card is too old. Card payments.
        CardExpired = "card_expired",
        /// The network does not know the recipient. Payouts.
        RecipientNotFound = "recipient_not_found",
        /// The recipient may not hold so much. Payouts.
        RecipientLimitReached = "recipient_limit_reached",
        /// The recipient may not receive. Payouts.
        RecipientRejected = "recipient_rejected",
        /// The network does not give the money back. Refunds.
        RefundRejected = "refund_rejected",
        /// The network could not be reached and nothing was sent. All three.
        NetworkUnavailable = "network_unavailable",
        /// The network failed, or gave no reason that has a word here. All three.
        NetworkError = "network_error",
    }
}

impl FailureCode {
    /// One sentence for people; it may change, the code is the contract.
    ///
    /// ```
    /// use cauri_core::FailureCode;
    /// assert_eq!(FailureCode::CardExpired.message(), "The card has expired.");
    /// ```
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::InsufficientFunds => "The payer has not enough money.",
            Self::UserRejected => "The payer rejected the payment.",
            Self::PayerNotFound => "The network does not know the payer.",
            Self::PayerLimitReached => "The payer has reached a limit of the network.",
            Self::PaymentInProgress => "Another payment of the payer is in progress.",
            Self::AuthenticationFailed => "The payer could not be authenticated.",
            Self::CardDeclined => "The issuer declined the card.",
            Self::CardExpired => "The card has expired.",
            Self::RecipientNotFound => "The network does not know the recipient.",
            Self::RecipientLimitReached => "The recipient has reached a limit of the network.",
            Self::RecipientRejected => "The recipient is not allowed to receive money.",
            Self::RefundRejected => "The network rejected the refund.",
            Self::NetworkUnavailable => "The network could not be reached; nothing was sent.",
            Self::NetworkError => "The network failed to process the request.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_a_sentence_of_its_own() {
        let mut seen = std::collections::HashSet::new();
        for code in FailureCode::ALL {
            let message = code.message();
            assert!(message.ends_with('.') && message.starts_with(char::is_uppercase), "{message}");
            assert!(seen.insert(message), "{message}");
            assert_eq!(code.as_str().parse(), Ok(*code));
        }
        assert_eq!(seen.len(), 14);
    }
}
