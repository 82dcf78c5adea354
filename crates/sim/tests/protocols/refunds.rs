//! Three refunds of one payment at once, each of more than a third, and what their network says.

use std::rc::Rc;

use cauri::{Actor, Key, NextQuestion, Payment, Refund, RefundStatus, Report, decide};

use crate::{
    explore::{Protocol, holds, is_found},
    stage::{Command, LeftOut, Scene, Stored, now, paid, refund_ask, scope},
};

struct Refunds {
    stored: Stored,
    commands: Vec<Command>,
    losses: u8,
    left_out: LeftOut,
}

impl Refunds {
    /// So many refunds, and what the network says of so many of them.
    fn new(askers: usize, reports: usize, losses: u8, left_out: LeftOut) -> Self {
        let mut stored = Stored::default();
        let payment = paid(&mut stored, 10_000);
        let forgets = left_out == LeftOut::Own;
        let ask = refund_ask(&payment, 4_001);
        let create = Command {
            keys: vec![Key::Payment(scope(), payment.id)],
            at: now(),
            decide: Rc::new(move |mut read, cx| {
                let mut payment = read.take::<Payment>(0);
                if let Some(payment) = payment.as_mut().filter(|_| forgets) {
                    payment.value.refunding_amount = cauri::Amount::ZERO;
                }
                decide::refund::create(ask.clone(), payment, cx)
                    .map(|it| it.map(|it| it.id.to_string()))
            }),
        };
        let mut commands = vec![create; askers];
        // The network fails one of them and pays the others, as soon as they are there.
        for asker in 0..reports {
            let mut env = crate::stage::env(u8::try_from(asker).unwrap() + 10, now());
            let id: cauri::RefundId = env.id();
            let report = if asker == 0 {
                Report::Failed(cauri::FailureCode::RefundRejected)
            } else {
                Report::Paid
            };
            commands.push(Command {
                keys: vec![Key::Refund(scope(), id), Key::Payment(scope(), payment.id)],
                at: now().plus_seconds(1),
                decide: Rc::new(move |mut read, cx| {
                    let (refund, payment) = (read.take::<Refund>(0), read.take::<Payment>(1));
                    let (Some(refund), Some(payment)) = (refund, payment) else {
                        return Err(cauri::Refused::NotFound("refund"));
                    };
                    let case = decide::refund::Case { refund, payment };
                    let next = NextQuestion::AsPlanned;
                    decide::refund::report(
                        case,
                        std::slice::from_ref(&report),
                        next,
                        Actor::Network,
                        cx,
                    )
                    .map(|it| it.map(|it| it.id.to_string()))
                }),
            });
        }
        Self { stored, commands, losses, left_out }
    }
}

impl Protocol for Refunds {
    type State = Scene;

    fn start(&self) -> Scene {
        Scene::new(self.stored.clone(), self.commands.len(), self.losses)
    }

    fn steps(&self, state: &Scene) -> Vec<(String, Scene)> {
        state.steps(&self.commands, self.left_out)
    }

    fn always(&self, state: &Scene) -> Result<(), String> {
        state.stored.adds_up()?;
        let payment = state.stored.all::<Payment>().remove(0);
        let refunds = state.stored.all::<Refund>();
        let sum = |status: RefundStatus| -> i64 {
            refunds.iter().filter(|it| it.status == status).map(|it| it.amount.units()).sum()
        };
        let (open, done) = (sum(RefundStatus::Created), sum(RefundStatus::Succeeded));
        if open + done > payment.amount.units() {
            return Err(format!("{} of {} is refunded", open + done, payment.amount));
        }
        if (payment.refunding_amount.units(), payment.refunded_amount.units()) != (open, done) {
            return Err("the payment does not know its refunds".to_owned());
        }
        Ok(())
    }

    fn finally(&self, state: &Scene) -> Result<(), String> {
        let told = state.stored.told("refund.created");
        let refunds = state.stored.all::<Refund>().len();
        let parts = state.stored.told("payment.partially_refunded");
        let done = state
            .stored
            .all::<Refund>()
            .iter()
            .filter(|it| it.status == RefundStatus::Succeeded)
            .count();
        if told != refunds || parts != done {
            return Err(format!("{refunds} refunds tell {told} times, {done} done {parts} times"));
        }
        Ok(())
    }
}

#[test]
fn concurrent_refunds_never_return_more_than_was_paid() {
    holds(&Refunds::new(3, 2, 0, LeftOut::Nothing), 1_500);
    holds(&Refunds::new(2, 2, 0, LeftOut::Nothing), 250);
    holds(&Refunds::new(2, 2, 1, LeftOut::Nothing), 1_000);
}

#[test]
fn without_versions_too_much_is_refunded() {
    is_found(&Refunds::new(3, 0, 0, LeftOut::Versions));
}

#[test]
fn refunds_that_do_not_count_one_another_are_found() {
    is_found(&Refunds::new(3, 0, 0, LeftOut::Own));
}
