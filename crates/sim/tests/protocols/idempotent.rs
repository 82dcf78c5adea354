//! The same payout asked for three times at once under one key, with money for one.

use std::rc::Rc;

use cauri::{Amount, Keyring, Success};
use cauri::{
    IdempotencyRecord, Key, Payout, RecordKind,
    decide::{
        self,
        idempotency::{Answered, Idempotency},
    },
    wire::Fund,
};

use crate::{
    explore::{Protocol, holds, is_found},
    stage::{Command, LeftOut, Scene, Stored, alone, now, payout_ask, scope},
};

struct SameKey {
    callers: usize,
    losses: u8,
    left_out: LeftOut,
}

fn asked() -> Idempotency {
    Idempotency { key: "order-1".parse().unwrap(), fingerprint: [1; 32] }
}

fn key() -> Key {
    Key::Idempotency(scope(), asked().key)
}

fn answer(record: &IdempotencyRecord) -> String {
    decide::idempotency::body(record, &keyring()).unwrap()
}

fn keyring() -> Keyring {
    Keyring::new([(0, [1; 32])]).unwrap()
}

impl SameKey {
    fn commands(&self) -> Vec<Command> {
        let keeps = self.left_out != LeftOut::Own;
        let decide = Rc::new(move |mut read: crate::stage::Read, cx: &mut decide::Context<'_>| {
            let earlier = read.take::<IdempotencyRecord>(0);
            if let Some(record) = decide::idempotency::earlier(&asked(), earlier.as_ref(), now())? {
                return Ok(decide::Decision {
                    value: answer(record),
                    changes: cauri::Changeset::new(),
                    if_short: None,
                });
            }
            let made = decide::payout::create(payout_ask(10_000), true, cx)?;
            let body = serde_json::to_string(&made.value).unwrap();
            let mut made = made.map(|_| body.clone());
            if keeps {
                let answered =
                    Answered { success: Success::Created, location: None, body, secret: false };
                decide::idempotency::keep(
                    &mut made.changes,
                    scope(),
                    asked(),
                    answered,
                    None,
                    &keyring(),
                    cx.env,
                )
                .unwrap();
            }
            Ok(made)
        });
        let command = Command { keys: vec![key()], at: now(), decide };
        vec![command; self.callers]
    }
}

impl Protocol for SameKey {
    type State = Scene;

    fn start(&self) -> Scene {
        let mut stored = Stored::default();
        alone(&mut stored, 1, |_, cx| {
            let ask = Fund { amount: Amount::new(10_100), currency: "XOF".parse().unwrap() };
            decide::sandbox::fund(ask, Amount::ZERO, cx).map(|it| it.map(|_| String::new()))
        });
        Scene::new(stored, self.callers, self.losses)
    }

    fn steps(&self, state: &Scene) -> Vec<(String, Scene)> {
        state.steps(&self.commands(), self.left_out)
    }

    fn always(&self, state: &Scene) -> Result<(), String> {
        state.stored.adds_up()?;
        let payouts = state.stored.all::<Payout>().len();
        if payouts > 1 {
            return Err(format!("{payouts} payouts"));
        }
        let mut bodies = state.places.iter().filter_map(|it| it.answer()?.as_ref().ok());
        let first = bodies.find(|it| *it != "sent again");
        if let Some(other) = bodies.find(|it| Some(*it) != first && *it != "sent again") {
            return Err(format!("one hears {first:?}, another {other}"));
        }
        Ok(())
    }

    fn finally(&self, state: &Scene) -> Result<(), String> {
        let kept = state
            .stored
            .records
            .values()
            .filter(|it| it.value.kind() == RecordKind::Idempotency && it.value.key() == key());
        if state.stored.all::<Payout>().len() != 1 || kept.count() != 1 {
            return Err("the payout or its answer is missing".to_owned());
        }
        match state.places.iter().find_map(|it| it.answer()?.as_ref().err()) {
            Some(refused) => Err(format!("one of them is refused: {refused}")),
            None => Ok(()),
        }
    }
}

#[test]
fn one_key_acts_once_and_everybody_hears_it() {
    holds(&SameKey { callers: 3, losses: 2, left_out: LeftOut::Nothing }, 400);
}

#[test]
fn an_answer_that_is_not_kept_is_missed() {
    is_found(&SameKey { callers: 2, losses: 0, left_out: LeftOut::Own });
}
