//! 10. Claims are exclusive.

use std::collections::BTreeMap;

use cauri::{Changeset, Claim, ClaimKind, Key, Record, RecordKind, Refusal, Timestamp, Versioned};
use futures_util::future::join_all;

use crate::{
    fixtures::{self, Random},
    subject::{Subject, at, claim, forget, insert, nth, update, update_due},
};

const KINDS: [(ClaimKind, RecordKind); 5] = [
    (ClaimKind::Payments, RecordKind::Payment),
    (ClaimKind::Payouts, RecordKind::Payout),
    (ClaimKind::Refunds, RecordKind::Refund),
    (ClaimKind::Deliveries, RecordKind::Delivery),
    (ClaimKind::Idempotency, RecordKind::Idempotency),
];

/// Inserts payments due at these moments; answers their keys.
async fn due(subject: &Subject, random: &mut Random, moments: &[Timestamp]) -> Vec<Key> {
    let scope = random.scope();
    let mut keys = Vec::new();
    let mut batch = Vec::new();
    for moment in moments {
        let payment = fixtures::record(random, RecordKind::Payment, scope);
        keys.push(payment.key());
        batch.push(insert(payment, Some(*moment)));
    }
    subject.accept_all(batch).await;
    keys
}

fn keys(claimed: &[Versioned<Record>]) -> Vec<Key> {
    claimed.iter().map(|it| it.value.key()).collect()
}

const fn payments(now: Timestamp, until: Timestamp, limit: u16) -> Claim {
    Claim { kind: ClaimKind::Payments, now, until, limit, lanes: None }
}

pub(super) async fn law_10_a_claim_raises_the_version_and_moves_the_moment(subject: Subject) {
    let mut random = Random::new(101);
    let scope = random.scope();
    for (claimed, kind) in KINDS {
        let record = fixtures::record(&mut random, kind, scope);
        subject.insert(record.clone(), Some(at(0))).await;
        for round in 0..3 {
            let now = at(0).plus_seconds(round * 60);
            let claim = claim(claimed, now, 10);
            let version = nth(&record, u64::try_from(round).expect("a round") + 2);
            let held = Versioned { value: record.clone(), version, due_at: Some(claim.until) };
            assert_eq!(subject.claim(&claim).await, std::slice::from_ref(&held));
            assert_eq!(subject.read(&record.key()).await, held);
        }
    }
}

pub(super) async fn law_10_only_what_is_due_is_handed_out(subject: Subject) {
    let mut random = Random::new(102);
    for (claimed, kind) in KINDS {
        let scope = random.scope();
        let mut inserted = Vec::new();
        for due_at in [Some(at(-1)), Some(at(0)), Some(at(1)), None] {
            let record = fixtures::record(&mut random, kind, scope);
            subject.insert(record.clone(), due_at).await;
            inserted.push(record.key());
        }
        assert_eq!(subject.claim(&claim(claimed, at(0), 0)).await, []);
        assert_eq!(subject.claim(&claim(claimed, at(-2), 10)).await, []);
        let handed = keys(&subject.claim(&claim(claimed, at(0), 10)).await);
        assert!(handed.iter().eq(inserted.iter().take(2)), "{claimed:?}");
        let later = keys(&subject.claim(&claim(claimed, at(1), 10)).await);
        assert!(later.iter().eq(inserted.iter().skip(2).take(1)), "{claimed:?}");
    }
}

pub(super) async fn law_10_what_is_due_is_handed_out_oldest_first(subject: Subject) {
    let mut random = Random::new(103);
    let moments = random.shuffled((0..30).map(at).collect());
    let inserted = due(&subject, &mut random, &moments).await;
    let mut expected: Vec<_> = moments.into_iter().zip(inserted).collect();
    expected.sort();
    let expected: Vec<Key> = expected.into_iter().map(|(_, key)| key).collect();
    let mut handed = Vec::new();
    for limit in [1, 2, 3, 10, 100] {
        let claimed = subject.claim(&claim(ClaimKind::Payments, at(29), limit)).await;
        assert!(claimed.len() <= limit.into());
        handed.extend(keys(&claimed));
    }
    assert_eq!(handed, expected);
}

