//! Whose data, and whether it is real: everything stored is scoped by both.

use super::{choice::choice, id::AccountId};

choice! {
    /// Play or earnest (API §1, R17).
    #[expect(clippy::exhaustive_enums, reason = "there is no third way")]
    Environment {
        /// Nothing is real.
        Sandbox = "sandbox",
        /// Money moves.
        Live = "live",
    }
}

impl Environment {
    /// The `livemode` of every object.
    ///
    /// ```
    /// use cauri_core::Environment;
    /// assert!(Environment::Live.is_live());
    /// assert!(!Environment::Sandbox.is_live());
    /// ```
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Live)
    }
}

/// One environment of one account. No operation touches two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a scope is just these two")]
pub struct Scope {
    /// The tenant.
    pub account: AccountId,
    /// Sandbox or live.
    pub environment: Environment,
}
