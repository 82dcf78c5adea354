use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*};

use super::{super::options::GroupedOptions, Batch, Queue, QueueFull, Slot};

/// The same queue as a child would write it.
struct Model {
    options: GroupedOptions,
    /// The lanes in the order of their turns, with what waits in each.
    lanes: Vec<(u8, Vec<(usize, u32)>)>,
    in_flight: usize,
    overdue: usize,
}

impl Model {
    fn waiting(&self) -> usize {
        self.lanes.iter().flat_map(|(_, calls)| calls).map(|(size, _)| size).sum()
    }

    fn own(&self, lane: u8) -> usize {
        let own = self.lanes.iter().filter(|(name, _)| *name == lane);
        own.flat_map(|(_, calls)| calls).map(|(size, _)| size).sum()
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

    fn land(&mut self, was_overdue: bool) -> Vec<u32> {
        self.in_flight -= 1;
        self.overdue -= usize::from(was_overdue);
        self.take()
    }

    fn overdue(&mut self, is_already: bool) -> Vec<u32> {
        self.overdue += usize::from(!is_already);
        self.take()
    }

    fn take(&mut self) -> Vec<u32> {
        let (mut taken, mut total) = (Vec::new(), 0);
        let GroupedOptions { batch_max, in_flight_max, parallel_min, .. } = self.options;
        if self.in_flight == in_flight_max
            || (self.in_flight > self.overdue && self.waiting() < parallel_min.min(batch_max))
        {
            return taken;
        }
        while let Some((_, calls)) = self.lanes.first() {
            let (size, call) = calls[0];
            if total > 0 && total + size > self.options.batch_max {
                break;
            }
            total += size;
            taken.push(call);
            let (name, mut calls) = self.lanes.remove(0);
            calls.remove(0);
            if !calls.is_empty() {
                self.lanes.push((name, calls));
            }
        }
        self.in_flight += usize::from(!taken.is_empty());
        taken
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Push { lane: u8, size: usize },
    Land,
    Overdue,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let push = (0..4_u8, 1..7_usize).prop_map(|(lane, size)| Step::Push { lane, size });
    vec(prop_oneof![8 => push, 4 => Just(Step::Land), 1 => Just(Step::Overdue)], 0..200)
}

fn options() -> impl Strategy<Value = GroupedOptions> {
    (1..9_usize, 1..4_usize, 1..12_usize, 1..40_usize).prop_map(
        |(batch, in_flight, min, waiting)| {
            let options = GroupedOptions::default().batch_max(batch).parallel_min(min);
            options.in_flight_max(in_flight).waiting_max(waiting)
        },
    )
}

/// Keeps the slots of what is on its way.
fn board(slots: &mut Vec<Slot>, batch: Option<Batch<u32>>) -> Vec<u32> {
    batch.map_or_else(Vec::new, |Batch { slot, calls }| {
        slots.push(slot);
        calls
    })
}

proptest! {
    #[test]
    fn it_does_what_the_naive_queue_does(options in options(), steps in steps()) {
        let mut model = Model { options, lanes: Vec::new(), in_flight: 0, overdue: 0 };
        let mut queue = Queue::new(options);
        let mut slots = Vec::new();
        for (call, step) in (0_u32..).zip(steps) {
            match step {
                Step::Push { lane, size } => {
                    let pushed = queue.push(lane, size, call);
                    let pushed = pushed.map(|batch| board(&mut slots, batch));
                    prop_assert_eq!(pushed, model.push(lane, size, call));
                }
                Step::Land => {
                    let Some(slot) = slots.pop() else { continue };
                    let was_overdue = slot.is_overdue;
                    prop_assert_eq!(board(&mut slots, queue.landed(slot)), model.land(was_overdue));
                }
                Step::Overdue => {
                    let Some(slot) = slots.last_mut() else { continue };
                    let is_already = slot.is_overdue;
                    let next = queue.overdue(slot);
                    prop_assert_eq!(board(&mut slots, next), model.overdue(is_already));
                }
            }
            prop_assert_eq!(queue.waiting(), model.waiting());
            prop_assert_eq!(queue.in_flight(), model.in_flight);
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
                Step::Land => {
                    let Some(slot) = slots.pop() else { continue };
                    left.extend(board(&mut slots, queue.landed(slot)));
                }
                Step::Overdue => {
                    let Some(slot) = slots.last_mut() else { continue };
                    let next = queue.overdue(slot);
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
        for lane in 0..4 {
            let of_lane = |call: &u32| lanes[call] == lane;
            let left: Vec<_> = left.iter().copied().filter(of_lane).collect();
            let came: Vec<_> = lanes.keys().copied().filter(of_lane).collect();
            prop_assert_eq!(left, came);
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
