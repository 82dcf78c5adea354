//! A body that must have arrived by a moment.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use http_body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// A body, and how long all of it may take from when it is first waited for.
#[derive(Debug)]
pub(crate) struct Patience<B> {
    body: B,
    limit: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

/// Why a body ended too early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CutOff<E> {
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error(transparent)]
    Body(E),
}

impl<B> Patience<B> {
    pub(crate) const fn with(body: B, limit: Duration) -> Self {
        Self { body, limit, deadline: None }
    }
}

impl<B: Body + Unpin> Body for Patience<B> {
    type Data = B::Data;
    type Error = CutOff<B::Error>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, Self::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(CutOff::Body)));
        }
        let limit = this.limit;
        let deadline = this.deadline.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Some(Err(CutOff::TooSlow)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use axum::body::{Body as AnyBody, Bytes};
    use futures_util::stream;

    use super::*;

    /// A body that sends one piece and then, after so long, another.
    fn halting(pause: Duration) -> AnyBody {
        AnyBody::from_stream(stream::unfold(0, move |sent| async move {
            match sent {
                0 => {}
                1 => sleep(pause).await,
                _ => return None,
            }
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b"piece")), sent + 1))
        }))
    }

    async fn pieces(pause: Duration) -> (usize, bool) {
        let mut body = Patience::with(halting(pause), Duration::from_secs(30));
        let mut count = 0;
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            match frame {
                Ok(_) => count += 1,
                Err(CutOff::TooSlow) => return (count, false),
                Err(CutOff::Body(error)) => panic!("{error}"),
            }
        }
        (count, true)
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_halts_for_too_long_is_cut_off() {
        assert_eq!(pieces(Duration::ZERO).await, (2, true));
        assert_eq!(pieces(Duration::from_secs(29)).await, (2, true));
        assert_eq!(pieces(Duration::from_secs(31)).await, (1, false));
    }
}
