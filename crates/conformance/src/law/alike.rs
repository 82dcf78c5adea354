//! Every answer is that of the reference store.

use cauri_memory::MemoryStore;

use crate::{differential, subject::Subject};

async fn play(subject: Subject, seed: u64) {
    differential(&*subject.store, &MemoryStore::new(), seed, 400).await;
}

pub(super) async fn differential_one(subject: Subject) {
    play(subject, 1).await;
}

pub(super) async fn differential_two(subject: Subject) {
    play(subject, 2).await;
}

pub(super) async fn differential_three(subject: Subject) {
    play(subject, 3).await;
}

pub(super) async fn differential_four(subject: Subject) {
    play(subject, 4).await;
}
