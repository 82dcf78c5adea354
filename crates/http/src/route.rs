//! Every route of the contract, once (API §2.3).

use std::fmt;

use cauri::Success;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Method};
use matchit::Router;

use crate::{
    ask::Ask,
    handler::{
        Noun, customers, events, ledger, payment_links, payments, payouts, refunds, sandbox,
        webhooks,
    },
    openapi::filters::{self, Filter},
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

/// Does an answer wait for a network or a name server?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// For nobody.
    Never,
    /// For a network, in the live environment: the simulator answers at once.
    Live,
    /// For a name server.
    Always,
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
    /// When its answer waits for somebody outside.
    pub(crate) waits: Waits,
    /// What the `{id}` in its path names.
    pub(crate) object: Option<Noun>,
    /// How it succeeds. What creates asks for an `Idempotency-Key` where the installation does.
    pub(crate) success: Success,
    pub(crate) task: Task,
    pub(crate) doc: Doc,
}

/// What is said about a route in the description of the API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doc {
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    /// The schema of its body.
    pub(crate) takes: Option<&'static str>,
    /// The schema of its answer.
    pub(crate) gives: &'static str,
    pub(crate) filters: &'static [&'static [Filter]],
    /// Its codes beside those that routes like it have anyway.
    pub(crate) codes: &'static [&'static str],
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb.as_str(), self.path)
    }
}

impl Route {
    const fn new(verb: Verb, path: &'static str, access: Access, task: Task) -> Self {
        Self {
            verb,
            path,
            access,
            sandbox_only: false,
            waits: Waits::Never,
            object: None,
            success: Success::Done,
            task,
            doc: Doc { id: "", summary: "", takes: None, gives: "", filters: &[], codes: &[] },
        }
    }

    const fn get(path: &'static str, handler: Handler) -> Self {
        Self::new(Verb::Get, path, Access::Public, Task::Handle(handler))
    }

    const fn post(path: &'static str, handler: Handler) -> Self {
        Self::new(Verb::Post, path, Access::Secret, Task::Handle(handler))
    }

    const fn delete(path: &'static str, handler: Handler) -> Self {
        Self::new(Verb::Delete, path, Access::Secret, Task::Handle(handler))
    }

    const fn creates(self) -> Self {
        Self { success: Success::Created, ..self }
    }

    const fn accepts(self) -> Self {
        Self { success: Success::Accepted, ..self }
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

    const fn waits(self, waits: Waits) -> Self {
        Self { waits, ..self }
    }

    const fn doc(self, id: &'static str, summary: &'static str) -> Self {
        Self { doc: Doc { id, summary, ..self.doc }, ..self }
    }

    const fn takes(self, schema: &'static str) -> Self {
        Self { doc: Doc { takes: Some(schema), ..self.doc }, ..self }
    }

    const fn gives(self, schema: &'static str) -> Self {
        Self { doc: Doc { gives: schema, ..self.doc }, ..self }
    }

    const fn filters(self, filters: &'static [&'static [Filter]]) -> Self {
        Self { doc: Doc { filters, ..self.doc }, ..self }
    }

    const fn refuses(self, codes: &'static [&'static str]) -> Self {
        Self { doc: Doc { codes, ..self.doc }, ..self }
    }
}

