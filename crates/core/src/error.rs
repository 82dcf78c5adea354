//! What can be wrong with a command: the catalogue of API §4, with fields instead of sentences.

use std::{borrow::Cow, fmt};

use crate::{
    model::{
        catalogue::CatalogueError, payment::PaymentStatus, payout::PayoutStatus,
        refund::RefundStatus,
    },
    value::{
        currency::Currency,
        id::OrderId,
        money::{Amount, Overflow},
    },
};

/// What is wrong with one parameter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is required and absent.
    #[error("is required")]
    Missing,
    /// It has a wrong form.
    #[error("{0}")]
    Invalid(Cow<'static, str>),
    /// There is no such parameter.
    #[error("is not a parameter of this request")]
    Unknown,
    /// It cannot be changed.
    #[error("cannot be changed")]
    Immutable,
    /// It names something that does not exist.
    #[error("names nothing that exists")]
    Unrelated,
    /// The catalogue does not offer it.
    #[error(transparent)]
    Catalogue(CatalogueError),
    /// A phone number of a wrong form or length.
    #[error("is not a valid phone number")]
    PhoneInvalid,
    /// A phone number of another country.
    #[error("belongs to another country")]
    PhoneCountryMismatch,
    /// The network cannot return money.
    #[error("was made over a network that cannot refund")]
    RefundNotSupported,
    /// The network can only return all of it.
    #[error("must be the whole amount: this network cannot refund in parts")]
    PartialRefundNotSupported,
    /// More than what is left.
    #[error("exceeds the {left} that can still be refunded")]
    RefundTooLarge {
        /// What is left, in the smallest unit of the payment's currency.
        left: Amount,
    },
    /// Not the link's amount or currency.
    #[error("differs from that of the payment link")]
    LinkMismatch,
    /// No such kind of event.
    #[error("is not a kind of event")]
    EventKindUnknown,
    /// An address that nothing is sent to.
    #[error("is an address that events are not sent to")]
    UrlNotAllowed,
    /// As many endpoints as there may be.
    #[error("There are already {max} webhook endpoints.")]
    EndpointLimitReached {
        /// How many there may be.
        max: usize,
    },
    /// No such scenario.
    #[error("is not a scenario")]
    ScenarioUnknown,
    /// A scenario of other objects.
    #[error("does not apply to this object")]
    ScenarioNotApplicable,
    /// An `Idempotency-Key` of a wrong form.
    #[error("Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.")]
    IdempotencyKeyInvalid,
    /// No `Idempotency-Key` where the installation requires one.
    #[error("Idempotency-Key is required.")]
    IdempotencyKeyRequired,
}

impl Problem {
    /// It has a wrong form: says which form is wanted.
    ///
    /// ```
    /// use cauri_core::{Fault, Problem};
    /// let fault = Fault::at("limit", Problem::invalid("must be an integer from 1 to 100"));
    /// assert_eq!(fault.to_string(), "limit must be an integer from 1 to 100.");
    /// ```
    #[must_use]
    pub const fn invalid(expected: &'static str) -> Self {
        Self::Invalid(Cow::Borrowed(expected))
    }

    /// Is it what is wrong with a request before anything is looked up by it (API §2.2), so that all
    /// of its kind are told at once?
    const fn is_of_form(&self) -> bool {
        match self {
            Self::Missing
            | Self::Invalid(_)
            | Self::Unknown
            | Self::Immutable
            | Self::PhoneInvalid
            | Self::PhoneCountryMismatch
            | Self::EventKindUnknown
            | Self::UrlNotAllowed
            | Self::ScenarioUnknown
            | Self::IdempotencyKeyInvalid
            | Self::IdempotencyKeyRequired => true,
            Self::Unrelated
            | Self::Catalogue(_)
            | Self::RefundNotSupported
            | Self::PartialRefundNotSupported
            | Self::RefundTooLarge { .. }
            | Self::LinkMismatch
            | Self::EndpointLimitReached { .. }
            | Self::ScenarioNotApplicable => false,
        }
    }

    /// The code of the contract.
    ///
    /// ```
    /// use cauri_core::Problem;
    /// assert_eq!(Problem::Missing.code(), "parameter_missing");
    /// assert_eq!(Problem::PhoneInvalid.code(), "phone_invalid");
    /// ```
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing => "parameter_missing",
            Self::Invalid(_) => "parameter_invalid",
            Self::Unknown => "parameter_unknown",
            Self::Immutable => "parameter_immutable",
            Self::Unrelated => "related_resource_not_found",
            Self::Catalogue(error) => catalogue_code(error),
            Self::PhoneInvalid => "phone_invalid",
            Self::PhoneCountryMismatch => "phone_country_mismatch",
            Self::RefundNotSupported => "refund_not_supported",
            Self::PartialRefundNotSupported => "partial_refund_not_supported",
            Self::RefundTooLarge { .. } => "refund_amount_exceeds_refundable",
            Self::LinkMismatch => "payment_link_amount_mismatch",
            Self::EventKindUnknown => "event_kind_unknown",
            Self::UrlNotAllowed => "url_not_allowed",
            Self::EndpointLimitReached { .. } => "webhook_endpoint_limit_reached",
            Self::ScenarioUnknown => "scenario_unknown",
            Self::ScenarioNotApplicable => "scenario_not_applicable",
            Self::IdempotencyKeyInvalid => "idempotency_key_invalid",
            Self::IdempotencyKeyRequired => "idempotency_key_required",
        }
    }

    /// Is its text a whole sentence, rather than what follows the parameter's name?
    const fn is_sentence(&self) -> bool {
        matches!(
            self,
            Self::Catalogue(_)
                | Self::EndpointLimitReached { .. }
                | Self::IdempotencyKeyInvalid
                | Self::IdempotencyKeyRequired
        )
    }
}

