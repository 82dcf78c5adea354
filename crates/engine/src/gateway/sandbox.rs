//! The simulated network of the sandbox (API §17): what needs a person waits, what does not
//! completes by itself.

use async_trait::async_trait;
use cauri_core::{
    Capabilities, FailureCode, Network, Order, OrderId, PaymentMethod, Report, Scenario, Timestamp,
};

use crate::port::gateway::{Answer, Gateway};

/// Plays every scenario of the contract from the order alone and the time it is given: it keeps
/// nothing, so it answers the same on every node and after every restart.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SandboxGateway;

#[async_trait]
impl Gateway for SandboxGateway {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, order: &Order, now: Timestamp) -> Answer {
        let scenario = scenario(order);
        if scenario == Scenario::NetworkDown {
            return Answer::final_report(Report::Unreachable);
        }
        let network = (order.method == PaymentMethod::Card && order.network.is_none())
            .then(|| "visa".parse::<Network>().ok())
            .flatten();
        let accepted = Report::Accepted { network, redirect_url: None };
        let ask_again_at = delay_s(scenario).map(|delay| now.plus_seconds(delay));
        Answer { reports: vec![accepted], ask_again_at }
    }

    async fn query(&self, order: &Order, now: Timestamp) -> Answer {
        let Some(accepted_at) = order.accepted_at else {
            return Answer::final_report(Report::NotFound);
        };
        let scenario = scenario(order);
        let since = order.simulation.map_or(accepted_at, |simulation| simulation.since);
        let Some(delay) = delay_s(scenario) else { return Answer::default() };
        let at = since.plus_seconds(delay);
        if now < at {
            return Answer::later(at);
        }
        if scenario != Scenario::LateSuccessAfterExpiry {
            return Answer { reports: outcome(scenario), ask_again_at: None };
        }
        let late = at.plus_seconds(2);
        if now < late {
            Answer { reports: vec![Report::Expired], ask_again_at: Some(late) }
        } else {
            // The expiry too, for whoever asks for the first time only now.
            Answer { reports: vec![Report::Expired, Report::Paid], ask_again_at: None }
        }
    }

    async fn cancel(&self, _order: &Order, _now: Timestamp) -> bool {
        // Whoever asks has looked at the capability; the simulator always confirms.
        true
    }
}

/// Told by `simulate`, else chosen by the phone's last digits or the card's amount. What is about
/// refunds lets their payment succeed.
fn scenario(order: &Order) -> Scenario {
    let scenario = order.simulation.map_or_else(|| chosen(order), |told| told.scenario);
    match (order.id, scenario) {
        (OrderId::Payment(_), Scenario::RefundFailure | Scenario::RefundPending) => {
            Scenario::Success
        }
        (_, scenario) => scenario,
    }
}

fn chosen(order: &Order) -> Scenario {
    let phone = order.phone.as_ref();
    match order.id {
        OrderId::Payment(_) => Scenario::for_payment(order.method, phone, order.amount),
        OrderId::Payout(_) => phone.map_or(Scenario::Success, Scenario::for_payout),
        OrderId::Refund(_) => {
            let card = order.method == PaymentMethod::Card;
            let amount = order.refund_of.map(|(_, amount)| amount).filter(|_| card);
            Scenario::for_refund(phone, amount)
        }
    }
}

/// Seconds from acceptance to the outcome; `None` when it waits for a person.
fn delay_s(scenario: Scenario) -> Option<i64> {
    match scenario {
        Scenario::RefundPending => None,
        other => other.delay_seconds().map(i64::from),
    }
}

fn outcome(scenario: Scenario) -> Vec<Report> {
    match scenario {
        Scenario::DuplicateCallback => vec![Report::Paid, Report::Paid],
        Scenario::ConflictingCallback => {
            vec![Report::Paid, Report::Failed(FailureCode::NetworkError)]
        }
        Scenario::Timeout => vec![Report::Expired],
        other => other
            .failure_code()
            .map_or_else(|| vec![Report::Paid], |code| vec![Report::Failed(code)]),
    }
}