/// The contract's table, in its order.
pub(crate) static ROUTES: &[Route] = &[
    Route::post("/v1/payments", |ask| Box::pin(payments::create(ask)))
        .creates()
        .doc("create_payment", "Creates a payment")
        .takes("CreatePayment")
        .gives("Payment")
        .refuses(&[
            "related_resource_not_found",
            "payment_link_amount_mismatch",
            "country_not_supported",
            "payment_method_not_supported",
            "network_not_supported",
            "currency_not_supported",
            "payin_not_supported",
            "amount_below_minimum",
            "amount_above_maximum",
            "phone_invalid",
            "phone_country_mismatch",
            "payment_link_inactive",
            "payment_link_expired",
            "payment_link_already_paid",
            "payment_link_in_use",
        ]),
    Route::get("/v1/payments", |ask| Box::pin(payments::list(ask)))
        .doc("list_payments", "Lists payments, newest first")
        .gives("PaymentList")
        .filters(&[filters::PAYMENTS, filters::DATES, filters::PAGE]),
    Route::get("/v1/payments/{id}", |ask| Box::pin(payments::retrieve(ask)))
        .of(Noun::Payment)
        .doc("retrieve_payment", "Retrieves a payment")
        .gives("Payment"),
    Route::get("/v1/payments/{id}/timeline", |ask| Box::pin(payments::timeline(ask)))
        .of(Noun::Payment)
        .doc("list_payment_timeline", "Lists what happened to a payment, oldest first")
        .gives("TimelineEntryList")
        .filters(&[filters::DATES, filters::PAGE]),
    Route::post("/v1/payments/{id}/cancel", |ask| Box::pin(payments::cancel(ask)))
        .waits(Waits::Live)
        .of(Noun::Payment)
        .doc("cancel_payment", "Cancels a payment")
        .takes("CancelPayment")
        .gives("Payment")
        .refuses(&["payment_not_cancellable"]),
    Route::post("/v1/payment-links", |ask| Box::pin(payment_links::create(ask)))
        .creates()
        .doc("create_payment_link", "Creates a payment link")
        .takes("CreatePaymentLink")
        .gives("PaymentLink")
        .refuses(&[
            "country_not_supported",
            "payment_method_not_supported",
            "network_not_supported",
            "currency_not_supported",
            "payin_not_supported",
            "amount_below_minimum",
            "amount_above_maximum",
        ]),
    Route::get("/v1/payment-links", |ask| Box::pin(payment_links::list(ask)))
        .doc("list_payment_links", "Lists payment links, newest first")
        .gives("PaymentLinkList")
        .filters(&[filters::PAYMENT_LINKS, filters::DATES, filters::PAGE]),
    Route::get("/v1/payment-links/{id}", |ask| Box::pin(payment_links::retrieve(ask)))
        .of(Noun::PaymentLink)
        .doc("retrieve_payment_link", "Retrieves a payment link")
        .gives("PaymentLink"),
    Route::post("/v1/payment-links/{id}", |ask| Box::pin(payment_links::modify(ask)))
        .of(Noun::PaymentLink)
        .doc("modify_payment_link", "Modifies a payment link")
        .takes("ModifyPaymentLink")
        .gives("PaymentLink")
        .refuses(&[
            "parameter_immutable",
            "amount_below_minimum",
            "amount_above_maximum",
            "payment_link_locked",
            "payment_link_already_paid",
        ]),
    Route::get("/v1/payment-links/{id}/payments", |ask| Box::pin(payment_links::payments(ask)))
        .of(Noun::PaymentLink)
        .doc("list_payment_link_payments", "Lists the payments of a link, newest first")
        .gives("PaymentList")
        .filters(&[filters::LINK_PAYMENTS, filters::DATES, filters::PAGE]),
    Route::post("/v1/payouts", |ask| Box::pin(payouts::create(ask)))
        .creates()
        .doc("create_payout", "Creates a payout")
        .takes("CreatePayout")
        .gives("Payout")
        .refuses(&[
            "related_resource_not_found",
            "country_not_supported",
            "payment_method_not_supported",
            "network_not_supported",
            "currency_not_supported",
            "payout_not_supported",
            "amount_below_minimum",
            "amount_above_maximum",
            "phone_invalid",
            "phone_country_mismatch",
            "balance_insufficient",
        ]),
    Route::get("/v1/payouts", |ask| Box::pin(payouts::list(ask)))
        .doc("list_payouts", "Lists payouts, newest first")
        .gives("PayoutList")
        .filters(&[filters::PAYOUTS, filters::DATES, filters::PAGE]),
    Route::get("/v1/payouts/{id}", |ask| Box::pin(payouts::retrieve(ask)))
        .of(Noun::Payout)
        .doc("retrieve_payout", "Retrieves a payout")
        .gives("Payout"),
    Route::post("/v1/refunds", |ask| Box::pin(refunds::create(ask)))
        .creates()
        .doc("create_refund", "Creates a refund")
        .takes("CreateRefund")
        .gives("Refund")
        .refuses(&[
            "related_resource_not_found",
            "refund_not_supported",
            "partial_refund_not_supported",
            "refund_amount_exceeds_refundable",
            "balance_insufficient",
            "payment_not_refundable",
            "payment_already_refunded",
        ]),
    Route::get("/v1/refunds", |ask| Box::pin(refunds::list(ask)))
        .doc("list_refunds", "Lists refunds, newest first")
        .gives("RefundList")
        .filters(&[filters::REFUNDS, filters::DATES, filters::PAGE]),
    Route::get("/v1/refunds/{id}", |ask| Box::pin(refunds::retrieve(ask)))
        .of(Noun::Refund)
        .doc("retrieve_refund", "Retrieves a refund")
        .gives("Refund"),
    Route::post("/v1/customers", |ask| Box::pin(customers::create(ask)))
        .creates()
        .doc("create_customer", "Creates a customer")
        .takes("CreateCustomer")
        .gives("Customer")
        .refuses(&["phone_invalid", "country_not_supported"]),
    Route::get("/v1/customers", |ask| Box::pin(customers::list(ask)))
        .doc("list_customers", "Lists customers, newest first")
        .gives("CustomerList")
        .filters(&[filters::CUSTOMERS, filters::DATES, filters::PAGE]),
    Route::get("/v1/customers/{id}", |ask| Box::pin(customers::retrieve(ask)))
        .of(Noun::Customer)
        .doc("retrieve_customer", "Retrieves a customer, with statistics")
        .gives("Customer"),
    Route::post("/v1/customers/{id}", |ask| Box::pin(customers::modify(ask)))
        .of(Noun::Customer)
        .doc("modify_customer", "Modifies a customer")
        .takes("ModifyCustomer")
        .gives("Customer")
        .refuses(&["phone_invalid", "country_not_supported"]),
    Route::get("/v1/payment-methods", |ask| Box::pin(ledger::payment_methods(ask)))
        .doc("list_payment_methods", "Lists how money can be paid in a country")
        .gives("PaymentMethods")
        .filters(&[filters::PAYMENT_METHODS])
        .refuses(&["country_not_supported", "currency_not_supported"]),
    Route::get("/v1/balance", |ask| Box::pin(ledger::balance(ask)))
        .doc("retrieve_balance", "Retrieves the balance")
        .gives("Balance")
        .filters(&[filters::BALANCE]),
    Route::get("/v1/ledger", |ask| Box::pin(ledger::entries(ask)))
        .doc("list_ledger", "Lists the lines of the ledger, newest first")
        .gives("LedgerEntryList")
        .filters(&[filters::LEDGER, filters::DATES, filters::PAGE]),
    Route::post("/v1/webhooks", |ask| Box::pin(webhooks::create(ask)))
        .waits(Waits::Always)
        .creates()
        .doc("create_webhook_endpoint", "Creates a webhook endpoint")
        .takes("CreateWebhookEndpoint")
        .gives("WebhookEndpoint")
        .refuses(&["url_not_allowed", "event_kind_unknown", "webhook_endpoint_limit_reached"]),
    Route::get("/v1/webhooks", |ask| Box::pin(webhooks::list(ask)))
        .secret()
        .doc("list_webhook_endpoints", "Lists webhook endpoints, newest first")
        .gives("WebhookEndpointList")
        .filters(&[filters::DATES, filters::PAGE]),
    Route::post("/v1/webhooks/{id}", |ask| Box::pin(webhooks::modify(ask)))
        .waits(Waits::Always)
        .of(Noun::Endpoint)
        .doc("modify_webhook_endpoint", "Modifies a webhook endpoint, or rotates its secret")
        .takes("ModifyWebhookEndpoint")
        .gives("WebhookEndpoint")
        .refuses(&["url_not_allowed", "event_kind_unknown"]),
    Route::delete("/v1/webhooks/{id}", |ask| Box::pin(webhooks::delete(ask)))
        .of(Noun::Endpoint)
        .doc("delete_webhook_endpoint", "Deletes a webhook endpoint")
        .gives("DeletedWebhookEndpoint"),
    Route::post("/v1/webhooks/test", |ask| Box::pin(webhooks::test(ask)))
        .accepts()
        .doc("test_webhook_endpoint", "Sends a sample event to a webhook endpoint")
        .takes("TestWebhook")
        .gives("WebhookDelivery")
        .refuses(&[
            "related_resource_not_found",
            "event_kind_unknown",
            "webhook_endpoint_disabled",
        ]),
    Route::get("/v1/webhooks/deliveries", |ask| Box::pin(webhooks::deliveries(ask)))
        .secret()
        .doc("list_webhook_deliveries", "Lists deliveries, newest first")
        .gives("WebhookDeliveryList")
        .filters(&[filters::DELIVERIES, filters::DATES, filters::PAGE]),
    Route::post("/v1/webhooks/deliveries/{id}/retry", |ask| Box::pin(webhooks::retry(ask)))
        .of(Noun::Delivery)
        .accepts()
        .doc("retry_webhook_delivery", "Attempts a delivery once more, now")
        .takes("RetryDelivery")
        .gives("WebhookDelivery")
        .refuses(&["webhook_endpoint_disabled", "webhook_delivery_not_retryable"]),
    Route::post("/v1/webhooks/{id}/replay", |ask| Box::pin(webhooks::replay(ask)))
        .of(Noun::Endpoint)
        .accepts()
        .doc("replay_events", "Sends events once more to a webhook endpoint, oldest first")
        .takes("ReplayEvents")
        .gives("WebhookReplay")
        .refuses(&["related_resource_not_found", "webhook_endpoint_disabled"]),
    Route::get("/v1/events", |ask| Box::pin(events::list(ask)))
        .secret()
        .doc("list_events", "Lists events, newest first")
        .gives("EventList")
        .filters(&[filters::EVENTS, filters::DATES, filters::PAGE]),
    Route::get("/v1/events/{id}", |ask| Box::pin(events::retrieve(ask)))
        .secret()
        .of(Noun::Event)
        .doc("retrieve_event", "Retrieves an event, as it was told")
        .gives("Event"),
    Route::post("/v1/sandbox/simulate", |ask| Box::pin(sandbox::simulate(ask)))
        .sandbox()
        .doc("simulate", "Plays an outcome on a payment, a payout or a refund")
        .takes("Simulate")
        .gives("Simulated")
        .refuses(&[
            "related_resource_not_found",
            "scenario_unknown",
            "scenario_not_applicable",
            "simulation_not_allowed",
        ]),
    Route::post("/v1/sandbox/fund", |ask| Box::pin(sandbox::fund(ask)))
        .creates()
        .sandbox()
        .doc("fund_sandbox", "Credits test money")
        .takes("Fund")
        .gives("SandboxFunding")
        .refuses(&["currency_not_supported"]),
    Route::get("/v1/sandbox/scenarios", |ask| Box::pin(sandbox::scenarios(ask)))
        .sandbox()
        .doc("list_scenarios", "Lists the outcomes that can be played")
        .gives("SandboxScenarioList")
        .filters(&[filters::SCENARIOS, filters::PAGE]),
    Route::new(Verb::Get, "/v1/openapi.json", Access::Anyone, Task::Describe)
        .doc("describe", "Describes this API")
        .gives("Description"),
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
        let id = found.params.get("id");
        if id.is_some_and(str::is_empty) {
            return Found::Nothing;
        }
        let routes = &found.value.routes;
        match routes.iter().find(|route| route.verb.as_str() == method.as_str()) {
            Some(route) => Found::Route(route, id.map(str::to_owned)),
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
        let replay = "POST /v1/webhooks/{id}/replay deliveries";
        assert_eq!(found(Method::POST, "/v1/webhooks/deliveries/replay"), replay);
        assert_eq!(found(Method::POST, "/v1/webhooks/deliveries/x"), "404");
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
