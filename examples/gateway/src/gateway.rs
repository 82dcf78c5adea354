//! The gateway.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use cauri::{
    Answer, Capabilities, FailureCode, Gateway, Order, OrderId, Report, Secret, Timestamp,
};
use http::StatusCode;
use hyper::body::Bytes;

use crate::{
    client::{Client, ConnectError, PATIENCE, Reply},
    failure,
    names::{self, Kind},
    signature::Signer,
    wire::{Ask, FailureReason, Found, Party, Taken, Transaction},
};

/// When an order is asked about again that its payer has not ended yet, in milliseconds. The
/// aggregator calls back, too; but a callback can get lost.
const ASK_AGAIN_MS: i64 = 10_000;

/// When what was not answered is asked about, in milliseconds.
const SILENCE_MS: i64 = 5_000;

/// Where the aggregator is, and who we are there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AggregatorOptions {
    /// Such as `https://api.sandbox.pawapay.io`.
    pub base: String,
    /// The API token.
    pub token: Secret,
    /// Signs what moves money, where the aggregator wants that.
    pub signer: Option<Arc<Signer>>,
}

impl AggregatorOptions {
    /// Unsigned requests.
    #[must_use]
    pub fn new(base: impl Into<String>, token: Secret) -> Self {
        Self { base: base.into(), token, signer: None }
    }

    /// The same with signed requests.
    #[must_use]
    pub fn signed(mut self, signer: Arc<Signer>) -> Self {
        self.signer = Some(signer);
        self
    }
}

/// A gateway to an aggregator of mobile money. It keeps nothing: any process can ask about what
/// another one has sent.
#[derive(Debug)]
pub struct Aggregator {
    client: Client,
}

impl Aggregator {
    /// What it can do: everything but call off a payment that waits for its payer.
    pub const CAPABILITIES: Capabilities = Capabilities { cancel: false, ..Capabilities::ALL };

    /// A gateway. Connects to nothing yet.
    ///
    /// # Errors
    /// [`ConnectError`] when the address or the token are none.
    pub fn new(options: AggregatorOptions) -> Result<Self, ConnectError> {
        let AggregatorOptions { base, token, signer } = options;
        Ok(Self { client: Client::new(&base, token, signer)? })
    }
}

#[async_trait]
impl Gateway for Aggregator {
    fn capabilities(&self) -> Capabilities {
        Self::CAPABILITIES
    }

    async fn submit(&self, order: &Order, now: Timestamp) -> Answer {
        let kind = Kind::of(order.id);
        let Some(body) = ask(order).and_then(|ask| serde_json::to_vec(&ask).ok()) else {
            tracing::warn!(order = %order.id, "the aggregator does not serve this");
            return Answer::final_report(Report::Refused(FailureCode::NetworkError));
        };
        match self.client.post(kind.path(), body, now).await {
            Reply::NotSent => Answer::final_report(Report::Unreachable),
            Reply::Silence => silence(after_patience(now)),
            Reply::Said(status, body) => taken(status, &body, order, now),
        }
    }

    async fn query(&self, order: &Order, now: Timestamp) -> Answer {
        let path = format!("{}/{}", Kind::of(order.id).path(), names::name(order.id));
        match self.client.get(&path).await {
            Reply::Said(StatusCode::OK, body) => found(&body, order, now),
            Reply::Silence => silence(after_patience(now)),
            Reply::NotSent | Reply::Said(..) => silence(now),
        }
    }

    async fn cancel(&self, _order: &Order, _now: Timestamp) -> bool {
        // The aggregator has no such call, and `capabilities` says so.
        false
    }
}

/// What is sent; `None` when the aggregator does not serve it.
fn ask(order: &Order) -> Option<Ask> {
    let id = names::name(order.id).to_string();
    let network = order.network.as_ref()?;
    let party = Party::at(order.phone.as_ref()?.as_str(), names::provider(order.country, network)?);
    let scope = BTreeMap::from([("account".to_owned(), order.scope.account.to_string())]);
    let mut ask = Ask {
        deposit_id: None,
        payout_id: None,
        refund_id: None,
        payer: None,
        recipient: None,
        amount: names::decimal(order.amount, order.currency),
        currency: order.currency.code().to_owned(),
        pre_authorisation_code: order.otp.as_ref().map(|otp| otp.as_str().to_owned()),
        client_reference_id: Some(order.id.to_string()),
        metadata: vec![scope],
    };
    match order.id {
        OrderId::Payment(_) => (ask.deposit_id, ask.payer) = (Some(id), Some(party)),
        OrderId::Payout(_) => (ask.payout_id, ask.recipient) = (Some(id), Some(party)),
        OrderId::Refund(_) => {
            let (payment, _) = order.refund_of?;
            ask.refund_id = Some(id);
            ask.deposit_id = Some(names::name(OrderId::Payment(payment)).to_string());
        }
    }
    Some(ask)
}

