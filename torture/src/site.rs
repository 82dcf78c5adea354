//! A store with its servers, and the rounds that were fought on it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};
use std::thread::{self, sleep};
use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{self, Checks};
use crate::deed::{Deed, Kind, Told, fund};
use crate::dice::Dice;
use crate::disk::SmallDisk;
use crate::fault::Fault;
use crate::http::{Answer, Ask, Caller};
use crate::load::{Load, address, ask};
use crate::postgres::Postgres;
use crate::receiver::Receiver;
use crate::server::{Program, Server};
use crate::time;

/// More than all payouts and refunds of a round can take.
const FUNDS: i64 = 999_999_999_999;

/// How soon a server must serve again when a fault is over.
const RECOVERY: Duration = Duration::from_secs(60);

/// How often a request is repeated before it counts as not answered.
const REPLAYS: usize = 50;

#[derive(Debug)]
pub(crate) struct Site {
    name: &'static str,
    pub(crate) servers: Vec<Server>,
    addresses: Vec<RwLock<SocketAddr>>,
    program: Program,
    rounds: Vec<Round>,
    pub(crate) postgres: Option<Postgres>,
    // Last, so that it is unmounted when nobody uses it any more.
    pub(crate) disk: Option<SmallDisk>,
}

/// One account, and all that the client remembers of it.
#[derive(Debug)]
struct Round {
    number: usize,
    secret: String,
    hook: String,
    hook_secret: String,
    deeds: Vec<Deed>,
}

/// What is counted over all rounds.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) rounds: usize,
    pub(crate) deeds: usize,
    pub(crate) unknown: usize,
    pub(crate) answers: BTreeMap<u16, usize>,
    pub(crate) deliveries: usize,
    pub(crate) held: u64,
    pub(crate) violations: usize,
    pub(crate) recovery_max: Duration,
}

impl Site {
    pub(crate) fn sqlite(binary: &Path, directory: &Path) -> Result<Self, String> {
        Self::open("sqlite", binary, directory, format!("sqlite:{}/x.db", directory.display()), 1)
    }

    pub(crate) fn small(binary: &Path, directory: &Path) -> Result<Self, String> {
        let disk = SmallDisk::mount()?;
        let store = format!("sqlite:{}/x.db", disk.path().display());
        let mut site = Self::open("sqlite on a small disk", binary, directory, store, 1)?;
        site.disk = Some(disk);
        Ok(site)
    }

    pub(crate) fn postgres(
        binary: &Path,
        directory: &Path,
        postgres: Postgres,
    ) -> Result<Self, String> {
        let mut site = Self::open("postgres", binary, directory, postgres.store(), 2)?;
        site.postgres = Some(postgres);
        Ok(site)
    }

    fn open(
        name: &'static str,
        binary: &Path,
        directory: &Path,
        store: String,
        servers: usize,
    ) -> Result<Self, String> {
        let log = directory.join("log");
        let program = Program { binary: binary.to_path_buf(), store, log };
        let mut site = Self {
            name,
            servers: Vec::new(),
            addresses: Vec::new(),
            program,
            rounds: Vec::new(),
            postgres: None,
            disk: None,
        };
        for _ in 0..servers {
            let server = Server::start(&site.program)?;
            site.addresses.push(RwLock::new(server.address()));
            site.servers.push(server);
        }
        Ok(site)
    }

    pub(crate) fn restart(&mut self, number: usize) -> Result<(), String> {
        let server = Server::start(&self.program)?;
        let mut at = self.addresses[number].write().unwrap_or_else(PoisonError::into_inner);
        *at = server.address();
        drop(at);
        self.servers[number] = server;
        Ok(())
    }

    fn first(&self) -> SocketAddr {
        address(&self.addresses[0])
    }

