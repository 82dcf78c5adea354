//! The public JSON.
