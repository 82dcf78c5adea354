//! The rails of an engine, and which of them are worth asking.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use cauri_core::{
    Capabilities, Connection, Environment, FailureCode, Order, Report, Timestamp,
    decide::{Terms, route},
};

use super::{
    breaker::{Breaker, BreakerOptions, BreakerState},
    sandbox::SandboxGateway,
};
use crate::port::gateway::{Answer, Gateway};

/// The gateways that are plugged in, each with its breaker.
///
/// It keeps nothing of an order: which connection carries one is in the order's record, and the
/// next one follows from its id. What it remembers is how connections answer, and forgetting that
/// costs some attempts, no money.
#[derive(Debug)]
pub(crate) struct Router {
    rails: HashMap<Connection, Plugged>,
    sandbox: SandboxGateway,
}

struct Plugged {
    gateway: Arc<dyn Gateway>,
    breaker: Mutex<Breaker>,
}

impl Router {
    pub(crate) fn new(
        gateways: HashMap<Connection, Arc<dyn Gateway>>,
        options: BreakerOptions,
    ) -> Self {
        let rail = |(connection, gateway)| {
            (connection, Plugged { gateway, breaker: Mutex::new(Breaker::new(options)) })
        };
        Self { rails: gateways.into_iter().map(rail).collect(), sandbox: SandboxGateway::default() }
    }

    /// The rail that carries an order: the simulator in the sandbox, else the gateway of its
    /// connection.
    pub(crate) fn gateway(&self, order: &Order) -> &dyn Gateway {
        match order.scope.environment {
            Environment::Sandbox => &self.sandbox,
            Environment::Live => {
                self.rails.get(&order.connection).map_or(&NoGateway, |rail| &*rail.gateway)
            }
        }
    }

    /// What the breaker of a connection thinks of it; `None` when there is no such connection.
    pub(crate) fn state(&self, connection: &Connection) -> Option<BreakerState> {
        self.rails.get(connection).map(|rail| rail.breaker().state())
    }

    /// Where an order goes that its connection has not carried: to the next of its route that was
    /// not `tried` and is worth asking, or else to one that is not. It is let through there: a
    /// connection that is to be tried again gets one order, not all that ask in this moment.
    pub(crate) fn after<'a>(
        &self,
        order: &Order,
        tried: &[Connection],
        terms: &'a Terms,
        now: Timestamp,
    ) -> Option<&'a Connection> {
        let mut others = route::others(order, terms);
        others.retain(|it| self.rails.contains_key(it) && !tried.contains(it));
        let passing = others.iter().find(|it| self.passes(it, now));
        passing.or_else(|| others.first()).copied()
    }

    /// Where a new order goes instead of a connection that is not worth asking now; `None` when it
    /// is, or when no other is. A breaker chooses between connections; it never refuses the last
    /// one, and has no say in what the simulator does.
    pub(crate) fn instead<'a>(
        &self,
        order: &Order,
        terms: &'a Terms,
        now: Timestamp,
    ) -> Option<&'a Connection> {
        let simulated = order.scope.environment == Environment::Sandbox;
        if simulated || self.passes(&order.connection, now) {
            return None;
        }
        route::others(order, terms).into_iter().find(|it| self.passes(it, now))
    }

    fn passes(&self, connection: &Connection, now: Timestamp) -> bool {
        self.rails.get(connection).is_some_and(|rail| rail.breaker().pass(now))
    }

    /// Takes note of how a connection answered when an order was sent.
    pub(crate) fn heard(&self, order: &Order, answer: &Answer, now: Timestamp) {
        let unanswered = |report: &Report| {
            matches!(
                report,
                Report::Unreachable
                    | Report::Unknown
                    | Report::Refused(FailureCode::NetworkUnavailable)
            )
        };
        if answer.reports.iter().any(unanswered) {
            self.failed(order, now);
        } else if let Some(rail) = self.live(order) {
            rail.breaker().answered();
        }
    }

    /// Takes note that a connection did not answer.
    pub(crate) fn failed(&self, order: &Order, now: Timestamp) {
        let opened = self.live(order).is_some_and(|rail| rail.breaker().failed(now));
        if opened {
            tracing::warn!(connection = %order.connection, "does not answer; its breaker opens");
        }
    }

    fn live(&self, order: &Order) -> Option<&Plugged> {
        let live = order.scope.environment == Environment::Live;
        self.rails.get(&order.connection).filter(|_| live)
    }

    /// What an offer promises over one of its connections that the gateway there does not declare.
    pub(crate) fn broken_promise(&self, terms: &Terms) -> Option<Promise> {
        let countries = terms.live.catalogue.countries().iter();
        countries.flat_map(|country| country.offers()).find_map(|offer| {
            let legs: Vec<&Connection> = match terms.routes.of(&offer.connection) {
                Some(route) => route.legs().iter().map(|leg| &leg.connection).collect(),
                None => vec![&offer.connection],
            };
            let short = |connection: &&&Connection| {
                let declared = self.rails.get(**connection).map(|it| it.gateway.capabilities());
                declared.is_some_and(|declared| !declared.cover(offer.capabilities))
            };
            let connection = (*legs.iter().find(short)?).clone();
            Some(Promise { network: offer.network.clone(), connection })
        })
    }
}

