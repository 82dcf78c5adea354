//! Every interleaving of a few callers, tried by loom: each hears exactly once, whoever sends its
//! batch, and nobody waits for ever.

use loom::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use super::{super::options::GroupedOptions, Batch, Queue};

/// One mutex around the queue, as in [`Shared`](super::super::Shared), and one around the answers.
struct Hall {
    queue: Mutex<Queue<usize, usize>>,
    answers: Mutex<Vec<usize>>,
    answered: Condvar,
    in_flight: AtomicUsize,
    in_flight_max: usize,
}

/// What a caller does with the batches that it is handed to send.
#[derive(Clone, Copy, PartialEq)]
enum Lead {
    Lands,
    /// Its runtime ends under it.
    Abandons,
}

impl Hall {
    fn new(callers: usize, options: GroupedOptions) -> Self {
        Self {
            queue: Mutex::new(Queue::new(options)),
            answers: Mutex::new(vec![0; callers]),
            answered: Condvar::new(),
            in_flight: AtomicUsize::new(0),
            in_flight_max: options.in_flight_max,
        }
    }

    fn call(&self, caller: usize, lane: usize, lead: Lead) {
        let departing = self.queue.lock().unwrap().push(lane, 1, caller).unwrap();
        if let Some(batch) = departing {
            self.fly(batch, lead);
        }
        let mut answers = self.answers.lock().unwrap();
        while answers[caller] == 0 {
            answers = self.answered.wait(answers).unwrap();
        }
    }

    fn fly(&self, batch: Batch<usize, usize>, lead: Lead) {
        let mut next = Some(batch);
        while let Some(Batch { slot, calls }) = next {
            assert!(self.in_flight.fetch_add(1, SeqCst) < self.in_flight_max);
            thread::yield_now();
            self.in_flight.fetch_sub(1, SeqCst);
            self.answer(&calls);
            if lead == Lead::Abandons {
                let stranded = self.queue.lock().unwrap().abandoned(slot);
                return self.answer(&stranded);
            }
            next = self.queue.lock().unwrap().landed(slot);
        }
    }

    fn answer(&self, calls: &[usize]) {
        let mut answers = self.answers.lock().unwrap();
        for &call in calls {
            answers[call] += 1;
        }
        self.answered.notify_all();
    }
}

fn model(options: GroupedOptions, callers: &'static [(usize, Lead)]) {
    let mut model = loom::model::Builder::new();
    // Two find what there is to find in seconds; LOOM_MAX_PREEMPTIONS sets another bound.
    model.preemption_bound.get_or_insert(2);
    model.check(move || {
        let hall = Arc::new(Hall::new(callers.len(), options));
        let ((&(lane, lead), others), mut threads) = (callers.split_first().unwrap(), Vec::new());
        for (number, &(lane, lead)) in others.iter().enumerate() {
            let hall = Arc::clone(&hall);
            threads.push(thread::spawn(move || hall.call(number + 1, lane, lead)));
        }
        hall.call(0, lane, lead);
        for thread in threads {
            thread.join().unwrap();
        }
        let queue = hall.queue.lock().unwrap();
        assert_eq!((queue.waiting(), queue.in_flight()), (0, 0));
        assert!(hall.answers.lock().unwrap().iter().all(|&answers| answers == 1));
    });
}

#[test]
fn nobody_waits_for_ever_with_one_batch_in_flight() {
    let options = GroupedOptions::default().in_flight_max(1);
    model(options, &[(1, Lead::Lands), (1, Lead::Lands), (2, Lead::Lands)]);
}

#[test]
fn nobody_waits_for_ever_with_two_batches_in_flight() {
    let options = GroupedOptions::default().in_flight_max(2).parallel_min(1);
    model(options, &[(1, Lead::Lands), (1, Lead::Lands), (2, Lead::Lands)]);
}

#[test]
fn nobody_waits_for_ever_with_three_batches_in_flight() {
    let options = GroupedOptions::default().parallel_min(1);
    model(options, &[(1, Lead::Lands), (1, Lead::Lands), (2, Lead::Lands)]);
    model(options, &[(1, Lead::Lands), (2, Lead::Lands), (3, Lead::Lands)]);
}

#[test]
fn nobody_waits_for_ever_with_batches_of_one() {
    let options = GroupedOptions::default().in_flight_max(1).batch_max(1);
    model(options, &[(1, Lead::Lands), (1, Lead::Lands), (2, Lead::Lands)]);
}

#[test]
fn nobody_waits_for_ever_when_a_flight_is_abandoned() {
    let options = GroupedOptions::default().in_flight_max(1);
    model(options, &[(1, Lead::Abandons), (1, Lead::Lands), (2, Lead::Lands)]);
    let options = GroupedOptions::default().in_flight_max(2).parallel_min(1);
    model(options, &[(1, Lead::Abandons), (1, Lead::Lands), (2, Lead::Abandons)]);
}