const fn catalogue_code(error: &CatalogueError) -> &'static str {
    match error {
        CatalogueError::CountryNotSupported { .. } => "country_not_supported",
        CatalogueError::PaymentMethodNotSupported { .. } => "payment_method_not_supported",
        CatalogueError::NetworkNotSupported { .. } => "network_not_supported",
        CatalogueError::CurrencyNotSupported { .. } => "currency_not_supported",
        CatalogueError::PayinNotSupported { .. } => "payin_not_supported",
        CatalogueError::PayoutNotSupported { .. } => "payout_not_supported",
        CatalogueError::AmountBelowMinimum { .. } => "amount_below_minimum",
        CatalogueError::AmountAboveMaximum { .. } => "amount_above_maximum",
    }
}

/// One wrong parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a place and a problem")]
pub struct Fault {
    /// Which, as a dotted path (`metadata.order`, `events[1]`); `None` when it is about none.
    pub param: Option<Cow<'static, str>>,
    /// What is wrong with it.
    pub problem: Problem,
}

impl Fault {
    /// This problem at this parameter.
    ///
    /// ```
    /// use cauri_core::{Fault, Problem};
    /// let fault = Fault::at("events[1]", Problem::EventKindUnknown);
    /// assert_eq!(fault.to_string(), "events[1] is not a kind of event.");
    /// ```
    #[must_use]
    pub fn at(param: impl Into<Cow<'static, str>>, problem: Problem) -> Self {
        Self { param: Some(param.into()), problem }
    }

    /// A problem of the request as a whole.
    ///
    /// ```
    /// use cauri_core::{Fault, Problem};
    /// let fault = Fault::overall(Problem::EndpointLimitReached { max: 16 });
    /// assert_eq!(fault.to_string(), "There are already 16 webhook endpoints.");
    /// ```
    #[must_use]
    pub const fn overall(problem: Problem) -> Self {
        Self { param: None, problem }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.param {
            Some(param) if !self.problem.is_sentence() => write!(f, "{param} {}.", self.problem),
            _ => fmt::Display::fmt(&self.problem, f),
        }
    }
}

/// Everything that is wrong with the parameters of a request, in field order; never nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// These faults, if there are any: those of the form of parameters (API §2.2), and where there is
    /// none, the first of what comes later.
    ///
    /// # Errors
    /// The faults.
    ///
    /// ```
    /// use cauri_core::{Fault, Faults, Problem};
    /// assert!(Faults::none(Vec::new()).is_ok());
    /// assert!(Faults::none(vec![Fault::at("amount", Problem::Missing)]).is_err());
    /// ```
    pub fn none(mut faults: Vec<Fault>) -> Result<(), Self> {
        if faults.iter().any(|fault| fault.problem.is_of_form()) {
            faults.retain(|fault| fault.problem.is_of_form());
        }
        match faults.first() {
            None => Ok(()),
            Some(first) if first.problem.is_of_form() => Err(Self(faults)),
            Some(_) => {
                faults.truncate(1);
                Err(Self(faults))
            }
        }
    }

    /// All of them, in field order.
    ///
    /// ```
    /// use cauri_core::{Fault, Faults, Problem};
    /// let missing = ["amount", "currency"].map(|param| Fault::at(param, Problem::Missing));
    /// let faults = Faults::none(missing.to_vec()).unwrap_err();
    /// assert_eq!(faults.all().len(), 2);
    /// assert_eq!(faults.to_string(), "amount is required."); // one sentence: the first
    /// ```
    #[must_use]
    pub fn all(&self) -> &[Fault] {
        &self.0
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.first().map_or(Ok(()), |first| fmt::Display::fmt(first, f))
    }
}

impl std::error::Error for Faults {}

