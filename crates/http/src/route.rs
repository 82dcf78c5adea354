//! Every route of the contract, once (API §2.3).

use std::fmt;

use futures_util::future::BoxFuture;
use http::{HeaderValue, Method};
use matchit::Router;

use crate::{
    ask::Ask,
    handler::{
        Noun, customers, ledger, payment_links, payments, payouts, refunds, sandbox, webhooks,
    },
    problem::Failure,
    respond::Answer,
};

/// What answers a request.
pub(crate) type Handler = for<'a> fn(&'a Ask) -> BoxFuture<'a, Result<Answer, Failure>>;

/// The methods of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Delete,
}

impl Verb {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// Which key a route asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// None.
    Anyone,
    /// Any.
    Public,
    /// A secret one.
    Secret,
}

/// What a route does with a request.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    /// Shows the description of the API.
    Describe,
    /// Answers for a caller.
    Handle(Handler),
}

/// One method of one path.
#[derive(Clone, Copy)]
pub(crate) struct Route {
    pub(crate) verb: Verb,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) sandbox_only: bool,
    /// Does it create, so that a strict installation asks for an `Idempotency-Key`?
    pub(crate) creates: bool,
    /// What the `{id}` in its path names.
    pub(crate) object: Option<Noun>,
    pub(crate) task: Task,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb.as_str(), self.path)
    }
}

impl Route {
    const fn new(verb: Verb, path: &'static str, access: Access, handler: Handler) -> Self {
        let task = Task::Handle(handler);
        Self { verb, path, access, sandbox_only: false, creates: false, object: None, task }
    }

    const fn read(path: &'static str, handler: Handler) -> Self {
        Self::new(Verb::Get, path, Access::Public, handler)
    }

    const fn change(path: &'static str, handler: Handler) -> Self {
        Self::new(Verb::Post, path, Access::Secret, handler)
    }

    const fn create(path: &'static str, handler: Handler) -> Self {
        Self { creates: true, ..Self::change(path, handler) }
    }

    const fn of(self, object: Noun) -> Self {
        Self { object: Some(object), ..self }
    }

    const fn secret(self) -> Self {
        Self { access: Access::Secret, ..self }
    }

    const fn sandbox(self) -> Self {
        Self { sandbox_only: true, ..self }
    }
}

/// The contract's table, in its order.
pub(crate) static ROUTES: &[Route] = &[
    Route::create("/v1/payments", |ask| Box::pin(payments::create(ask))),
    Route::read("/v1/payments", |ask| Box::pin(payments::list(ask))),
    Route::read("/v1/payments/{id}", |ask| Box::pin(payments::retrieve(ask))).of(Noun::Payment),
    Route::read("/v1/payments/{id}/timeline", |ask| Box::pin(payments::timeline(ask)))
        .of(Noun::Payment),
    Route::change("/v1/payments/{id}/cancel", |ask| Box::pin(payments::cancel(ask)))
        .of(Noun::Payment),
    Route::create("/v1/payment-links", |ask| Box::pin(payment_links::create(ask))),
    Route::read("/v1/payment-links", |ask| Box::pin(payment_links::list(ask))),
    Route::read("/v1/payment-links/{id}", |ask| Box::pin(payment_links::retrieve(ask)))
        .of(Noun::PaymentLink),
    Route::change("/v1/payment-links/{id}", |ask| Box::pin(payment_links::modify(ask)))
        .of(Noun::PaymentLink),
    Route::read("/v1/payment-links/{id}/payments", |ask| Box::pin(payment_links::payments(ask)))
        .of(Noun::PaymentLink),
    Route::create("/v1/payouts", |ask| Box::pin(payouts::create(ask))),
    Route::read("/v1/payouts", |ask| Box::pin(payouts::list(ask))),
    Route::read("/v1/payouts/{id}", |ask| Box::pin(payouts::retrieve(ask))).of(Noun::Payout),
    Route::create("/v1/refunds", |ask| Box::pin(refunds::create(ask))),
    Route::read("/v1/refunds", |ask| Box::pin(refunds::list(ask))),
    Route::read("/v1/refunds/{id}", |ask| Box::pin(refunds::retrieve(ask))).of(Noun::Refund),
    Route::create("/v1/customers", |ask| Box::pin(customers::create(ask))),
    Route::read("/v1/customers", |ask| Box::pin(customers::list(ask))),
    Route::read("/v1/customers/{id}", |ask| Box::pin(customers::retrieve(ask))).of(Noun::Customer),
    Route::change("/v1/customers/{id}", |ask| Box::pin(customers::modify(ask))).of(Noun::Customer),
    Route::read("/v1/payment-methods", |ask| Box::pin(ledger::payment_methods(ask))),
    Route::read("/v1/balance", |ask| Box::pin(ledger::balance(ask))),
    Route::read("/v1/ledger", |ask| Box::pin(ledger::entries(ask))),
    Route::create("/v1/webhooks", |ask| Box::pin(webhooks::create(ask))),
    Route::read("/v1/webhooks", |ask| Box::pin(webhooks::list(ask))).secret(),
    Route::change("/v1/webhooks/{id}", |ask| Box::pin(webhooks::modify(ask))).of(Noun::Endpoint),
    Route::new(Verb::Delete, "/v1/webhooks/{id}", Access::Secret, |ask| {
        Box::pin(webhooks::delete(ask))
    })
    .of(Noun::Endpoint),
    Route::change("/v1/webhooks/test", |ask| Box::pin(webhooks::test(ask))),
    Route::read("/v1/webhooks/deliveries", |ask| Box::pin(webhooks::deliveries(ask))).secret(),
    Route::change("/v1/sandbox/simulate", |ask| Box::pin(sandbox::simulate(ask))).sandbox(),
    Route::create("/v1/sandbox/fund", |ask| Box::pin(sandbox::fund(ask))).sandbox(),
    Route::read("/v1/sandbox/scenarios", |ask| Box::pin(sandbox::scenarios(ask))).sandbox(),
    Route {
        verb: Verb::Get,
        path: "/v1/openapi.json",
        access: Access::Anyone,
        sandbox_only: false,
        creates: false,
        object: None,
        task: Task::Describe,
    },
];

