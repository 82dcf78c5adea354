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

/// The line of a payment's timeline that goes with an event (API §9.7), where there is one.
pub(super) const LINES: &[(&str, &str)] = &[
    ("payment.created", "created"),
    ("payment.processing", "processing"),
    ("payment.failed", "failed"),
    ("payment.cancelled", "cancelled"),
    ("payment.expired", "expired"),
    ("payment.succeeded", "succeeded"),
    ("payment.partially_refunded", "partially_refunded"),
    ("payment.refunded", "refunded"),
    ("refund.created", "refund_created"),
    ("refund.succeeded", "refund_succeeded"),
    ("refund.failed", "refund_failed"),
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

/// The kind of line that tells of `event`; `late` when it comes after an expiry.
pub(super) fn line(event: &str, late: bool) -> Option<&'static str> {
    let line = LINES.iter().find(|(kind, _)| *kind == event).map(|(_, line)| *line)?;
    Some(if late && line == "succeeded" { "late_success" } else { line })
}
