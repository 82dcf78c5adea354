//! What clients ask for.

use cauri::{
    Amount, Call, Caller, Engine, Environment, Error, EventKind, IdempotencyKey, List, Metadata,
    MetadataPatch, OrderId, PaymentId, PaymentLinkId, PaymentMethod, Query, Reply, Scenario, Scope,
    Subscription, Text,
    decide::idempotency::Idempotency,
    wire::{
        CancelPayment, CreateCustomer, CreatePayment, CreatePaymentLink, CreatePayout,
        CreateRefund, CreateWebhookEndpoint, Fund, ModifyPaymentLink, ModifyWebhookEndpoint,
        Simulate, TestWebhook,
    },
};
use cauri_conformance::fixtures::Random;

use crate::{dice::mix, profile::Profile};

/// What kind of thing is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Pay,
    PayLink,
    Cancel,
    Refund,
    Payout,
    Link,
    CloseLink,
    Endpoint,
    SwitchEndpoint,
    DeleteEndpoint,
    TestEndpoint,
    Customer,
    Fund,
    Simulate,
    Read,
}

/// One operation of the plan. What exactly it asks depends on what is known when it begins.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) number: usize,
    pub(crate) at_ms: u64,
    pub(crate) kind: Kind,
    pub(crate) scope: usize,
    /// Under an idempotency key?
    pub(crate) keyed: bool,
    /// Asked twice at the same moment, of two nodes?
    pub(crate) twice: bool,
    pub(crate) luck: u64,
}

/// The operations of a seed. The first make sure that there is something to happen to.
pub(crate) fn plan(seed: u64, profile: &Profile) -> Vec<Operation> {
    let mut random = Random::new(mix(seed, &[2]));
    let kinds = [
        (Kind::Pay, 24),
        (Kind::PayLink, 8),
        (Kind::Cancel, 10),
        (Kind::Refund, 18),
        (Kind::Payout, 12),
        (Kind::Link, 4),
        (Kind::CloseLink, 1),
        (Kind::Endpoint, 3),
        (Kind::SwitchEndpoint, 2),
        (Kind::DeleteEndpoint, 2),
        (Kind::TestEndpoint, 2),
        (Kind::Customer, 2),
        (Kind::Fund, 3),
        (Kind::Simulate, 6),
        (Kind::Read, 3),
    ];
    let total = kinds.iter().map(|(_, weight)| weight).sum();
    let pick = |mut at: usize| {
        for (kind, weight) in kinds {
            if at < weight {
                return kind;
            }
            at -= weight;
        }
        Kind::Pay
    };
    let first = [Kind::Endpoint, Kind::Fund, Kind::Pay, Kind::Link];
    (0..profile.operations)
        .map(|number| {
            let kind = first.get(number).copied().unwrap_or_else(|| pick(random.below(total)));
            let sandbox = matches!(kind, Kind::Fund | Kind::Simulate) || random.below(4) == 0;
            let span = profile.span_ms;
            Operation {
                number,
                at_ms: if number < first.len() { 0 } else { random.bits() % span },
                kind,
                scope: usize::from(sandbox),
                keyed: random.chance(85),
                twice: random.chance(15),
                luck: random.bits(),
            }
        })
        .collect()
}

/// What clients know of a scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(crate) payments: Vec<PaymentId>,
    pub(crate) orders: Vec<OrderId>,
    pub(crate) links: Vec<PaymentLinkId>,
    pub(crate) endpoints: Vec<cauri::EndpointId>,
    pub(crate) customers: Vec<cauri::CustomerId>,
}

/// One request, the same in every retry.
#[derive(Debug, Clone)]
pub(crate) enum Request {
    Pay(CreatePayment),
    Cancel(PaymentId),
    Refund(CreateRefund),
    Payout(CreatePayout),
    Link(CreatePaymentLink),
    CloseLink(PaymentLinkId),
    Endpoint(CreateWebhookEndpoint),
    SwitchEndpoint(cauri::EndpointId, bool),
    DeleteEndpoint(cauri::EndpointId),
    TestEndpoint(cauri::EndpointId),
    Customer(CreateCustomer),
    Fund(Fund),
    Simulate(Simulate),
    Read(Scope),
}

fn text<const MAX: usize>(text: &str) -> Option<Text<MAX>> {
    text.parse().ok()
}

/// One that was made lately, so that several operations meet at it.
fn recent<T: Copy>(all: &[T], random: &mut Random) -> Option<T> {
    let near = all.len().min(*random.pick(&[1, 2, 3, 8]));
    all.get(all.len().checked_sub(1 + random.below(near.max(1)))?).copied()
}

