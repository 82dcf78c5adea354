//! The pure heart of cauri: money, state machines, fees, signatures, decisions.
//!
//! No I/O, no async, no clock, no chance: whoever calls brings the time and the randomness in an
//! [`Env`]. Layers, each knowing only those before it: values, arithmetic, model, [`wire`] (the
//! public JSON) and commit, `decide`.
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
    claim::{Claim, ClaimKind, Lanes},
    judge::{Facts, Movement, Row, Writes, judge},
    key::Key,
    query::{Field, FieldValue, Filter, List, Listed, Query},
    record::{Entity, Record, RecordKind, Versioned},
};
pub use error::{Error, Fault, Faults, Problem};
pub use model::{
    account::{Account, Setting},
    api_key::{ApiKey, ApiKeyKind, KeyHash},
    catalogue::*,
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
    order::{NextQuestion, Order, Report},
    payment::{IllegalPaymentStep, NextAction, Payment, PaymentStatus, PaymentStep},
    payment_link::{IllegalPaymentLinkStep, PaymentLink, PaymentLinkStatus, PaymentLinkStep},
    payout::{IllegalPayoutStep, Payout, PayoutStatus, PayoutStep},
    refund::{IllegalRefundStep, Refund, RefundReason, RefundStatus, RefundStep},
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
    page::Page,
    patch::Patch,
    phone::{Phone, PhoneError},
    scope::{Environment, Scope},
    secret::Secret,
    text::{Text, TextError},
    time::{Timestamp, TimestampError},
    web_url::{WebUrl, WebUrlError},
};
