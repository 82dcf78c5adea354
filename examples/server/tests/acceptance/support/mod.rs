//! What the stories are told with.

pub(crate) mod catalogue;
pub(crate) mod check;
pub(crate) mod http;
pub(crate) mod sample;
pub(crate) mod server;
pub(crate) mod shop;
pub(crate) mod signature;
pub(crate) mod sink;
pub(crate) mod time;

use std::sync::Arc;

use libtest_mimic::Trial;
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
}

/// Names the stories of a file. One that is left out is dead code and does not build.
macro_rules! stories {
    ($($name:ident),* $(,)? $(; durable: $($kept:ident),* $(,)?)?) => {
        pub(crate) const CHAPTER: $crate::support::Chapter = $crate::support::Chapter {
            module: module_path!(),
            everywhere: &[$((stringify!($name), $name as $crate::support::Story)),*],
            durable: &[$($((stringify!($kept), $kept as $crate::support::Story)),*)?],
        };
    };
}
pub(crate) use stories;

/// One trial for each story and store: `payments::name::memory`, `…::sqlite`, `…::postgres`.
pub(crate) fn trials(chapters: &[&Chapter]) -> Vec<Trial> {
    let mut stores = vec![
        ("memory", Arc::new(Store::new(Kind::Memory))),
        ("sqlite", Arc::new(Store::new(Kind::Sqlite))),
    ];
    #[cfg(feature = "postgres-tests")]
    stores.push(("postgres", Arc::new(Store::new(Kind::Postgres))));
    let mut trials = Vec::new();
    for chapter in chapters {
        let noun = chapter.module.rsplit("::").next().unwrap_or_default();
        let stories = chapter.everywhere.iter().map(|story| (story, true));
        for ((name, story), everywhere) in
            stories.chain(chapter.durable.iter().map(|story| (story, false)))
        {
            for (store_name, store) in &stores {
                if !everywhere && *store_name == "memory" {
                    continue;
                }
                let (store, story) = (Arc::clone(store), *story);
                let title = format!("{noun}::{name}::{store_name}");
                trials.push(Trial::test(title, move || {
                    story(&store);
                    Ok(())
                }));
            }
        }
    }
    trials
}