/// Finds the route of a request.
#[derive(Debug)]
pub(crate) struct Routes {
    router: Router<Place>,
}

/// The routes of one path.
#[derive(Debug, Default)]
struct Place {
    path: &'static str,
    routes: Vec<&'static Route>,
}

/// What was found for a method and a path.
#[derive(Debug)]
pub(crate) enum Found {
    /// A route, and the id in the path.
    Route(&'static Route, Option<String>),
    /// The path, with other methods.
    Methods { path: &'static str, allow: HeaderValue },
    /// Nothing.
    Nothing,
}

impl Routes {
    pub(crate) fn new() -> Self {
        let mut places: Vec<Place> = Vec::new();
        for route in ROUTES {
            match places.iter_mut().find(|place| place.path == route.path) {
                Some(place) => place.routes.push(route),
                None => places.push(Place { path: route.path, routes: vec![route] }),
            }
        }
        let mut router = Router::new();
        for place in places {
            let path = place.path;
            // The table is our own, and every path in it is routed by a test.
            router.insert(path, place).expect("paths of the table do not conflict");
        }
        Self { router }
    }

    pub(crate) fn find(&self, method: &Method, path: &str) -> Found {
        let Ok(found) = self.router.at(path) else { return Found::Nothing };
        let routes = &found.value.routes;
        match routes.iter().find(|route| route.verb.as_str() == method.as_str()) {
            Some(route) => Found::Route(route, found.params.get("id").map(str::to_owned)),
            None => {
                let verbs: Vec<&str> = routes.iter().map(|route| route.verb.as_str()).collect();
                let allow = HeaderValue::try_from(verbs.join(", "))
                    .unwrap_or(HeaderValue::from_static("GET"));
                Found::Methods { path: found.value.path, allow }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(method: Method, path: &str) -> String {
        match Routes::new().find(&method, path) {
            Found::Route(route, id) => format!("{route:?} {}", id.unwrap_or_default()),
            Found::Methods { allow, .. } => format!("405 {}", allow.to_str().unwrap()),
            Found::Nothing => "404".to_owned(),
        }
    }

    #[test]
    fn every_route_is_found_under_its_own_path() {
        for route in ROUTES {
            let method = route.verb.as_str().parse().unwrap();
            let id = if route.path.contains("{id}") { "x_1" } else { "" };
            let said = found(method, &route.path.replace("{id}", "x_1"));
            assert_eq!(said, format!("{route:?} {id}"));
        }
    }

    #[test]
    fn words_win_over_ids() {
        assert_eq!(found(Method::POST, "/v1/webhooks/test"), "POST /v1/webhooks/test ");
        assert_eq!(found(Method::POST, "/v1/webhooks/tests"), "POST /v1/webhooks/{id} tests");
        assert_eq!(found(Method::DELETE, "/v1/webhooks/test"), "405 POST");
        assert_eq!(found(Method::GET, "/v1/webhooks/whe_x"), "405 POST, DELETE");
        assert_eq!(found(Method::POST, "/v1/webhooks/deliveries"), "405 GET");
    }

    #[test]
    fn another_method_is_no_route_and_another_path_is_nothing() {
        for method in [Method::HEAD, Method::OPTIONS, Method::PUT, Method::PATCH, Method::TRACE] {
            assert_eq!(found(method, "/v1/payments"), "405 POST, GET");
        }
        for path in [
            "",
            "/",
            "*",
            "/v1",
            "/v1/",
            "/v1/payments/",
            "/v1/payments/a/b",
            "/v1/payments//cancel",
            "/V1/payments",
            "/v1/Payments",
            "/v1/v1/payments",
            "//v1/payments",
            "/v1/payments/x/cancel/",
            "/v1/payment_links",
        ] {
            assert_eq!(found(Method::GET, path), "404", "{path}");
        }
    }
}
