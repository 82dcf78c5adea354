//! The SQLite store of cauri.
