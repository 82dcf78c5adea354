//! Following the events of an account by asking again.

use cauri_core::{
    Page,
    wire::{EventBody, List},
};

use crate::{error::Error, listing::Listing};

/// Tells events one after the other in the order in which they were accepted, each once and none
/// left out. Whoever follows asks the server, and need not be reachable from it.
///
/// ```no_run
/// # async fn f(client: cauri_client::Client) -> Result<(), cauri_client::Error> {
/// use std::time::Duration;
///
/// let mut follow = client.events().follow(0);
/// loop {
///     for event in follow.next().await? {
///         println!("{}", event.as_str());
///     }
///     tokio::time::sleep(Duration::from_secs(1)).await;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Follow {
    listing: Listing<EventBody>,
    /// Events are numbered densely from 1 (API §19.9); the last one that was told. `None` before
    /// the first answer.
    told: Option<i64>,
    back: i64,
}

impl Follow {
    pub(crate) fn new(listing: Listing<EventBody>, back: u32) -> Self {
        Self { listing, told: None, back: back.into() }
    }

    /// What has been told since the last time, up to a hundred events, oldest first; nothing where
    /// there is nothing new. The first time it tells the events it was to begin with.
    ///
    /// After an error it goes on where it was.
    ///
    /// # Errors
    /// As any call.
    pub async fn next(&mut self) -> Result<Vec<EventBody>, Error> {
        let mut page = Page::new(1, 0).unwrap_or_default();
        loop {
            let list = self.listing.page(page).await?;
            let told = match self.told {
                // A server that forgot its events begins to count anew.
                Some(told) => told.min(list.total),
                None => list.total.saturating_sub(self.back).max(0),
            };
            self.told = Some(told);
            let left = list.total.saturating_sub(told);
            if left == 0 {
                return Ok(Vec::new());
            }
            let events = after(told, list);
            if !events.is_empty() {
                let length = i64::try_from(events.len()).unwrap_or(i64::MAX);
                self.told = Some(told.saturating_add(length));
                return Ok(events);
            }
            let offset = left.saturating_sub(REACH).max(0);
            page = Page::new(Page::LIMIT_MAX, offset).unwrap_or_default();
        }
    }
}

/// How far a page reaches beyond what was told last. The other half of it is for events that come
/// between two answers and push the page away.
const REACH: i64 = 50;

/// The events of a page that come right after `told`, oldest first; none when the page does not
/// reach back to there, or has nothing new.
fn after(told: i64, list: List<EventBody>) -> Vec<EventBody> {
    let length = i64::try_from(list.data.len()).unwrap_or(i64::MAX);
    // What is before the oldest event of the page: the newest event of all is number `total`.
    let before = list.total.saturating_sub(list.offset).saturating_sub(length);
    match usize::try_from(told.saturating_sub(before)) {
        Ok(known) => list.data.into_iter().rev().skip(known).collect(),
        Err(_) => Vec::new(),
    }
}
