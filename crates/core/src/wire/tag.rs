//! The `object` of every response: a type for each word, so that one object cannot be read as
//! another.

macro_rules! tags {
    ($($name:ident = $word:literal;)+) => {$(
        #[doc = concat!("The word `", $word, "`, and no other.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct $name;

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($word)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                if word == $word {
                    Ok(Self)
                } else {
                    Err(serde::de::Error::custom(concat!("object is not ", $word)))
                }
            }
        }
    )+};
}

tags! {
    ApiKey = "api_key";
    Balance = "balance";
    Customer = "customer";
    Event = "event";
    LedgerEntry = "ledger_entry";
    List = "list";
    Payment = "payment";
    PaymentLink = "payment_link";
    Payout = "payout";
    Refund = "refund";
    SandboxFunding = "sandbox_funding";
    SandboxScenario = "sandbox_scenario";
    TimelineEntry = "timeline_entry";
    WebhookDelivery = "webhook_delivery";
    WebhookEndpoint = "webhook_endpoint";
    WebhookReplay = "webhook_replay";
}
