//! A caller that goes away.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

/// Polls so many times at most, and then drops what was begun; `None` when it had not ended by then.
/// What a caller does whose patience ends, but at the same place each time, where a clock is not.
///
/// ```
/// use cauri_conformance::polled;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(polled(async { 5 }, 1).await, Some(5));
/// assert_eq!(polled(tokio::task::yield_now(), 1).await, None);
/// assert_eq!(polled(tokio::task::yield_now(), 2).await, Some(()));
/// # });
/// ```
pub async fn polled<T>(work: impl Future<Output = T>, mut times: usize) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if times <= 1 => Poll::Ready(None),
        Poll::Pending => {
            times = times.saturating_sub(1);
            Poll::Pending
        }
    })
    .await
}
