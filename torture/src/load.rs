//! Callers that ask all the time, whatever becomes of the servers.

use std::net::SocketAddr;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::deed::{Deed, Told, next};
use crate::dice::Dice;
use crate::http::{Ask, Caller};
use crate::time;

pub(crate) const CALLERS: usize = 8;

/// How often a caller asks for the same thing before it goes on to the next.
const TRIES: usize = 5;

/// Where the servers are at the moment.
pub(crate) type Addresses = [RwLock<SocketAddr>];

pub(crate) fn address(of: &RwLock<SocketAddr>) -> SocketAddr {
    *of.read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// One account's business for one round.
#[derive(Debug)]
pub(crate) struct Load<'a> {
    pub(crate) addresses: &'a Addresses,
    pub(crate) secret: &'a str,
    pub(crate) seed: u64,
    pub(crate) round: usize,
    /// The longest pause between two deeds of one caller.
    pub(crate) pause: Duration,
    pub(crate) over: &'a AtomicBool,
}

impl Load<'_> {
    /// Runs until it is over; what was done, by caller.
    pub(crate) fn run(&self) -> Vec<Deed> {
        thread::scope(|scope| {
            let callers: Vec<_> =
                (0..CALLERS).map(|number| scope.spawn(move || self.caller(number))).collect();
            callers.into_iter().filter_map(|caller| caller.join().ok()).flatten().collect()
        })
    }

    fn caller(&self, number: usize) -> Vec<Deed> {
        let mut dice = Dice::of(self.seed, &format!("round {} caller {number}", self.round));
        let mut lines = [Caller::with(self.secret), Caller::with(self.secret)];
        let mut deeds: Vec<Deed> = Vec::new();
        while !self.over.load(Ordering::Relaxed) {
            let key = format!("r{}-c{number}-{}", self.round, deeds.len());
            let mut deed = next(&mut dice, key, &deeds);
            self.pursue(&mut deed, &mut dice, &mut lines);
            deeds.push(deed);
            let longest = u64::try_from(self.pause.as_millis()).unwrap_or(u64::MAX);
            thread::sleep(Duration::from_millis(dice.below(longest)));
        }
        deeds
    }

    /// Asks until there is an answer to live with; sometimes twice at once, sometimes once more.
    fn pursue(&self, deed: &mut Deed, dice: &mut Dice, lines: &mut [Caller; 2]) {
        let (twice, once_more) = (dice.one_in(8), dice.one_in(8));
        for attempt in 0..TRIES {
            let [one, other] = lines;
            let (here, there) = (self.any(dice), self.any(dice));
            if twice && attempt == 0 {
                let asked: &Deed = deed;
                let told = thread::scope(|scope| {
                    let beside = scope.spawn(|| ask(asked, other, there));
                    [Some(ask(asked, one, here)), beside.join().ok()]
                });
                deed.told.extend(told.into_iter().flatten());
            } else {
                let told = ask(deed, one, here);
                deed.told.push(told);
            }
            let answers = || deed.told.iter().filter_map(|told| told.answer.as_ref());
            if answers().any(|answer| answer.is_good() || answer.is_refusal()) {
                break;
            }
            if self.over.load(Ordering::Relaxed) {
                return;
            }
            thread::sleep(Duration::from_millis(100 + dice.below(400)));
        }
        if once_more && deed.good().is_some() {
            let told = ask(deed, &mut lines[0], self.any(dice));
            deed.told.push(told);
        }
    }

    fn any(&self, dice: &mut Dice) -> SocketAddr {
        address(dice.pick(self.addresses))
    }
}

pub(crate) fn ask(deed: &Deed, line: &mut Caller, at: SocketAddr) -> Told {
    let ask = Ask { method: "POST", path: &deed.path, key: Some(&deed.key), body: &deed.body };
    let began = time::now();
    let answer = line.ask(at, ask).ok();
    Told { began, ended: time::now(), answer }
}
