//! Accounts, the tenants everything is scoped by, and settings of the installation itself.

use crate::value::{id::AccountId, time::Timestamp};

/// A tenant: one merchant of the platform, with a sandbox and a live environment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A value that belongs to the whole installation, such as the development key that seals
/// secrets where the embedder gave none.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Vec<u8>,
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A setting may be a key.
        f.debug_struct("Setting").field("name", &self.name).finish_non_exhaustive()
    }
}
