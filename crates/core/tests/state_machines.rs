//! The five state machines, printed: `docs/state-machines.md` is what the tables in the code say,
//! and this test fails when it is not. `UPDATE_DOCS=1 cargo test -p cauri-core` writes it anew.

use std::fmt::Display;

use cauri_core::{
    DeliveryStatus, DeliveryStep, PaymentLinkStatus, PaymentLinkStep, PaymentStatus, PaymentStep,
    PayoutStatus, PayoutStep, RefundStatus, RefundStep,
};

/// Every row of a machine, as a table and as a picture.
fn machine<S: Copy + Display, T: Copy + Display, E>(
    name: &str,
    statuses: &[S],
    steps: &[T],
    after: impl Fn(S, T) -> Result<S, E>,
) -> (String, usize) {
    let mut rows = String::new();
    let mut picture = format!("    [*] --> {}\n", statuses[0]);
    let mut legal = 0;
    for &from in statuses {
        for &step in steps {
            if let Ok(to) = after(from, step) {
                legal += 1;
                rows.push_str(&format!("| `{from}` | `{step}` | `{to}` |\n"));
                picture.push_str(&format!("    {from} --> {to}: {step}\n"));
            }
        }
    }
    let text = format!(
        "## {name}\n\n```mermaid\nstateDiagram-v2\n{picture}```\n\n\
         | From | Step | To |\n|---|---|---|\n{rows}\n"
    );
    (text, legal)
}

#[test]
fn the_tables_are_those_of_the_document() {
    let machines = [
        machine("Payment", PaymentStatus::ALL, PaymentStep::ALL, PaymentStatus::after),
        machine("Payout", PayoutStatus::ALL, PayoutStep::ALL, PayoutStatus::after),
        machine("Refund", RefundStatus::ALL, RefundStep::ALL, RefundStatus::after),
        machine(
            "Payment link",
            PaymentLinkStatus::ALL,
            PaymentLinkStep::ALL,
            PaymentLinkStatus::after,
        ),
        machine("Webhook delivery", DeliveryStatus::ALL, DeliveryStep::ALL, DeliveryStatus::after),
    ];
    let legal: Vec<usize> = machines.iter().map(|(_, legal)| *legal).collect();
    // Rows of API §9.4, §10, §11, §12, and §16.3 with §22.2, creations apart.
    assert_eq!(legal, [13, 4, 2, 1, 6]);

    let mut page = String::from(
        "# State machines\n\nPrinted from the tables in `cauri-core` by \
         `crates/core/tests/state_machines.rs`; everything that is not here is refused.\n\n",
    );
    for (text, _) in machines {
        page.push_str(&text);
    }
    let page = format!("{}\n", page.trim_end());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/state-machines.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/state-machines.md is not what the tables say");
}

#[test]
fn what_has_ended_stays_as_it_is() {
    for step in PaymentStep::ALL {
        for end in [PaymentStatus::Failed, PaymentStatus::Cancelled, PaymentStatus::Refunded] {
            assert!(end.after(*step).is_err(), "{end} {step}");
        }
    }
    for step in PayoutStep::ALL {
        for end in [PayoutStatus::Succeeded, PayoutStatus::Failed] {
            assert!(end.after(*step).is_err(), "{end} {step}");
        }
    }
    // A delivery ends, unless the merchant asks for another attempt.
    for step in DeliveryStep::ALL.iter().filter(|step| **step != DeliveryStep::Retry) {
        for end in [DeliveryStatus::Succeeded, DeliveryStatus::Failed] {
            assert!(end.after(*step).is_err(), "{end} {step}");
        }
    }
}
