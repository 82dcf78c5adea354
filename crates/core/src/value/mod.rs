//! The smallest things the domain speaks of: ids, moments, money, places, bounded text.

pub(crate) mod choice;
pub(crate) mod country;
pub(crate) mod currency;
pub(crate) mod email;
pub(crate) mod env;
pub(crate) mod id;
pub(crate) mod metadata;
pub(crate) mod method;
pub(crate) mod money;
pub(crate) mod open;
pub(crate) mod otp;
pub(crate) mod page;
pub(crate) mod patch;
pub(crate) mod phone;
pub(crate) mod scope;
pub(crate) mod secret;
pub(crate) mod short;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod trace_context;
pub(crate) mod web_url;
