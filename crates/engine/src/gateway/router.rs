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
    /// not `tried` and is worth asking, or else to one that is not.
    pub(crate) fn after<'a>(
        &self,
        order: &Order,
        tried: &[Connection],
        terms: &'a Terms,
        now: Timestamp,
    ) -> Option<&'a Connection> {
        let mut others = route::others(order, terms);
        others.retain(|it| self.rails.contains_key(it) && !tried.contains(it));
        let passable = others.iter().find(|it| self.is_passable(it, now));
        passable.or_else(|| others.first()).copied()
    }

    /// Where an order goes instead of a connection that is not worth asking now; `None` when it is,
    /// or when no other is. A breaker chooses between connections; it never refuses the last one.
    pub(crate) fn instead<'a>(
        &self,
        order: &Order,
        tried: &[Connection],
        terms: &'a Terms,
        now: Timestamp,
    ) -> Option<&'a Connection> {
        let next = self.after(order, tried, terms, now).filter(|it| self.is_passable(it, now));
        let passes = self.rails.get(&order.connection).is_some_and(|it| it.breaker().pass(now));
        next.filter(|_| !passes)
    }

    fn is_passable(&self, connection: &Connection, now: Timestamp) -> bool {
        self.rails.get(connection).is_some_and(|rail| rail.breaker().is_passable(now))
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
