//! The in-memory reference store of cauri: what every other store must be indistinguishable from.
//!
//! It is a whole store, not a fake: it sees conflicts, keeps floors, numbers lists and leases what
//! is due. Only law 9 does not hold: what it keeps ends with it.
//!
//! ```
//! use cauri::{Account, Changeset, Key, Store, Timestamp};
//! use cauri_memory::MemoryStore;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), cauri::StoreError> {
//! let store = MemoryStore::new();
//! let id = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse().expect("an id");
//!
//! let mut changes = Changeset::new();
//! changes.insert(Account { id, created_at: Timestamp::EPOCH }, None);
//! let verdicts = store.commit(vec![changes.clone(), changes]).await?;
//! assert_eq!(verdicts, [Ok(()), Err(cauri::Refusal::Exists(Key::Account(id)))]);
//!
//! let found = store.get(&[Key::Account(id)]).await?;
//! assert_eq!(found[0].as_ref().map(|it| it.version), Some(1));
//! # Ok(())
//! # }
//! ```

mod due;
mod ledger;
mod lists;
mod records;
mod store;

pub use store::MemoryStore;
