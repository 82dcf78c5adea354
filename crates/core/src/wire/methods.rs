//! The catalogue as it is shown (API §14).

use serde::{Deserialize, Serialize};

use super::{private::Mask, tag};
use crate::{
    model::{catalogue, offer},
    value::{
        country::Country,
        currency::Currency,
        method::{Network, PaymentMethod},
        money::{Amount, Overflow},
        scope::Environment,
    },
};

/// How money can be paid in a country: a list of its own shape (API §1, R8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentMethods {
    /// `list`.
    pub object: tag::List,
    /// Where.
    pub country: Country,
    /// In which currency.
    pub currency: Currency,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// The methods, in catalogue order.
    pub data: Vec<MethodNetworks>,
}

/// The networks of one payment method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MethodNetworks {
    /// The method.
    pub payment_method: PaymentMethod,
    /// Its networks, in catalogue order.
    pub networks: Vec<NetworkEntry>,
}

/// A network. Only its name is shown of a card's (API §1, R2), and the connection only of a
/// simulated one (API §1, R1); what is not shown is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NetworkEntry {
    /// Its name.
    pub network: Network,
    /// The simulator that plays it; only in the sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_key: Option<offer::Connection>,
    /// Is it played by a simulator? Only in the sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<bool>,
    /// The least it moves at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_amount: Option<Amount>,
    /// The most it moves at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_amount: Option<Amount>,
    /// What it can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
}

/// What a network can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Capabilities {
    /// Take a payment.
    pub payin: bool,
    /// Pay out.
    pub payout: bool,
    /// Give a payment back.
    pub refund: bool,
    /// Give back a part of a payment.
    pub partial_refund: bool,
    /// Call off a payment that the payer has not approved yet.
    pub cancel: bool,
}

impl PaymentMethods {
    /// What [`crate::Catalogue::methods`] found, as it is shown.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::{Catalogue, Country, Environment, wire::PaymentMethods};
    /// let (catalogue, country) = (Catalogue::sandbox(), "KW".parse()?);
    /// let (currency, methods) = catalogue.methods(country, None)?;
    /// let shown = PaymentMethods::of(Environment::Sandbox, country, currency, &methods)?;
    /// assert_eq!(shown.data[0].networks[0].network.as_str(), "visa");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(
        environment: Environment,
        country: Country,
        currency: Currency,
        methods: &[catalogue::MethodOffers<'_>],
    ) -> Result<Self, Overflow> {
        let data = methods
            .iter()
            .map(|catalogue::MethodOffers { method, offers }| MethodNetworks {
                payment_method: *method,
                networks: offers.iter().map(|offer| NetworkEntry::of(environment, offer)).collect(),
            })
            .collect();
        let livemode = environment.is_live();
        Ok(Self { object: tag::List, country, currency, environment, livemode, data })
    }
}

impl NetworkEntry {
    fn of(environment: Environment, offer: &offer::Offer) -> Self {
        let offer::Offer {
            method,
            network,
            currency: _,
            min,
            max,
            capabilities,
            flow: _,
            connection,
        } = offer;
        let offer::Capabilities { payin, payout, refund, partial_refund, cancel } = *capabilities;
        let wallet = *method == PaymentMethod::MobileMoney;
        let simulated = wallet && !environment.is_live();
        Self {
            network: network.clone(),
            connection_key: simulated.then(|| connection.clone()),
            simulated: simulated.then_some(true),
            min_amount: wallet.then_some(*min),
            max_amount: wallet.then_some(*max),
            capabilities: wallet.then_some(Capabilities {
                payin,
                payout,
                refund,
                partial_refund,
                cancel,
            }),
        }
    }
}

impl Mask for PaymentMethods {
    fn masked(self) -> Self {
        self
    }
}
