//! Payment links: created and modified (API §12).

use super::draft::{Context, Decision, Draft, touched};
use crate::{
    commit::record::Versioned,
    error::{Error, Fault, Faults, Problem},
    model::{
        catalogue::{Ask, CatalogueError},
        event::EventKind,
        offer::Purpose,
        payment_link::{PaymentLink, PaymentLinkStatus},
    },
    value::{method::PaymentMethod, money::Amount, patch::Patch},
    wire::{self, CreatePaymentLink, ModifyPaymentLink, report::TOO_MANY_KEYS},
};

/// Creates a payment link (API §12).
///
/// # Errors
/// Wrong parameters, what the catalogue does not offer.
///
/// ```
/// use cauri_core::decide;
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let link = decide::payment_link::create(Shop::ask_link(5_000), &mut shop.context())?.value;
/// assert!(link.url.starts_with("https://pay.example.com/plink_"));
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn create(
    ask: CreatePaymentLink,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::PaymentLink>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
    offered(&ask, cx)?;
    let now = cx.env.now();
    let id = cx.env.id();
    let link = PaymentLink {
        id,
        scope: cx.scope,
        status: PaymentLinkStatus::Created,
        active: ask.active,
        url: format!("{}/{id}", cx.terms.checkout_base_url.trim_end_matches('/')),
        title: ask.title,
        description: ask.description,
        amount: ask.amount,
        currency: ask.currency,
        country: ask.country,
        methods: ask.methods,
        reusable: ask.reusable,
        expires_at: ask.expires_at,
        return_url: ask.return_url,
        reference: ask.reference,
        metadata: ask.metadata,
        payments_count: 0,
        open_payments_count: 0,
        succeeded_payments_count: 0,
        collected_amount: Amount::ZERO,
        paid_at: None,
        created_at: now,
        updated_at: now,
    };
    let shown = wire::PaymentLink::of(&link)?;
    let mut draft = Draft::new(cx);
    draft.emit(EventKind::PaymentLinkCreated, now, &shown);
    draft.changes.insert(link, None);
    Ok(draft.decided(shown))
}

/// Could a payment ever be made through it? At least one of its methods must be offered in its
/// country and currency, for its amount.
fn offered(ask: &CreatePaymentLink, cx: &Context<'_>) -> Result<(), Error> {
    let catalogue = &cx.terms.offers(cx.scope.environment).catalogue;
    let country = ask.country;
    let Some(place) = catalogue.country(country) else {
        return Err(Error::catalogue(CatalogueError::CountryNotSupported { country }));
    };
    let methods = ask.methods.as_deref().unwrap_or(PaymentMethod::ALL);
    let mut refusal = None;
    for &method in methods {
        for offer in place.offers().iter().filter(|offer| offer.method == method) {
            let network = Some(&offer.network);
            // Any amount that the network takes, where the payer chooses.
            let amount = ask.amount.unwrap_or(offer.min);
            let (currency, purpose) = (ask.currency, Purpose::Payin);
            let wanted = Ask { country, method, network, currency, amount, purpose };
            match catalogue.offer(wanted) {
                Ok(_) => return Ok(()),
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
    }
    let none = CatalogueError::PaymentMethodNotSupported {
        method: methods.first().copied().unwrap_or(PaymentMethod::MobileMoney),
        country,
    };
    Err(match refusal {
        None => Error::fault("payment_methods", Problem::Catalogue(none)),
        Some(error) => Error::catalogue(error),
    })
}

/// Modifies a payment link (API §12). Emits nothing.
///
/// # Errors
/// Wrong parameters; [`Error::PaymentLinkAlreadyPaid`] for what a paid link keeps,
/// [`Error::PaymentLinkLocked`] for an amount that a payment relies on.
///
/// ```
/// use cauri_core::{Amount, Error, Patch, decide, wire::ModifyPaymentLink};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let mut link = shop.link(5_000);
/// let ask = ModifyPaymentLink { amount: Patch::Set(Amount::new(6_000)), ..Default::default() };
/// let changed = decide::payment_link::modify(ask.clone(), link.clone(), &mut shop.context())?;
/// assert_eq!(changed.value.amount, Some(Amount::new(6_000)));
/// // Somebody is paying it: the amount stays.
/// link.value.open_payments_count = 1;
/// let refused = decide::payment_link::modify(ask, link, &mut shop.context());
/// assert_eq!(refused.unwrap_err(), Error::PaymentLinkLocked);
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn modify(
    ask: ModifyPaymentLink,
    link: Versioned<PaymentLink>,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::PaymentLink>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
    let Versioned { value: mut link, version, .. } = link;
    let ModifyPaymentLink {
        title,
        description,
        active,
        amount,
        expires_at,
        return_url,
        reference,
        metadata,
    } = ask;
    let metadata =
        link.metadata.patched(&metadata).map_err(|_| Fault::at("metadata", TOO_MANY_KEYS))?;
    let keeps =
        active.is_none() && amount.is_keep() && expires_at.is_keep() && return_url.is_keep();
    if link.status == PaymentLinkStatus::Paid && !keeps {
        return Err(Error::PaymentLinkAlreadyPaid);
    }
    let relied_on = link.open_payments_count > 0 || link.succeeded_payments_count > 0;
    if !amount.is_keep() && relied_on {
        return Err(Error::PaymentLinkLocked);
    }
    if let Patch::Set(amount) = amount {
        let ask = CreatePaymentLink {
            amount: Some(amount),
            currency: link.currency,
            country: link.country,
            methods: link.methods.clone(),
            title: link.title.clone(),
            description: None,
            reusable: link.reusable,
            expires_at: None,
            return_url: None,
            reference: None,
            metadata: link.metadata.clone(),
            active: link.active,
        };
        offered(&ask, cx)?;
    }
    link.title = title.unwrap_or(link.title);
    link.description = description.applied(&link.description);
    link.active = active.unwrap_or(link.active);
    link.amount = amount.applied(&link.amount);
    link.expires_at = expires_at.applied(&link.expires_at);
    link.return_url = return_url.applied(&link.return_url);
    link.reference = reference.applied(&link.reference);
    link.metadata = metadata;
    link.updated_at = touched(link.updated_at, cx.env.now());
    let shown = wire::PaymentLink::of(&link)?;
    let mut draft = Draft::new(cx);
    draft.changes.update(link, version, None);
    Ok(draft.decided(shown))
}
