//! The Postgres store of cauri.