pub(super) async fn law_10_a_lease_is_exclusive_until_its_end(subject: Subject) {
    let mut random = Random::new(104);
    let inserted = due(&subject, &mut random, &[at(0), at(1)]).await;
    assert_eq!(keys(&subject.claim(&payments(at(5), at(50), 1)).await), inserted[..1]);
    assert_eq!(keys(&subject.claim(&payments(at(5), at(60), 9)).await), inserted[1..]);
    assert_eq!(subject.claim(&payments(at(49), at(70), 9)).await, []);
    assert_eq!(keys(&subject.claim(&payments(at(50), at(80), 9)).await), inserted[..1]);
    assert_eq!(keys(&subject.claim(&payments(at(60), at(90), 9)).await), inserted[1..]);
}

pub(super) async fn law_10_a_record_may_be_leased_from_birth(subject: Subject) {
    let mut random = Random::new(105);
    let inserted = due(&subject, &mut random, &[at(60)]).await;
    assert_eq!(subject.claim(&payments(at(59), at(99), 9)).await, []);
    // Its maker goes on with it at once, at version 1.
    let key = inserted.first().expect("one key");
    let born = subject.read(key).await;
    subject.accept(update_due(born.value, 1, Some(at(70)))).await;
    assert_eq!(subject.claim(&payments(at(69), at(99), 9)).await, []);
    assert_eq!(keys(&subject.claim(&payments(at(70), at(99), 9)).await), inserted);
}

pub(super) async fn law_10_a_holder_who_writes_ends_the_lease(subject: Subject) {
    let mut random = Random::new(106);
    due(&subject, &mut random, &[at(0), at(1), at(2)]).await;
    let held = subject.claim(&payments(at(5), at(50), 9)).await;
    let [done, later, back] = held.as_slice() else { panic!("three were due: {held:?}") };
    subject.accept(update(done.value.clone(), done.version)).await;
    subject.accept(update_due(later.value.clone(), later.version, Some(at(30)))).await;
    let mut released = Changeset::new();
    released.release(back.clone(), at(6));
    subject.accept(released).await;
    assert_eq!(keys(&subject.claim(&payments(at(6), at(90), 9)).await), [back.value.key()]);
    assert_eq!(keys(&subject.claim(&payments(at(80), at(90), 9)).await), [later.value.key()]);
    let end = Timestamp::MAX;
    let handed = keys(&subject.claim(&payments(end, end, 9)).await);
    assert!(!handed.contains(&done.value.key()), "what is done is due no more");
}

pub(super) async fn law_10_a_holder_whose_lease_has_passed_on_is_refused(subject: Subject) {
    let mut random = Random::new(107);
    due(&subject, &mut random, &[at(0)]).await;
    let first = subject.claim(&payments(at(0), at(10), 1)).await.remove(0);
    let second = subject.claim(&payments(at(10), at(20), 1)).await.remove(0);
    let stale = Refusal::Stale(first.value.key());
    assert_eq!(subject.refuse(update(first.value.clone(), first.version)).await, stale);
    // And so is whoever read it before it was claimed.
    assert_eq!(subject.refuse(update(first.value.clone(), 1)).await, stale);
    subject.accept(update(second.value.clone(), second.version)).await;
}

pub(super) async fn law_10_claims_of_one_kind_leave_the_others(subject: Subject) {
    let mut random = Random::new(108);
    let scope = random.scope();
    let mut inserted = BTreeMap::new();
    for (claimed, kind) in KINDS {
        let record = fixtures::record(&mut random, kind, scope);
        subject.insert(record.clone(), Some(at(0))).await;
        inserted.insert(claimed, record.key());
    }
    for (claimed, key) in inserted {
        assert_eq!(keys(&subject.claim(&claim(claimed, at(0), 9)).await), [key]);
    }
}

pub(super) async fn law_10_a_removed_record_is_handed_to_nobody(subject: Subject) {
    let mut random = Random::new(109);
    let scope = random.scope();
    let answer = fixtures::idempotency(&mut random, scope);
    subject.insert(answer.clone(), Some(at(0))).await;
    subject.accept(forget(&answer, 1)).await;
    assert_eq!(subject.claim(&claim(ClaimKind::Idempotency, at(9), 9)).await, []);
    subject.insert(answer, Some(at(10))).await;
    assert_eq!(subject.claim(&claim(ClaimKind::Idempotency, at(9), 9)).await, []);
    assert_eq!(subject.claim(&claim(ClaimKind::Idempotency, at(10), 9)).await.len(), 1);
}