const PHONES: &[&str] = &[
    "0000", "0000", "0001", "0101", "0106", "0201", "0202", "0301", "0302", "0303", "0401", "9999",
];

const NETWORKS: &[&str] = &["mtn", "mtn", "moov", "wave", "wave", "orange"];

impl Operation {
    /// The name that what it makes carries.
    pub(crate) fn name(&self) -> String {
        format!("op-{}", self.number)
    }

    /// What is asked, as far as there is anything to ask about.
    pub(crate) fn request(&self, scope: Scope, known: &Known) -> Option<Request> {
        let mut random = Random::new(self.luck);
        let random = &mut random;
        let country = "CI".parse().ok();
        let currency = "XOF".parse().ok()?;
        let sandbox = scope.environment == Environment::Sandbox;
        let suffix = if sandbox { *random.pick(PHONES) } else { "0000" };
        let phone = format!("+225050000{suffix}").parse().ok()?;
        let name = self.name();
        let customer = recent(&known.customers, random).filter(|_| random.flag());
        Some(match self.kind {
            Kind::Pay | Kind::PayLink => {
                let link = (self.kind == Kind::PayLink).then(|| recent(&known.links, random));
                let card = random.below(4) == 0;
                let amount = *random.pick(&[100, 5_000, 9_999, 12_345, 400_000, 1_000_000]);
                // The links' own amount, where there is one.
                let amount = if link.is_some() { 15_000 } else { amount };
                Request::Pay(CreatePayment {
                    amount: Some(Amount::new(amount)),
                    currency: Some(currency),
                    method: if card { PaymentMethod::Card } else { PaymentMethod::MobileMoney },
                    network: if card { None } else { random.pick(NETWORKS).parse().ok() },
                    phone: (!card).then_some(phone),
                    country,
                    otp: self.number.is_multiple_of(3).then(|| "123456".parse().ok()).flatten(),
                    customer,
                    payment_link: match link {
                        Some(link) => Some(link?),
                        None => None,
                    },
                    reference: text(&name),
                    description: None,
                    metadata: Metadata::default(),
                    return_url: None,
                    expires_in: random.maybe(|random| *random.pick(&[60, 75, 120, 600])),
                })
            }
            Kind::Cancel => Request::Cancel(recent(&known.payments, random)?),
            Kind::Refund => Request::Refund(CreateRefund {
                payment: recent(&known.payments, random)?,
                amount: random
                    .maybe(|random| Amount::new(*random.pick(&[1, 33, 50, 2_500, 5_000, 9_000]))),
                reason: None,
                description: None,
                reference: text(&name),
                metadata: Metadata::default(),
            }),
            Kind::Payout => Request::Payout(CreatePayout {
                amount: Amount::new(*random.pick(&[100, 1_000, 4_000, 20_000, 350_000, 900_000])),
                currency,
                method: PaymentMethod::MobileMoney,
                network: random.pick(NETWORKS).parse().ok()?,
                phone,
                country: None,
                recipient_name: None,
                customer,
                reference: text(&name),
                description: None,
                metadata: Metadata::default(),
            }),
            Kind::Link => Request::Link(CreatePaymentLink {
                title: text(&name)?,
                currency,
                country: country?,
                amount: random.maybe(|_| Amount::new(15_000)),
                description: None,
                methods: None,
                reusable: random.flag(),
                expires_at: None,
                return_url: None,
                reference: text(&name),
                metadata: Metadata::default(),
                active: true,
            }),
            Kind::CloseLink => Request::CloseLink(recent(&known.links, random)?),
            Kind::Endpoint => Request::Endpoint(CreateWebhookEndpoint {
                url: format!("https://r{}.example.com/hooks", self.number).parse().ok()?,
                events: if random.chance(70) {
                    Subscription::All
                } else {
                    let kinds = [EventKind::PaymentSucceeded, EventKind::RefundSucceeded];
                    Subscription::Kinds(kinds.into_iter().collect())
                },
                active: random.chance(90),
                description: text(&name),
                metadata: Metadata::default(),
            }),
            Kind::SwitchEndpoint => {
                Request::SwitchEndpoint(recent(&known.endpoints, random)?, random.flag())
            }
            Kind::DeleteEndpoint => Request::DeleteEndpoint(recent(&known.endpoints, random)?),
            Kind::TestEndpoint => Request::TestEndpoint(recent(&known.endpoints, random)?),
            Kind::Customer => Request::Customer(CreateCustomer {
                name: text(&name),
                email: None,
                phone: None,
                country: None,
                reference: text(&name),
                metadata: Metadata::default(),
            }),
            // Each sum tells which operation it was.
            Kind::Fund => Request::Fund(Fund { amount: Amount::new(self.funds()), currency }),
            Kind::Simulate => Request::Simulate(Simulate {
                id: recent(&known.orders, random)?,
                scenario: *random.pick(&[
                    Scenario::Success,
                    Scenario::Success,
                    Scenario::SlowSuccess,
                    Scenario::InsufficientFunds,
                    Scenario::NetworkDown,
                    Scenario::Timeout,
                    Scenario::LateSuccessAfterExpiry,
                    Scenario::ConflictingCallback,
                    Scenario::RefundFailure,
                    Scenario::RecipientNotFound,
                ]),
            }),
            Kind::Read => Request::Read(scope),
        })
    }

