//! The pure heart of cauri: money, state machines, fees, signatures, decisions.
//!
//! No I/O, no async, no clock, no chance: whoever calls brings the time and the randomness in an
//! [`Env`]. Layers, each knowing only those before it: values, arithmetic, model, [`wire`] (the
//! public JSON) and commit, [`decide`].
//!
//! Whoever takes payments wants the crate `cauri`, which is this one with a store, networks and
//! receivers around it. This one alone is for receivers of webhooks, for stores, and for whoever
//! wants to know what a command would do.
//!
//! # What to reach for
//!
//! | To | Use |
//! |---|---|
//! | verify a webhook | [`signature::verify`] |
//! | hold money | [`Amount`], [`Currency`] |
//! | say what is offered, and at which price | [`Catalogue`], [`FeeSchedule`], [`decide::Terms`] |
//! | read a request, or show an object | [`wire`] |
//! | know what a command does | [`decide`] |
//! | know where something may go next | [`PaymentStatus::after`] and its kin |
//! | write a store | [`Changeset`], [`judge`], [`Record`], [`Query`], [`Claim`] |
//! | keep a secret | [`Keyring`], [`Secret`] |
//!
//! # Verifying a webhook
//!
//! ```
//! use cauri_core::signature;
//!
//! let body = br#"{"id":"evt_01jd3w8k5000000000000000a1","type":"payment.succeeded"}"#;
//! let header = b"t=1731974400,v1=7ae203e9a1b70f471f77821b7aeb5d5ba5062ecab0908885f3eea20111d05b2c";
//! let secrets = ["whsec_test_0123456789abcdefghijklmnopqrstuv"];
//! assert!(signature::verify(body, header, &secrets, 1_731_974_400).is_ok());
//! ```
//!
//! # Money
//!
//! Whole numbers of the smallest unit, with checked arithmetic: a sum that does not fit is an
//! error, never another sum.
//!
//! ```
//! use cauri_core::{Amount, FeeKind, FeeSchedule, PaymentMethod};
//!
//! let (amount, network) = (Amount::new(5_000), "mtn".parse()?);
//! let fee = FeeSchedule::sandbox().fee(
//!     FeeKind::Payment,
//!     PaymentMethod::MobileMoney,
//!     Some(&network),
//!     "XOF".parse()?,
//!     amount,
//! )?;
//! assert_eq!(amount.minus(fee)?, Amount::new(4_900));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where something may go next
//!
//! ```
//! use cauri_core::{PaymentStatus, PaymentStep};
//!
//! // A payment that expired may still be paid: the network was only late to say so.
//! assert_eq!(PaymentStatus::Expired.after(PaymentStep::Pay), Ok(PaymentStatus::Succeeded));
//! assert!(PaymentStatus::Failed.after(PaymentStep::Pay).is_err());
//! ```
//!
//! # The shop in the examples
//!
//! An example that needs a payment, a payout or an endpoint that is there already plays in a
//! `Shop`: the terms of the contract, an [`Env`], and a book in which [`judge`] keeps what is
//! committed. It is `tests/shop/mod.rs` of this crate, and small.
#![deny(clippy::arithmetic_side_effects)]

mod arithmetic;
mod commit;
pub mod decide;
mod error;
mod model;
mod value;
pub mod wire;

pub use arithmetic::{
    fee::{FeeKey, FeeKind, FeeRule, FeeSchedule, refund_share},
    retry,
    seal::{Keyring, SealError, Sealed},
    signature,
};
pub use commit::{
    changeset::{Changeset, Refusal, Verdict, Write},
    claim::{Backlog, Claim, ClaimKind, Lane, Lanes},
    judge::{Facts, Movement, Row, Writes, judge},
    key::Key,
    query::{Field, FieldValue, Filter, List, Listed, Query},
    record::{Entity, Record, RecordKind, Versioned},
};
pub use error::{Error, Fault, Faults, Problem};
pub use model::{
    account::{Account, Setting},
    api_key::{ApiKey, ApiKeyKind, KeyHash},
    catalogue::{Ask, Catalogue, CatalogueError, MethodOffers, OfferError},
    customer::{CurrencyStatistics, Customer, CustomerStatistics},
    delivery::{
        AttemptError, AttemptRecord, Delivery, DeliveryStatus, DeliveryStep, IllegalDeliveryStep,
    },
    event::{Event, EventKind, Told},
    failure::FailureCode,
    idempotency::{
        IdempotencyKey, IdempotencyKeyError, IdempotencyRecord, RETENTION_MS, StoredBody, Success,
    },
    ledger::{
        Balance, Direction, Entry, EntryKind, LedgerAccount, LedgerAccountKind, Line, Posting,
        PostingHead, is_in_balance,
    },
    offer::{Capabilities, Connection, CountryOffer, Offer, Purpose},
    order::{NextQuestion, Order, Report},
    payment::{IllegalPaymentStep, NextAction, Payment, PaymentStatus, PaymentStep},
    payment_link::{IllegalPaymentLinkStep, PaymentLink, PaymentLinkStatus, PaymentLinkStep},
    payout::{IllegalPayoutStep, Payout, PayoutStatus, PayoutStep},
    refund::{IllegalRefundStep, Refund, RefundReason, RefundStatus, RefundStep},
    route::{Leg, Route, RouteError, Routes},
    scenario::{Scenario, ScenarioKind},
    simulation::Simulation,
    timeline::{Actor, TimelineEntry, TimelineKind},
    webhook_endpoint::{
        ENDPOINTS_MAX, PreviousSecret, Subscriber, Subscription, Subscriptions, WebhookEndpoint,
    },
};
pub use value::{
    choice::UnknownWord,
    country::{Country, CountryError},
    currency::{Currency, CurrencyError},
    email::{Email, EmailError},
    env::{Env, Tick},
    id::*,
    metadata::{Metadata, MetadataPatch, TooManyKeys},
    method::{Flow, Network, NetworkError, PaymentMethod},
    money::{Amount, Overflow},
    open::Open,
    otp::Otp,
    page::Page,
    patch::Patch,
    phone::{Phone, PhoneError},
    scope::{Environment, Scope},
    secret::Secret,
    text::{Text, TextError},
    time::{Timestamp, TimestampError},
    trace_context::TraceContext,
    web_url::{WebUrl, WebUrlError},
};
