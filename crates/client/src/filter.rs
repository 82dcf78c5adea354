//! What lists are asked for. Everything that is said must hold of an item; what is not said does
//! not matter.

use cauri_core::{
    Country, Currency, CustomerId, DeliveryStatus, Direction, Email, EndpointId, EntryKind,
    EventId, EventKind, LedgerAccountKind, Network, OrderId, PaymentId, PaymentLinkId,
    PaymentLinkStatus, PaymentMethod, PaymentStatus, PayoutStatus, Phone, RefundStatus, ResourceId,
    ScenarioKind, Text, Timestamp, TransactionId,
};
use serde::Serialize;

macro_rules! filters {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
        #[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
        pub struct $name {
            $(
                $(#[$field_meta])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*
            /// Accepted then or later.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub created_from: Option<Timestamp>,
            /// Accepted before then.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub created_to: Option<Timestamp>,
        }
    )+};
}

filters! {
    /// Any (API §2.1).
    Any {}
    /// Payments (API §9.6).
    Payments {
        /// Where they stand.
        status: PaymentStatus,
        /// In which currency.
        currency: Currency,
        /// Where the payer is.
        country: Country,
        /// By which method.
        payment_method: PaymentMethod,
        /// Over which network.
        network: Network,
        /// Of whom.
        customer: CustomerId,
        /// Through which link.
        payment_link: PaymentLinkId,
        /// The merchant's own name for them.
        reference: Text<100>,
    }
    /// The payments of a link (API §12).
    LinkPayments {
        /// Where they stand.
        status: PaymentStatus,
    }
    /// Payment links (API §12).
    PaymentLinks {
        /// Where they stand.
        status: PaymentLinkStatus,
        /// May payments be made through them?
        active: bool,
        /// The merchant's own name for them.
        reference: Text<100>,
        /// In which currency.
        currency: Currency,
    }
    /// Payouts (API §10).
    Payouts {
        /// Where they stand.
        status: PayoutStatus,
        /// In which currency.
        currency: Currency,
        /// Where the recipient is.
        country: Country,
        /// Over which network.
        network: Network,
        /// To whom.
        customer: CustomerId,
        /// The merchant's own name for them.
        reference: Text<100>,
    }
    /// Refunds (API §11).
    Refunds {
        /// Where they stand.
        status: RefundStatus,
        /// Of which payment.
        payment: PaymentId,
        /// In which currency.
        currency: Currency,
        /// The merchant's own name for them.
        reference: Text<100>,
    }
    /// Customers (API §13).
    Customers {
        /// With this address, in whatever case.
        email: Email,
        /// With this phone.
        phone: Phone,
        /// The merchant's own name for them.
        reference: Text<100>,
    }
    /// Lines of the ledger (API §8.3).
    Ledger {
        /// In which currency.
        currency: Currency,
        /// Of which account.
        account: LedgerAccountKind,
        /// On which side.
        direction: Direction,
        /// Why.
        #[serde(rename = "type")]
        kind: EntryKind,
        /// Because of what.
        source: OrderId,
        /// Of which posting.
        transaction: TransactionId,
    }
    /// Deliveries (API §16.3).
    Deliveries {
        /// To which endpoint.
        webhook_endpoint: EndpointId,
        /// Of which event.
        event: EventId,
        /// Of which kind of event.
        event_type: EventKind,
        /// Where they stand.
        status: DeliveryStatus,
    }
    /// Events (API §22.1).
    Events {
        /// Of which kind.
        #[serde(rename = "type")]
        kind: EventKind,
        /// About which object.
        resource: ResourceId,
    }
}

/// Scenarios of the sandbox (API §17.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct Scenarios {
    /// That can be played on this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applies_to: Option<ScenarioKind>,
}

/// How money can be paid somewhere (API §14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct PaymentMethods {
    /// Where.
    pub country: Country,
    /// In which currency; `None` means in the country's first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
}
