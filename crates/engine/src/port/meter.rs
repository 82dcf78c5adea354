//! Who counts.

use std::{fmt::Debug, time::Duration};

use cauri_core::{AttemptError, ClaimKind, Connection, Environment, EventKind, FailureCode};

/// Is told what happens, as it happens, to count it: numbers and words of the contract, never an
/// id, an amount or anything of a person. Without a meter nothing is measured, and no clock is read
/// for it.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering::Relaxed}};
/// use cauri::{Amount, Call, Caller, Engine, Environment, EventKind, Measured, Meter, Scope};
/// use cauri_memory::MemoryStore;
///
/// #[derive(Debug, Default)]
/// struct Customers(AtomicU64);
///
/// impl Meter for Customers {
///     fn measured(&self, what: &Measured<'_>) {
///         if let Measured::Told { kind: EventKind::PaymentSucceeded, .. } = what {
///             self.0.fetch_add(1, Relaxed);
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let meter = Arc::new(Customers::default());
/// let engine = Engine::builder(Arc::new(MemoryStore::new())).meter(meter).build()?;
/// # let _ = engine;
/// # Ok(())
/// # }
/// ```
///
/// # Laws
/// 1. **At once.** It is called between the steps of a command: it neither waits nor panics.
/// 2. **Not an account.** What was committed just before a process died was not counted; the truth
///    is in the store.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
pub trait Meter: Debug + Send + Sync + 'static {
    /// Takes note.
    #[allow(clippy::needless_lifetimes, reason = "mockall wants it spelled out")]
    fn measured<'a>(&self, what: &Measured<'a>);
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measured<'a> {
    /// An event was committed: an order or a link has come to a status (API §15). What
    /// `POST /v1/webhooks/test` makes is none.
    Told {
        /// What happened.
        kind: EventKind,
        /// In which environment.
        environment: Environment,
        /// Why it failed, where it is about a failure.
        failure: Option<FailureCode>,
    },
    /// A network was talked to.
    Gateway {
        /// Behind which connection.
        connection: &'a Connection,
        /// What was asked of it.
        call: GatewayCall,
        /// What it said last, as [`cauri_core::Report`] names it (`accepted`, `not_found`, …);
        /// `nothing` when it had nothing new to say, `unanswered` when it was given up on; of a
        /// cancellation `confirmed` or `declined`.
        outcome: &'static str,
        /// How long it took.
        took: Duration,
    },
    /// A webhook was attempted.
    Delivery {
        /// In which environment.
        environment: Environment,
        /// The status that the receiver answered with, or why there is none.
        outcome: Result<u16, AttemptError>,
        /// How long it took.
        took: Duration,
        /// How long after the moment for which it was planned it began.
        late: Duration,
    },
    /// A worker has taken on what was due.
    Claimed {
        /// Of which kind.
        kind: ClaimKind,
        /// How many records.
        count: usize,
    },
    /// A store that is [observed](crate::Observed) was called.
    Store {
        /// The method: `commit`, `get`, `list`, `claim`, `entries`, `balances` or `statistics`.
        operation: &'static str,
        /// How many changesets or keys went in; 1 for everything else.
        size: usize,
        /// `None` when it answered, else `unavailable`, `unknown` or `broken`.
        error: Option<&'static str>,
        /// How long it took.
        took: Duration,
    },
}

/// What is asked of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "one for each method of a gateway")]
pub enum GatewayCall {
    /// To carry an order.
    Submit,
    /// Where an order stands.
    Query,
    /// To call an order off.
    Cancel,
}

impl GatewayCall {
    /// Its name: `submit`, `query` or `cancel`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Query => "query",
            Self::Cancel => "cancel",
        }
    }
}
