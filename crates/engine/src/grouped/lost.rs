use std::any::Any;

use crate::port::store::StoreError;

/// Why there is no answer although the store gave no error.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error("the store panicked: {0}")]
    Panicked(String),
    #[error("the store gave {given} verdicts for {asked} changesets")]
    Miscounted { asked: usize, given: usize },
    #[error("the runtime ended while the batch was on its way")]
    OnTheWay,
    #[error("the runtime ended before the batch was sent")]
    InTheQueue,
}

impl Lost {
    pub(super) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::Panicked(text.unwrap_or("without a word").to_owned())
    }
}

impl From<Lost> for StoreError {
    fn from(lost: Lost) -> Self {
        match lost {
            Lost::Panicked(_) | Lost::Miscounted { .. } | Lost::OnTheWay => {
                Self::Unknown(Box::new(lost))
            }
            Lost::InTheQueue => Self::Unavailable(Box::new(lost)),
        }
    }
}