    /// How much test money it asks for.
    pub(crate) fn funds(&self) -> i64 {
        100_000 + i64::try_from(self.number).unwrap_or_default()
    }

    /// The call under which all of its retries are made.
    pub(crate) fn call(&self, scope: Scope) -> Call {
        let call = Call::by(Caller::secret(scope));
        let mut fingerprint = [0; 32];
        fingerprint[..8].copy_from_slice(&self.luck.to_be_bytes());
        let key = self.name().parse::<IdempotencyKey>().ok().filter(|_| self.keyed);
        call.idempotent(key.map(|key| Idempotency { key, fingerprint }))
    }
}

/// What a node answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) body: String,
    pub(crate) replayed: bool,
    pub(crate) made: Made,
}

/// What an answer tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Made {
    Payment(PaymentId),
    Payout(cauri::PayoutId),
    Refund(cauri::RefundId),
    Link(PaymentLinkId),
    Customer(cauri::CustomerId),
    Endpoint(cauri::EndpointId),
    Other,
}

fn said<T: serde::Serialize>(reply: Reply<T>, made: impl FnOnce(&T) -> Made) -> Said {
    let body =
        reply.body.unwrap_or_else(|| serde_json::to_string(&reply.object).unwrap_or_default());
    Said { made: made(&reply.object), body, replayed: reply.replayed }
}

/// Asks a node.
pub(crate) async fn ask(engine: &Engine, call: &Call, request: Request) -> Result<Said, Error> {
    Ok(match request {
        Request::Pay(ask) => {
            said(engine.create_payment(call, ask).await?, |it| Made::Payment(it.id))
        }
        Request::Cancel(id) => {
            let ask = CancelPayment { reason: None };
            said(engine.cancel_payment(call, id, ask).await?, |_| Made::Other)
        }
        Request::Refund(ask) => {
            said(engine.create_refund(call, ask).await?, |it| Made::Refund(it.id))
        }
        Request::Payout(ask) => {
            said(engine.create_payout(call, ask).await?, |it| Made::Payout(it.id))
        }
        Request::Link(ask) => {
            said(engine.create_payment_link(call, ask).await?, |it| Made::Link(it.id))
        }
        Request::CloseLink(id) => {
            let ask = ModifyPaymentLink { active: Some(false), ..ModifyPaymentLink::default() };
            said(engine.modify_payment_link(call, id, ask).await?, |_| Made::Other)
        }
        Request::Endpoint(ask) => {
            said(engine.create_webhook_endpoint(call, ask).await?, |it| Made::Endpoint(it.id))
        }
        Request::SwitchEndpoint(id, active) => {
            let ask = ModifyWebhookEndpoint {
                active: Some(active),
                metadata: MetadataPatch::default(),
                ..ModifyWebhookEndpoint::default()
            };
            said(engine.modify_webhook_endpoint(call, id, ask).await?, |_| Made::Other)
        }
        Request::DeleteEndpoint(id) => {
            let deleted = engine.delete_webhook_endpoint(&call.caller, id).await?;
            Said {
                body: serde_json::to_string(&deleted).unwrap_or_default(),
                replayed: false,
                made: Made::Other,
            }
        }
        Request::TestEndpoint(endpoint) => {
            let ask = TestWebhook { endpoint, event_kind: EventKind::PaymentSucceeded };
            said(engine.test_webhook(call, ask).await?, |_| Made::Other)
        }
        Request::Customer(ask) => {
            said(engine.create_customer(call, ask).await?, |it| Made::Customer(it.id))
        }
        Request::Fund(ask) => said(engine.fund(call, ask).await?, |_| Made::Other),
        Request::Simulate(ask) => said(engine.simulate(call, ask).await?, |_| Made::Other),
        Request::Read(scope) => {
            let payments =
                engine.payments(&call.caller, &Query::all(List::Payments(scope))).await?;
            engine.balance(&call.caller, None).await?;
            let body = format!("{} payments", payments.total);
            Said { body, replayed: false, made: Made::Other }
        }
    })
}
