//! The transition tables of the contract, written down a second time, and what was seen of them.

use std::collections::BTreeMap;

/// A machine, where it stood, and where it went.
pub(crate) type Row = (&'static str, &'static str, &'static str);

/// Every row of API §9.4, §10, §11, §12 and §16.3 that tells an event, with its event. Where it
/// begins, a machine comes from "".
pub(crate) const TOLD: &[(Row, &str)] = &[
    (("payment", "", "created"), "payment.created"),
    (("payment", "created", "processing"), "payment.processing"),
    (("payment", "created", "failed"), "payment.failed"),
    (("payment", "created", "cancelled"), "payment.cancelled"),
    (("payment", "created", "expired"), "payment.expired"),
    (("payment", "processing", "succeeded"), "payment.succeeded"),
    (("payment", "processing", "failed"), "payment.failed"),
    (("payment", "processing", "cancelled"), "payment.cancelled"),
    (("payment", "processing", "expired"), "payment.expired"),
    (("payment", "expired", "succeeded"), "payment.succeeded"),
    (("payment", "succeeded", "partially_refunded"), "payment.partially_refunded"),
    (("payment", "succeeded", "refunded"), "payment.refunded"),
    (("payment", "partially_refunded", "partially_refunded"), "payment.partially_refunded"),
    (("payment", "partially_refunded", "refunded"), "payment.refunded"),
    (("payout", "", "created"), "payout.created"),
    (("payout", "created", "processing"), "payout.processing"),
    (("payout", "created", "failed"), "payout.failed"),
    (("payout", "processing", "succeeded"), "payout.succeeded"),
    (("payout", "processing", "failed"), "payout.failed"),
    (("refund", "", "created"), "refund.created"),
    (("refund", "created", "succeeded"), "refund.succeeded"),
    (("refund", "created", "failed"), "refund.failed"),
    (("payment_link", "", "created"), "payment_link.created"),
    (("payment_link", "created", "paid"), "payment_link.paid"),
];

/// The rows of a delivery, which tell nothing.
pub(crate) const DELIVERY: &[Row] = &[
    ("webhook_delivery", "", "pending"),
    ("webhook_delivery", "pending", "succeeded"),
    ("webhook_delivery", "pending", "pending"),
    ("webhook_delivery", "pending", "failed"),
];

/// How often each row was taken.
pub(crate) type Coverage = BTreeMap<Row, u64>;

/// Every row there is.
pub(crate) fn rows() -> impl Iterator<Item = Row> {
    TOLD.iter().map(|(row, _)| *row).chain(DELIVERY.iter().copied())
}

/// Where a machine goes from `from` when it tells `event`.
pub(crate) fn after(machine: &str, from: &str, event: &str) -> Option<Row> {
    TOLD.iter()
        .find(|((it, at, _), kind)| *it == machine && *at == from && *kind == event)
        .map(|(row, _)| *row)
}