    /// Load, a fault in the middle of it, recovery, and every check.
    pub(crate) fn round(
        &mut self,
        fault: Fault,
        number: usize,
        seed: u64,
        receiver: &Receiver,
        totals: &mut Totals,
    ) -> Result<(), String> {
        let mut dice = Dice::of(seed, &format!("{} round {number}", self.name));
        let mut round = self.begin(number, receiver)?;
        let over = AtomicBool::new(false);
        // The addresses are shared with the callers while the site is struck.
        let addresses: Vec<_> = self.addresses.iter().map(|at| RwLock::new(address(at))).collect();
        let (what, recovery) = thread::scope(|scope| {
            let load = Load {
                addresses: &addresses,
                secret: &round.secret,
                seed,
                round: number,
                pause: fault.pause(),
                over: &over,
            };
            let load = scope.spawn(move || load.run());
            sleep(Duration::from_millis(1_000 + dice.below(2_000)));
            let struck = fault.strike(self, &mut dice).and_then(|what| {
                let since = time::now();
                for (here, there) in addresses.iter().zip(&self.addresses) {
                    *here.write().unwrap_or_else(PoisonError::into_inner) = address(there);
                }
                self.serves(&round.secret)?;
                Ok((what, since.elapsed()))
            });
            sleep(Duration::from_millis(1_500));
            over.store(true, Ordering::Relaxed);
            let deeds = load.join().map_err(|_| "a caller panicked".to_owned())?;
            round.deeds.extend(deeds);
            struck
        })?;
        for (number, server) in self.servers.iter_mut().enumerate() {
            if server.has_ended() {
                return Err(format!("server {number} ended by itself"));
            }
        }
        let (answers, unknown) = counted(&round.deeds);
        let since = time::now();
        let mut checks = Checks::default();
        let deliveries = self.checked(&mut round, receiver, &mut checks)?;
        println!(
            "{} round {number}: {what}; {} operations, {unknown} unknown, answers {answers:?}; \
             served again after {} ms, checked after {} ms: {deliveries} deliveries, {} checks \
             held, {} did not",
            self.name,
            round.deeds.len(),
            recovery.as_millis(),
            since.elapsed().as_millis(),
            checks.held,
            checks.violations.len(),
        );
        totals.rounds += 1;
        totals.deeds += round.deeds.len();
        totals.unknown += unknown;
        totals.deliveries += deliveries;
        totals.recovery_max = totals.recovery_max.max(recovery);
        for (status, count) in answers {
            *totals.answers.entry(status).or_default() += count;
        }
        totals.add(&checks);
        self.rounds.push(round);
        Ok(())
    }

    /// Everything once more: nothing that came later may have changed what was before.
    pub(crate) fn end(mut self, receiver: &Receiver, totals: &mut Totals) -> Result<(), String> {
        let mut rounds = std::mem::take(&mut self.rounds);
        let mut checks = Checks::default();
        for round in &mut rounds {
            self.checked(round, receiver, &mut checks)?;
        }
        println!(
            "{}: all {} rounds checked again at the end: {} checks held, {} did not",
            self.name,
            rounds.len(),
            checks.held,
            checks.violations.len()
        );
        totals.add(&checks);
        Ok(())
    }

    /// A fresh account with money, and with a receiver of all its events.
    fn begin(&self, number: usize, receiver: &Receiver) -> Result<Round, String> {
        let account = self.program.run(&["accounts", "create", "--json"])?;
        let account: Value = serde_json::from_str(&account).map_err(|error| error.to_string())?;
        let secret = account["keys"]["secret_sandbox"].as_str().ok_or("no key in an account")?;
        let hook = format!("/{}/{number}", self.name.replace(' ', "-"));
        let mut caller = Caller::with(secret);
        let body = json!({"url": receiver.url(&hook), "events": ["*"]}).to_string();
        let ask_for = Ask { method: "POST", path: "/v1/webhooks", key: Some("hook"), body: &body };
        let endpoint = caller.ask(self.first(), ask_for).map_err(|e| e.to_string())?.json()?;
        let hook_secret =
            endpoint["secret"].as_str().ok_or_else(|| format!("no secret in {endpoint}"))?;
        let mut funds = fund(format!("r{number}-funds"), FUNDS);
        let told = ask(&funds, &mut caller, self.first());
        funds.told.push(told);
        if funds.good().is_none() {
            return Err(format!("no money to begin with: {:?}", funds.told));
        }
        Ok(Round {
            number,
            secret: secret.to_owned(),
            hook,
            hook_secret: hook_secret.to_owned(),
            deeds: vec![funds],
        })
    }

