//! What is sent to the aggregator, and what it says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A deposit, a payout or a refund, as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Ask {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deposit_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) payout_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refund_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) payer: Option<Party>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recipient: Option<Party>,
    pub(crate) amount: String,
    pub(crate) currency: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pre_authorisation_code: Option<String>,
    /// Our own id for the order, which comes back with everything that is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_reference_id: Option<String>,
    /// Objects of one field each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) metadata: Vec<BTreeMap<String, String>>,
}

/// Somebody with an account at a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Party {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) account_details: AccountDetails,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AccountDetails {
    /// Digits only.
    pub(crate) phone_number: String,
    pub(crate) provider: String,
}

impl Party {
    pub(crate) fn at(phone_number: &str, provider: &str) -> Self {
        let phone_number = phone_number.trim_start_matches('+').to_owned();
        let account_details = AccountDetails { phone_number, provider: provider.to_owned() };
        Self { kind: "MMO".to_owned(), account_details }
    }
}

/// What the aggregator says to who asks for something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Taken {
    /// `ACCEPTED`, `REJECTED` or `DUPLICATE_IGNORED`; not there when the request itself was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure_reason: Option<FailureReason>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FailureReason {
    pub(crate) failure_code: String,
    #[serde(default)]
    pub(crate) failure_message: String,
}

/// What the aggregator says to who asks about something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Found {
    /// `FOUND` or `NOT_FOUND`.
    pub(crate) status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Transaction>,
}

/// A deposit, a payout or a refund, as it stands; also the body of a callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Transaction {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deposit_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) payout_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refund_id: Option<String>,
    /// `ACCEPTED`, `ENQUEUED`, `PROCESSING`, `IN_RECONCILIATION`, `COMPLETED` or `FAILED`.
    pub(crate) status: String,
    pub(crate) amount: String,
    pub(crate) currency: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_reference_id: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure_reason: Option<FailureReason>,
}