/// What an answer to a submission means. Only what says so in the aggregator's own words was not
/// taken on; anything else may have been. A limit that we have run into, an overload or a proxy's
/// time-out say nothing of the order, whatever they say of the request.
fn taken(status: StatusCode, body: &Bytes, order: &Order, now: Timestamp) -> Answer {
    let kind = Kind::of(order.id);
    let Ok(Taken { status: word, failure_reason }) = serde_json::from_slice::<Taken>(body) else {
        return silence(now);
    };
    let refused = |reason: FailureReason| {
        let FailureReason { failure_code, failure_message } = reason;
        tracing::info!(order = %order.id, failure_code, failure_message, "refused");
        Answer::final_report(Report::Refused(failure::refusal(&failure_code, kind)))
    };
    match (word.as_deref(), failure_reason) {
        // We are not let in, whatever the reason is called: that says nothing of the order.
        (_, Some(reason)) if [401, 403].contains(&status.as_u16()) => {
            let FailureReason { failure_code, failure_message } = reason;
            tracing::error!(order = %order.id, failure_code, failure_message, "not let in");
            Answer::final_report(Report::Refused(FailureCode::NetworkUnavailable))
        }
        // It has it from an earlier sending.
        (Some("ACCEPTED" | "DUPLICATE_IGNORED"), _) if status == StatusCode::OK => open(now),
        (Some("REJECTED"), Some(reason)) if status == StatusCode::OK => refused(reason),
        // Under a status that it is not documented for, only a rejection in words that we know.
        (Some("REJECTED"), Some(reason)) if failure::is_known(&reason.failure_code, kind) => {
            refused(reason)
        }
        // The request itself was wrong.
        (_, Some(reason)) if status == StatusCode::BAD_REQUEST => refused(reason),
        _ => silence(now),
    }
}

/// What an answer to a question means.
fn found(body: &Bytes, order: &Order, now: Timestamp) -> Answer {
    match serde_json::from_slice::<Found>(body) {
        Ok(Found { status, data: None }) if status == "NOT_FOUND" => {
            Answer::final_report(Report::NotFound)
        }
        Ok(Found { status, data: Some(transaction) }) if status == "FOUND" => {
            match report(&transaction, order) {
                Some(end @ (Report::Paid | Report::Failed(_))) => Answer::final_report(end),
                Some(_) => open(now),
                None => silence(now),
            }
        }
        _ => silence(now),
    }
}

/// What the aggregator says of an order; `None` when that is another one, or of another amount, or
/// in words we do not know.
fn report(transaction: &Transaction, order: &Order) -> Option<Report> {
    let kind = Kind::of(order.id);
    let same = transaction.name(kind) == Some(&*names::name(order.id).to_string())
        && transaction.currency == order.currency.code()
        && names::amount(&transaction.amount, order.currency) == Some(order.amount);
    if !same {
        tracing::error!(order = %order.id, "the aggregator has another order by this name");
        return None;
    }
    transaction.report(kind)
}

impl Transaction {
    /// Its id, if it is of this kind.
    pub(crate) fn name(&self, kind: Kind) -> Option<&str> {
        match kind {
            Kind::Deposit => self.deposit_id.as_deref(),
            Kind::Payout => self.payout_id.as_deref(),
            Kind::Refund => self.refund_id.as_deref(),
        }
    }

    /// What its status means; `None` when nobody knows.
    pub(crate) fn report(&self, kind: Kind) -> Option<Report> {
        match self.status.as_str() {
            "ACCEPTED" | "ENQUEUED" | "PROCESSING" | "IN_RECONCILIATION" => {
                Some(Report::accepted())
            }
            "COMPLETED" => Some(Report::Paid),
            "FAILED" => {
                let reason = self.failure_reason.as_ref().map_or("", |it| it.failure_code.as_str());
                Some(Report::Failed(failure::code(reason, kind)))
            }
            _ => None,
        }
    }
}

