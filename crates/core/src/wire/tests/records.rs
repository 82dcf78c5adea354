//! The records behind the contract's examples.

use super::{at, scope};
use crate::{
    model::{
        api_key::{ApiKey, ApiKeyKind, KeyHash},
        customer::{CurrencyStatistics, Customer, CustomerStatistics},
        delivery::{AttemptError, AttemptRecord, Delivery, DeliveryStatus},
        event::EventKind,
        ledger::{Direction, Entry, EntryKind, LedgerAccountKind},
        offer::Connection,
        payment::{Payment, PaymentStatus},
        payment_link::{PaymentLink, PaymentLinkStatus},
        payout::{Payout, PayoutStatus},
        refund::{Refund, RefundReason, RefundStatus},
        timeline::{Actor, TimelineEntry, TimelineKind},
        webhook_endpoint::{Subscription, WebhookEndpoint},
    },
    value::{
        metadata::{Metadata, MetadataPatch},
        method::PaymentMethod,
        money::Amount,
    },
};

pub(super) fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect(text)
}

pub(super) fn metadata(entries: &[(&str, &str)]) -> Metadata {
    let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned())));
    Metadata::default().patched(&MetadataPatch::Merge(entries.collect())).expect("few keys")
}

pub(super) fn payment() -> Payment {
    let paid = at("2024-11-19T00:00:02.310Z");
    Payment {
        id: parsed("pay_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        scope: scope(),
        status: PaymentStatus::Succeeded,
        amount: Amount::new(5_000),
        currency: parsed("XOF"),
        fee_amount: Amount::new(100),
        method: PaymentMethod::MobileMoney,
        network: Some(parsed("mtn")),
        reference: Some(parsed("ORDER-1001")),
        country: parsed("CI"),
        phone: Some(parsed("+2250500000000")),
        otp: Some(parsed("1234")),
        customer: Some(parsed("cus_01jd3w8k1f7q2m9x5r6t0v1b3c")),
        payment_link: None,
        description: Some(parsed("Order 1001")),
        metadata: metadata(&[("cart", "77")]),
        return_url: None,
        next_action: None,
        failure: None,
        cancellation_reason: None,
        refunded_amount: Amount::ZERO,
        refunding_amount: Amount::ZERO,
        fee_returned_amount: Amount::ZERO,
        refunds_count: 0,
        pending_amount: Amount::ZERO,
        settled_at: Some(paid),
        expires_at: at("2024-11-19T00:15:00.000Z"),
        created_at: at("2024-11-19T00:00:00.000Z"),
        updated_at: paid,
        processing_at: Some(at("2024-11-19T00:00:00.250Z")),
        succeeded_at: Some(paid),
        failed_at: None,
        cancelled_at: None,
        expired_at: None,
        available_at: Some(paid),
        timeline_count: 3,
        connection: Connection::new("sim_mtn_ci"),
        poll_at: None,
        simulation: None,
    }
}

pub(super) fn payout() -> Payout {
    Payout {
        id: parsed("pout_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        scope: scope(),
        status: PayoutStatus::Created,
        amount: Amount::new(10_000),
        currency: parsed("XOF"),
        fee_amount: Amount::new(100),
        method: PaymentMethod::MobileMoney,
        network: parsed("orange"),
        country: parsed("SN"),
        phone: parsed("+221770000000"),
        recipient_name: Some(parsed("Awa Diop")),
        customer: None,
        reference: Some(parsed("SAL-11")),
        description: None,
        metadata: Metadata::default(),
        failure: None,
        created_at: at("2024-11-19T00:00:00.000Z"),
        updated_at: at("2024-11-19T00:00:00.000Z"),
        processing_at: None,
        succeeded_at: None,
        failed_at: None,
        connection: Connection::new("sim_orange_sn"),
        poll_at: None,
        simulation: None,
    }
}

pub(super) fn refund() -> Refund {
    Refund {
        id: parsed("ref_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        scope: scope(),
        status: RefundStatus::Created,
        payment: parsed("pay_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        amount: Amount::new(2_000),
        currency: parsed("XOF"),
        fee_returned_amount: Amount::new(40),
        reason: Some(RefundReason::RequestedByCustomer),
        description: None,
        reference: None,
        metadata: Metadata::default(),
        failure: None,
        created_at: at("2024-11-19T01:00:00.000Z"),
        updated_at: at("2024-11-19T01:00:00.000Z"),
        accepted_at: None,
        succeeded_at: None,
        failed_at: None,
        connection: Connection::new("sim_mtn_ci"),
        poll_at: None,
        simulation: None,
    }
}

pub(super) fn payment_link() -> PaymentLink {
    PaymentLink {
        id: parsed("plink_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        scope: scope(),
        status: PaymentLinkStatus::Created,
        active: true,
        url: "https://pay.example.com/plink_01jd3w8k4f7q2m9x5r6t0v1b3c".to_owned(),
        title: parsed("Invoice 42"),
        description: None,
        amount: Some(Amount::new(15_000)),
        currency: parsed("XOF"),
        country: parsed("CI"),
        methods: None,
        reusable: false,
        expires_at: None,
        return_url: None,
        reference: Some(parsed("INV-42")),
        metadata: Metadata::default(),
        payments_count: 0,
        open_payments_count: 0,
        succeeded_payments_count: 0,
        collected_amount: Amount::ZERO,
        paid_at: None,
        created_at: at("2024-11-19T00:00:00.000Z"),
        updated_at: at("2024-11-19T00:00:00.000Z"),
    }
}

pub(super) fn customer() -> Customer {
    Customer {
        id: parsed("cus_01jd3w8k1f7q2m9x5r6t0v1b3c"),
        scope: scope(),
        name: Some(parsed("Awa Diop")),
        email: Some(parsed("awa@example.com")),
        phone: Some(parsed("+2250500000000")),
        country: Some(parsed("CI")),
        reference: Some(parsed("U-9")),
        metadata: Metadata::default(),
        created_at: at("2024-11-18T09:00:00.000Z"),
        updated_at: at("2024-11-18T09:00:00.000Z"),
    }
}

pub(super) fn statistics() -> CustomerStatistics {
    CustomerStatistics {
        payments_count: 3,
        succeeded_payments_count: 2,
        failed_payments_count: 1,
        refunds_count: 1,
        first_payment_at: Some(at("2024-11-19T00:00:00.000Z")),
        last_payment_at: Some(at("2024-11-19T02:00:00.000Z")),
        by_currency: vec![CurrencyStatistics {
            currency: parsed("XOF"),
            succeeded_payments_count: 2,
            paid_amount: Amount::new(12_000),
            refunded_amount: Amount::new(2_000),
        }],
    }
}

pub(super) fn entry() -> Entry {
    Entry {
        id: parsed("led_01jd3w8k6a7q2m9x5r6t0v1b3d"),
        scope: scope(),
        transaction: parsed("ltx_01jd3w8k6a7q2m9x5r6t0v1b3a"),
        account: LedgerAccountKind::MerchantPending,
        direction: Direction::Credit,
        amount: Amount::new(5_000),
        currency: parsed("XOF"),
        kind: EntryKind::Payment,
        source: Some(parsed("pay_01jd3w8k4f7q2m9x5r6t0v1b3c")),
        balance_after: Amount::new(5_000),
        created_at: at("2024-11-19T00:00:06.120Z"),
    }
}

pub(super) fn funding_entry() -> Entry {
    Entry {
        transaction: parsed("ltx_01jd3w8k9f7q2m9x5r6t0v1b3c"),
        account: LedgerAccountKind::MerchantAvailable,
        amount: Amount::new(100_000),
        kind: EntryKind::SandboxFunding,
        source: None,
        balance_after: Amount::new(100_000),
        created_at: at("2024-11-19T00:00:00.000Z"),
        ..entry()
    }
}

pub(super) fn timeline_entry() -> TimelineEntry {
    TimelineEntry {
        scope: scope(),
        payment: parsed("pay_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        number: 2,
        kind: TimelineKind::Processing,
        status: PaymentStatus::Processing,
        actor: Actor::Network,
        message: "The network accepted the request.".to_owned(),
        amount: None,
        refund: None,
        event: Some(parsed("evt_01jd3w8k4z7q2m9x5r6t0v1b3c")),
        created_at: at("2024-11-19T00:00:00.250Z"),
    }
}

pub(super) fn endpoint() -> WebhookEndpoint {
    WebhookEndpoint {
        id: parsed("whe_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        scope: scope(),
        url: parsed("https://shop.example.com/hooks"),
        events: Subscription::All,
        active: true,
        description: None,
        metadata: Metadata::default(),
        secret: crate::Sealed::from_bytes(Vec::new()),
        previous_secret: None,
        created_at: at("2024-11-19T00:00:00.000Z"),
        updated_at: at("2024-11-19T00:00:00.000Z"),
        deleted_at: None,
    }
}

pub(super) fn delivery() -> Delivery {
    Delivery {
        id: parsed("whd_01jd3w8k8f7q2m9x5r6t0v1b3c"),
        scope: scope(),
        endpoint: parsed("whe_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        event: parsed("evt_01jd3w8k7f7q2m9x5r6t0v1b3c"),
        event_kind: EventKind::PaymentSucceeded,
        url: parsed("https://shop.example.com/hooks"),
        status: DeliveryStatus::Pending,
        attempts: vec![AttemptRecord {
            number: 1,
            started_at: at("2024-11-19T00:00:02.310Z"),
            http_status: Some(500),
            duration_ms: 92,
            error: Some(AttemptError::Non2xx),
        }],
        next_attempt_at: Some(at("2024-11-19T00:00:07.402Z")),
        ended_by: None,
        test: false,
        created_at: at("2024-11-19T00:00:02.310Z"),
        completed_at: None,
    }
}

pub(super) fn api_key() -> ApiKey {
    ApiKey {
        id: parsed("key_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        scope: scope(),
        kind: ApiKeyKind::Secret,
        name: Some(parsed("shop")),
        hint: "sk_test_…a1B2".to_owned(),
        hash: KeyHash::from_bytes([1; 32]),
        created_at: at("2024-11-19T00:00:00.000Z"),
        last_used_at: None,
        expires_at: None,
        revoked_at: None,
    }
}
