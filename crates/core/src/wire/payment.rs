//! Payments as they travel (API §9).

use serde::{Deserialize, Serialize};

use super::{
    private::{Mask, Private},
    tag,
};
use crate::{
    model::{failure::FailureCode, payment as model},
    value::{
        country::Country,
        currency::Currency,
        id::{CustomerId, PaymentId, PaymentLinkId},
        metadata::Metadata,
        method::{Network, PaymentMethod},
        money::{Amount, Overflow},
        phone::Phone,
        scope::Environment,
        text::Text,
        time::Timestamp,
        web_url::WebUrl,
    },
};

/// `POST /v1/payments` (API §9.2).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreatePayment {
    /// What the payer pays; may be left to the payment link.
    pub amount: Option<Amount>,
    /// In which currency; may be left to the payment link.
    pub currency: Option<Currency>,
    /// By which method.
    pub method: PaymentMethod,
    /// Over which network; required for mobile money.
    pub network: Option<Network>,
    /// The payer's phone; mobile money needs it here or in the customer.
    pub phone: Option<Phone>,
    /// Where the payer is, unless the phone or the link says so.
    pub country: Option<Country>,
    /// A pre-authorisation code for the network.
    pub otp: Option<Text<10>>,
    /// Who pays.
    pub customer: Option<CustomerId>,
    /// The link it comes through.
    pub payment_link: Option<PaymentLinkId>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// Seconds until it expires, 60 to 86,400; `None` takes the installation's default.
    pub expires_in: Option<u32>,
}

/// `POST /v1/payments/:id/cancel` (API §9.5).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CancelPayment {
    /// Why.
    pub reason: Option<Text<255>>,
}

/// A payment (API §9.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// `payment`.
    pub object: tag::Payment,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where it stands.
    pub status: model::PaymentStatus,
    /// What the payer pays.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// What the merchant is charged.
    pub fee_amount: Amount,
    /// What the merchant keeps.
    pub net_amount: Amount,
    /// By which method.
    pub payment_method: PaymentMethod,
    /// Over which network.
    pub network: Option<Network>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// Where the payer is.
    pub country: Country,
    /// The payer's phone.
    pub phone: Option<Private>,
    /// Who pays.
    pub customer: Option<CustomerId>,
    /// The link it came through.
    pub payment_link: Option<PaymentLinkId>,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// The sum of its succeeded refunds.
    pub refunded_amount: Amount,
    /// What can still be refunded.
    pub refundable_amount: Amount,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// What the payer has to do.
    pub next_action: Option<model::NextAction>,
    /// Why it failed.
    pub failure_code: Option<FailureCode>,
    /// Why it failed, for people.
    pub failure_message: Option<String>,
    /// Why it was cancelled.
    pub cancellation_reason: Option<Text<255>>,
    /// When it expires unless paid.
    pub expires_at: Timestamp,
    /// When it was accepted by us.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When the network accepted it.
    pub processing_at: Option<Timestamp>,
    /// When it was paid.
    pub succeeded_at: Option<Timestamp>,
    /// When it failed.
    pub failed_at: Option<Timestamp>,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// When it expired.
    pub expired_at: Option<Timestamp>,
    /// When its money is (to be) available.
    pub available_at: Option<Timestamp>,
}

impl Payment {
    /// What is shown of a payment.
    ///
    /// # Errors
    /// [`Overflow`], for a payment that this crate did not build.
    pub fn of(payment: &model::Payment) -> Result<Self, Overflow> {
        let model::Payment {
            id,
            scope,
            status,
            amount,
            currency,
            fee_amount,
            method,
            network,
            reference,
            country,
            phone,
            otp: _,
            customer,
            payment_link,
            description,
            metadata,
            return_url,
            next_action,
            failure,
            cancellation_reason,
            refunded_amount,
            refunding_amount: _,
            fee_returned_amount: _,
            refunds_count: _,
            pending_amount: _,
            settled_at: _,
            expires_at,
            created_at,
            updated_at,
            processing_at,
            succeeded_at,
            failed_at,
            cancelled_at,
            expired_at,
            available_at,
            timeline_count: _,
            connection: _,
            poll_at: _,
            simulation: _,
        } = payment;
        Ok(Self {
            id: *id,
            object: tag::Payment,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            status: *status,
            amount: *amount,
            currency: *currency,
            fee_amount: *fee_amount,
            net_amount: payment.net_amount()?,
            payment_method: *method,
            network: network.clone(),
            reference: reference.clone(),
            country: *country,
            phone: phone.as_ref().map(|phone| phone.as_str().into()),
            customer: *customer,
            payment_link: *payment_link,
            description: description.clone(),
            metadata: metadata.clone(),
            refunded_amount: *refunded_amount,
            refundable_amount: payment.refundable_amount(),
            return_url: return_url.clone(),
            next_action: next_action.clone(),
            failure_code: *failure,
            failure_message: failure.map(|code| code.message().to_owned()),
            cancellation_reason: cancellation_reason.clone(),
            expires_at: *expires_at,
            created_at: *created_at,
            updated_at: *updated_at,
            processing_at: *processing_at,
            succeeded_at: *succeeded_at,
            failed_at: *failed_at,
            cancelled_at: *cancelled_at,
            expired_at: *expired_at,
            available_at: *available_at,
        })
    }
}

impl Mask for Payment {
    fn masked(self) -> Self {
        let phone = self.phone.as_ref().map(Private::masked_phone);
        Self { phone, metadata: Metadata::default(), ..self }
    }
}
