//! What the stories are told with.

pub(crate) mod catalogue;
pub(crate) mod check;
pub(crate) mod command;
pub(crate) mod description;
pub(crate) mod http;
pub(crate) mod sample;
pub(crate) mod secrecy;
pub(crate) mod server;
pub(crate) mod shop;
pub(crate) mod signature;
pub(crate) mod sink;
pub(crate) mod time;
pub(crate) mod unread;

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use server::{Kind, Store};

/// A story is told to one store at a time.
pub(crate) type Story = fn(&Store);

/// The stories of one file.
#[derive(Debug)]
pub(crate) struct Chapter {
    pub(crate) module: &'static str,
    pub(crate) everywhere: &'static [(&'static str, Story)],
    /// Those that need data to outlive a process.
    pub(crate) durable: &'static [(&'static str, Story)],
    /// Those that need a store which several servers share.
    pub(crate) shared: &'static [(&'static str, Story)],
}

/// Names the stories of a file. One that is left out is dead code and does not build.
macro_rules! stories {
    (
        $($name:ident),* $(,)?
        $(; durable: $($kept:ident),* $(,)?)?
        $(; shared: $($spread:ident),* $(,)?)?
    ) => {
        pub(crate) const CHAPTER: $crate::support::Chapter = $crate::support::Chapter {
            module: module_path!(),
            everywhere: &[$((stringify!($name), $name as $crate::support::Story)),*],
            durable: &[$($((stringify!($kept), $kept as $crate::support::Story)),*)?],
            shared: &[$($((stringify!($spread), $spread as $crate::support::Story)),*)?],
        };
    };
}
pub(crate) use stories;

/// One trial for each story and store: `payments::name::memory`, `…::sqlite`, `…::postgres`.
pub(crate) fn trials(chapters: &[&'static Chapter]) -> Vec<Trial> {
    let stores: Vec<Arc<Store>> = Kind::ALL.map(|kind| Arc::new(Store::new(kind))).into();
    let mut trials = Vec::new();
    for chapter in chapters {
        for store in &stores {
            for &(name, story) in chapter.told_to(store.kind) {
                let noun = chapter.module.rsplit("::").next().unwrap_or_default();
                let title = format!("{noun}::{name}::{}", store.kind.name());
                let store = Arc::clone(store);
                trials.push(Trial::test(title, move || told(story, &store)));
            }
        }
    }
    trials
}

/// A story that fails shows the end of the log of the server it was told to.
fn told(story: Story, store: &Store) -> Result<(), Failed> {
    let searched = || {
        story(store);
        let leaks = secrecy::leaks();
        assert!(leaks.is_empty(), "{leaks:#?}");
    };
    panic::catch_unwind(AssertUnwindSafe(searched)).map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        let text = text.or_else(|| cause.downcast_ref::<&str>().map(|&text| text.to_owned()));
        let text = text.unwrap_or_else(|| "panicked".to_owned());
        format!("{text}\n--- log of the shared server ---\n{}", store.log()).into()
    })
}

impl Chapter {
    fn told_to(&self, kind: Kind) -> impl Iterator<Item = &'static (&'static str, Story)> {
        let durable = if kind.is_durable() { self.durable } else { &[] };
        let shared = if kind.is_shared() { self.shared } else { &[] };
        self.everywhere.iter().chain(durable).chain(shared)
    }
}