    /// Waits until every server answers and its store does.
    fn serves(&self, secret: &str) -> Result<(), String> {
        for at in &self.addresses {
            let mut caller = Caller::with(secret);
            time::within(RECOVERY, Duration::from_millis(20), || {
                caller.get(address(at), "/v1/balance")
            })
            .map_err(|seen| format!("{} does not serve again: {seen}", self.name))?;
        }
        Ok(())
    }

    /// How many deliveries there were.
    fn checked(
        &self,
        round: &mut Round,
        receiver: &Receiver,
        checks: &mut Checks,
    ) -> Result<usize, String> {
        let at = self.first();
        let mut caller = Caller::with(&round.secret);
        self.replay(round)?;
        let world = match check::rest(&mut caller, at, &round.deeds) {
            Ok(world) => world,
            Err(seen) => {
                checks.violations.push(format!("round {}: {seen}", round.number));
                return Ok(0);
            }
        };
        check::answers(checks, &world, &round.deeds);
        check::money(checks, &world, &round.deeds, &mut caller, at)?;
        let hits = receiver.told(&round.hook);
        check::events(checks, &world, &hits, &round.hook_secret, &mut caller, at)?;
        let audit = self.program.run(&["audit"]);
        checks.holds(audit.is_ok(), || format!("audit: {audit:?}"));
        Ok(hits.len())
    }

    /// Asks for everything again, with its key and until there is an answer, every server in turn.
    fn replay(&self, round: &mut Round) -> Result<(), String> {
        let secret = &*round.secret;
        // A cancellation is only possible when what it cancels has come to rest.
        round.deeds.sort_by_key(|deed| deed.kind == Kind::Cancel);
        let share = round.deeds.len().div_ceil(crate::load::CALLERS).max(1);
        thread::scope(|scope| {
            let threads: Vec<_> = round
                .deeds
                .chunks_mut(share)
                .enumerate()
                .map(|(number, deeds)| {
                    let at = &self.addresses[number % self.addresses.len()];
                    scope.spawn(move || {
                        let mut caller = Caller::with(secret);
                        deeds.iter_mut().try_for_each(|deed| again(deed, &mut caller, address(at)))
                    })
                })
                .collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().map_err(|_| "a panic".to_owned())?)
        })
    }
}

fn again(deed: &mut Deed, caller: &mut Caller, at: SocketAddr) -> Result<(), String> {
    for _ in 0..REPLAYS {
        let told = ask(deed, caller, at);
        let answer = told.answer.clone();
        deed.told.push(told);
        match answer {
            Some(answer) if answer.is_good() => return Ok(()),
            // What was never done may be refused now, unless it has to be possible.
            Some(answer) if answer.is_refusal() && deed.kind != Kind::Cancel => return Ok(()),
            _ => sleep(Duration::from_millis(100)),
        }
    }
    let last = deed.told.last().and_then(|told| told.answer.as_ref()).map(Answer::text);
    Err(format!("no answer to {}: {last:?}", deed.key))
}

/// Answers by status, and how many operations were left without any.
fn counted(deeds: &[Deed]) -> (BTreeMap<u16, usize>, usize) {
    let mut answers: BTreeMap<u16, usize> = BTreeMap::new();
    let told = |deed: &Deed| deed.told.iter().filter_map(|told| told.answer.clone()).count();
    for answer in
        deeds.iter().flat_map(|deed| &deed.told).filter_map(|told: &Told| told.answer.as_ref())
    {
        *answers.entry(answer.status).or_default() += 1;
    }
    let unknown = deeds.iter().map(|deed| deed.told.len() - told(deed)).sum();
    (answers, unknown)
}

impl Totals {
    fn add(&mut self, checks: &Checks) {
        /// How many violations of a round are told.
        const TOLD_MAX: usize = 20;
        self.held += checks.held;
        self.violations += checks.violations.len();
        for violation in checks.violations.iter().take(TOLD_MAX) {
            println!("  VIOLATION {violation}");
        }
    }
}