/// Why a command was refused. Each variant has one code of API §4.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The parameters are wrong.
    #[error(transparent)]
    Invalid(#[from] Faults),
    /// There is no such object in this account and environment.
    #[error("There is no such {0}.")]
    NotFound(&'static str),
    /// The available balance does not cover it.
    #[error("The balance does not cover {needed} {currency}.")]
    BalanceInsufficient {
        /// What is needed, in the smallest unit of `currency`.
        needed: Amount,
        /// In which currency.
        currency: Currency,
    },
    /// The payment, or its network, cannot be cancelled.
    #[error("A payment that is {0} cannot be cancelled on this network.")]
    PaymentNotCancellable(PaymentStatus),
    /// The payment's status allows no refund.
    #[error("A payment that is {0} cannot be refunded.")]
    PaymentNotRefundable(PaymentStatus),
    /// All of it was returned already.
    #[error("The payment is already refunded.")]
    PaymentAlreadyRefunded,
    /// The link is not active.
    #[error("The payment link is not active.")]
    PaymentLinkInactive,
    /// The link's time is over.
    #[error("The payment link has expired.")]
    PaymentLinkExpired,
    /// The link was paid.
    #[error("The payment link is already paid.")]
    PaymentLinkAlreadyPaid,
    /// A payment through the link is under way.
    #[error("A payment through this link is under way.")]
    PaymentLinkInUse,
    /// The link's amount is settled by a payment.
    #[error("The amount cannot be changed while the link has a payment under way or succeeded.")]
    PaymentLinkLocked,
    /// The endpoint is not active.
    #[error("The webhook endpoint is not active.")]
    WebhookEndpointDisabled,
    /// The delivery has had as many attempts as it may have.
    #[error("The delivery has had {0} attempts, as many as it may have. A replay makes a new one.")]
    WebhookDeliveryNotRetryable(u8),
    /// The object's status allows no simulation.
    #[error("{id} is {status} and cannot be simulated.")]
    SimulationNotAllowed {
        /// Which object.
        id: OrderId,
        /// Its status.
        status: &'static str,
    },
    /// The `Idempotency-Key` was used for another request.
    #[error("The Idempotency-Key was used for another request.")]
    IdempotencyKeyReused,
    /// A sum does not fit into 64 bits.
    #[error(transparent)]
    Overflow(#[from] Overflow),
    /// Records contradict one another: a step that the tables do not allow. Never answered for
    /// what this crate wrote.
    #[error("a step that the tables do not allow")]
    Impossible,
}

impl Error {
    /// The code of the contract; for parameters that of the first fault.
    ///
    /// ```
    /// use cauri_core::{Error, Fault, Problem};
    /// assert_eq!(Error::PaymentLinkInUse.code(), "payment_link_in_use");
    /// assert_eq!(Error::from(Fault::at("amount", Problem::Missing)).code(), "parameter_missing");
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(faults) => {
                faults.all().first().map_or("parameter_invalid", |fault| fault.problem.code())
            }
            Self::NotFound(_) => "resource_not_found",
            Self::BalanceInsufficient { .. } => "balance_insufficient",
            Self::PaymentNotCancellable(_) => "payment_not_cancellable",
            Self::PaymentNotRefundable(_) => "payment_not_refundable",
            Self::PaymentAlreadyRefunded => "payment_already_refunded",
            Self::PaymentLinkInactive => "payment_link_inactive",
            Self::PaymentLinkExpired => "payment_link_expired",
            Self::PaymentLinkAlreadyPaid => "payment_link_already_paid",
            Self::PaymentLinkInUse => "payment_link_in_use",
            Self::PaymentLinkLocked => "payment_link_locked",
            Self::WebhookEndpointDisabled => "webhook_endpoint_disabled",
            Self::WebhookDeliveryNotRetryable(_) => "webhook_delivery_not_retryable",
            Self::SimulationNotAllowed { .. } => "simulation_not_allowed",
            Self::IdempotencyKeyReused => "idempotency_key_reused",
            Self::Overflow(_) | Self::Impossible => "internal_error",
        }
    }

    /// One wrong parameter.
    #[must_use]
    pub(crate) fn fault(param: &'static str, problem: Problem) -> Self {
        Self::Invalid(Fault::at(param, problem).into())
    }

    /// What the network's catalogue refuses, at the parameter it is about.
    ///
    /// ```
    /// use cauri_core::{CatalogueError, Error};
    /// let error = Error::catalogue(CatalogueError::CountryNotSupported { country: "FR".parse()? });
    /// let Error::Invalid(faults) = &error else { panic!("a wrong parameter") };
    /// assert_eq!(error.code(), "country_not_supported");
    /// assert_eq!(faults.all()[0].param.as_deref(), Some("country"));
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub fn catalogue(error: CatalogueError) -> Self {
        Self::fault(error.param(), Problem::Catalogue(error))
    }

    pub(crate) const fn not_simulated_payout(id: OrderId, status: PayoutStatus) -> Self {
        Self::SimulationNotAllowed { id, status: status.as_str() }
    }

    pub(crate) const fn not_simulated_refund(id: OrderId, status: RefundStatus) -> Self {
        Self::SimulationNotAllowed { id, status: status.as_str() }
    }

    pub(crate) const fn not_simulated_payment(id: OrderId, status: PaymentStatus) -> Self {
        Self::SimulationNotAllowed { id, status: status.as_str() }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Invalid(fault.into())
    }
}
