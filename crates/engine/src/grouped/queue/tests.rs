use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};

use super::{super::options::GroupedOptions, Batch, Queue, QueueFull, Slot};

/// The same queue as a child would write it.
struct Model {
    options: GroupedOptions,
    /// The lanes in the order of their turns, with what waits in each.
    lanes: Vec<(u8, Vec<(usize, u32)>)>,
    /// What is on its way: the lanes, and whether it is overdue.
    flights: Vec<(BTreeSet<u8>, bool)>,
}

impl Model {
    fn waiting(&self) -> usize {
        self.lanes.iter().flat_map(|(_, calls)| calls).map(|(size, _)| size).sum()
    }

    fn own(&self, lane: u8) -> usize {
        let own = self.lanes.iter().filter(|(name, _)| *name == lane);
        own.flat_map(|(_, calls)| calls).map(|(size, _)| size).sum()
    }

    /// May it leave beside two?
    fn is_apart(&self, lane: u8) -> bool {
        let mut own = self.flights.iter().filter(|(lanes, _)| lanes.contains(&lane));
        own.clone().count() < 2 && own.all(|(_, overdue)| *overdue)
    }

    fn push(&mut self, lane: u8, size: usize, call: u32) -> Result<Vec<u32>, QueueFull> {
        let (waiting, own, waiting_max) =
            (self.waiting(), self.own(lane), self.options.waiting_max);
        if waiting > 0 && waiting + own + size > waiting_max {
            return Err(QueueFull { waiting, waiting_max, own });
        }
        match self.lanes.iter_mut().find(|(name, _)| *name == lane) {
            Some((_, calls)) => calls.push((size, call)),
            None => self.lanes.push((lane, vec![(size, call)])),
        }
        Ok(self.take())
    }

    fn land(&mut self, at: usize) -> Vec<u32> {
        self.flights.remove(at);
        self.take()
    }

    fn overdue(&mut self, at: usize) -> Vec<u32> {
        self.flights[at].1 = true;
        self.take()
    }