pub(super) async fn law_10_claims_reach_over_all_scopes(subject: Subject) {
    let mut random = Random::new(1010);
    let mut inserted = Vec::new();
    for millis in 0..10 {
        inserted.extend(due(&subject, &mut random, &[at(millis)]).await);
    }
    assert_eq!(keys(&subject.claim(&claim(ClaimKind::Payments, at(9), 10)).await), inserted);
}

pub(super) async fn law_10_concurrent_claims_share_no_record(subject: Subject) {
    let mut random = Random::new(1011);
    let scope = random.scope();
    for (claimed, kind) in KINDS {
        let mut inserted = Vec::new();
        let mut batch = Vec::new();
        for millis in 0..150 {
            let record = fixtures::record(&mut random, kind, scope);
            inserted.push(record.key());
            // Many are due at one moment.
            batch.push(insert(record, Some(at(millis / 10))));
        }
        subject.accept_all(batch).await;
        let tasks = (0..8).map(|_| {
            let store = subject.store.clone();
            tokio::spawn(async move {
                let mut mine = Vec::new();
                // More rounds than there are records, so that it ends whatever is handed out.
                for _ in 0..200 {
                    let claim = claim(claimed, at(99), 7);
                    let handed = store.claim(&claim).await.expect("the store answers");
                    if handed.is_empty() {
                        break;
                    }
                    mine.extend(handed);
                }
                mine
            })
        });
        let ended = join_all(tasks).await.into_iter();
        let mut handed: Vec<_> = ended.flat_map(|it| it.expect("a claimer ends")).collect();
        // Whoever came while others were choosing may have gone away with nothing.
        handed.extend(subject.claim(&claim(claimed, at(99), 150)).await);
        assert!(handed.iter().all(|it| it.version == nth(&it.value, 2)), "claimed twice");
        let mut handed = keys(&handed);
        handed.sort();
        inserted.sort();
        assert_eq!(handed, inserted, "{claimed:?}");
    }
}

pub(super) async fn law_10_a_holder_is_never_refused_within_the_lease(subject: Subject) {
    let mut random = Random::new(1012);
    let moments: Vec<Timestamp> = (0..5).map(at).collect();
    let inserted = due(&subject, &mut random, &moments).await;
    let workers = (0..8_i64).map(|worker| {
        let store = subject.store.clone();
        tokio::spawn(async move {
            let mut done = 0;
            for round in 0..20 {
                let now = at(1_000 + round);
                let until = now.plus_seconds(3_600 + worker);
                let handed = store.claim(&payments(now, until, 2)).await;
                for held in handed.expect("the store answers") {
                    tokio::task::yield_now().await;
                    let back = update_due(held.value, held.version, Some(at(worker)));
                    let verdicts = store.commit(vec![back]).await.expect("the store answers");
                    assert_eq!(verdicts, [Ok(())], "refused within the lease");
                    done += 1;
                }
            }
            done
        })
    });
    let done = join_all(workers).await.into_iter().map(|ended| ended.expect("a worker ends"));
    let done: u64 = done.sum();
    assert!(done > 0, "nothing was handed out");
    let versions = subject.get(&inserted).await.into_iter().flatten().map(|it| it.version - 1);
    assert_eq!(versions.sum::<u64>(), done * 2, "a claim and a write for each");
}

pub(super) async fn law_10_what_comes_later_is_handed_out_later(subject: Subject) {
    let mut random = Random::new(1013);
    let first: Vec<Timestamp> = (0..40).map(at).collect();
    let mut waiting = due(&subject, &mut random, &first).await;
    // New ones keep coming, as many as are handed out; the old ones are served all the same.
    for round in 0..10 {
        let newcomers: Vec<Timestamp> = (0..4).map(|place| at(100 + round * 10 + place)).collect();
        due(&subject, &mut random, &newcomers).await;
        for key in keys(&subject.claim(&claim(ClaimKind::Payments, at(5_000), 4)).await) {
            waiting.retain(|other| *other != key);
        }
    }
    assert_eq!(waiting, []);
}
