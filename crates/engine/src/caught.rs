//! What an embedder plugs in may panic. That ends what it was asked, and nothing of ours.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

/// What a port answers; `None` when it panicked, which is logged here: the panic hook has told why.
/// Nothing of ours can be left half changed in there, since a port is given no more than references.
pub(crate) async fn caught<T>(port: &'static str, call: impl Future<Output = T>) -> Option<T> {
    let answer = AssertUnwindSafe(call).catch_unwind().await.ok();
    if answer.is_none() {
        tracing::error!("the {port} panicked");
    }
    answer
}
