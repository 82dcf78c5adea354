pub(crate) mod fee;
pub mod retry;
pub(crate) mod seal;
pub mod signature;
