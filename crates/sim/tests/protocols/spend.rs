//! A refund and a payout that want the same money, and the payer's payment still being there.

use std::rc::Rc;

use cauri::{Key, LedgerAccountKind, Payment, Payout, Refund, decide};

use crate::{
    explore::{Protocol, holds, is_found},
    stage::{Command, LeftOut, Scene, Stored, now, paid, payout_ask, refund_ask, scope},
};

struct SameMoney {
    stored: Stored,
    commands: Vec<Command>,
    losses: u8,
    left_out: LeftOut,
}

impl SameMoney {
    fn new(losses: u8, left_out: LeftOut) -> Self {
        let mut stored = Stored::default();
        // 9,800 become available: enough for one of the three.
        let payment = paid(&mut stored, 10_000);
        let refund = refund_ask(&payment, 10_000);
        let payout = Command {
            keys: Vec::new(),
            at: now(),
            decide: Rc::new(|_, cx| {
                decide::payout::create(payout_ask(9_000), true, cx)
                    .map(|it| it.map(|it| it.id.to_string()))
            }),
        };
        let refund = Command {
            keys: vec![Key::Payment(scope(), payment.id)],
            at: now(),
            decide: Rc::new(move |mut read, cx| {
                decide::refund::create(refund.clone(), read.take::<Payment>(0), cx)
                    .map(|it| it.map(|it| it.id.to_string()))
            }),
        };
        Self { stored, commands: vec![payout.clone(), refund, payout], losses, left_out }
    }
}

impl Protocol for SameMoney {
    type State = Scene;

    fn start(&self) -> Scene {
        Scene::new(self.stored.clone(), self.commands.len(), self.losses)
    }

    fn steps(&self, state: &Scene) -> Vec<(String, Scene)> {
        state.steps(&self.commands, self.left_out)
    }

    fn always(&self, state: &Scene) -> Result<(), String> {
        state.stored.adds_up()?;
        let spent = state.stored.all::<Payout>().len() + state.stored.all::<Refund>().len();
        if spent > 1 {
            return Err(format!("the same money is spent {spent} times"));
        }
        Ok(())
    }

    fn finally(&self, state: &Scene) -> Result<(), String> {
        let spent = state.stored.all::<Payout>().len() + state.stored.all::<Refund>().len();
        let reserved = state.stored.balance(LedgerAccountKind::MerchantReserved);
        let granted = state.places.iter().filter(|it| matches!(it.answer(), Some(Ok(_)))).count();
        if spent != 1 || granted != 1 || reserved == 0 {
            return Err(format!("spent {spent} times, granted {granted} times"));
        }
        Ok(())
    }
}

#[test]
fn a_refund_and_a_payout_never_spend_the_same_money() {
    holds(&SameMoney::new(2, LeftOut::Nothing), 250);
}

#[test]
fn without_floors_it_is_spent_twice() {
    is_found(&SameMoney::new(0, LeftOut::Floors));
}
