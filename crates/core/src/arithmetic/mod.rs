pub(crate) mod fee;
pub mod retry;
pub mod seal;
pub mod signature;