/// An offer of a network over a connection that cannot do all of it.
#[derive(Debug)]
pub(crate) struct Promise {
    pub(crate) network: cauri_core::Network,
    pub(crate) connection: Connection,
}

impl Plugged {
    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Plugged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Plugged").field(&self.breaker().state()).finish()
    }
}

/// Carries nothing: the answer for a connection whose gateway is not (or no longer) there.
#[derive(Debug)]
struct NoGateway;

#[async_trait]
impl Gateway for NoGateway {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn submit(&self, order: &Order, now: Timestamp) -> Answer {
        self.query(order, now).await
    }

    async fn query(&self, order: &Order, now: Timestamp) -> Answer {
        tracing::error!(order = %order.id, connection = %order.connection, "no gateway carries this connection");
        Answer::later(now.plus_seconds(60))
    }

    async fn cancel(&self, _order: &Order, _now: Timestamp) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use cauri_conformance::fixtures::{self, Random};
    use cauri_core::{
        Catalogue, FeeSchedule, Leg, Route, Routes, Scope,
        decide::{Offers, Terms},
    };

    use super::*;

    const REST_MS: i64 = 10_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    /// A live network that is reached over `a` or `b`; the first has just stopped answering.
    fn stage(environment: Environment) -> (Router, Terms, Order) {
        let names = ["a", "b"].map(Connection::new);
        let legs = names.clone().map(|connection| Leg { connection, priority: 1, share: 100 });
        let mut terms = Terms::default();
        terms.live = Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() };
        let way = Connection::new("sim_mtn_ci");
        terms.routes = Routes::default().with(way, Route::new(legs).unwrap());
        let none: Arc<dyn Gateway> = Arc::new(NoGateway);
        let options = BreakerOptions::default().failures_max(1).open_ms(REST_MS);
        let router = Router::new(names.clone().map(|it| (it, none.clone())).into(), options);
        let mut random = Random::new(1);
        let scope = Scope { environment, ..random.scope() };
        let mut payment = fixtures::payment(&mut random, scope);
        payment.country = "CI".parse().unwrap();
        payment.network = Some("mtn".parse().unwrap());
        payment.connection = names[0].clone();
        let mut order = Order::payment(&payment);
        order.scope.environment = Environment::Live;
        router.failed(&order, at(0));
        order.scope.environment = environment;
        (router, terms, order)
    }

    #[test]
    fn of_those_that_leave_a_connection_one_tries_the_other_that_may_answer_again() {
        let (router, terms, order) = stage(Environment::Live);
        let b = Connection::new("b");
        let mut other = order.clone();
        other.connection = b.clone();
        router.failed(&other, at(1));
        assert_eq!(router.instead(&order, &terms, at(5)), None, "neither is worth asking");
        // Ten seconds later `a` lets one try, and the next one finds `b` rested too.
        assert_eq!(router.instead(&order, &terms, at(11)), None);
        assert_eq!(router.state(&order.connection), Some(BreakerState::HalfOpen));
        assert_eq!(router.instead(&order, &terms, at(11)), Some(&b));
        assert_eq!(router.state(&b), Some(BreakerState::HalfOpen));
        assert_eq!(router.instead(&order, &terms, at(11)), None, "one order, not all of them");
    }

    #[test]
    fn what_is_simulated_tries_no_live_connection() {
        let (router, terms, order) = stage(Environment::Sandbox);
        assert_eq!(router.instead(&order, &terms, at(20)), None);
        assert_eq!(router.state(&order.connection), Some(BreakerState::Open));
    }
}
