//! The receivers of webhooks: they hang, answer 500, drop the connection, and remember all they
//! got.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::pending,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use cauri::{Attempt, AttemptError, Environment, Notifier, Receipt, signature};
use tokio::time::{Instant, sleep, timeout};

use crate::{
    dice::{Dice, hash},
    node::Life,
    world::World,
};

/// What a receiver got under one delivery id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Got {
    pub(crate) body: Vec<u8>,
    /// Every status it answered with, whether or not the answer arrived.
    pub(crate) answered: Vec<u16>,
    /// How often it was tried at all.
    pub(crate) tried: u64,
    /// As which attempts.
    pub(crate) numbers: BTreeSet<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Receivers {
    got: BTreeMap<String, Got>,
    /// By URL, as far as the client knows them.
    secrets: BTreeMap<String, Vec<String>>,
}

impl Receivers {
    pub(crate) fn got(&self, delivery: &str) -> Option<&Got> {
        self.got.get(delivery)
    }

    fn tried(&mut self, delivery: &str, number: usize) {
        let got = self.got.entry(delivery.to_owned()).or_default();
        got.tried += 1;
        got.numbers.insert(number);
    }

    pub(crate) fn learn(&mut self, url: String, secret: String) {
        self.secrets.entry(url).or_default().push(secret);
    }
}

pub(crate) struct SimNotifier {
    world: Arc<World>,
    life: Arc<Life>,
}

impl fmt::Debug for SimNotifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimNotifier").field("node", &self.life.node).finish_non_exhaustive()
    }
}

/// Is this receiver one that never takes anything, not even when all is calm?
pub(crate) fn is_dead(world: &World, url: &str) -> bool {
    !world.profile.calm
        && crate::dice::mix(world.plan.seed, &[7, hash(url.as_bytes())]).is_multiple_of(5)
}

impl SimNotifier {
    pub(crate) const fn new(world: Arc<World>, life: Arc<Life>) -> Self {
        Self { world, life }
    }

    async fn answer(
        &self,
        attempt: &Attempt,
        delivery: &str,
        dice: &mut Dice,
    ) -> Result<u16, AttemptError> {
        let world = &self.world;
        let rate = world.profile.receiver_faults;
        if is_dead(world, &attempt.url) {
            match dice.random.below(4) {
                0 => return Err(AttemptError::ConnectionFailed),
                1 => pending::<()>().await,
                2 => return Err(AttemptError::DnsError),
                _ => {}
            }
            let status = *dice.random.pick(&[500, 404, 301, 410]);
            return Ok(self.takes(attempt, delivery, status));
        }
        if world.fault(dice, "receiver: hangs", rate / 4) {
            pending::<()>().await;
        }
        if world.fault(dice, "receiver: refuses the connection", rate / 4) {
            return Err(AttemptError::ConnectionFailed);
        }
        if world.fault(dice, "receiver: slow", rate / 2) {
            sleep(Duration::from_millis(dice.millis(1_000, 9_000))).await;
        }
        if world.fault(dice, "receiver: answers 500", rate / 2) {
            return Ok(self.takes(attempt, delivery, 500));
        }
        let status = self.takes(attempt, delivery, 200);
        if world.fault(dice, "receiver: drops the connection", rate / 4) {
            return Err(AttemptError::ConnectionFailed);
        }
        Ok(status)
    }

    /// The receiver has the whole request.
    fn takes(&self, attempt: &Attempt, delivery: &str, status: u16) -> u16 {
        let world = &self.world;
        let mut receivers = world.receivers();
        let secrets = receivers.secrets.get(&attempt.url).cloned().unwrap_or_default();
        let got = receivers.got.entry(delivery.to_owned()).or_default();
        let same = got.body.is_empty() || got.body == attempt.body;
        got.body = attempt.body.to_vec();
        got.answered.push(status);
        drop(receivers);
        if !same {
            let text = format!("{delivery} brings other bytes than before");
            world.violate("every attempt sends the same bytes", text);
        }
        // A secret that the client never got an answer about cannot be checked.
        if let [secret] = secrets.as_slice() {
            let header = header(attempt, "X-Webhook-Signature");
            let now = world.now().seconds();
            let verdict =
                signature::verify(&attempt.body, header.as_bytes(), &[secret.as_str()], now);
            if let Err(error) = verdict {
                world.violate("every attempt is signed", format!("{delivery}: {error}"));
            }
        }
        status
    }
}

fn header<'a>(attempt: &'a Attempt, name: &str) -> &'a str {
    attempt.headers.iter().find(|(it, _)| *it == name).map_or("", |(_, value)| value)
}

#[async_trait]
impl Notifier for SimNotifier {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        self.life.go_on().await;
        let world = &self.world;
        world.step();
        let began = Instant::now();
        let mut dice = world.dice("deliver", self.life.node);
        let delivery = header(attempt, "X-Webhook-Delivery").to_owned();
        let number = header(attempt, "X-Webhook-Attempt").to_owned();
        let at = number.parse::<usize>().unwrap_or_default();
        world.receivers().tried(&delivery, at);
        if !(1..=6).contains(&at) {
            world.violate("at most six attempts", format!("{delivery} is at attempt {number}"));
        }
        world.oracle(|oracle| oracle.attempted(world.millis(), &delivery, at));
        let rate = world.profile.deaths_at_calls;
        if world.fault(&mut dice, "node: dies before a delivery", rate) {
            self.life.die(world, "dies before a delivery");
        }
        self.life.go_on().await;
        world.pause(&mut dice, "", 0).await;
        let answer = self.answer(attempt, &delivery, &mut dice);
        let outcome =
            timeout(Duration::from_secs(8), answer).await.unwrap_or(Err(AttemptError::Timeout));
        world.tell(&format!(
            "node {} delivers {delivery}, attempt {number}: {outcome:?}",
            self.life.node
        ));
        if world.fault(&mut dice, "node: dies after a delivery", rate) {
            self.life.die(world, "dies after a delivery");
        }
        self.life.go_on().await;
        let duration_ms = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
        Receipt { outcome, duration_ms }
    }

    async fn vet(&self, _url: &str, _environment: Environment) -> Result<(), AttemptError> {
        self.life.go_on().await;
        Ok(())
    }
}
