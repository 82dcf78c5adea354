//! Events (API §22.1).

use cauri_core::{EventId, wire::EventBody};

use crate::{
    call::Call,
    client::Client,
    filter,
    follow::Follow,
    listing::{Listing, Order},
};

/// What can be done with events (API §22.1).
#[derive(Debug, Clone, Copy)]
pub struct Events<'c>(pub(crate) &'c Client);

impl Events<'_> {
    /// Retrieves an event, byte for byte as its webhooks carry it.
    pub fn retrieve(&self, id: EventId) -> Call<EventBody> {
        self.0.get(format!("/events/{id}"))
    }

    /// Lists events, newest first.
    pub fn list(&self, filter: &filter::Events) -> Listing<EventBody> {
        Listing::new(self.0, "/events", "", filter, Order::NewestFirst)
    }

    /// Follows events as they are told, without being reachable from the server: begins with the
    /// last `back` of them.
    #[must_use]
    pub fn follow(&self, back: u32) -> Follow {
        Follow::new(self.list(&filter::Events::default()), back)
    }
}