/// It has the order, and somebody has to do something about it.
fn open(now: Timestamp) -> Answer {
    let ask_again_at = Some(now.plus_millis(ASK_AGAIN_MS));
    Answer { reports: vec![Report::accepted()], ask_again_at }
}

/// Nobody knows.
fn silence(now: Timestamp) -> Answer {
    Answer { reports: vec![Report::Unknown], ask_again_at: Some(now.plus_millis(SILENCE_MS)) }
}

/// When a request has ended that began now and was not answered. What was on its way is given time
/// to arrive from then on: asked about at once, it would not be found, and be taken as lost.
fn after_patience(now: Timestamp) -> Timestamp {
    now.plus_millis(i64::try_from(PATIENCE.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use cauri::{Environment, Scope};
    use cauri_conformance::fixtures::{self, Random};
    use serde_json::{Value, json};

    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_millis(1_731_974_400_000)
    }

    fn told(status: u16, body: &Value) -> Answer {
        let mut random = Random::new(1);
        let scope = Scope { environment: Environment::Live, ..random.scope() };
        let order = Order::payment(&fixtures::payment(&mut random, scope));
        taken(StatusCode::from_u16(status).unwrap(), &body.to_string().into(), &order, now())
    }

    fn because(code: &str) -> Value {
        json!({"failureReason": {"failureCode": code, "failureMessage": "As it was told."}})
    }

    fn rejected(code: &str) -> Value {
        let mut body = because(code);
        body["status"] = json!("REJECTED");
        body
    }

    const LATER: [u16; 8] = [408, 425, 429, 500, 502, 503, 504, 599];

    #[test]
    fn what_says_later_is_no_refusal() {
        for status in LATER.into_iter().chain([404, 405, 409, 422]) {
            for body in [
                because("TOO_MANY_REQUESTS"),
                because("INVALID_PHONE_NUMBER"),
                rejected("SOMETHING_NEW"),
                json!({"status": "ACCEPTED"}),
                json!({}),
                json!("<html>"),
            ] {
                assert_eq!(told(status, &body), silence(now()), "{status} {body}");
            }
        }
    }

    #[test]
    fn a_rejection_in_words_that_we_know_is_one_whatever_the_status() {
        for status in LATER.into_iter().chain([200, 400]) {
            let answer = told(status, &rejected("INVALID_PHONE_NUMBER"));
            let refused = Report::Refused(FailureCode::PayerNotFound);
            assert_eq!(answer, Answer::final_report(refused), "{status}");
        }
    }

    #[test]
    fn a_request_that_is_wrong_or_not_let_in_is_refused() {
        for (status, code, expected) in [
            (400, "INVALID_PARAMETER", FailureCode::NetworkError),
            (400, "SOMETHING_NEW", FailureCode::NetworkError),
            (401, "NO_AUTHENTICATION", FailureCode::NetworkUnavailable),
            (403, "HTTP_SIGNATURE_ERROR", FailureCode::NetworkUnavailable),
            (401, "SOMETHING_NEW", FailureCode::NetworkUnavailable),
            (403, "INVALID_PHONE_NUMBER", FailureCode::NetworkUnavailable),
        ] {
            let refused = Answer::final_report(Report::Refused(expected));
            assert_eq!(told(status, &because(code)), refused, "{status} {code}");
            if status != 400 {
                assert_eq!(told(status, &rejected(code)), refused, "{status} {code}");
            }
            // Without a reason of the aggregator's it may be anybody who says so.
            assert_eq!(told(status, &json!({})), silence(now()), "{status}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_answered_is_asked_about_some_time_after_it_was_given_up() {
        // It takes connections, and says nothing.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", silent.local_addr().unwrap());
        let options = AggregatorOptions::new(base, Secret::new("token"));
        let gateway = Aggregator::new(options).unwrap();
        let mut random = Random::new(1);
        let scope = Scope { environment: Environment::Live, ..random.scope() };
        let mut order = Order::payment(&fixtures::payment(&mut random, scope));
        (order.country, order.network) = ("CI".parse().unwrap(), "mtn".parse().ok());
        order.phone = "+2250500000000".parse().ok();
        for answer in [gateway.submit(&order, now()).await, gateway.query(&order, now()).await] {
            assert_eq!(answer.reports, [Report::Unknown]);
            assert_eq!(answer.ask_again_at, Some(now().plus_millis(8_000 + SILENCE_MS)));
        }
    }
}