    fn take(&mut self) -> Vec<u32> {
        let GroupedOptions { batch_max, in_flight_max, parallel_min, .. } = self.options;
        let in_flight = self.flights.len();
        let all_overdue = self.flights.iter().all(|(_, overdue)| *overdue);
        let may_leave: Vec<u8> = self.lanes.iter().map(|(lane, _)| *lane).collect();
        let may_leave: Vec<u8> =
            may_leave.into_iter().filter(|it| in_flight < 2 || self.is_apart(*it)).collect();
        let waiting: usize = may_leave.iter().map(|lane| self.own(*lane)).sum();
        let enough = if all_overdue { 1 } else { parallel_min.min(batch_max) };
        if waiting < enough || in_flight == in_flight_max {
            return Vec::new();
        }
        let (mut taken, mut total, mut lanes) = (Vec::new(), 0, BTreeSet::new());
        while let Some(at) = self.lanes.iter().position(|(name, _)| may_leave.contains(name)) {
            let (size, call) = self.lanes[at].1[0];
            if total > 0 && total + size > batch_max {
                break;
            }
            total += size;
            taken.push(call);
            let (name, mut calls) = self.lanes.remove(at);
            lanes.insert(name);
            calls.remove(0);
            if !calls.is_empty() {
                self.lanes.push((name, calls));
            }
        }
        self.flights.push((lanes, false));
        taken
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Push {
        lane: u8,
        size: usize,
    },
    /// Of those on their way, this one, counted round and round.
    Land(usize),
    Overdue(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let push = (0..6_u8, 1..7_usize).prop_map(|(lane, size)| Step::Push { lane, size });
    let land = (0..60_usize).prop_map(Step::Land);
    let overdue = (0..60_usize).prop_map(Step::Overdue);
    vec(prop_oneof![8 => push, 4 => land, 1 => overdue], 0..200)
}

fn options() -> impl Strategy<Value = GroupedOptions> {
    (1..9_usize, 1..5_usize, 1..12_usize, 1..40_usize).prop_map(
        |(batch, in_flight, min, waiting)| {
            let options = GroupedOptions::default().batch_max(batch).parallel_min(min);
            options.in_flight_max(in_flight).waiting_max(waiting)
        },
    )
}

/// Keeps the slots of what is on its way.
fn board<L>(slots: &mut Vec<Slot<L>>, batch: Option<Batch<L, u32>>) -> Vec<u32> {
    batch.map_or_else(Vec::new, |Batch { slot, calls }| {
        slots.push(slot);
        calls
    })
}

proptest! {
    #[test]
    fn it_does_what_the_naive_queue_does(options in options(), steps in steps()) {
        let mut model = Model { options, lanes: Vec::new(), flights: Vec::new() };
        let mut queue = Queue::new(options);
        let mut slots = Vec::new();
        for (call, step) in (0_u32..).zip(steps) {
            match step {
                Step::Push { lane, size } => {
                    let pushed = queue.push(lane, size, call);
                    let pushed = pushed.map(|batch| board(&mut slots, batch));
                    prop_assert_eq!(pushed, model.push(lane, size, call));
                }
                Step::Land(at) => {
                    let Some(at) = at.checked_rem(slots.len()) else { continue };
                    let slot = slots.remove(at);
                    prop_assert_eq!(board(&mut slots, queue.landed(slot)), model.land(at));
                }
                Step::Overdue(at) => {
                    let Some(at) = at.checked_rem(slots.len()) else { continue };
                    let next = queue.overdue(&mut slots[at]);
                    prop_assert_eq!(board(&mut slots, next), model.overdue(at));
                }
            }
            prop_assert_eq!(queue.waiting(), model.waiting());
            prop_assert_eq!(queue.in_flight(), model.flights.len());
            prop_assert_eq!(queue.in_flight(), slots.len());
            prop_assert!(queue.in_flight() <= options.in_flight_max);
            prop_assert!(queue.waiting() == 0 || queue.in_flight() > 0);
        }
    }

    #[test]
    fn everybody_leaves_once_in_the_order_of_the_lane(
        options in options(),
        steps in steps(),
        abandon in any::<bool>(),
    ) {
        let mut queue = Queue::new(options);
        let (mut slots, mut lanes) = (Vec::new(), BTreeMap::<u32, u8>::new());
        let mut left = Vec::new();
        for (call, step) in (0_u32..).zip(steps) {
            match step {
                Step::Push { lane, size } => {
                    let Ok(batch) = queue.push(lane, size, call) else { continue };
                    lanes.insert(call, lane);
                    left.extend(board(&mut slots, batch));
                }
                Step::Land(at) => {
                    let Some(at) = at.checked_rem(slots.len()) else { continue };
                    let slot = slots.remove(at);
                    left.extend(board(&mut slots, queue.landed(slot)));
                }
                Step::Overdue(at) => {
                    let Some(at) = at.checked_rem(slots.len()) else { continue };
                    let next = queue.overdue(&mut slots[at]);
                    left.extend(board(&mut slots, next));
                }
            }
        }
        while let Some(slot) = slots.pop() {
            if abandon {
                left.extend(queue.abandoned(slot));
            } else {
                left.extend(board(&mut slots, queue.landed(slot)));
            }
        }
        prop_assert_eq!((queue.waiting(), queue.in_flight()), (0, 0));
        for lane in 0..6 {
            let of_lane = |call: &u32| lanes[call] == lane;
            let left: Vec<_> = left.iter().copied().filter(of_lane).collect();
            let came: Vec<_> = lanes.keys().copied().filter(of_lane).collect();
            prop_assert_eq!(left, came);
        }
    }

    /// Whoever waits and has nothing on its way is passed over by nobody twice.
    #[test]
    fn nobody_leaves_twice_while_a_lane_waits_for_its_first(
        options in options(),
        steps in steps(),
    ) {
        let mut queue = Queue::new(options);
        let mut slots: Vec<Slot<u8>> = Vec::new();
        let (mut calls, mut waiting) = (Vec::new(), [0_u32; 6]);
        // Of each lane that waits with nothing on its way: who left meanwhile.
        let mut passed = BTreeMap::<u8, BTreeSet<u8>>::new();
        for step in steps {
            let batch = match step {
                Step::Push { lane, size } => {
                    let call = u32::try_from(calls.len()).unwrap();
                    calls.push(lane);
                    let Ok(batch) = queue.push(lane, size, call) else { continue };
                    waiting[usize::from(lane)] += 1;
                    batch
                }
                Step::Land(at) => {
                    let Some(at) = at.checked_rem(slots.len()) else { continue };
                    queue.landed(slots.remove(at))
                }
                Step::Overdue(at) => {
                    let Some(at) = at.checked_rem(slots.len()) else { continue };
                    queue.overdue(&mut slots[at])
                }
            };
            for lane in 0..6 {
                let flies = slots.iter().any(|slot| slot.lanes.contains(&lane));
                if waiting[usize::from(lane)] > 0 && !flies {
                    passed.entry(lane).or_default();
                }
            }
            for call in board(&mut slots, batch) {
                let left = calls[usize::try_from(call).unwrap()];
                waiting[usize::from(left)] -= 1;
                passed.remove(&left);
                for (lane, passed) in &mut passed {
                    prop_assert!(passed.insert(left), "{left} left twice while {lane} waits");
                }
            }
        }
    }

    /// Between two turns of a lane that had more to send, nobody has two.
    #[test]
    fn lanes_take_turns(counts in vec(1..20_u32, 2..5), batch_max in 1..10_usize) {
        let mut queue = Queue::new(GroupedOptions::default().in_flight_max(1).batch_max(batch_max));
        let mut slots = Vec::new();
        board(&mut slots, queue.push(usize::MAX, 1, u32::MAX).unwrap());
        for (lane, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                let lane_name = u32::try_from(lane).unwrap();
                prop_assert!(queue.push(lane, 1, lane_name).unwrap().is_none());
            }
        }
        let mut order = Vec::new();
        while let Some(slot) = slots.pop() {
            order.extend(board(&mut slots, queue.landed(slot)));
        }
        let mut expected = Vec::new();
        for round in 0..20 {
            let lanes = (0_u32..).zip(&counts).filter(|(_, count)| **count > round);
            expected.extend(lanes.map(|(lane, _)| lane));
        }
        prop_assert_eq!(order, expected);
    }
}

fn full(queue: &mut Queue<u8, u32>, lane: u8) -> usize {
    (0..)
        .find(|&call| queue.push(lane, 1, call).is_err())
        .map(|call| call.try_into().unwrap())
        .unwrap()
}

#[test]
fn a_lane_may_fill_as_much_as_it_leaves_free() {
    let mut queue = Queue::new(GroupedOptions::default().in_flight_max(1).waiting_max(12));
    let _flying = queue.push(0, 1, 0).unwrap().unwrap();
    assert_eq!(full(&mut queue, 1), 6);
    assert_eq!(full(&mut queue, 2), 3);
    assert_eq!(full(&mut queue, 3), 2);
    assert_eq!(full(&mut queue, 4), 1);
    let refusal = queue.push(5, 1, 0).unwrap_err();
    assert_eq!(refusal, QueueFull { waiting: 12, waiting_max: 12, own: 0 });
    assert_eq!(refusal.to_string(), "12 of 12 changesets wait, 0 of them of the same scope");
}

#[test]
fn one_call_may_always_wait_however_large() {
    let mut queue = Queue::new(GroupedOptions::default().in_flight_max(1).waiting_max(2));
    let flying = queue.push(0, 100, 0).unwrap().unwrap();
    assert!(queue.push(0, 100, 1).unwrap().is_none());
    assert_eq!(queue.push(1, 1, 2).unwrap_err().waiting, 100);
    assert_eq!(queue.landed(flying.slot).unwrap().calls, [1]);
}

#[test]
fn who_waits_is_handed_out_only_when_nobody_else_will_come() {
    let mut queue = Queue::new(GroupedOptions::default().parallel_min(1));
    let first = queue.push(0, 1, 0).unwrap().unwrap();
    let second = queue.push(0, 1, 1).unwrap().unwrap();
    assert!(queue.push(0, 1, 2).unwrap().is_none());
    assert!(queue.abandoned(first.slot).is_empty());
    assert_eq!(queue.landed(second.slot).unwrap().calls, [2]);
}

#[test]
fn nobody_waits_for_a_batch_that_is_overdue() {
    let mut queue = Queue::new(GroupedOptions::default().in_flight_max(2).parallel_min(10));
    let mut first = queue.push(0, 1, 0).unwrap().unwrap();
    assert!(queue.push(1, 1, 1).unwrap().is_none(), "too few to be worth a transaction");
    let second = queue.overdue(&mut first.slot).expect("they are not to wait any more");
    assert_eq!(second.calls, [1]);
    assert!(queue.push(1, 1, 2).unwrap().is_none(), "two are on their way");
    let third = queue.landed(second.slot).expect("the first is overdue still");
    assert_eq!(third.calls, [2]);
    assert!(queue.landed(third.slot).is_none() && queue.landed(first.slot).is_none());
    let _fourth = queue.push(0, 1, 3).unwrap().expect("nothing is on its way");
    assert!(
        queue.push(0, 1, 4).unwrap().is_none(),
        "the overdue one has landed and counts no more"
    );
}

#[test]
fn a_third_batch_shares_no_lane_with_those_on_their_way() {
    let options = GroupedOptions::default().parallel_min(2);
    let mut queue = Queue::new(options);
    let first = queue.push(1, 1, 0).unwrap().unwrap();
    assert!(queue.push(1, 1, 1).unwrap().is_none(), "one is not enough");
    let second = queue.push(2, 1, 2).unwrap().expect("two of whatever lane go beside one");
    assert_eq!(second.calls, [1, 2]);
    for call in 3..8 {
        assert!(queue.push(1, 1, call).unwrap().is_none(), "they would wait for the same rows");
    }
    assert!(queue.push(3, 1, 8).unwrap().is_none(), "one is not enough");
    let third = queue.push(4, 1, 9).unwrap().expect("two that share nothing");
    assert_eq!(third.calls, [8, 9]);
    assert!(queue.push(5, 9, 10).unwrap().is_none(), "there is no fourth");
    assert!(queue.push(6, 1, 11).unwrap().is_none());
    let next = queue.landed(second.slot).expect("apart are ten");
    assert_eq!(next.calls, [10, 11], "of the first lane something is still on its way");
    assert!(queue.landed(third.slot).is_none());
    let next = queue.landed(first.slot).expect("five of a lane of which nothing flies");
    assert_eq!(next.calls, [3, 4, 5, 6, 7]);
}

#[test]
fn a_lane_of_which_two_batches_fly_is_apart_when_both_have_landed() {
    let options = GroupedOptions::default().parallel_min(1);
    let mut queue = Queue::new(options);
    let first = queue.push(1, 1, 0).unwrap().unwrap();
    let second = queue.push(1, 1, 1).unwrap().unwrap();
    let third = queue.push(2, 1, 2).unwrap().unwrap();
    assert!(queue.push(1, 1, 3).unwrap().is_none());
    assert!(queue.landed(first.slot).is_none(), "two fly, and one of them is of this lane");
    assert_eq!(queue.landed(second.slot).unwrap().calls, [3]);
    assert!(queue.landed(third.slot).is_none());
}

#[test]
fn a_lane_that_is_served_is_behind_those_that_are_not() {
    let mut queue = Queue::new(GroupedOptions::default().batch_max(1));
    let mut flying: Vec<_> =
        (1..4).map(|lane| queue.push(lane, 1, lane).unwrap().unwrap()).collect();
    for lane in 1..5 {
        assert!(queue.push(lane, 1, lane).unwrap().is_none(), "three are on their way");
    }
    let mut order = Vec::<u32>::new();
    for _ in 0..8 {
        let landed = flying.remove(0);
        let again = landed.calls[0];
        let next = queue.landed(landed.slot).unwrap();
        order.extend(&next.calls);
        flying.push(next);
        assert!(queue.push(again, 1, again).unwrap().is_none());
    }
    assert_eq!(order, [1, 2, 3, 4, 1, 2, 3, 1], "the fourth has its turn as well");
}

#[test]
fn who_is_on_board_of_one_that_is_overdue_goes_on_beside_it() {
    let mut queue = Queue::new(GroupedOptions::default().parallel_min(1));
    let mut first = queue.push(1, 1, 0).unwrap().unwrap();
    assert!(queue.overdue(&mut first.slot).is_none(), "nobody waits");
    let second = queue.push(2, 1, 1).unwrap().unwrap();
    let third = queue.push(3, 1, 2).unwrap().unwrap();
    assert!(queue.push(1, 1, 3).unwrap().is_none(), "there is no fourth");
    assert!(queue.push(2, 1, 4).unwrap().is_none());
    let fourth = queue.landed(second.slot).unwrap();
    assert_eq!(fourth.calls, [3, 4], "the first lane is not to wait for the first batch");
    drop((first, third));
}

#[test]
fn what_holds_up_two_batches_does_not_hold_up_a_third() {
    let mut queue = Queue::new(GroupedOptions::default());
    let mut first = queue.push(1, 1, 0).unwrap().unwrap();
    assert!(queue.push(1, 1, 1).unwrap().is_none());
    let mut second = queue.overdue(&mut first.slot).unwrap();
    assert_eq!(second.calls, [1], "it may be another matter");
    assert!(queue.push(1, 1, 2).unwrap().is_none());
    assert!(queue.overdue(&mut second.slot).is_none(), "it waits for one of the two");
    for (call, lane) in [(3, 2), (4, 3)] {
        let third = queue.push(lane, 1, call).unwrap().expect("all on their way are overdue");
        assert_eq!(third.calls, [call]);
        assert!(queue.landed(third.slot).is_none());
    }
    assert_eq!(queue.landed(second.slot).unwrap().calls, [2]);
}
