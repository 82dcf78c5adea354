//! The in-memory reference store of cauri.
