use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicUsize, Ordering},
};

use futures_util::future::join_all;
use tokio::time::sleep;

use super::*;

const MAX: usize = 4;

/// How often was anything asked?
type Asked = Arc<AtomicUsize>;

/// A desk at which a name takes as many seconds as its first label says, and fails if it is `dead`.
fn desk(max: usize) -> (Lookup, Asked) {
    let asked = Asked::default();
    let count = Arc::clone(&asked);
    let lookup = Lookup::at_once(max, move |name| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            let (seconds, rest) = name.split_once('.').unwrap();
            sleep(Duration::from_secs(seconds.parse().unwrap())).await;
            if rest.starts_with("dead") {
                return Err(io::ErrorKind::NotFound.into());
            }
            Ok(vec![Ipv4Addr::LOCALHOST.into()])
        }
    });
    (lookup, asked)
}

/// As an attempt waits: not for ever.
async fn patient(lookup: &Lookup, name: &str) -> Option<io::Result<Vec<IpAddr>>> {
    timeout(Duration::from_secs(8), lookup.addresses(name)).await.ok()
}

#[tokio::test(start_paused = true)]
async fn names_that_hang_keep_no_other_waiting_for_longer_than_it_takes_to_know_them() {
    let (lookup, _) = desk(64);
    let hanging: Vec<_> = (0..64).map(|nth| format!("30.dead{nth}.test")).collect();
    let begun = Instant::now();
    let attempts = join_all(hanging.iter().map(|name| patient(&lookup, name)));
    let good = async {
        tokio::task::yield_now().await;
        assert!(lookup.addresses("0.shop.test").await.is_ok());
        begun.elapsed()
    };
    let (_, took) = tokio::join!(attempts, good);
    assert_eq!(took, PATIENCE);
    // From then on not at all, however often they are tried.
    for _ in 0..20 {
        let again = join_all(hanging.iter().map(|name| patient(&lookup, name)));
        let good = async {
            tokio::task::yield_now().await;
            let begun = Instant::now();
            assert!(lookup.addresses("0.shop.test").await.is_ok());
            begun.elapsed()
        };
        let (_, took) = tokio::join!(again, good);
        assert_eq!(took, Duration::ZERO);
        sleep(Duration::from_secs(5)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_the_same_name_waits_for_the_same_answer() {
    let (lookup, asked) = desk(1);
    let answers = join_all((0..100).map(|_| lookup.addresses("1.shop.test"))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // An answer is not kept: names move.
    assert!(lookup.addresses("1.shop.test").await.is_ok());
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let refused = join_all((0..3).map(|_| lookup.addresses("1.dead.test"))).await;
    assert!(refused.iter().all(|it| it.as_ref().unwrap_err().kind() == io::ErrorKind::NotFound));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_hangs_is_not_waited_for_by_whoever_comes_later() {
    let (lookup, asked) = desk(MAX);
    let first = lookup.clone();
    let first = tokio::spawn(async move { first.addresses("20.dead.test").await });
    sleep(Duration::from_secs(3)).await;
    let begun = Instant::now();
    let answer = lookup.addresses("20.dead.test").await;
    assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    // After some seconds one may wait again, but for the lookup that is still under way.
    sleep(SILENCE).await;
    assert!(patient(&lookup, "20.dead.test").await.is_none());
    assert_eq!(first.await.unwrap().unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_answers_late_is_still_asked() {
    let (lookup, asked) = desk(MAX);
    for nth in 1..4 {
        assert!(patient(&lookup, "5.shop.test").await.is_some_and(|it| it.is_ok()));
        assert_eq!(asked.load(Ordering::SeqCst), nth);
    }
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_waiting_leaves_the_queue() {
    let (lookup, asked) = desk(1);
    // Both places hang from the second second on, and one more stands at the head of the queue.
    for name in ["60.dead0.test", "60.dead1.test"] {
        assert!(timeout(PATIENCE, lookup.addresses(name)).await.is_err());
        tokio::task::yield_now().await;
    }
    for nth in 2..12 {
        let name = format!("60.dead{nth}.test");
        assert!(timeout(Duration::from_secs(1), lookup.addresses(&name)).await.is_err());
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2, "ten never came to be asked");
    // One that is still waited for by another is asked when it is its turn.
    let (one, other) = (lookup.addresses("0.shop.test"), lookup.addresses("0.shop.test"));
    let (one, other) = tokio::join!(timeout(Duration::from_secs(1), one), other);
    assert!(one.is_err() && other.is_ok());
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_lookup_that_panics_is_an_error_and_is_forgotten() {
    let lookup = Lookup::at_once(1, |_| async { panic!("as told") });
    for _ in 0..3 {
        assert!(lookup.addresses("shop.test").await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn names_that_have_hung_are_not_remembered_without_end() {
    let desk = Arc::new(Desk {
        resolve: Box::new(|_| {
            async {
                sleep(Duration::from_secs(3)).await;
                Err(io::ErrorKind::NotFound.into())
            }
            .boxed()
        }),
        places: Arc::new(Semaphore::new(5_000)),
        hanging: Arc::new(Semaphore::new(5_000)),
        names: Mutex::default(),
    });
    for round in 0..4 {
        let ask = |nth| Arc::clone(&desk).addresses(format!("{round}.{nth}.test"));
        join_all((0..REMEMBERED_MAX / 2).map(ask)).await;
    }
    assert!(desk.names().len() <= REMEMBERED_MAX);
}
