//! A payment whose time is over while its network reports that it was paid, twice.

use std::rc::Rc;

use cauri::{Actor, Key, LedgerAccountKind, NextQuestion, Payment, PaymentStatus, Report, decide};

use crate::{
    explore::{Protocol, holds, is_found},
    stage::{Command, LeftOut, Scene, Stored, now, processing, scope},
};

struct Late {
    stored: Stored,
    commands: Vec<Command>,
    losses: u8,
    left_out: LeftOut,
}

impl Late {
    fn new(losses: u8, left_out: LeftOut) -> Self {
        let mut stored = Stored::default();
        let payment = processing(&mut stored, 10_000);
        let keys = vec![Key::Payment(scope(), payment.id)];
        let deaf = left_out == LeftOut::Own;
        let say = |reports: Vec<Report>, late: bool| Command {
            keys: keys.clone(),
            at: if late { now().plus_seconds(61) } else { now().plus_seconds(59) },
            decide: Rc::new(move |mut read, cx| {
                let Some(payment) = read.take::<Payment>(0) else {
                    return Err(cauri::Refused::NotFound("payment"));
                };
                let over = payment.value.status == PaymentStatus::Expired;
                let reports = if deaf && over { &[][..] } else { &reports };
                let case = decide::payment::Case { payment, link: None };
                decide::payment::report(case, reports, NextQuestion::Never, Actor::Network, cx)
                    .map(|it| it.map(|it| it.id.to_string()))
            }),
        };
        // The last question, whose answer says nothing new; and the success, twice.
        let commands = vec![
            say(vec![Report::Unknown], true),
            say(vec![Report::Paid], false),
            say(vec![Report::Paid], true),
        ];
        Self { stored, commands, losses, left_out }
    }
}

impl Protocol for Late {
    type State = Scene;

    fn start(&self) -> Scene {
        Scene::new(self.stored.clone(), self.commands.len(), self.losses)
    }

    fn steps(&self, state: &Scene) -> Vec<(String, Scene)> {
        state.steps(&self.commands, self.left_out)
    }

    fn always(&self, state: &Scene) -> Result<(), String> {
        state.stored.adds_up()?;
        let clearing = state.stored.balance(LedgerAccountKind::Clearing);
        let payment = state.stored.all::<Payment>().remove(0);
        let paid = if payment.succeeded_at.is_some() { 10_000 } else { 0 };
        if clearing != paid {
            return Err(format!("{clearing} is booked of a payment that is {}", payment.status));
        }
        Ok(())
    }

    fn finally(&self, state: &Scene) -> Result<(), String> {
        let payment = state.stored.all::<Payment>().remove(0);
        let told = state.stored.told("payment.succeeded");
        let expired = state.stored.told("payment.expired");
        if payment.status != PaymentStatus::Succeeded || told != 1 {
            return Err(format!("{} and told {told} times", payment.status));
        }
        if expired != usize::from(payment.expired_at.is_some()) {
            return Err(format!("{expired} expiries are told"));
        }
        Ok(())
    }
}

#[test]
fn a_late_success_is_booked_once_in_every_order() {
    holds(&Late::new(2, LeftOut::Nothing), 1_000);
}

#[test]
fn a_success_that_an_expired_payment_does_not_hear_is_lost() {
    is_found(&Late::new(0, LeftOut::Own));
}

#[test]
fn without_versions_it_is_booked_twice_or_lost() {
    is_found(&Late::new(0, LeftOut::Versions));
}
